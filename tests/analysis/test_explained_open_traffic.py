"""`explain` of open traffic: what the network accepts, and which link holds it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Command

import odonata

ADVERSARIAL = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "next"
pattern = "adversarial"
ranks = 72
ranks_per_node = 1
traffic = { name = "open", load = 0.3 }
[engine]
kind = "packet"
routing = "min"
warm_up = "20 us"
measure = "40 us"
"""


def test_the_one_cable_between_groups_limits_adversarial_traffic() -> None:
    """All a p = 8 nodes of a group send to the next group over one cable: 1 / 8 of their bandwidth."""
    found = odonata.explain(odonata.run(ADVERSARIAL))
    assert found.time_s is None
    assert found.open_traffic is not None
    assert found.open_traffic.offered_load == 0.3
    assert found.open_traffic.accepted_load == pytest.approx(1 / 8, rel=0.03)
    assert found.open_traffic.measured_s == pytest.approx(40e-6)
    assert found.bottlenecks is not None
    first = found.bottlenecks.to_pylist()[:9]
    assert {row["class"] for row in first} == {"global"}
    assert all(row["share"] > 0.97 for row in first)
    assert "accepts 12" in repr(found)
    assert "saturated" in found.open_traffic.sentence()


def test_below_saturation_a_port_is_as_busy_as_the_load() -> None:
    """A ring keeps every port busy for the load, and the load is accepted."""
    text = ADVERSARIAL.replace('"adversarial"', '{ name = "shift", offset = 1 }').replace("0.3", "0.2")
    found = odonata.explain(odonata.run(text)).open_traffic
    assert found is not None
    assert found.accepted_load == pytest.approx(0.2, rel=0.05)
    assert "saturated" not in found.sentence()


def test_two_open_jobs_are_a_table(odonata_command: Command, tmp_path: Path) -> None:
    two = ADVERSARIAL.replace("ranks = 72", "ranks = 36")
    job = two[two.index("[[job]]") : two.index("[engine]")].replace("next", "other")
    (tmp_path / "two.toml").write_text(two.replace("[engine]", f"{job}[engine]"))
    assert odonata_command("run", "two.toml", cwd=tmp_path).returncode == 0
    done = odonata_command("explain", "runs/two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Open traffic of two" in done.stdout
    plain = json.loads(odonata_command("explain", "runs/two", "--json", cwd=tmp_path).stdout)
    assert [job["job"] for job in plain["jobs"]] == ["next", "other"]
    assert all(job["open_traffic"]["offered_load"] == 0.3 for job in plain["jobs"])
