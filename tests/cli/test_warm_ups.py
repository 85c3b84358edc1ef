"""Shared warm-ups: real processes that make one at the same time, are stopped and are killed."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from packet_files import experiment, job
from running import Command

CHECKPOINT_EXIT = 75


def text(*, shared: bool, warm_up: str = "400 us", sweep: bool = False) -> str:
    engine = 'routing = "q-adaptive"\nrecord_q_tables = true\n'
    if shared:
        engine += 'start_from = "warm"\n'
    if sweep:
        engine += '\n[sweep]\n"job.0.traffic.step_loads" = [[0.1], [0.3], [0.5], [0.7]]\n'
    traffic = f'step_times = ["{warm_up}"], step_loads = [0.6]'
    return experiment(job(), load=0.4, traffic=traffic, warm_up=warm_up, measure="10 us", engine=engine)


def content(run: Path) -> dict[str, bytes]:
    """Tables of a run; `resolved.toml` has the key itself."""
    return {path.name: path.read_bytes() for path in run.glob("*.parquet")}


def points(sweep: Path) -> dict[str, dict[str, bytes]]:
    """The tables of the points of a sweep, by the loads that they have."""
    found = {}
    for summary in sweep.rglob("summary.json"):
        resolved = (summary.parent / "resolved.toml").read_text()
        load = next(line for line in resolved.splitlines() if line.startswith("step_loads"))
        found[load] = content(summary.parent)
    return found


@pytest.mark.slow
def test_points_of_a_sweep_share_one(odonata_command: Command, tmp_path: Path) -> None:
    for name, shared in (("alone", False), ("shared", True)):
        (tmp_path / f"{name}.toml").write_text(text(shared=shared, sweep=True))
        result = odonata_command("sweep", f"{name}.toml", "-o", name, "--processes", "2", "-q")
        assert result.returncode == 0, result.stderr
    alone, shared = points(tmp_path / "alone"), points(tmp_path / "shared")
    assert len(alone) == 4
    assert alone == shared
    assert [path.suffix for path in (tmp_path / "warm").iterdir()] == [".state"]


@pytest.mark.slow
def test_it_is_stopped_and_killed_within_the_warm_up(
    odonata_command: Command, command: Path, tmp_path: Path
) -> None:
    long = "2 ms"
    (tmp_path / "alone.toml").write_text(text(shared=False, warm_up=long))
    assert odonata_command("run", "alone.toml", "-o", "alone", "-q").returncode == 0
    (tmp_path / "x.toml").write_text(text(shared=True, warm_up=long))
    words = [command, "run", "x.toml", "--resume", "run", "-q"]

    def begun() -> subprocess.Popen[bytes]:
        """In the middle of the warm-up, which takes its lock before it begins."""
        for left in tmp_path.glob("warm/*.lock"):
            left.unlink()
        process = subprocess.Popen(words, cwd=tmp_path)
        while process.poll() is None and not list(tmp_path.glob("warm/*.lock")):
            time.sleep(0.02)
        time.sleep(0.3)
        return process

    for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGUSR1, CHECKPOINT_EXIT)):
        with begun() as process:
            process.send_signal(number)
        assert process.returncode == code
        assert list(tmp_path.glob("warm/*.state")) == []
    # Resumes within the warm-up, which is no longer made for others.
    result = odonata_command("run", "--resume", "run", "-q")
    assert result.returncode == 0, result.stderr
    assert content(tmp_path / "run") == content(tmp_path / "alone")
    result = odonata_command("run", "x.toml", "-o", "again", "-q")
    assert result.returncode == 0, result.stderr
    assert content(tmp_path / "again") == content(tmp_path / "alone")
    assert [path.suffix for path in (tmp_path / "warm").iterdir()] == [".state"]


def test_the_path_is_that_of_the_file(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "x.toml").write_text(text(shared=True, warm_up="10 us"))
    assert odonata_command("run", "files/x.toml", "-o", "run", "-q").returncode == 0
    assert len(list((tmp_path / "files" / "warm").glob("*.state"))) == 1
    resolved = (tmp_path / "run" / "resolved.toml").read_text()
    assert f'start_from = "{tmp_path / "files" / "warm"}"' in resolved
    # The resolved experiment of a run starts from the same warm-up.
    assert (
        odonata_command("run", "run/resolved.toml", "-o", "again", "-q", PYTHONHASHSEED="1").returncode == 0
    )
    assert content(tmp_path / "run") == content(tmp_path / "again")
    assert len(list((tmp_path / "files" / "warm").iterdir())) == 1
    assert json.loads((tmp_path / "again" / "summary.json").read_text())["complete"]
