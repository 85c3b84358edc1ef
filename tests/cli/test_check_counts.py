"""`odonata check` counts messages by formula: it walks over none of them, whatever their number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Command

MACHINE = '[machine]\ntopology = "dragonfly"\n'


def check(command: Command, folder: Path, job: str, engine: str = "flow") -> dict[str, Any]:
    """What the command says of the only job, in an address space that a walk would fill."""
    (folder / "x.toml").write_text(f'{MACHINE}[[job]]\n{job}\n[engine]\nkind = "{engine}"\n')
    result = command("check", "x.toml", "--json")
    assert result.returncode == 0, result.stderr
    jobs: list[dict[str, Any]] = json.loads(result.stdout)["jobs"]
    return jobs[0]


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_iterations_multiply(odonata_command: Command, tmp_path: Path, engine: str) -> None:
    # Rabenseifner's allreduce has 2 log2 8 messages per rank, the barrier at the end log2 8.
    program = 'ranks = 8\nranks_per_node = 1\nprogram = { name = "allreduce", iterations = 2000000000 }'
    job = check(odonata_command, tmp_path, program, engine)
    assert (job["messages"], job["is_estimate"]) == (48 * 2_000_000_000 + 24, False)


def test_many_draws_are_not_drawn(odonata_command: Command, tmp_path: Path) -> None:
    pattern = 'ranks = 1000\nranks_per_node = 1\npattern = { name = "uniform", messages = 16777216 }'
    assert check(odonata_command, tmp_path, pattern)["messages"] == 1000 * 16777216


def test_drawn_numbers_are_printed_with_about(odonata_command: Command, tmp_path: Path) -> None:
    pattern = 'ranks = 1000\nranks_per_node = 1\npattern = { name = "spread" }'
    job = check(odonata_command, tmp_path, pattern)
    # 6 to 27 neighbours each: 16.5 on average.
    assert (job["messages"], job["is_estimate"]) == (16_500, True)
    result = odonata_command("check", "x.toml", COLUMNS="200")
    assert "about 16,500" in result.stdout
    # The run has the number that was drawn.
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0


def test_bytes_beyond_all_sums_are_refused_by_both(odonata_command: Command, tmp_path: Path) -> None:
    pattern = 'pattern = { name = "shift", bytes = "9223372036854775807 B" }'
    job = f"[[job]]\nranks = 4\nranks_per_node = 1\n{pattern}\n"
    (tmp_path / "x.toml").write_text(f'{MACHINE}{job}[engine]\nkind = "flow"\n')
    for command in (["check", "x.toml"], ["run", "x.toml", "-o", "run"]):
        result = odonata_command(*command)
        assert result.returncode == 2, (command, result.stdout, result.stderr)


def test_an_all_to_all_without_memory_is_refused_at_once(odonata_command: Command, tmp_path: Path) -> None:
    job = '[[job]]\nranks = 22000\nranks_per_node = 1\npattern = "all-to-all"\n'
    (tmp_path / "x.toml").write_text(f'[machine]\npreset = "cascade-241"\n{job}[engine]\nkind = "flow"\n')
    result = odonata_command("check", "x.toml")
    # 484 million pairs of nodes take about 46 GB, which few machines have.
    assert result.returncode in (0, 2), result.stderr
