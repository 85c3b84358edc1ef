"""Random experiments for some processor time, run in a process that may crash: `make soak`.

    python tests/soak/soak.py --seconds 1200 --seed 1     cases 1 000 000, 1 000 001, ...
    python tests/soak/soak.py build/soak/1000017          one case again

A case that is refused with an error is fine. One that panics, hangs, takes too much memory or breaks what
`soak_checks` asks for is printed and stays in `build/soak`; then the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from soak_cases import CABLES, TRACE, Case, case

HERE = Path(__file__).parent
FILE = "case.toml"
CASE_SECONDS = 60.0
"""A case that takes more processor time is said to hang."""
WAITING = 20.0
"""So many times as long a case may take in all: other processes may have the processors."""


def cpu_s(process: int) -> float:
    """Processor time of a running process and of its children that have ended; 0 if there is none."""
    try:
        line = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    ticks = line.rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that runs cases; the next one after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()

    def outcome(self, directory: Path, seconds: float = CASE_SECONDS) -> tuple[str, str]:
        """What became of the case in a directory, `ok`, `refused` or `failed`, and why."""
        process = self._started()
        assert process.stdin is not None
        # Of a process that has ended there will be no answer.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(f"{directory / FILE}\n")
            process.stdin.flush()
        answer = self._answer(process.pid, seconds)
        if answer is None:
            self.close()
            return "failed", f"hangs: no end after {seconds:.0f} s"
        if not answer:
            code = process.wait()
            said = self._complaints.read_text(errors="replace")[-2000:]
            self.close()
            return "failed", f"the process ended with {code}: {said}"
        status, why = json.loads(answer)
        return status, why

    def _answer(self, process: int, seconds: float) -> str | None:
        """The answer; none if the process takes more processor time before."""
        before, end = cpu_s(process), time.monotonic() + WAITING * seconds
        while True:
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=min(0.2, seconds))
            if cpu_s(process) - before >= seconds or time.monotonic() >= end:
                return None

    @property
    def cpu_s(self) -> float:
        """Processor time of this process and of all workers so far."""
        ended = os.times()
        mine = ended.user + ended.system + ended.children_user + ended.children_system
        return mine + (0.0 if self._process is None else cpu_s(self._process.pid))

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._listener.join()
            for pipe in (self._process.stdin, self._process.stdout):
                # Messages that were not read are lost.
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            self._process = None
            self._answers = queue.SimpleQueue()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._complaints = Path(tempfile.gettempdir()) / f"soak-{os.getpid()}.txt"
            with self._complaints.open("w") as complaints:
                self._process = subprocess.Popen(
                    [sys.executable, str(HERE / "soak_worker.py")],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    text=True,
                )
            source = (self._process, self._answers)
            self._listener = threading.Thread(target=self._listen, args=source, daemon=True)
            self._listener.start()
        return self._process

    @staticmethod
    def _listen(process: subprocess.Popen[str], answers: queue.SimpleQueue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put("")


def write(one: Case, directory: Path) -> Path:
    """Puts the files of a case into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / FILE).write_text(one.text)
    for name, text in ((CABLES, one.cables), (TRACE, one.trace)):
        if text is not None:
            (directory / name).write_text(text)
    return directory


@dataclass
class Tally:
    """What became of many cases."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Path, str]] = field(default_factory=list)


def soak(cases: Iterable[Case], seconds: float, into: Path) -> Tally:
    """Runs cases until so much processor time is used; those that fail stay in a directory."""
    tally, worker = Tally(), Worker()
    end = worker.cpu_s + seconds
    for one in cases:
        if worker.cpu_s >= end:
            break
        directory = write(one, into / str(one.seed))
        status, why = worker.outcome(directory)
        tally.counts[status] += 1
        if status == "failed":
            (directory / "why.txt").write_text(why)
            tally.failures.append((directory, why))
            print(f"FAILED {directory}: {why}", flush=True)
            continue
        if status == "refused":
            tally.refusals[why.splitlines()[0][:110]] += 1
        shutil.rmtree(directory)
    worker.close()
    return tally


def main() -> int:
    """Exit code 1 if any case failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", nargs="*", type=Path, help="directories of cases to run again")
    parser.add_argument("--seconds", type=float, default=1200, help="processor time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--into", type=Path, default=Path("build/soak"))
    given = parser.parse_args()
    if given.case:
        worker = Worker()
        outcomes = [worker.outcome(directory.resolve()) for directory in given.case]
        worker.close()
        for directory, (status, why) in zip(given.case, outcomes, strict=True):
            print(f"{directory}: {status} {why}")
        return int(any(status == "failed" for status, _ in outcomes))
    first = given.seed * 1_000_000
    tally = soak(map(case, range(first, first + 1_000_000)), given.seconds, given.into.resolve())
    for why, count in tally.refusals.most_common(20):
        print(f"refused {count} times: {why}")
    print(", ".join(f"{count} {status}" for status, count in sorted(tally.counts.items())))
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
