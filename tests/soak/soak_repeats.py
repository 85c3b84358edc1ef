"""The same run again, killed and resumed at random moments or made by several processes: the same bytes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from odonata.api import assist, read, run_until_interrupted
from odonata.checkpointing import CheckpointControl
from odonata.errors import OdonataError
from odonata.runs import Run
from odonata.store.checkpoint import CheckpointDirectory, directory_of, origin

REPEATED = 0.4
"""Share of cases that run again. Each takes five times as long as a case that runs once."""

CPU_S = 4.0
"""Longer runs are not repeated: with the repetitions, the case would seem to hang."""

KILLS_MAX = 3
CHECKPOINTS = 4
"""Checkpoints of each run, at equal distances in simulated time."""


class ThreadedProcesses:
    """Processes of one run as threads of this one; they exchange their messages in memory."""

    def __init__(self, number: int, box: list[Sequence[bytes]], barrier: threading.Barrier) -> None:
        self.count, self.number = len(box), number
        self.disagreement: str | None = None
        self.failed: list[int] = []
        self._box, self._barrier = box, barrier

    def ready(self, *, able: bool = True) -> bool:
        """Waits for all."""
        self._barrier.wait()
        return able

    def exchange(self, messages: Sequence[bytes]) -> list[bytes]:
        """Gives each process its message, and returns those to this one."""
        self._box[self.number] = messages
        self._barrier.wait()
        received = [sent[self.number] for sent in self._box]
        # Nobody writes the next messages before all have read these.
        self._barrier.wait()
        return received

    def end(self) -> None:
        """Nobody is left waiting."""


def repeats(path: Path, run: Run) -> list[str]:
    """Runs some experiments again, and says what differs. `run` is the run of the one at the path."""
    chance = random.Random(path.read_text())
    if chance.random() >= REPEATED or run.summary["cpu_s"] > CPU_S:
        return []
    _clear(path.parent)
    end_ps = run.summary["packet"]["end_ps"]
    started = time.monotonic()
    whole = path.with_name("whole")
    _run(path, whole, threads=1)
    seconds = time.monotonic() - started
    if chance.random() < 0.7:
        resumed = path.with_name("resumed")
        _resumed(path, resumed, chance, seconds, end_ps)
        faults = _differences("resumed run", resumed, whole)
        return faults + [f"the resumed run leaves {left.name}" for left in path.parent.glob(".*writing*")]
    shared = path.with_name("shared")
    try:
        _of_processes(path, shared, chance.randint(2, 4))
    except OdonataError as error:
        # Some settings work in one process only.
        return [] if "process" in str(error) else [f"several processes are refused: {error}"]
    return _differences("run of several processes", shared, whole)


def _run(path: Path, out: Path, *, threads: int, control: CheckpointControl | None = None) -> Run:
    run, interrupt = run_until_interrupted(
        read(path), out=out, threads=threads, checkpoints=control, force=True
    )
    assert interrupt is None, interrupt
    return run


def _resumed(path: Path, out: Path, chance: random.Random, seconds: float, end_ps: int) -> None:
    """Runs the experiment, and kills the run at random moments."""
    times = [max(1, end_ps * (i + 1) // (CHECKPOINTS + 1)) for i in range(CHECKPOINTS)]
    for _ in range(chance.randint(1, KILLS_MAX)):
        threads, moment = chance.randint(1, 3), chance.uniform(0.05, 1.2) * seconds
        process = os.fork()
        if process == 0:
            _become(path, out, threads, times, moment)
        os.waitpid(process, 0)
        _clear(path.parent)
        if out.exists() and not directory_of(out).exists():
            return
        # A run that was killed while it was written is written again.
        shutil.rmtree(out, ignore_errors=True)
    _run(path, out, threads=chance.randint(1, 3), control=_control(out, times))


def _clear(folder: Path) -> None:
    """Removes what processes leave that are killed while they write."""
    for left in folder.glob(".*writing*"):
        shutil.rmtree(left)


def _become(path: Path, out: Path, threads: int, times: list[int], moment: float) -> None:
    """Runs the experiment in this process, which a signal without a handler kills after some seconds."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, moment)
        _run(path, out, threads=threads, control=_control(out, times))
    finally:
        # The end of Python would run what the worker has registered.
        os._exit(0)


def _control(out: Path, times: list[int]) -> CheckpointControl:
    """Checkpoints at some times, from the last one on if there is one."""
    if not CheckpointDirectory(out).exists():
        return CheckpointControl(times)
    return CheckpointControl(times, resumed=out, before=origin(out)["before"])


def _of_processes(path: Path, out: Path, count: int) -> None:
    """Makes the run by so many processes."""
    barrier = threading.Barrier(count)
    box: list[Sequence[bytes]] = [()] * count
    mistakes: list[Exception] = []

    def work(number: int) -> None:
        processes = ThreadedProcesses(number, box, barrier)
        try:
            if number == 0:
                run_until_interrupted(read(path), out=out, threads=1, processes=processes)  # type: ignore[arg-type]
            else:
                assist(read(path), processes, threads=1)  # type: ignore[arg-type]
        except Exception as error:
            mistakes.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if mistakes:
        raise mistakes[0]


def _differences(what: str, run: Path, whole: Path) -> list[str]:
    """Files that two runs do not have alike, except for the summary, which says how long a run took."""
    found, expected = _content(run), _content(whole)
    names = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    return [f"{what}: {name} has other bytes" for name in names]


def _content(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name != "summary.json"}
