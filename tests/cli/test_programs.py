"""Jobs with programs, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from running import Command

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
ENGINE = '[engine]\nkind = "packet"\nrouting = "min"\n'


def write(folder: Path, program: str, ranks: int = 4, more: str = "") -> None:
    """An experiment with one job that has this program."""
    job = f'[[job]]\nname = "a"\nranks = {ranks}\nranks_per_node = 1\nprogram = {program}\n'
    (folder / "x.toml").write_text(f"{MACHINE}{job}{more}{ENGINE}")


def test_ranks_that_wait_for_each_other_are_named(odonata_command: Command, tmp_path: Path) -> None:
    text = "role 0..3:\n    send (rank + 1) % ranks 20000 B\n    recv (rank + 3) % ranks 20000 B\n"
    (tmp_path / "circle.program").write_text(text)
    write(tmp_path, '{ name = "file", path = "circle.program" }')
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0, result.stderr
    assert "DEADLOCK: ranks wait for each other" in result.stdout
    circle = "in a circle, rank {} of job 'a': send of 20000 B to rank {}, tag 0 at call 1, line 2"
    for rank in range(4):
        assert circle.format(rank, (rank + 1) % 4) in result.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["convergence"]["ending"], summary["convergence"]["converged"]) == ("deadlock", False)
    again = odonata_command("show", "run")
    assert again.returncode == 0, again.stderr


def test_a_call_that_cannot_be_is_named(odonata_command: Command, tmp_path: Path) -> None:
    text = "role 0:\n    send 1 100 B\nrole 1:\n    recv 0 99 B\n"
    (tmp_path / "long.program").write_text(text)
    write(tmp_path, '{ name = "file", path = "long.program" }', ranks=2)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0, result.stderr
    reason = "rank 1 of job 'a': can't go on at call 1, line 4: receives at most 99 B from rank 0 with tag 0"
    assert f"{reason}, but the message has 100 B" in result.stderr


def test_the_flow_engine_sees_the_same_messages(odonata_command: Command, tmp_path: Path) -> None:
    write(tmp_path, '{ name = "halo-3d", iterations = 2, bytes = "1 kB" }', ranks=12)
    found = {}
    for engine in ("flow", "packet"):
        result = odonata_command("run", "x.toml", "-o", engine, "--set", f"engine.kind={engine}")
        assert result.returncode == 0, result.stderr
        jobs = pq.read_table(tmp_path / engine / "jobs.parquet").to_pylist()
        found[engine] = [(job["ranks"], job["pattern"], job["messages"]) for job in jobs]
    # 3 x 2 x 2: 20 pairs of neighbours, both ways, twice; the last barrier has 2 x 11 messages.
    assert found["flow"] == found["packet"] == [(12, "halo-3d", 2 * 2 * 20 + 22)]


def test_mistakes_are_placed(odonata_command: Command, tmp_path: Path) -> None:
    def complained(program: str, more: str = "") -> str:
        write(tmp_path, program, more=more)
        result = odonata_command("check", "x.toml")
        assert result.returncode == 2
        return result.stderr

    assert "did you mean 'halo-3d'?" in complained('"halo3d"')
    assert "3 x 3 makes 9 points, but the job has 4 ranks" in complained('{ name = "lu", dims = [3, 3] }')
    assert "did you mean 'eager_limit'?" in complained('"lu"', '[mpi]\neager_limt = "1 kB"\n')
    assert "'pairwise' does no allreduce" in complained('"lu"', '[mpi]\nallreduce = "pairwise"\n')
    two = '[mpi]\nallreduce = [{ up_to = "1 kB", use = "ring" }]\n'
    assert "the last rule has a limit" in complained('"lu"', two)
    assert "has a program, so 'pattern' means nothing" in complained('"lu"\npattern = "uniform"')
