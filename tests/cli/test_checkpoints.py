"""Runs that are kept and go on: real processes, real signals, files compared byte by byte."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from packet_files import experiment, job
from running import Command

from odonata import _core
from odonata.errors import OdonataError
from odonata.store.checkpoint import directory_of

CHECKPOINT_EXIT = 75
RECORDS = """
record_packets = true
record_paths = true
record_q_tables = true
interval = "20 us"
series = ["jobs", "links", "channels"]
"""
OPEN = experiment(
    job("ur"), load=0.4, warm_up="400 us", measure="400 us", engine='routing = "q-adaptive"\n' + RECORDS
)
PROGRAMS = """
[machine]
preset = "dragonfly-1056"
[[job]]
name = "a"
ranks = 16
program = { name = "allreduce", bytes = "400 kB", compute = "2 ms" }
[[job]]
name = "b"
ranks = 16
program = { name = "ring" }
background = true
[engine]
kind = "packet"
routing = "par"
record_messages = true
record_calls = true
record_packets = true
"""


def content(run: Path) -> dict[str, bytes]:
    """Every file of a run but the one that says how long it took."""
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name != "summary.json"}


def results(run: Path) -> dict[str, object]:
    """The results in a summary."""
    summary = json.loads((run / "summary.json").read_text())
    return {key: summary[key] for key in ("packet", "convergence", "complete", "experiment_sha256", "inputs")}


def whole(command: Command, folder: Path, text: str) -> Path:
    (folder / "x.toml").write_text(text)
    result = command("run", "x.toml", "-o", "whole", "-q")
    assert result.returncode == 0, result.stderr
    return folder / "whole"


def same(run: Path, other: Path) -> None:
    found, expected = content(run), content(other)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []
    assert results(run) == results(other)
    assert not directory_of(run).exists()
    assert list(run.parent.glob(".*writing*")) == []


def stopped(command: Path, folder: Path, arguments: list[str], seconds: float) -> int:
    """Runs a command that gets SIGUSR1 after a while; its exit code."""
    with subprocess.Popen([command, "run", *arguments, "-q"], cwd=folder, stderr=subprocess.PIPE) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGUSR1)
        _, complained = process.communicate(timeout=120)
    assert b"Traceback" not in complained, complained.decode()
    return process.returncode


# Messages in parts, of which some are there, and messages that wait for their turn.
RAILS = PROGRAMS.replace(
    '"dragonfly-1056"', '"dragonfly-1056"\nplanes = 2\nrail_rule = "stripe"\nstripe_from = "64 B"'
)


@pytest.mark.slow
@pytest.mark.parametrize("text", [OPEN, PROGRAMS, RAILS], ids=["open", "programs", "rails"])
def test_a_run_that_is_stopped_again_and_again_is_the_same_run(
    odonata_command: Command, command: Path, tmp_path: Path, text: str
) -> None:
    """The same command line each time, as a job of Slurm that is put back into the queue has it."""
    started = time.monotonic()
    expected = whole(odonata_command, tmp_path, text)
    seconds = time.monotonic() - started
    arguments = ["x.toml", "--resume", "run"]
    codes = set()
    for part in range(100):
        # Later signals find more of the run done; some runs end before.
        threads = str(1 + part % 2)
        code = stopped(command, tmp_path, [*arguments, "--threads", threads], seconds * (0.5 + 0.15 * part))
        codes.add(code)
        if code == 0:
            break
        assert code in (CHECKPOINT_EXIT, -signal.SIGUSR1), (
            "before its handler is installed, the signal ends the process"
        )
        assert not (tmp_path / "run").exists()
    assert CHECKPOINT_EXIT in codes, "a signal found the run computing"
    same(tmp_path / "run", expected)


@pytest.mark.slow
def test_a_signal_after_the_end_does_not_make_a_whole_run_a_failed_one(tmp_path: Path) -> None:
    """It arrives while results are printed, or while the interpreter ends."""
    (tmp_path / "x.toml").write_text(OPEN)
    code = (
        "import atexit, os, signal, sys\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGUSR1))\n"
        "from odonata.cli import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "run", "x.toml", "-o", "run", "-q"], cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_killed_run_resumes_from_its_last_checkpoint(
    odonata_command: Command, command: Path, tmp_path: Path
) -> None:
    expected = whole(odonata_command, tmp_path, OPEN)
    times = [option for us in range(40, 800, 40) for option in ("--checkpoint-at", f"{us}us")]
    kills = random.Random(1)
    kept = 0
    for _ in range(6):
        arguments = ["run", "x.toml", "--resume", "run", *times, "-q"]
        with subprocess.Popen([command, *arguments], cwd=tmp_path) as process:
            while process.poll() is None and not directory_of(tmp_path / "run").exists():
                time.sleep(0.01)
            # The next runs find a checkpoint and end at any moment, even before they read it.
            time.sleep(kills.uniform(0.1, 1.5))
            process.kill()
        kept += directory_of(tmp_path / "run").exists()
        if (tmp_path / "run").exists():
            # The kill may come after the run has its name and before its checkpoint is removed.
            if process.returncode != 0:
                shutil.rmtree(directory_of(tmp_path / "run"), ignore_errors=True)
            break
    assert kept > 0
    if not (tmp_path / "run").exists():
        assert odonata_command("run", "--resume", "run", "-q").returncode == 0
    same(tmp_path / "run", expected)


@pytest.mark.slow
def test_what_cannot_be_gone_on_from_is_refused_in_words(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(OPEN)
    assert "there is no checkpoint of run" in refused(odonata_command, "--resume", "run")
    directory = directory_of(tmp_path / "run")
    state = directory / "checkpoint"
    result = odonata_command(
        "run", "x.toml", "-o", "run", "--checkpoint-at", "500 us", "--checkpoint-at", "x", "-q"
    )
    assert (result.returncode, "--checkpoint-at" in result.stderr) == (2, True)
    keep_one(tmp_path)
    good = state.read_bytes()
    assert "holds a checkpoint of an unfinished run" in refused(odonata_command, "x.toml", "-o", "run")
    assert "cannot be used with --resume" in refused(
        odonata_command, "--resume", "run", "--set", "engine.seed=2"
    )
    state.write_bytes(good[:-1])
    assert "checkpoint is damaged: it was cut off or changed" in refused(odonata_command, "--resume", "run")
    for at in range(0, len(good), len(good) // 40):
        damaged = bytearray(good)
        damaged[at] ^= 1 << at % 8
        for wrong in (damaged, good[:at]):
            state.write_bytes(wrong)
            with pytest.raises(OdonataError, match="checkpoint"):
                _core.checkpoint(state)
    state.write_bytes(good)
    text = (tmp_path / "x.toml").read_text()
    for changed in (text.replace("load = 0.4", "load = 0.5"), "[machine"):
        # The experiment is in the checkpoint: what has become of the file since does not matter.
        (tmp_path / "x.toml").write_text(changed)
    assert odonata_command("run", "--resume", "run", "-q").returncode == 0


def keep_one(folder: Path) -> None:
    """Leaves a checkpoint as a run does that is killed after it."""
    script = (
        "import os, odonata.store.writer as w; keep = w.GrowingTables.save_checkpoint\n"
        "def killed(*a): keep(*a); os._exit(9)\n"
        "w.GrowingTables.save_checkpoint = killed\n"
        "from odonata.cli import main; main()\n"
    )
    arguments = ["run", "x.toml", "-o", "run", "--checkpoint-at", "500 us", "-q"]
    assert subprocess.run([sys.executable, "-c", script, *arguments], cwd=folder, check=False).returncode == 9


def refused(command: Command, *arguments: str) -> str:
    result = command("run", *arguments, "-q")
    assert (result.returncode, "Traceback" in result.stderr) == (2, False), result.stderr
    return " ".join(result.stderr.split())
