"""Runs of the packet engine that a signal ends: real processes, real signals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.compute as pc
import pytest
from packet_files import experiment, job
from running import Command

import odonata
from odonata.errors import PartialRunWarning
from odonata.runs import Run

HOURS = experiment(job("ur"), load=0.3, warm_up="5 us", measure="1 s")
"""A second of simulated time takes hours."""


def start(command: Path, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [command, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until_it_simulates(process: subprocess.Popen[str], seconds: float = 2.5) -> None:
    """Until a process of the session has used more processor time than it takes to start."""
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rsplit(")", 1)[1].split()
                if int(fields[3]) == process.pid and (int(fields[11]) + int(fields[12])) / ticks > seconds:
                    return
        time.sleep(0.05)
    pytest.fail("it ended before the signal")


def interrupt(
    command: Path, folder: Path, sent: signal.Signals, arguments: Sequence[str] = ("run", "hours.toml")
) -> tuple[int, str, str]:
    with start(command, folder, *arguments) as process:
        wait_until_it_simulates(process)
        process.send_signal(sent)
        printed, complained = process.communicate(timeout=120)
    assert "Traceback" not in complained
    return process.returncode, printed, complained


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_valid_run_that_is_marked_as_partial(
    command: Path, odonata_command: Command, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    (tmp_path / "hours.toml").write_text(HOURS)
    returned, printed, complained = interrupt(command, tmp_path, sent)
    assert returned == code
    assert "PARTIAL RUN: interrupted at" in printed
    assert "warning: interrupted at" in complained
    directory = tmp_path / "runs" / "hours"
    assert sorted(path.name for path in directory.parent.iterdir()) == ["hours"], "nothing else is left"

    with pytest.warns(PartialRunWarning, match="holds a partial run: interrupted at"):
        run = odonata.load(directory)
    assert run.partial is not None
    assert repr(run).endswith("partial>")
    assert run.summary["complete"] is False
    assert run.summary["ending"] == "interrupted"
    assert run.summary["convergence"]["converged"] is False
    # Every packet that arrived until then was counted once, and the load is the one asked for.
    job = run.jobs.to_pylist()[0]
    cells = run.table("latency").to_pandas()
    assert job["packets"] == cells[cells["part"] == "total"]["packets"].sum() > 10_000
    assert job["accepted_load"] == pytest.approx(0.3, rel=0.05)
    assert run.summary["packet"]["measured_ps"] == run.summary["packet"]["end_ps"] - 5_000_000

    shown = odonata_command("show", "runs/hours")
    assert shown.returncode == 0
    assert "PARTIAL RUN: interrupted at" in shown.stdout
    plotted = odonata_command("plot", "runs/hours", "-o", "overview.png")
    assert (plotted.returncode, plotted.stdout) == (0, "overview.png\n")
    assert "warning: runs/hours holds a partial run: interrupted at" in plotted.stderr


@pytest.mark.slow
def test_packets_written_until_the_signal_are_kept(command: Path, tmp_path: Path) -> None:
    (tmp_path / "hours.toml").write_text(HOURS + "record_packets = true\n")
    assert interrupt(command, tmp_path, signal.SIGINT)[0] == 130
    run = Run.from_directory(tmp_path / "runs" / "hours")
    packets = run.table("packets")
    assert packets.num_rows == run.jobs["packets"][0].as_py() > 10_000
    assert pc.all(pc.less_equal(packets["injected_ps"], packets["delivered_ps"])).as_py()


@pytest.mark.slow
def test_a_sweep_runs_a_partial_point_again(command: Path, odonata_command: Command, tmp_path: Path) -> None:
    """The signal ends the point that runs and starts no other one."""
    (tmp_path / "hours.toml").write_text(HOURS + '\n[sweep]\n"job.*.traffic.load" = [0.2, 0.3, 0.4]\n')
    began = time.monotonic()
    code, _, _ = interrupt(command, tmp_path, signal.SIGTERM, ("sweep", "hours.toml", "-o", "out", "-j", "1"))
    assert code == 143
    assert time.monotonic() - began < 100, "each further point would take hours"
    points = tmp_path / "out" / "points"
    assert [path.name for path in points.iterdir()] == ["load=0.2"]
    assert json.loads((points / "load=0.2" / "summary.json").read_bytes())["complete"] is False
    assert odonata.Sweep.load(tmp_path / "out").runs == {}, "a partial point is no result"
    short = ("--set", 'engine.measure="10 us"')
    gathered = odonata_command("sweep", "hours.toml", "-o", "out", "--json", *short)
    assert gathered.returncode == 0, gathered.stderr
    assert json.loads(gathered.stdout)["kept"] == 0
    assert len(odonata.Sweep.load(tmp_path / "out").runs) == 3


def test_python_gets_its_interrupt_after_the_run_is_written(tmp_path: Path) -> None:
    def impatient(phase: str, _share: float) -> None:
        if phase == "simulating" and time.monotonic() > until:
            raise KeyboardInterrupt

    until = time.monotonic() + 1.0
    with pytest.raises(KeyboardInterrupt):
        odonata.run(HOURS, out=tmp_path / "run", progress=impatient)
    assert Run.from_directory(tmp_path / "run").partial is not None


def test_an_error_of_the_caller_leaves_nothing(tmp_path: Path) -> None:
    def broken(phase: str, _share: float) -> None:
        if phase == "simulating":
            raise RuntimeError(phase)

    with pytest.raises(RuntimeError, match="simulating"):
        odonata.run(HOURS + "record_packets = true\n", out=tmp_path / "run", progress=broken)
    assert list(tmp_path.iterdir()) == []
