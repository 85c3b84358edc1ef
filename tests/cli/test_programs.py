"""Jobs with programs, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
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
    assert result.returncode == 3, result.stderr
    assert "NOT COMPLETE: deadlock: ranks wait for each other" in result.stdout
    circle = "cyclic wait: rank {} of job 'a': send of 20000 B to rank {}, tag 0 at call 1, line 2"
    for rank in range(4):
        assert circle.format(rank, (rank + 1) % 4) in result.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["ending"], summary["convergence"]["converged"]) == ("deadlock", False)
    again = odonata_command("show", "run")
    assert again.returncode == 0, again.stderr


def test_a_call_that_cannot_be_is_named(odonata_command: Command, tmp_path: Path) -> None:
    text = "role 0:\n    send 1 100 B\nrole 1:\n    recv 0 99 B\n"
    (tmp_path / "long.program").write_text(text)
    write(tmp_path, '{ name = "file", path = "long.program" }', ranks=2)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 3, result.stderr
    assert "NOT COMPLETE: mismatch" in result.stdout
    reason = (
        "rank 1 of job 'a': can't continue at call 1, line 4: receives at most 99 B from rank 0 with tag 0"
    )
    assert f"{reason}, but the message has 100 B, sent at call 1, line 2 of rank 0" in result.stderr


def test_the_flow_engine_sees_the_same_messages(odonata_command: Command, tmp_path: Path) -> None:
    write(tmp_path, '{ name = "halo-3d", iterations = 2, bytes = "1 kB" }', ranks=12)
    found = {}
    for engine in ("flow", "packet"):
        result = odonata_command("run", "x.toml", "-o", engine, "--set", f"engine.kind={engine}")
        assert result.returncode == 0, result.stderr
        jobs = pq.read_table(tmp_path / engine / "jobs.parquet").to_pylist()
        found[engine] = [(job["ranks"], job["pattern"], job["messages"]) for job in jobs]
    # 3 x 2 x 2: 20 pairs of neighbours, both directions, twice; in the last barrier each rank sends at the
    # distances 1, 2, 4 and 8.
    assert found["flow"] == found["packet"] == [(12, "halo-3d", 2 * 2 * 20 + 12 * 4)]


def test_a_trace_runs_as_the_same_program_in_text(odonata_command: Command, tmp_path: Path) -> None:
    there, back = "(rank + 1) % ranks 40 kB tag 5", "(rank + 3) % ranks 40 kB tag 5"
    text = f"irecv {back}\nisend {there}\ncompute 2 us\nwaitall\nallreduce 800 B\n"
    (tmp_path / "ring.program").write_text(text)
    lines = [
        f"{rank} init\n{rank} irecv {(rank + 3) % 4} 5 5000 0\n{rank} isend {(rank + 1) % 4} 5 40000 2\n"
        f"{rank} compute 4e3\n{rank} waitall 2\n{rank} allreduce 100 0 0\n{rank} finalize\n"
        for rank in range(4)
    ]
    (tmp_path / "parts").mkdir()
    for rank, part in enumerate(lines):
        (tmp_path / "parts" / f"{rank}.txt").write_text(part)
    (tmp_path / "ring.trace").write_text("".join(f"parts/{rank}.txt\n" for rank in range(4)))
    (tmp_path / "whole.trace").write_text("".join(lines))
    found = []
    for name in ("ring.program", "ring.trace", "whole.trace"):
        more = ", flops_per_s = 2e9" if name.endswith("trace") else ""
        write(tmp_path, f'{{ name = "{"trace" if more else "file"}", path = "{name}"{more} }}')
        result = odonata_command("run", "x.toml", "-o", f"run-{name}")
        assert result.returncode == 0, result.stderr
        ranks = pq.read_table(tmp_path / f"run-{name}" / "ranks.parquet").to_pylist()
        found.append([{key: value for key, value in row.items() if key != "pattern"} for row in ranks])
    assert found[0] == found[1] == found[2]
    assert all(row["compute_ps"] == 2_000_000 for row in found[0])


def test_mistakes_are_placed(odonata_command: Command, tmp_path: Path) -> None:
    def complained(program: str, more: str = "") -> str:
        write(tmp_path, program, more=more)
        result = odonata_command("check", "x.toml")
        assert result.returncode == 2
        return result.stderr

    assert "did you mean 'halo-3d'?" in complained('"halo3d"')
    assert "3 x 3 makes 9 points, but the job has 4 ranks" in complained('{ name = "lu", dims = [3, 3] }')
    assert "did you mean 'eager_limit'?" in complained('"lu"', '[mpi]\neager_limt = "1 kB"\n')
    assert "'pairwise' does not support allreduce" in complained('"lu"', '[mpi]\nallreduce = "pairwise"\n')
    two = '[mpi]\nallreduce = [{ up_to = "1 kB", use = "ring" }]\n'
    assert "the last rule has a limit" in complained('"lu"', two)
    assert "has a program, so 'pattern' means nothing" in complained('"lu"\npattern = "uniform"')


def test_programs_that_cannot_be_are_refused_before_any_work(
    odonata_command: Command, tmp_path: Path
) -> None:
    """By every engine and by `check`, at the place of the program."""
    program = "barrier\nif rank == 3:\n    repeat 4 as i:\n        if i == 2:\n            send 2 + i 8 B\n"
    (tmp_path / "outside.program").write_text(program)
    write(tmp_path, '{ name = "file", path = "outside.program" }')
    call = "rank 3, call 2, line 5: send of 8 B to rank 4, tag 0"
    reason = f"job 'a': program 'file': {call}: communicator 0 has ranks 0 to 3"
    for arguments in (["check", "x.toml"], ["run", "x.toml", "-o", "run"]):
        for engine in ("packet", "flow", "model"):
            # The engines share few keys.
            text = (tmp_path / "x.toml").read_text().replace(ENGINE, f'[engine]\nkind = "{engine}"\n')
            (tmp_path / "x.toml").write_text(text)
            result = odonata_command(*arguments)
            assert result.returncode == 2, (arguments, engine, result.stderr)
            assert f"{reason}, but no 4" in " ".join(result.stderr.split()), result.stderr
            assert "x.toml:" in result.stderr
    assert not (tmp_path / "run").exists()


def test_check_finds_messages_without_partners(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "left.program").write_text("if rank == 0:\n    repeat 7 as i:\n        send 1 8 B tag i\n")
    write(tmp_path, '{ name = "file", path = "left.program" }')
    words = "1 send without a receive from rank 0 to rank 1, tag 4; and 2 more"
    checked = odonata_command("check", "x.toml")
    assert checked.returncode == 2
    assert words in " ".join(checked.stderr.split()), checked.stderr
    # Eager messages do no harm: a run goes on, and warns.
    ran = odonata_command("run", "x.toml", "-o", "run")
    assert ran.returncode == 0, ran.stderr
    assert words in " ".join(ran.stderr.split())
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["ending"] == "complete"


@pytest.mark.slow
def test_programs_in_turn_and_over_and_over(odonata_command: Command, tmp_path: Path) -> None:
    """8 messages of a halo, 4 of a ring, thrice; in the background once. Threads change nothing."""
    halo = '{ name = "halo-2d", iterations = 1, bytes = "1 kB", final_barrier = false }'
    ring = '{ name = "ring", iterations = 1, final_barrier = false }'
    behind = f'[[job]]\nname = "b"\nranks = 4\nranks_per_node = 1\nprogram = {ring}\nbackground = true\n'
    write(tmp_path, f"[{halo}, {ring}]\nrepeat = 3", more=behind)
    rows = {}
    for engine in ("flow", "model", "packet"):
        result = odonata_command("run", "x.toml", "-o", engine, "--set", f"engine.kind={engine}")
        assert result.returncode == 0, result.stderr
        jobs = pq.read_table(tmp_path / engine / "jobs.parquet").to_pylist()
        assert [job["pattern"] for job in jobs] == ["halo-2d+ring", "ring"]
        assert jobs[0]["messages"] == 3 * (8 + 4)
        rows[engine] = jobs
    assert rows["packet"][0]["repetitions"] == 3
    assert rows["flow"][1]["messages"] == rows["model"][1]["messages"] == 4
    # The engine with time counts what was sent, also in the last execution, which the end cuts off.
    repetitions = rows["packet"][1]["repetitions"]
    assert repetitions >= 3
    assert 4 * repetitions <= rows["packet"][1]["messages"] <= 4 * (repetitions + 1)
    for threads in ("2", "8"):
        odonata_command("run", "x.toml", "-o", f"t{threads}", "--threads", threads)
        for table in ("jobs", "ranks", "phases", "links"):
            assert pq.read_table(tmp_path / f"t{threads}" / f"{table}.parquet").equals(
                pq.read_table(tmp_path / "packet" / f"{table}.parquet")
            )
    # What was resolved is an experiment that gives the same.
    (tmp_path / "again.toml").write_text((tmp_path / "packet" / "resolved.toml").read_text())
    odonata_command("run", "again.toml", "-o", "again")
    assert pq.read_table(tmp_path / "again" / "jobs.parquet").to_pylist() == rows["packet"]
    changed = odonata_command("run", "x.toml", "-o", "more", "--set", "job.a.program.1.iterations=5")
    assert changed.returncode == 0, changed.stderr
    assert pq.read_table(tmp_path / "more" / "jobs.parquet").to_pylist()[0]["messages"] == 3 * (8 + 20)


def test_mistakes_in_time_are_placed(odonata_command: Command, tmp_path: Path) -> None:
    def complained(program: str, more: str = "") -> str:
        write(tmp_path, program, more=more)
        result = odonata_command("check", "x.toml")
        assert result.returncode == 2, result.stdout
        return " ".join(result.stderr.split())

    assert "runs until the other jobs have ended, but there is none that ends" in complained(
        '"ring"\nbackground = true'
    )
    other = '[[job]]\nname = "b"\nranks = 2\nranks_per_node = 1\n'
    both = complained('"ring"\nbackground = true\nrepeat = 2', f'{other}program = "ring"\n')
    assert "over and over, so 'repeat' means nothing" in both
    assert "job 'b' has no program, so 'repeat' means nothing" in complained(
        '"ring"', f'{other}pattern = "uniform"\nrepeat = 2\n'
    )
    assert "'program' is an empty list" in complained("[]")
    assert "did you mean 'ring'?" in complained('["lu", "rin"]')
    assert "'repeat'" in complained('"ring"\nrepeat = 0')
    # The first round leaves a communicator and a request behind.
    for left, reason in (
        ("create all first 0 count ranks\nbarrier on all\n", "communicator 1 already exists"),
        (
            "requests r[1]\nirecv any 8 B as r[0]\nsend (rank + 1) % ranks 8 B\n",
            "request 0 has not been waited for",
        ),
    ):
        (tmp_path / "left.program").write_text(left)
        program = '{ name = "file", path = "left.program", final_barrier = false }'
        assert reason in complained(f"{program}\nrepeat = 2")
        write(tmp_path, program)
        assert odonata_command("check", "x.toml").returncode == 0


def test_messages_and_waits_do_not_depend_on_threads(odonata_command: Command, tmp_path: Path) -> None:
    """Two jobs on the same groups, rendezvous and eager messages: the same bytes on disk."""
    job = '[[job]]\nname = "{}"\nranks = 36\nranks_per_node = 1\nprogram = {}\nplacement = "random-nodes"\n'
    halo = job.format("halo", '{ name = "halo-2d", bytes = "20 kB", iterations = 3 }')
    uniform = job.format("uniform", '{ name = "uniform-random", iterations = 20 }')
    records = "record_messages = true\nrecord_job_waits = true\n"
    (tmp_path / "x.toml").write_text(f"{MACHINE}{halo}{uniform}{ENGINE}{records}")
    found = []
    for threads in (1, 2, 8):
        result = odonata_command("run", "x.toml", "-o", f"with-{threads}", "--threads", threads)
        assert result.returncode == 0, result.stderr
        folder = tmp_path / f"with-{threads}"
        found.append([(folder / f"{name}.parquet").read_bytes() for name in ("messages", "job_waits")])
    assert found[0] == found[1] == found[2]
    run = tmp_path / "with-1"
    waits = pq.read_table(run / "job_waits.parquet").to_pandas()
    assert set(zip(waits["job"], waits["blocking_job"], strict=True)) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    messages = pq.read_table(run / "messages.parquet").to_pandas()
    ranks = pq.read_table(run / "ranks.parquet").to_pandas()
    assert len(messages) == ranks["messages"].sum()
    assert messages["bytes"].sum() == ranks["received_bytes"].sum()


def test_waiting_ranks_are_named_despite_background_traffic(odonata_command: Command, tmp_path: Path) -> None:
    """In the background a ring, or open traffic: the circle is found in time, not at the limit of 10 ms."""
    (tmp_path / "circle.program").write_text("send (rank + 1) % ranks 20 kB\nrecv (rank + 3) % ranks 20 kB\n")
    other = '[[job]]\nname = "b"\nranks = 4\nranks_per_node = 1\n'
    for background in (
        'program = "ring"\nbackground = true\n',
        'pattern = "uniform"\ntraffic = { name = "open", load = 0.2 }\n',
    ):
        write(tmp_path, '{ name = "file", path = "circle.program" }', more=other + background)
        result = odonata_command("run", "x.toml", "-o", "run", "--force")
        assert result.returncode == 3, result.stderr
        assert (
            "cyclic wait: rank 0 of job 'a': send of 20000 B to rank 1, tag 0 at call 1, line 1"
            in result.stderr
        )
        summary = json.loads((tmp_path / "run" / "summary.json").read_text())
        assert summary["ending"] == "deadlock"
        assert summary["packet"]["end_ps"] <= 3_000_000
        assert "job 'b'" not in result.stderr
