"""Output of a run with many jobs fits a screen."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from running import Command

SECONDS_MAX = 10.0
"""Processor seconds of a check, and of a run, of 10,000 jobs."""


def children_s() -> float:
    """Processor seconds of the processes that this one started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
JOB = (
    '[[job]]\nname = "j{0}"\nranks = 2\nranks_per_node = 1\n'
    'pattern = {{ name = "all-to-all", bytes = "{1} kB" }}\n'
)


def test_the_slowest_of_many_jobs_are_listed(odonata_command: Command, tmp_path: Path) -> None:
    """Job k has k + 1 times the bytes of the first, so the last is the slowest."""
    jobs = "".join(JOB.format(k, 100 * (k + 1)) for k in range(30))
    (tmp_path / "x.toml").write_text(f'{MACHINE}{jobs}[engine]\nkind = "flow"\nrouting = "min"\n')
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0, result.stderr
    for command in ("show", "explain"):
        short = odonata_command(command, "run").stdout
        assert f"The slowest 20 jobs; 10 more: odonata {command} --details" in short
        assert {"j29", "j10"} <= set(short.split())
        assert "j9" not in short.split()
        every = odonata_command(command, "run", "--details").stdout
        assert "--details" not in every
        assert {f"j{k}" for k in range(30)} <= set(every.split())


def test_check_lists_the_jobs_with_the_most_bytes(odonata_command: Command, tmp_path: Path) -> None:
    jobs = "".join(JOB.format(k, 100 * (k + 1)) for k in range(30))
    (tmp_path / "x.toml").write_text(f'{MACHINE}{jobs}[engine]\nkind = "flow"\nrouting = "min"\n')
    short = odonata_command("check", "x.toml").stdout
    assert "The 20 jobs with the most bytes; 10 more: odonata check --details" in short
    assert {"j29", "j10"} <= set(short.split())
    assert "j9" not in short.split()
    every = odonata_command("check", "x.toml", "--details").stdout
    assert "--details" not in every
    assert {f"j{k}" for k in range(30)} <= set(every.split())


@pytest.mark.slow
def test_ten_thousand_jobs_are_checked_and_run_in_seconds(odonata_command: Command, tmp_path: Path) -> None:
    """Work that grows with the square of the number of jobs would take minutes."""
    machine = MACHINE.replace("p = 2\na = 4\nh = 2\ng = 9", "p = 40\na = 20\nh = 10\ng = 33")
    text = machine + "".join(JOB.format(k, 100) for k in range(10_000))
    (tmp_path / "x.toml").write_text(f'{text}[engine]\nkind = "flow"\nrouting = "min"\n')
    for arguments in (["check", "x.toml"], ["run", "x.toml", "-o", "run", "--threads", "1"]):
        before = children_s()
        result = odonata_command(*arguments)
        assert result.returncode == 0, result.stderr
        assert children_s() - before < SECONDS_MAX, arguments[0]


def test_the_job_that_does_not_fit_is_found(odonata_command: Command, tmp_path: Path) -> None:
    """36 jobs of 2 nodes fill the 72 nodes; the 37th is named, on its own line."""
    text = MACHINE + "".join(JOB.format(k, 100) for k in range(50))
    (tmp_path / "x.toml").write_text(text)
    result = odonata_command("check", "x.toml")
    assert result.returncode == 2
    assert "job 'j36' needs 2 nodes" in result.stderr
    line = text.splitlines().index('name = "j36"') + 2
    assert f"x.toml:{line}:" in result.stderr


def test_sets_of_jobs_have_a_limit(odonata_command: Command, tmp_path: Path) -> None:
    """A sweep of each of many jobs alone says of all others that they are idle."""
    text = MACHINE + "".join(JOB.format(k, 100) for k in range(2_001))
    (tmp_path / "x.toml").write_text(f'{text}[interference]\npairs = "alone"\nothers = "absent"\n')
    result = odonata_command("check", "x.toml")
    assert result.returncode == 2
    assert "2001 sets of jobs from 2001 jobs" in result.stderr
    assert "name fewer 'targets'" in result.stderr
