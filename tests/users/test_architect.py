"""An architect: what do half of the global cables of a machine like Frontier cost two jobs?"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from running import Command

DESIGN = """
[machine]
preset = "frontier-like"
class.global = { price = 900 }
class.local = { price = 100 }

[[job]]
name = "cfd"
pattern = "stencil-3d"
ranks = 1728
ranks_per_node = 1
placement = "random-groups"

[[job]]
name = "fft"
pattern = "many-to-many"
ranks = 1024
ranks_per_node = 1
placement = "random-nodes"

[engine]
kind = "flow"
routing = "adaptive-hybrid"

[sweep]
"machine.edit" = [[], ["-50% global"]]
"engine.seed" = [1, 2, 3]

[optimize]
objectives = ["slowest job", "price"]
"""


@pytest.mark.slow
def test_what_half_of_the_global_cables_costs(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(DESIGN)

    def said(*words: str) -> str:
        done = odonata_command(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # One line: half of the global cables are missing and nothing else, and all nodes still reach each other.
    before, after = (
        json.loads(said("machine", "design.toml", "--json", *edit)) for edit in ([], ["-e", "-50% global"])
    )
    cables = [{of["class"]: of["cables"] for of in machine["classes"]} for machine in (before, after)]
    gone = cables[0]["global"] - cables[1]["global"]
    assert 2 * gone == cables[0]["global"]
    assert cables[1]["local"] == cables[0]["local"]
    assert all(check["holds"] for check in after["checks"])

    # Three seeds, paired: both jobs are slower in each of them.
    table = said("sweep", "design.toml", "-o", "sweep")
    slower = {line.split(":")[0] for line in table.splitlines() if ": time" in line and "0 of 3" in line}
    assert slower == {"cfd", "fft"}
    times = pd.read_parquet(tmp_path / "sweep/jobs.parquet")
    whole, half = (
        of.set_index(["engine.seed", "name"])["completion_time_s"] for _, of in times.groupby("machine.edit")
    )
    assert len(whole) == 6
    assert ((half - whole).abs() > 0.05 * whole).all(), "no effect of noise alone"

    # Both cablings are on the front of time and price, and the price is the price of the cables.
    said("optimize", "design.toml", "-o", "best", "--set", "sweep.'engine.seed'=[1]")
    trials = pd.read_parquet(tmp_path / "best/trials.parquet")
    assert trials["front"].all()
    assert trials["price"].max() - trials["price"].min() == 900 * gone

    # Link by link: remaining links pair with old ones, and the answer names the bottleneck.
    whole_run, *_, half_run = sorted((tmp_path / "sweep/points").iterdir())
    words = said("compare", str(whole_run), str(half_run))
    left = 2 * sum(cables[1].values())
    assert f"{left:,} links in both runs" in words
    assert f"{2 * gone:,} links only in the first run, 0 only in the other" in words
    assert "fft +" in words
    assert ":global." in words
