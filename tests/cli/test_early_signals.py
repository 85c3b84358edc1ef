"""Signals while Python still imports, and standard streams that the caller has closed."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from packet_files import experiment, job
from running import Command

DELAYS_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)


def started(command: Path, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command as soon as Python has begun to import the package; before, Python alone handles signals."""
    process = subprocess.Popen(
        [command, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    maps = Path(f"/proc/{process.pid}/maps")
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None and "_core" not in maps.read_text():
        time.sleep(0.002)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_ctrl_c_during_the_start_prints_no_traceback(command: Path, tmp_path: Path, delay_s: float) -> None:
    (tmp_path / "x.toml").write_text(experiment(job("ur"), load=0.2, warm_up="1 us", measure="1 s"))
    with started(command, tmp_path, "run", "x.toml", "-o", "run") as process:
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        _, complained = process.communicate(timeout=120)
    assert process.returncode in (-signal.SIGINT, 130), complained
    assert "Traceback" not in complained
    assert "internal error" not in complained
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_sigusr1_before_the_engine_runs_makes_a_checkpoint(
    command: Path, tmp_path: Path, delay_s: float
) -> None:
    (tmp_path / "x.toml").write_text(experiment(job("ur"), load=0.2, warm_up="1 us", measure="1 s"))
    with started(command, tmp_path, "run", "x.toml", "-o", "run") as process:
        time.sleep(delay_s)
        process.send_signal(signal.SIGUSR1)
        _, complained = process.communicate(timeout=120)
    assert process.returncode == 75, complained
    assert "Traceback" not in complained
    assert (tmp_path / "run.checkpoint").is_dir()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["check", "x.toml"], ["list", "patterns"], ["run", "x.toml", "-o", "run"]]
)
def test_a_closed_standard_output_is_no_defect(
    command: Path, odonata_command: Command, tmp_path: Path, arguments: list[str]
) -> None:
    """The tables of the run are whole: none of them became standard output."""
    (tmp_path / "x.toml").write_text(experiment(job("ur"), load=0.2, warm_up="1 us", measure="1 us"))
    shell = ["bash", "-c", 'exec "$@" >&-', "bash", command, *arguments]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "error" not in result.stderr
    if arguments[0] == "run":
        assert odonata_command("show", "run").returncode == 0
