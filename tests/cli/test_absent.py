"""What was not measured is missing, never 0: in tables, in the terminal and in comparisons."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import Command

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\ncores_per_node = 8\n'
INSIDE = '[[job]]\nname = "inside"\nranks = 8\nranks_per_node = 8\n'
ALL_TO_ALL = 'program = { name = "all-to-all", bytes = "64 KiB" }\n'
PATTERN = 'pattern = { name = "all-to-all", bytes = "64 KiB" }\n'
ACROSS = '[[job]]\nname = "across"\nranks = 16\nranks_per_node = 1\n' + PATTERN


def jobs(
    odonata_command: Command, tmp_path: Path, text: str, *arguments: str
) -> dict[str, dict[str, object]]:
    (tmp_path / "x.toml").write_text(text)
    made = odonata_command("run", "x.toml", "-o", "run", "--force", *arguments)
    assert made.returncode == 0, made.stderr
    return {row["name"]: row for row in pq.read_table(tmp_path / "run" / "jobs.parquet").to_pylist()}


def test_a_program_inside_one_node_has_a_time(odonata_command: Command, tmp_path: Path) -> None:
    """It ends with its last rank, although no packet crosses the network; packets have no latency."""
    found = jobs(odonata_command, tmp_path, MACHINE + INSIDE + ALL_TO_ALL + '[engine]\nkind = "packet"\n')
    ends = pq.read_table(tmp_path / "run" / "ranks.parquet")["end_ps"].to_pylist()
    assert found["inside"]["completion_time_s"] == pytest.approx(max(ends) / 1e12)
    assert found["inside"]["latency_max_ns"] is None
    assert found["inside"]["latency_mean_ns"] is None


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_jobs_that_send_nothing_have_no_time(engine: str, odonata_command: Command, tmp_path: Path) -> None:
    """An idle job and a pattern inside one node; neither pulls down a mean."""
    idle = '[[job]]\nname = "idle"\nranks = 4\nidle = true\n' + PATTERN
    text = MACHINE + ACROSS + idle + INSIDE + PATTERN + f'[engine]\nkind = "{engine}"\n'
    found = jobs(odonata_command, tmp_path, text)
    assert found["idle"]["completion_time_s"] is None
    assert found["inside"]["completion_time_s"] is None
    assert found["across"]["completion_time_s"] > 0


def test_links_are_not_compared_with_a_run_that_routes_nothing(
    odonata_command: Command, tmp_path: Path
) -> None:
    """The model engine has no traffic of links, so flow does not lose 100 % of it."""
    (tmp_path / "x.toml").write_text(MACHINE + ACROSS + '[engine]\nkind = "flow"\n')
    assert odonata_command("run", "x.toml", "-o", "flow").returncode == 0
    assert odonata_command("run", "x.toml", "-o", "model", "--set", "engine.kind=model").returncode == 0
    for pair in (("flow", "model"), ("model", "flow")):
        shown = odonata_command("compare", *pair).stdout
        assert "model routes nothing, so the traffic of links is not compared." in shown
        assert "100.0 %" not in shown
        data = json.loads(odonata_command("compare", *pair, "--json").stdout)["comparisons"][0]
        assert (data["classes"], data["jobs"], data["links"]) == ([], [], None)
        assert len(data["times"]) == 1


def test_small_values_have_their_own_unit(odonata_command: Command, tmp_path: Path) -> None:
    """The start-up term of 1,000 ns is not shown as 0.001 ms next to a time of milliseconds."""
    text = MACHINE + ACROSS.replace("64 KiB", "64 MiB") + '[engine]\nkind = "model"\n'
    jobs(odonata_command, tmp_path, text)
    heads = odonata_command("show", "run").stdout
    assert "start-up, us" in heads
    assert "bandwidth, ms" in heads
