"""Runs `odonata` in processes of its own without starting Python for each of them: a server forks them.

To start Python with Arrow, pandas and rich takes up to 0.7 s of processor time, more than most commands of
the tests. The server imports them once. Each call is a process as a user starts it, with arguments,
directory, environment, output and exit code of its own. All share the server's hash seed: where the bytes of
two runs are compared, one of them gets a PYTHONHASHSEED and so starts Python.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

PRELOADED = (
    "pandas",
    "pyarrow.compute",
    "pyarrow.parquet",
    "rich.console",
    "rich.table",
    "scipy.io",
    "scipy.sparse",
    "odonata.amg",
    "odonata.analysis",
    "odonata.cli",
    "odonata.machines",
    "odonata.runs",
    "odonata.sweeps",
)
"""None of them reads the environment, which differs between calls."""

TIMEOUT_S = 300
"""A command that takes longer is killed, and its test fails."""


class CommandServer:
    """The server, started by the first call. It serves one call at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.cpu_s = 0.0
        """Processor time of all commands so far."""

    def call(self, command: Sequence[str], cwd: Path, env: Mapping[str, str], folder: Path) -> int:
        """Runs the command and returns its exit code. Its output goes to `out` and `err` in `folder`."""
        if self._process is None:
            # A process with the threads of a linear algebra library should not fork.
            self._process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        call = {"argv": list(command), "cwd": str(cwd), "env": dict(env), "folder": str(folder)}
        print(json.dumps(call), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().split()
        assert answer, "the command server has ended"
        code, self.cpu_s = int(answer[0]), self.cpu_s + float(answer[1])
        if code == -signal.SIGALRM:
            raise TimeoutError(f"{' '.join(command)} took more than {TIMEOUT_S} s")
        return code

    def close(self) -> None:
        """Ends the server."""
        if self._process is not None:
            self._process.communicate()


def serve() -> None:
    """Forks a process for each call; returns in that process, too, which then is the command."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):  # some are optional
            import_module(name)
    gc.freeze()  # otherwise each process copies all objects when it collects garbage at its end
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            become(**json.loads(line))
            return
        _, status, usage = os.wait4(process, 0)
        print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, flush=True)
    os._exit(0)


def become(argv: list[str], cwd: str, env: dict[str, str], folder: str) -> None:
    """Makes this process the one that a user starts."""
    for number, name in enumerate((os.devnull, f"{folder}/out", f"{folder}/err")):
        opened = os.open(name, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = argv
    signal.alarm(TIMEOUT_S)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, which a user has not
    serve()
    from odonata.cli import main

    main()
