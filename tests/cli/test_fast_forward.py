"""`fast_forward`, as a user meets it: equal tables, the certificate, refusals with their place and reason."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import Command

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
EXCHANGE = """\
repeat 300:
    irecv (rank + 5) % ranks  60 kB  tag 1
    irecv (rank + ranks - 7) % ranks  60 kB  tag 2
    isend (rank + ranks - 5) % ranks  60 kB  tag 1
    isend (rank + 7) % ranks  60 kB  tag 2
    waitall
    compute 12 us
    barrier
"""
RING = """\
repeat 60:
    isend (rank + 1) % ranks  20 kB
    recv (rank + ranks - 1) % ranks  20 kB
    waitall
    compute (5 + rank) us
"""
"""Rank 7 waits for the slow rank 15 only after eight iterations."""

JOB = """\
[[job]]
name = "{}"
ranks = 16
ranks_per_node = 1
program = {{ name = "file", path = "x.program" }}
"""


def write(folder: Path, engine: str, *, jobs: str = JOB.format("a"), program: str = EXCHANGE) -> None:
    (folder / "x.program").write_text(program)
    (folder / "x.toml").write_text(f'{MACHINE}{jobs}[engine]\nkind = "packet"\n{engine}')


def run(command: Command, folder: Path, name: str, *more: str) -> tuple[str, dict[str, object]]:
    result = command("run", "x.toml", "-o", name, *more)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr, json.loads((folder / name / "summary.json").read_text())


def tables(directory: Path) -> dict[str, object]:
    return {path.name: pq.read_table(path) for path in sorted(directory.glob("*.parquet"))}


def test_an_exact_run_equals_the_full_run(odonata_command: Command, tmp_path: Path) -> None:
    """All tables are equal. The certificate is in the summary; `run`, `show` and `explain` print it."""
    write(tmp_path, 'routing = "min"\n')
    _, full = run(odonata_command, tmp_path, "full")
    said, short = run(
        odonata_command, tmp_path, "short", "--set", "engine.fast_forward=exact", "--threads", "2"
    )
    assert tables(tmp_path / "short") == tables(tmp_path / "full")
    assert "fast_forward" not in full
    found = short["fast_forward"]
    assert isinstance(found, dict)
    assert (found["form"], found["iterations"], found["reason"]) == ("exact", 300, None)
    assert found["iterations_run"] + found["iterations_skipped"] == 300
    assert found["iterations_run"] <= 20
    assert (
        found["skipped_ps"]
        == found["period_ps"] * found["iterations_skipped"] // found["iterations_repeated"]
    )
    assert len(found["digest"]) == 64
    assert short["packet"]["end_ps"] == full["packet"]["end_ps"]  # type: ignore[index]
    line = f"{found['iterations_run']} of 300 iterations run"
    for text in (said, *(odonata_command(name, "short").stdout for name in ("show", "explain"))):
        assert line in text
        assert found["digest"][:16] in text


def test_a_run_with_an_error_says_its_interval(odonata_command: Command, tmp_path: Path) -> None:
    """The full run ends within three half widths: its interval fails once in twenty seeds."""
    write(tmp_path, 'routing = "par"\n')
    _, full = run(odonata_command, tmp_path, "full")
    said, short = run(odonata_command, tmp_path, "short", "--set", "engine.fast_forward={ error = 0.02 }")
    found = short["fast_forward"]
    assert isinstance(found, dict)
    assert (found["form"], found["error"], found["digest"]) == ("error", 0.02, None)
    assert found["iterations_skipped"] > 200
    off = abs(short["packet"]["end_ps"] - full["packet"]["end_ps"])  # type: ignore[index]
    assert off < 3 * found["end_half_width_ps"]
    assert found["end_half_width_ps"] < 0.03 * full["packet"]["end_ps"]  # type: ignore[index]
    latencies = [of["packet"]["latency_mean_ns"] for of in (short, full)]  # type: ignore[index]
    assert abs(latencies[0] - latencies[1]) * 1e3 < 3 * found["latency_half_width_ps"]
    assert "(95 % interval)" in said
    # Most links are inside their intervals, and those without traffic have none.
    links = {name: pq.read_table(tmp_path / name / "links.parquet").to_pydict() for name in ("full", "short")}
    half_widths = links["short"]["half_width_bytes"]
    both = list(zip(links["full"]["bytes"], links["short"]["bytes"], half_widths, strict=True))
    assert sum(abs(full - short) <= half for full, short, half in both) > 0.8 * len(both)
    assert all(half == 0 for _, short, half in both if short == 0)
    assert max(half / short for _, short, half in both if short > 0) > 0.001
    assert "half_width_bytes" not in links["full"]
    # What was sent is exact.
    volumes = [pq.read_table(tmp_path / name / "ranks.parquet")["bytes"] for name in ("full", "short")]
    assert volumes[0] == volumes[1]


EARLY = """\
repeat 400:
    compute 2 us
    irecv (rank + 7) % ranks  24 KiB
    irecv (rank + 29) % ranks  24 KiB
    isend (rank - 7) % ranks  24 KiB
    isend (rank - 29) % ranks  24 KiB
    waitall
    barrier
"""
"""At a boundary some ranks have sent messages of the next iteration, and others have not."""


@pytest.mark.parametrize("routing", ["ugal-n", "par"])
def test_counts_of_a_run_with_an_error_are_exact(
    routing: str, odonata_command: Command, tmp_path: Path
) -> None:
    """What 50 ranks send in 400 iterations, six messages in each barrier; nothing is in flight at the end.

    A run whose first iterations happen to have a trend skips nothing.
    """
    write(tmp_path, f'routing = "{routing}"\n', jobs=JOB.format("a").replace("16", "50"), program=EARLY)
    skipped = []
    for seed in range(1, 5):
        given = ("--set", "engine.fast_forward={error = 0.02}", "--set", f"engine.seed={seed}")
        _, summary = run(odonata_command, tmp_path, f"run{seed}", *given)
        skipped.append(summary["fast_forward"]["iterations_skipped"])  # type: ignore[index]
        (job,) = pq.read_table(tmp_path / f"run{seed}" / "jobs.parquet").to_pylist()
        assert job["messages"] == 50 * (400 * 2 + 401 * 6)
        assert job["bytes"] == 50 * 400 * 2 * 24 * 1024
        assert job["in_flight_packets"] == 0
        ranks = pq.read_table(tmp_path / f"run{seed}" / "ranks.parquet")
        assert set(ranks["received_bytes"].to_pylist()) == {400 * 2 * 24 * 1024}
        assert set(ranks["messages"].to_pylist()) == {400 * 2 + 401 * 6}
        assert set(ranks["compute_ps"].to_pylist()) == {400 * 2_000_000}
    assert sum(count > 300 for count in skipped) >= 2


@pytest.mark.parametrize(
    ("rule", "program", "reason"),
    [
        ('"exact"', EXCHANGE, "drew random numbers"),
        (
            "{ error = 0.01 }",
            RING,
            "ranks drift apart",
        ),
        ("{ error = 0.01 }", EXCHANGE.replace("300", "12"), "the loop ended before"),
    ],
)
def test_a_run_that_skips_nothing_is_the_full_run_and_says_why(
    odonata_command: Command, tmp_path: Path, rule: str, program: str, reason: str
) -> None:
    write(tmp_path, 'routing = "par"\n', program=program)
    _, full = run(odonata_command, tmp_path, "full")
    said, short = run(odonata_command, tmp_path, "short", "--set", f"engine.fast_forward={rule}")
    found = short["fast_forward"]
    assert isinstance(found, dict)
    assert found["iterations_skipped"] == 0
    assert reason in found["reason"]
    assert reason in " ".join(said.split())
    assert "this is the full run" in " ".join(said.split())
    assert tables(tmp_path / "short") == tables(tmp_path / "full")
    assert short["packet"]["end_ps"] == full["packet"]["end_ps"]  # type: ignore[index]


EXACT = 'routing = "min"\nfast_forward = "exact"\n'
BAD = {
    "unknown word": ('fast_forward = "exat"\n', ["exat", "exact"]),
    "unknown key": ("fast_forward = { eror = 0.01 }\n", ["eror", "error"]),
    "error of zero": ("fast_forward = { error = 0 }\n", ["error", "0.0001", "0.2"]),
    "error of one half": ("fast_forward = { error = 0.5 }\n", ["error", "0.5", "0.2"]),
    "no table": ("fast_forward = 0.01\n", ["fast_forward"]),
    "series": (f'{EXACT}interval = "10 us"\n', ["interval", "no rows"]),
    "rows of packets": (f"{EXACT}record_packets = true\n", ["record_packets", "no rows"]),
    "rows of calls": (f"{EXACT}record_calls = true\n", ["record_calls", "no rows"]),
    "checkpoints": (f'{EXACT}checkpoint = "1 h"\n', ["checkpoint"]),
    "a routing that learns": (
        'routing = "q-adaptive"\nfast_forward = { error = 0.01 }\n',
        ["q-adaptive", "learns"],
    ),
    "congestion control": (f'{EXACT}[engine.control]\nname = "pair"\n', ["control"]),
}


@pytest.mark.parametrize("case", BAD)
def test_the_impossible_is_refused_with_its_place(
    odonata_command: Command, tmp_path: Path, case: str
) -> None:
    engine, words = BAD[case]
    write(tmp_path, engine)
    for command in ("check", "run"):
        result = odonata_command(command, "x.toml")
        assert result.returncode == 2, result.stdout + result.stderr
        text = " ".join(result.stderr.split())
        assert "x.toml:" in text
        assert "fast_forward" in text
        for word in words:
            assert word in text, text
    assert not (tmp_path / "runs").exists()


def test_jobs_without_a_common_loop_are_refused(odonata_command: Command, tmp_path: Path) -> None:
    pattern = '[[job]]\nname = "b"\nranks = 8\npattern = "uniform"\ntraffic = { name = "open", load = 0.1 }\n'
    cases = [
        (JOB.format("a") + JOB.format("b"), EXCHANGE, "2 jobs run programs"),
        (JOB.format("a"), "barrier\n", "rank 0 has no loop whose iterations are equal"),
        (JOB.format("a"), EXCHANGE.replace("300:", "300 as i:").replace("12 us", "i us"), "has no loop"),
        (JOB.format("a") + pattern, EXCHANGE, "job 'b' runs no program"),
    ]
    for jobs, program, reason in cases:
        write(tmp_path, EXACT, jobs=jobs, program=program)
        result = odonata_command("check", "x.toml")
        assert result.returncode == 2, result.stdout
        assert reason in " ".join(result.stderr.split()), result.stderr


def test_check_says_what_will_be_skipped(odonata_command: Command, tmp_path: Path) -> None:
    write(tmp_path, EXACT)
    result = odonata_command("check", "x.toml")
    assert result.returncode == 0, result.stderr
    assert "fast-forward: iterations are skipped after which the state is the same as before" in result.stdout
