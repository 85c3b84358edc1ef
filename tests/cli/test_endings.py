"""How a run ended: its word, the unfinished ranks, the cause, and the exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from running import Command

import odonata
from odonata.store.schema import ENDINGS

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
ENGINE = '[engine]\nkind = "packet"\nrouting = "min"\n'
SELF = "send rank 64 KiB tag 1\nrecv rank 64 KiB tag 1\n"


def job(name: str, program: str, ranks: int, skip: int = 0, more: str = "") -> str:
    place = f'placement = {{ name = "random-order", order = 2, skip = {skip} }}\n'
    return (
        f'[[job]]\nname = "{name}"\nranks = {ranks}\nranks_per_node = 1\n{place}program = {program}\n{more}'
    )


def write(folder: Path, program: str, ranks: int = 4, more: str = "") -> None:
    """An experiment with one job that has this program."""
    (folder / "a.program").write_text(program)
    file = '{ name = "file", path = "a.program" }'
    (folder / "x.toml").write_text(f"{MACHINE}{job('a', file, ranks)}{ENGINE}{more}")


def summary_of(directory: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((directory / "summary.json").read_text())
    return loaded


OTHERS = "role others:\n    compute 1 us\n"
LONGER = """role 0:
    send 1 64 KiB tag 1
role 1:
    recv any 32 KiB tag 1
"""
LONGER_POSTED = """role 0:
    compute 9 us
    send 1 8 B
    send 1 9 B tag 7
role 1:
    irecv 0 8 B tag 7
    recv 0 8 B
    waitall
"""
TRUNCATED = (
    "rank 1 of job 'a': can't continue at call 1, line 4: receives at most 32768 B from rank 0 with tag 1, "
    "but the message has 65536 B, sent at call 1, line 2 of rank 0"
)
TRUNCATED_POSTED = (
    "receives at most 8 B from rank 0 with tag 7 (call 1, line 6), but the message has 9 B, sent at call 3, "
    "line 4 of rank 0"
)
NOBODY = f"role 0:\n    recv any 8 B tag any\n{OTHERS}"
CASES = {
    "itself": (SELF, "deadlock", 4, "waits for itself: rank 0 of job 'a': send of 65536 B to rank 0"),
    "nobody": (NOBODY, "deadlock", 4, "no rank sends: rank 0 of job 'a': recv"),
    "longer": (LONGER + OTHERS, "mismatch", 4, TRUNCATED),
    "longer, posted before": (LONGER_POSTED + OTHERS, "mismatch", 4, TRUNCATED_POSTED),
}


@pytest.mark.parametrize("case", CASES)
def test_the_cause_is_named(odonata_command: Command, tmp_path: Path, case: str) -> None:
    """Each ended as a deadlock with exit code 0; some without any rank."""
    program, ending, count, cause = CASES[case]
    write(tmp_path, program)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == ENDINGS[ending].exit_code == 3
    assert cause in " ".join(result.stderr.split())
    assert result.stdout.startswith(f"NOT COMPLETE: {ending}: ")
    summary = summary_of(tmp_path / "run")
    assert (summary["ending"], summary["complete"]) == (ending, False)
    assert (summary["unfinished"]["count"], summary["unfinished"]["jobs"]) == (count, ["a"])
    assert len(summary["unfinished"]["listed"]) == count
    for command in ("show", "explain"):
        again = odonata_command(command, "run")
        assert again.stdout.startswith(f"NOT COMPLETE: {ending}: "), command
    assert odonata.load(tmp_path / "run").ending == ending


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("run x.toml -o run", 3),
        ("run x.toml -o run --json", 3),
        ("run x.toml -o run 2>&1", 3),
        ("sweep x.toml -o sweep --set sweep={'engine.seed'=[1]}", 3),
        ("run nowhere.toml 2>&1", 2),
        ("run 2>&1", 2),
    ],
)
def test_a_reader_that_ends_early_does_not_change_the_exit_code(
    command: Path, tmp_path: Path, arguments: str, code: int
) -> None:
    """`odonata run ... | head -5` of a deadlock had the exit code 0."""
    write(tmp_path, SELF)
    script = f"{command} {arguments} | true; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert result.stdout == f"{code}\n", result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("program", "ranks"),
    [
        ("barrier\nallreduce 1 MiB\nbcast 8 B\ncompute 5 us\n", 1),
        ("isend (rank + 1) % ranks 0 B\nirecv (rank - 1) % ranks 0 B\nwaitall\nallreduce 0 B\nbarrier\n", 4),
    ],
)
def test_a_program_without_bytes_is_no_mistake(
    odonata_command: Command, tmp_path: Path, program: str, ranks: int
) -> None:
    write(tmp_path, program, ranks)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert (result.returncode, result.stderr) == (0, "")
    summary = summary_of(tmp_path / "run")
    assert (summary["ending"], summary["complete"]) == ("complete", True)
    assert "unfinished" not in summary


def test_jobs_that_end_need_no_time_limit(odonata_command: Command, tmp_path: Path) -> None:
    """1.5 s of simulated time: a default of 1 s cut it."""
    write(tmp_path, "repeat 3:\n    compute 500 ms\n    barrier\n")
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0, result.stderr
    assert summary_of(tmp_path / "run")["packet"]["end_ps"] > 1_500_000_000_000
    assert summary_of(tmp_path / "run")["packet"]["measure_ps"] is None
    assert "time_limit" not in (tmp_path / "run" / "resolved.toml").read_text()


def test_endless_jobs_have_a_time_limit(odonata_command: Command, tmp_path: Path) -> None:
    ring = '{ name = "ring", iterations = 2, bytes = "8 kB" }'
    jobs = job("a", ring, 4) + job("b", ring, 4, skip=4, more="background = true\n")
    (tmp_path / "x.toml").write_text(f"{MACHINE}{jobs}{ENGINE}")
    result = odonata_command("run", "x.toml", "-o", "run")
    assert (result.returncode, result.stderr) == (0, "")
    assert 'time_limit = "1 s"' in (tmp_path / "run" / "resolved.toml").read_text()
    assert "unfinished" not in summary_of(tmp_path / "run"), "the job in the background is well"


MATCHING = """role 0:
    compute 200 us
    repeat 7 as k:
        repeat 400 as i:
            recv (7 - k) 8 B tag (399 - i)
role others:
    repeat 400 as i:
        send 0 8 B tag i
"""


WAITING = f"role 0:\n    compute 10 ms\n    send 1 8 B\nrole 1:\n    recv 0 8 B\n{OTHERS}"
BUSY = "1 rank works on a call: it matches, copies or sets up messages (rank 0"
COMPUTE = "8 ranks compute (for example rank 0 of job 'a' until 10 ms)"
WAITS = "7 ranks wait (for example rank 1 of job 'a' since 20 ns: recv of 8 B from rank 0, tag 0 at call 1"


@pytest.mark.parametrize(
    ("program", "limit", "activity", "cause"),
    [
        (MATCHING, "250 us", "in-call", BUSY),
        ("compute 10 ms\nbarrier\n", "1 ms", "computing", COMPUTE),
        (WAITING, "1 ms", "computing", WAITS),
    ],
)
def test_a_time_limit_names_what_ranks_do(
    odonata_command: Command, tmp_path: Path, program: str, limit: str, activity: str, cause: str
) -> None:
    """It blamed a saturated network, which was empty."""
    write(tmp_path, program, 8, f'time_limit = "{limit}"\n')
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 3
    words = " ".join(result.stderr.split())
    assert f"the run stopped at time_limit, {limit}, before its jobs ended: " in words
    assert cause in words
    assert "saturated" not in words
    summary = summary_of(tmp_path / "run")
    assert summary["ending"] == "time-limit"
    assert summary["unfinished"]["listed"][0]["activity"] == activity
    assert summary["packet"]["end_ps"] == summary["packet"]["measure_ps"]


def test_quiet_leaves_warnings_on_the_standard_error(odonata_command: Command, tmp_path: Path) -> None:
    """`-q` prints "only errors and warnings": why a run did not complete is one of them."""
    write(tmp_path, SELF)
    result = odonata_command("run", "x.toml", "-o", "run", "-q")
    assert (result.returncode, result.stdout) == (3, "")
    assert "waits for itself" in result.stderr
    assert "Print only errors and warnings." in odonata_command("run", "--help").stdout
    assert "Print no progress." in odonata_command("compare", "--help").stdout


def test_a_limit_in_a_busy_network_names_packets(odonata_command: Command, tmp_path: Path) -> None:
    jobs = job("a", '{ name = "all-to-all", bytes = "64 KiB" }', 36)
    (tmp_path / "x.toml").write_text(f"{MACHINE}{jobs}{ENGINE}")
    result = odonata_command("run", "x.toml", "-o", "run", "--set", "engine.time_limit=5 us")
    assert result.returncode == 3
    assert "packets are in flight; links were out of credits for" in " ".join(result.stderr.split())


def test_a_background_job_that_stops_is_a_warning(odonata_command: Command, tmp_path: Path) -> None:
    """Nothing was said, and the job that it should disturb had a slowdown of 0.99."""
    (tmp_path / "b.program").write_text("send (rank + 1) % ranks 64 KiB\nrecv (rank - 1) % ranks 64 KiB\n")
    main = job("a", '{ name = "ring", iterations = 9, bytes = "8 kB" }', 8)
    noise = job("b", '{ name = "file", path = "b.program" }', 8, skip=8, more="background = true\n")
    pairs = '[interference]\npairs = [["a", "b"]]\n'
    (tmp_path / "x.toml").write_text(f"{MACHINE}{main}{noise}{ENGINE}{pairs}")
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0
    cause = "a job in the background stopped before the end: cyclic wait: rank 0 of job 'b'"
    assert cause in " ".join(result.stderr.split())
    assert result.stdout.startswith("STOPPED IN THE BACKGROUND: b")
    summary = summary_of(tmp_path / "run")
    assert (summary["ending"], summary["complete"]) == ("complete", True)
    assert (summary["unfinished"]["count"], summary["unfinished"]["jobs"]) == (8, ["b"])
    swept = odonata_command("sweep", "x.toml", "-o", "sweep")
    assert swept.returncode == 0, swept.stderr
    rows = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    disturbed = [row for row in rows if (row["target"], row["background"]) == ("a", "b")]
    found = [(row["slowdown"], row["execution_slowdown"], row["latency_slowdown"]) for row in disturbed]
    assert found == [(None, None, None)]


def test_a_sweep_names_points_that_did_not_complete(odonata_command: Command, tmp_path: Path) -> None:
    program = "send (rank + 1) % ranks 8 kB\nrecv (rank - 1) % ranks 8 kB\n"
    limits = '[sweep]\n"mpi.eager_limit" = ["16 kB", "1 kB"]\n'
    write(tmp_path, program, more=f'[mpi]\neager_limit = "16 kB"\n{limits}')
    result = odonata_command("sweep", "x.toml", "-o", "sweep")
    assert result.returncode == 3
    assert result.stderr.count("did not complete: deadlock") == 1
    assert "2 points: 2 run, 0 already finished, 0 failed, 1 not complete" in result.stdout
    codes = [odonata_command("sweep", "x.toml", "-o", "sweep", "--point", str(i)).returncode for i in (0, 1)]
    assert codes == [0, 3]
    again = odonata_command("sweep", "x.toml", "-o", "sweep", "--json")
    assert (again.returncode, json.loads(again.stdout)["kept"]) == (3, 2), "a deadlock is not run again"
    assert json.loads(again.stdout)["incomplete"] == [{"point": 1, "ending": "deadlock"}]


def test_the_page_of_exit_codes_has_all_of_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md").read_text()
    for ending in ENDINGS.values():
        assert f"\n| {ending.exit_code} | " in page
        assert ending.complete == (ending.exit_code == 0)
