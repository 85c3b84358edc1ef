"""`odonata gpcnet` when one of its runs does not complete: at a time limit, and by real signals."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from gpcnet_files import DRAGONFLY, SMALL
from running import Command

from odonata.errors import OdonataError
from odonata.gpcnet import TESTS, durations, gpcnet
from odonata.runs import Run

INCAST = ("small.toml", "-o", "out", "--congestor", "incast")


def column(printed: str, title: str) -> list[list[str]]:
    """Average and 99 % of a test, in each table."""
    rows = [line.strip("|").split("|") for line in printed.splitlines() if f" {title} |" in line]
    return [[cell.strip() for cell in row[1:3]] for row in rows]


@pytest.mark.slow
def test_a_time_limit_of_the_congested_run(odonata_command: Command, tmp_path: Path) -> None:
    """Alone the tests take 702 us; with the incast, 800 us are not enough for the first test."""
    (tmp_path / "small.toml").write_text(SMALL)
    limit = ("--rings", "1", "--set", 'engine.time_limit="800 us"')
    done = odonata_command("gpcnet", *INCAST, *limit, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "PARTIAL: the congested run ended at 800.0 us of simulated time (time-limit)." in done.stdout
    assert {len(line) for line in done.stdout.splitlines() if line[:1] in "+|" and line} == {80}

    # Samples counted by hand: 15 ranks, 10 exchanges, half of the time of one is the latency.
    phases = pq.read_table(tmp_path / "out/congested/phase_times.parquet").to_pandas()
    victims = phases[(phases["job"] == 0) & (phases["phase"] == "exchange")]
    took_us = (victims["end_ps"] - victims["start_ps"]) / 2e6
    assert 0 < len(took_us) < 150, "a part of the first test"
    assert victims["phase_number"].nunique() == 1
    assert f"{TESTS[0].title}: isolated 150, congested {len(took_us)} of 150 samples" in done.stdout
    isolated, congested, factors = column(done.stdout, TESTS[0].title)
    assert "*" not in "".join(isolated)
    assert congested[0] == f"{took_us.mean():.1f}*"
    assert factors == ["-", "-"], "no factor of a part"
    assert column(done.stdout, TESTS[2].title)[1:] == [["-", "-"], ["-", "-"]]

    data = json.loads((tmp_path / "out/gpcnet.json").read_text())
    assert data["ending"] == "time-limit"
    first, _, last = data["rows"]
    assert (first["congested"]["samples"], first["factor_99"]) == (len(took_us), None)
    assert (last["isolated"]["samples"], last["congested"]) == (150, None)


def test_a_time_limit_of_the_isolated_run(tmp_path: Path) -> None:
    """The congested run does not start, but its nodes are known."""
    result = gpcnet(
        DRAGONFLY, rings=1, set={"engine.routing": "min", "engine.time_limit": "60 us"}, out=tmp_path
    )
    assert (result.ending, result.victim_nodes, result.congestor_nodes) == ("time-limit", 15, 57)
    assert result.partial == "the isolated run ended at 60.0 us of simulated time (time-limit)"
    assert all(row.congested is None and row.factor_average is None for row in result.rows)
    assert not (tmp_path / "congested").exists()
    with pytest.raises(OdonataError, match="the tests of job victims did not end"):
        durations(Run.from_directory(tmp_path / "isolated"), TESTS[2])


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_isolated_figures(
    command: Path, odonata_command: Command, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    """The isolated figures equal a run that nobody interrupts. They do not depend on the signal."""
    (tmp_path / "small.toml").write_text(SMALL)
    with subprocess.Popen(
        [command, "gpcnet", *INCAST, "--rings", "20"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until = time.monotonic() + 120
            while not (tmp_path / "out/isolated/summary.json").exists() and time.monotonic() < until:
                time.sleep(0.05)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2.0)
            assert process.poll() is None, "it ended before the signal"
            process.send_signal(sent)
            printed, complained = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == code, complained
    assert "Traceback" not in complained
    assert "PARTIAL: the congested run " in printed
    data = json.loads((tmp_path / "out/gpcnet.json").read_text())
    assert data["ending"] == "interrupted"
    isolated = [row["isolated"]["samples"] for row in data["rows"]]
    assert isolated == [15 * 20 * 10, 15 * 20 * 2, 15 * 20 * 10]
    assert "compare" not in printed
    if sent is not signal.SIGINT:
        return
    idle = ("--set", "job.incast.idle=true", "--rings", "20", "--force", "--json")
    whole = odonata_command("gpcnet", *INCAST, *idle, cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    for row, other in zip(data["rows"], json.loads(whole.stdout)["rows"], strict=True):
        assert row["isolated"] == other["isolated"]
