"""A routing researcher: load curves of routings, and whether one reduces interference of jobs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from running import Command

import odonata

ROOT = Path(__file__).parents[2]

CURVES = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[[job]]
name = "mine"
pattern = "adversarial"
ranks = 72
ranks_per_node = 1
traffic = { name = "open", load = 0.1 }

[engine]
kind = "packet"
routing = "min"
warm_up = "10 us"
measure = "10 us"
drain = "10 us"

[sweep]
"engine.routing" = ["min", "ugal-n", "piggyback"]
"job.*.traffic.load" = [0.05, 0.1, 0.2, 0.3]
"""

INTERFERENCE = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[[job]]
name = "victim"
pattern = "uniform"
ranks = 24
ranks_per_node = 1
placement = "random-nodes"
traffic = { name = "open", load = 0.25 }

[[job]]
name = "noise"
pattern = "adversarial"
ranks = 48
ranks_per_node = 1
placement = "random-nodes"
traffic = { name = "open", load = 0.25 }

[engine]
kind = "packet"
warm_up = "20 us"
measure = "20 us"

[sweep]
"engine.routing" = ["min", "ugal-g"]
"job.noise.idle" = [true, false]
"engine.seed" = [1, 2, 3]
"""


@pytest.mark.slow
def test_load_curves_bend_where_the_closed_form_says(odonata_command: Command, tmp_path: Path) -> None:
    """ADV+1 under `min` saturates at 1/(a p) = 0.125 of the nodes' bandwidth; `ugal-n` carries 0.2.

    So does `piggyback`, whose routers notify each other of congested cables, and at 0.3 it is faster.
    """
    (tmp_path / "curves.toml").write_text(CURVES)
    done = odonata_command("sweep", "curves.toml", "-o", "curves", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    jobs = pd.read_parquet(tmp_path / "curves/jobs.parquet")
    accepted = jobs.pivot_table(index="job.*.traffic.load", columns="engine.routing", values="accepted_load")
    assert (abs(accepted.loc[[0.05, 0.1]].sub([0.05, 0.1], axis=0)) < 0.01).all().all()
    assert abs(accepted.loc[0.3, "min"] - 0.125) < 0.01
    assert (accepted.loc[0.2, ["ugal-n", "piggyback"]] > 0.19).all()
    latency = jobs.pivot_table(
        index="job.*.traffic.load", columns="engine.routing", values="latency_mean_ns"
    ).loc[0.3]
    assert latency["piggyback"] < 0.85 * latency["ugal-n"]
    drawn = odonata_command("plot", "curves", "-k", "load_curve", "-o", "curves.png", cwd=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "curves.png").stat().st_size > 10_000


@pytest.mark.slow
def test_a_verdict_on_interference(odonata_command: Command, tmp_path: Path) -> None:
    """What the noise adds to the victim's latency, per routing, and the difference of these differences."""
    (tmp_path / "shared.toml").write_text(INTERFERENCE)
    done = odonata_command("sweep", "shared.toml", "-o", "shared", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sweep = odonata.Sweep.load(tmp_path / "shared")
    jobs = sweep.jobs.to_pandas()
    victim = jobs[jobs["name"] == "victim"].set_index(["engine.routing", "job.noise.idle", "engine.seed"])
    latency = victim["latency_mean_ns"]
    added = latency.xs(False, level="job.noise.idle") - latency.xs(True, level="job.noise.idle")
    assert (added["min"] > added["ugal-g"]).all(), "in each placement"
    # The table has both routings apart: their mean would hide that UGAL is slower without noise.
    rows = [line for line in done.stdout.splitlines() if "routing = " in line or "idle = " in line]
    assert any("victim: mean latency" in row and "routing = min" in row for row in rows)
    assert any("routing = ugal-g" in row for row in rows)


@pytest.mark.long
def test_the_routing_of_the_page_works_as_it_stands_there(tmp_path: Path) -> None:
    """The file of "adding an algorithm" and its two lines, in a copy of the sources: built, run, checked."""
    page = (ROOT / "docs/models/routing/README.md").read_text()
    line, whole = re.findall(
        r"```rust,ignore\n(.*?)```", page[page.index("## Adding an algorithm") :], re.DOTALL
    )[:2]
    copy = tmp_path / "odonata"
    kept = shutil.ignore_patterns("target", ".venv", "node_modules", ".git", "build", "runs", "dist")
    shutil.copytree(ROOT, copy, ignore=kept)
    folder = copy / "crates/routing/src"
    (folder / "algorithm/alternate.rs").write_text(whole)
    listed = (folder / "algorithm.rs").read_text()
    listed = re.sub(
        r"^pub mod dimension_order;",
        "pub mod alternate;\npub mod dimension_order;",
        listed,
        flags=re.MULTILINE,
    )
    listed = re.sub(r"(ALGORITHMS: &\[[^=]*= &\[\n)", rf"\1    {line}", listed)
    assert "alternate::ALTERNATE" in listed
    (folder / "algorithm.rs").write_text(listed)
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(tmp_path / "target"),
        "VIRTUAL_ENV": str(tmp_path / "venv"),
    }
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv"], check=True)
    build = [sys.executable, "-m", "maturin", "build", "--out", tmp_path / "dist"]
    subprocess.run(build, cwd=copy, env=environment, check=True, timeout=1800)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    (tmp_path / "own.toml").write_text(CURVES.replace('"min", "ugal-n"', '"min", "alternate"'))
    environment["PYTHONPATH"] = str(tmp_path / "site")
    sweep = [sys.executable, "-m", "odonata", "sweep", "own.toml", "-o", "own"]
    subprocess.run(sweep, cwd=tmp_path, env=environment, check=True, timeout=600)
    jobs = pd.read_parquet(tmp_path / "own/jobs.parquet").set_index(["engine.routing", "job.*.traffic.load"])
    # Half of the destinations over third groups: 1/(2 a p) less on the cable that all want.
    assert jobs.loc[("alternate", 0.2), "accepted_load"] > jobs.loc[("min", 0.2), "accepted_load"]
