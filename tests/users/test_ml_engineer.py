"""An ML engineer: do the eight NICs of my servers belong on one leaf switch, or on eight?"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from running import Command

import odonata

CLUSTER = """
[machine]
topology = "xgft"
children = [16, 2]
parents = [1, 16]
planes = 8
rail_rule = "affinity"
cores_per_node = 8
class.terminal = { bandwidth = "400 Gb/s" }
class.local = { bandwidth = "400 Gb/s" }
"""

REST = """
[mpi]
allreduce = "ring"

[engine]
kind = "packet"
routing = "up-down"
packet = "4 KiB"
input_buffer = "64 KiB"
output_buffer = "64 KiB"
"""

TRAIN = f"""{CLUSTER}
[[job]]
name = "train"
ranks = 128
ranks_per_node = 8

[job.program]
name = "allreduce"
bytes = "16 MiB"
compute = "1 ms"
iterations = 1
slices = 8
final_barrier = false
{REST}
[sweep.network]
rail-optimised = {{ "machine.planes" = 8 }}

[sweep.network.one-leaf]
"machine.planes" = 1
"machine.rails" = 8
"machine.children" = [4, 8]
"machine.parents" = [1, 32]
"""

STEP = f"""{CLUSTER}
[[job]]
name = "step"
ranks = "trace"
ranks_per_node = 8
program = {{ name = "trace", path = "traces/step.0.et" }}
{REST}
"""


@pytest.mark.slow
def test_rails_keep_gradients_away_from_the_spines(odonata_command: Command, tmp_path: Path) -> None:
    """Tensor parallel in a server, data parallel between servers: a ring for each GPU of a server."""
    (tmp_path / "train.toml").write_text(TRAIN)
    done = odonata_command("sweep", "train.toml", "-o", "networks", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Best: network=rail-optimised" in done.stdout
    jobs = pd.read_parquet(tmp_path / "networks/jobs.parquet").set_index("network")
    points = {name: odonata.load(tmp_path / f"networks/points/network={name}") for name in jobs.index}

    # A ring of 16 sends 2 x 15/16 of 16 MiB over a NIC of 50 GB/s, after 1 ms of computation. Each of its
    # 30 steps has a few microseconds of latency.
    bound = 1e-3 + 2 * 15 / 16 * 2**24 / 50e9
    assert bound <= jobs.loc["rail-optimised", "completion_time_s"] <= bound + 30 * 5e-6
    assert sum(points["rail-optimised"].links["bytes"].to_pylist()) == 0

    # With four servers on each leaf, 4 of 16 hops of each of 8 rings go up to a spine and down again, each
    # with 30 parts of 1 MiB; headers of messages add less than 1 %.
    crossing = sum(points["one-leaf"].links["bytes"].to_pylist())
    assert crossing == pytest.approx(2 * 8 * 4 * 30 * 2**20, rel=0.01)
    assert jobs.loc["one-leaf", "completion_time_s"] > jobs.loc["rail-optimised", "completion_time_s"]


def test_a_recorded_step_of_training_runs_on_the_cluster(odonata_command: Command, tmp_path: Path) -> None:
    """Chakra traces of 16 ranks on two servers."""
    assert odonata_command("examples", "traces", cwd=tmp_path).returncode == 0
    shown = json.loads(odonata_command("trace", "show", "traces/step.0.et", "--json", cwd=tmp_path).stdout)
    assert (shown["format"], shown["ranks"]) == ("chakra", 16)

    (tmp_path / "step.toml").write_text(STEP)
    done = odonata_command("run", "step.toml", "-o", "step", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [job] = odonata.load(tmp_path / "step").jobs.to_pylist()
    # The trace has 1.2 ms of computation, and four reductions of 4 MiB overlap with most of it.
    assert job["nodes"] == 2
    assert job["completion_time_s"] > 1.2e-3

    # Without the network, the step takes the time of its dependencies: less.
    ideal = odonata_command(
        "run", "step.toml", "--set", "engine={kind='loggops'}", "-o", "ideal", cwd=tmp_path
    )
    assert ideal.returncode == 0, ideal.stderr
    [alone] = odonata.load(tmp_path / "ideal").jobs.to_pylist()
    assert alone["bytes"] == job["bytes"]
    assert alone["completion_time_s"] > 1.2e-3
