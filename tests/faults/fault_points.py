"""Runs `odonata` in forked processes whose n-th change of a file fails, or sends the process a signal.

Started with `faults.so` in LD_PRELOAD: `python fault_points.py FOLDER SECONDS [FIRST_POINT]`. Prints one line
of JSON per failed check, and at the end the number of points. Points go round all commands and faults.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import itertools
import json
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ONCE, FROM_THEN_ON, SIGNAL = range(3)
FAULTS = {
    "full disk": (errno.ENOSPC, FROM_THEN_ON),
    "no space once": (errno.ENOSPC, ONCE),
    "quota": (errno.EDQUOT, FROM_THEN_ON),
    "broken disk": (errno.EIO, ONCE),
    "read only": (errno.EROFS, FROM_THEN_ON),
    "killed": (signal.SIGKILL, SIGNAL),
    "terminated": (signal.SIGTERM, SIGNAL),
    "interrupted": (signal.SIGINT, SIGNAL),
}
CODES = {"terminated": (0, 143), "interrupted": (0, 130)}
"""Exit codes at a fault, if they are not 0 or 2."""

FORK = multiprocessing.get_context("fork")
TIMEOUT_S = 120

EXPERIMENT = """format = 3
[machine]
topology = "dragonfly"
p = 1
a = 2
h = 1
g = 3
[[job]]
name = "a"
ranks = 4
ranks_per_node = 1
pattern = {{ name = "shift", bytes = "4 KiB" }}
[engine]
{engine}
"""
PACKET = 'kind = "packet"\nrecord_packets = true\ninterval = "1 us"\n'
FILES = {
    "run.toml": EXPERIMENT.format(engine=PACKET),
    "sweep.toml": EXPERIMENT.format(engine='kind = "flow"\n[sweep]\n"engine.seed" = [1, 2]'),
    "optimize.toml": EXPERIMENT.format(
        engine='kind = "flow"\n[sweep]\n"engine.routing" = ["min", "adaptive-hybrid"]\n[optimize]\n'
        'objectives = ["slowest job"]\n'
    ),
}
COMMANDS = {
    "run": ["run", "run.toml", "-o", "out", "-q"],
    "replace": ["run", "run.toml", "-o", "out", "-q", "--force"],
    "sweep": ["sweep", "sweep.toml", "-o", "out", "-q", "-j", "1"],
    "optimize": ["optimize", "optimize.toml", "-o", "out", "-q", "-j", "1"],
}


class Faults:
    """The shim."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.faults_count.restype = ctypes.c_long
        self._library.faults_hits.restype = ctypes.c_long

    def run(self, folder: Path, command: str, at: int, fault: str) -> tuple[int, int, int, str]:
        """Runs a command below `folder` with a fault at its call number `at`.

        Returns its exit code, the numbers of counted calls and of hits, and what it printed.
        """
        printed = folder.with_name("printed")
        error, mode = FAULTS[fault]
        gc.collect()
        self._library.faults_arm(os.fsencode(folder), ctypes.c_long(at), error, mode)
        process = os.fork()
        if process == 0:
            _become(folder, printed, COMMANDS[command], folder.with_name("modules") if at == 0 else None)
        _, status = os.waitpid(process, 0)
        counts = self._library.faults_count(), self._library.faults_hits()
        self._library.faults_disarm()
        return os.waitstatus_to_exitcode(status), *counts, printed.read_text()


def _become(folder: Path, printed: Path, arguments: list[str], modules: Path | None) -> None:
    output = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    os.chdir(folder)
    signal.alarm(TIMEOUT_S)
    # A worker that starts another Python takes half a second, and its calls would not be counted.
    multiprocessing.get_context = lambda _method=None: FORK
    from odonata.cli import main

    code = 1
    try:
        main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        if modules:
            modules.write_text("\n".join(sys.modules))
        sys.stdout.flush()
        sys.stderr.flush()
        # The end of Python would run what the server has registered.
        os._exit(code)


def hidden(folder: Path) -> list[str]:
    """Unfinished files and directories."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*.writing-*"))


def damaged(folder: Path) -> list[str]:
    """What has a final name below `out` and cannot be read."""
    import pyarrow.parquet as pq

    import odonata

    wrong = []
    out = folder / "out"

    def named(pattern: str) -> list[Path]:
        found = (path for path in out.rglob(pattern) if ".writing-" not in str(path))
        return sorted(found)

    for path in named("*.parquet"):
        try:
            pq.read_table(path)
        except Exception as error:
            wrong.append(f"{path.relative_to(folder)}: {error}")
    for path in named("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as error:
            wrong.append(f"{path.relative_to(folder)}: {error}")
    runs = {path.parent for path in named("resolved.toml")}
    runs |= {path for path in out.glob("points/*") if path.is_dir() and not path.name.startswith(".")}
    for path in sorted(runs):
        try:
            run = odonata.load(path)
            [run.table(name) for name in run.table_names]
        except Exception as error:
            wrong.append(f"{path.relative_to(folder)}: {error}")
    return wrong


def complaints(folder: Path, command: str, fault: str, code: int, hits: int, printed: str) -> list[str]:
    """What a command did wrong at a fault."""
    wrong = damaged(folder)
    if "Traceback" in printed or "internal error" in printed:
        wrong.append(f"prints {printed[-1500:]}")
    killed = fault == "killed" and hits > 0
    if not killed:
        wrong += [f"leaves {name}" for name in hidden(folder)]
        failed_point = code == 1 and printed.startswith("point ")
        if not failed_point and (code not in CODES.get(fault, (0, 2)) or (code == 2 and not printed)):
            wrong.append(f"ends with code {code}: {printed[-300:]}")
    if code == 0 and not (folder / "out").is_dir():
        wrong.append("ends with code 0 and leaves no result")
    if command == "replace" and not (folder / "out" / "summary.json").exists() and not killed:
        wrong.append("lost the run that it was to replace")
    return wrong


def prepared(folder: Path, command: str) -> None:
    """An empty folder with the experiments, and for `replace` with a run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    if command == "replace":
        shutil.copytree(folder.with_name("whole"), folder / "out")


def points(numbers: dict[str, int]) -> Iterator[tuple[str, int, str]]:
    """All points: each command and each of its calls, with each fault, spread so that a start covers all."""
    whole = [
        (command, at, fault)
        for command, calls in numbers.items()
        for at in range(1, calls + 1)
        for fault in FAULTS
    ]
    stride = next(n for n in itertools.count(int(len(whole) * 0.618)) if _coprime(n, len(whole)))
    return (whole[i * stride % len(whole)] for i in itertools.count())


def beginnings() -> list[tuple[str, int, str]]:
    """The first changes of a command, in which it makes its directory; they come first, whatever the time."""
    commands, faults = ("run", "sweep", "optimize"), ("killed", "terminated")
    return [(command, at, fault) for command in commands for at in range(1, 10) for fault in faults]


def _coprime(a: int, b: int) -> bool:
    while b:
        a, b = b, a % b
    return a == 1


def cpu_s() -> float:
    """Processor time of this process and of all commands."""
    return sum(os.times()[:4])


def main() -> None:
    """Tries points until so much processor time is used or all points were tried."""
    folder, seconds = Path(sys.argv[1]).resolve() / "work", float(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    faults, numbers = Faults(), dict[str, int]()
    for command in COMMANDS:
        prepared(folder, command)
        code, numbers[command], _, printed = faults.run(folder, command, 0, "broken disk")
        if code != 0 or hidden(folder) or damaged(folder):
            print(
                json.dumps({"command": command, "wrong": [f"fails without a fault: {printed}"]}), flush=True
            )
            return
        if command == "run":
            shutil.copytree(folder / "out", folder.with_name("whole"), dirs_exist_ok=True)
        # A forked process need not import them again, which takes as long as the command itself.
        for name in folder.with_name("modules").read_text().split("\n"):
            with contextlib.suppress(ImportError):
                import_module(name)
    gc.freeze()
    total, tried, start = sum(numbers.values()) * len(FAULTS), 0, cpu_s()
    early = beginnings() if first == 0 else []
    for command, at, fault in [*early, *itertools.islice(points(numbers), first, first + total)]:
        if tried == len(early):
            start = cpu_s()
        elif tried > len(early) and cpu_s() - start > seconds:
            break
        prepared(folder, command)
        code, _, hits, printed = faults.run(folder, command, at, fault)
        wrong = complaints(folder, command, fault, code, hits, printed)
        if fault == "killed" and not wrong:
            # The next command in the same folder removes what is left and has the whole result.
            code, _, _, printed = faults.run(folder, command, 0, fault)
            # Killed after its last change of the run directory: the run is whole, and is not replaced.
            is_whole = command == "run" and code == 2 and "out already holds a run" in printed
            if code == 0 or is_whole:
                wrong = [f"the next command leaves {name}" for name in hidden(folder)] + damaged(folder)
            else:
                wrong = [f"the next command ends with code {code}: {printed[-300:]}"]
        tried += 1
        if wrong:
            print(json.dumps({"command": command, "at": at, "fault": fault, "wrong": wrong}), flush=True)
    print(json.dumps({"points": tried, "of": total, "calls": numbers}), flush=True)


if __name__ == "__main__":
    main()
