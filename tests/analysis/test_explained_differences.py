"""What changed a job's time: changes one by one, and what each costs, against cases by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import odonata
from odonata import toml
from odonata.explanation import difference, no_effect, reason
from odonata.explanation.changes import between, changes

JOBS = """
[[job]]
name = "all"
ranks = 24
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "64 kB" }
placement = { name = "random-order", skip = 0 }
[[job]]
name = "halo"
ranks = 36
ranks_per_node = 1
pattern = { name = "stencil-2d", dims = [6, 6], bytes = "1 MB" }
placement = { name = "random-order", skip = 27 }
[engine]
kind = "flow"
routing = "min"
"""
MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\nedit = ["global.latency*=2"]\n'
SETS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "edits": {"machine.edit": ["fail g0r0>g1r0:global.0", "global.latency*=2", "local.bandwidth*=0.5"]},
    "an edit less": {"machine.edit": []},
    "bandwidth": {"machine.class.global.bandwidth": "5 GB/s"},
    "another machine": {"machine.g": 8, "machine.edit": ["fail g0r0>g1r0:global.0"]},
    "placement and seed": {"job.all.placement.skip": 3, "engine.seed": 5},
    "routing": {"engine.routing": "adaptive-hybrid", "engine.slices": 30},
    "an idle job": {"job.halo.idle": True},
}


@pytest.mark.parametrize("name", SETS)
def test_all_changes_together_are_the_other_experiment(name: str) -> None:
    """No change gives the first, all give the second, and each one alone is found again."""
    text = MACHINE + JOBS
    base, other = (toml.parse(odonata.check(text, set=s)["resolved"]) for s in ({}, SETS[name]))
    found = changes(base, other)
    assert bool(found) == bool(SETS[name])
    assert between(base, other, []) == base
    assert between(base, other, found) == other
    for change in found:
        assert changes(base, between(base, other, [change])) == [change]


def test_a_job_that_only_one_has_is_one_change() -> None:
    both = toml.parse(odonata.check(MACHINE + JOBS)["resolved"])
    one = {**both, "job": both["job"][:1]}
    assert [change.name for change in changes(one, both)] == ["job.halo"]
    assert between(one, both, changes(one, both)) == both
    assert between(both, one, changes(both, one)) == one


def one_link(folder: Path, bandwidth: str, sizes: dict[str, int]) -> odonata.Run:
    """A cable between two routers, and jobs of two ranks on its ends that send each other so many MB."""
    (folder / "cables.csv").write_text("src,dst,src_nodes,dst_nodes\na,b,2,2\n")
    machine = f'[machine]\nfile = "{folder}/cables.csv"\n[machine.class.terminal]\nbandwidth = "100 GB/s"\n'
    machine += f'[machine.class.local]\nbandwidth = "{bandwidth}"\n'
    jobs = "".join(
        f'[[job]]\nname = "{name}"\nranks = 2\nranks_per_node = 1\n'
        f'pattern = {{ name = "all-to-all", bytes = "{size} MB" }}\n'
        f'placement = {{ name = "list", nodes = [{k}, {k + 2}] }}\n'
        for k, (name, size) in enumerate(sizes.items())
    )
    return odonata.run(machine + jobs + '[engine]\nkind = "flow"\nrouting = "min"\n')


def test_bytes_and_bandwidth_by_hand(tmp_path: Path) -> None:
    """The large job ends last: before with 4 MB over 10 GB/s, 0.4 ms; after with 8 MB over 5 GB/s, 1.6 ms.

    Half the bandwidth alone makes 0.8 ms, the bytes alone too: each costs 0.4 ms as the only one and 0.8 ms
    as the last, so each costs 0.6 ms of the 1.2 ms.
    """
    base = one_link(tmp_path, "10 GB/s", {"small": 1, "large": 3})
    run = one_link(tmp_path, "5 GB/s", {"small": 1, "large": 7})
    found = difference(run, base, "large")
    assert found.blame is not None
    rows = {row["cause"]: row for row in found.blame.to_pylist()}
    assert set(rows) == {"machine.class.local.bandwidth", "job.large.pattern"}
    for row in rows.values():
        assert math.isclose(row["cost_s"], 0.6e-3, rel_tol=1e-3)
        assert math.isclose(row["first_s"], 0.4e-3, rel_tol=1e-3)
        assert math.isclose(row["last_s"], 0.8e-3, rel_tol=1e-3)
    # large: 3 MB / 10 GB/s = 0.3 ms before, 7 MB / 5 GB/s = 1.4 ms after.
    assert found.reason == "busiest is a>b:local.0, 100 % busy; own bytes take 1.1 ms longer"
    assert odonata.explain(run, "large", against=base, blame=False).against is not None


def test_the_largest_change_of_bytes_may_be_a_decrease(tmp_path: Path) -> None:
    """Over 10 GB/s the own bytes take 0.3 ms instead of 0.7 ms, the other job's 0.1 ms longer."""
    base = one_link(tmp_path, "10 GB/s", {"small": 1, "large": 7})
    run = one_link(tmp_path, "10 GB/s", {"small": 2, "large": 3})
    assert reason(base, run, "large") == "busiest is a>b:local.0, 100 % busy; own bytes take 400 us shorter"
    back = reason(run, base, "large")
    assert back == "busiest is a>b:local.0, 100 % busy; own bytes take 400 us longer"


def test_costs_of_changes_sum_up() -> None:
    base, run = (odonata.run(MACHINE + JOBS, set=s) for s in ({}, SETS["edits"]))
    for job in ("all", "halo"):
        found = difference(run, base, job)
        assert found.blame is not None
        costs = math.fsum(found.blame["cost_s"].to_pylist())
        assert math.isclose(costs, found.time_s - found.time_s_base, rel_tol=1e-9, abs_tol=1e-15)
        assert "machine.edit fail link g0r0>g1r0:global.0" in found.blame["cause"].to_pylist()


def test_changes_that_need_each_other_are_one() -> None:
    """A job on more nodes than the smaller machine has: neither experiment between the two can be run."""
    small = {"machine.g": 4, "machine.edit": [], "job.halo.absent": True}
    base = odonata.run(MACHINE + JOBS, set=small)
    run = odonata.run(MACHINE + JOBS, set={"machine.edit": [], "machine.g": 9})
    found = difference(run, base, "all")
    assert found.blame is not None
    assert found.blame["cause"].to_pylist() == ["everything that changed"]
    assert math.isclose(found.blame["cost_s"][0].as_py(), found.time_s - found.time_s_base)


def test_keys_without_effect_are_named() -> None:
    base, run, other = (
        odonata.run(MACHINE + JOBS, set=s) for s in ({}, {"engine.path_sets": 30000}, SETS["bandwidth"])
    )
    assert no_effect(base, run) == ["engine.path_sets"]
    assert no_effect(base, other) == []
    assert reason(base, base, "all").startswith(("bottleneck is ", "busiest is "))
