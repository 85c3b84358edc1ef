"""Sweeps whose differences depend on another key, on a cable where everything is known by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from running import Command

from odonata import Sweep

SWEEP = """
[machine]
file = "cables.csv"
[machine.class.terminal]
bandwidth = "100 GB/s"
[[job]]
name = "small"
ranks = 2
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "1 MB" }
placement = { name = "list", nodes = [0, 2] }
[[job]]
name = "large"
ranks = 2
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "3 MB" }
placement = { name = "list", nodes = [1, 3] }
[engine]
kind = "flow"
routing = "min"
[sweep]
"machine.class.local.bandwidth" = ["10 GB/s", "5 GB/s"]
"job.large.idle" = [true, false]
"engine.seed" = [1, 2]
"""


@pytest.mark.slow
def test_differences_stand_apart_where_they_depend_on_a_key(odonata_command: Command, tmp_path: Path) -> None:
    """Half the bandwidth costs small 0.1 ms alone (1 MB), 0.2 ms with large, which has half of the link."""
    (tmp_path / "cables.csv").write_text("src,dst,src_nodes,dst_nodes\na,b,2,2\n")
    (tmp_path / "x.toml").write_text(SWEEP)
    made = odonata_command("sweep", "x.toml", "-o", "s")
    assert made.returncode == 0, made.stderr
    sweep = Sweep.load(tmp_path / "s")
    key = "machine.class.local.bandwidth"
    rows = sweep.strata(key, "5 GB/s", value="job_time_s", job="small").to_pylist()
    assert [row["job.large.idle"] for row in rows] == [True, False]
    for row, expected in zip(rows, (0.1e-3, 0.2e-3), strict=True):
        assert math.isclose(row["difference"], expected, rel_tol=1e-3)
        assert (row["pairs"], row["lower"]) == (2, 0)
    (found,) = sweep.interactions(
        key, "5 GB/s", "job.large.idle", value="job_time_s", job="small"
    ).to_pylist()
    assert math.isclose(found["interaction"], 0.1e-3, rel_tol=1e-3)
    # Bytes on the link are the same whatever its bandwidth: one row for all.
    assert sweep.strata(key, "5 GB/s", value="bytes_max").num_rows == 1
    assert "idle = true" in made.stdout
    assert "idle = false" in made.stdout
    assert "The difference depends on another key" in made.stdout


@pytest.mark.slow
def test_a_key_that_changes_nothing_is_named(odonata_command: Command, tmp_path: Path) -> None:
    """Static routing has no dice and needs no iterations; the bandwidth is another matter."""
    (tmp_path / "cables.csv").write_text("src,dst,src_nodes,dst_nodes\na,b,2,2\n")
    (tmp_path / "x.toml").write_text(SWEEP)
    result = odonata_command("sweep", "x.toml", "-o", "out")
    assert result.returncode == 0, result.stderr
    assert "engine.seed has no effect" in result.stdout
    assert "bandwidth has no effect" not in result.stdout
    assert Sweep.load(tmp_path / "out").without_effect() == ["engine.seed"]
