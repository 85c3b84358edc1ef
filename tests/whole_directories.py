"""Whole directories of every kind, and commands that read them in this process."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import damage
from click.testing import CliRunner

import odonata
from odonata.amg import library
from odonata.cli import main

CPU_S, WALL_S = 20, 300
"""A command that takes more processor time hangs, and so does one that waits for longer. Other processes may
have the processors."""

DEFECT = -1

FLOW = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "halo"
pattern = "stencil-2d"
ranks = 32
[[job]]
name = "sum"
program = "allreduce"
ranks = 16
[engine]
kind = "flow"
seed = 1
"""

MACHINE = FLOW[: FLOW.index("[[job]]")]

HOT = f"""{MACHINE}
edit = ["fail node 60"]
[[job]]
name = "incast"
pattern = {{ name = "hotspot", share = 1.0, hot_ranks = 1, messages = 4, bytes = "1 kB" }}
ranks = 16
ranks_per_node = 1
placement = "compact"
traffic = {{ name = "open", load = 1.0, injection = "paced" }}
JOBS
[engine]
kind = "packet"
routing = "ROUTING"
warm_up = "5 us"
measure = "20 us"
drain = "1 us"
series = ["jobs", "links", "channels", "link-jobs"]
interval = "5 us"
"""

ABSENT = """[[job]]
name = "sum"
program = { name = "allreduce", iterations = 2, compute = "1 us" }
ranks = 16
[[job]]
name = "gone"
pattern = "all-to-all"
ranks = 2
placement = { name = "list", nodes = [60, 61] }
"""

EXPERIMENTS = {
    "run": FLOW,
    "packets": FLOW.replace('"flow"', '"packet"'),
    "bound": FLOW.replace('"flow"', '"flow"\nrouting = "optimal"'),
    "hot": HOT.replace("JOBS", "").replace("ROUTING", "q-adaptive"),
    "absent": HOT.replace("JOBS", ABSENT).replace("ROUTING", "par"),
    "repeated": f"""{MACHINE}
[[job]]
name = "halo"
program = {{ name = "halo-3d", iterations = 40 }}
ranks = 27
[engine]
kind = "packet"
routing = "min"
fast_forward = "exact"
""",
    "stuck": FLOW.replace('"allreduce"', '{ name = "file", path = "stuck.program" }').replace(
        "flow", "packet"
    ),
}
"""Runs that together have every part that a summary may have."""


def make(place: Path) -> Path:
    """Whole directories of each kind, and the experiments of those that can go on."""
    (place / "stuck.program").write_text("send rank 64 KiB tag 1\nrecv rank 64 KiB tag 1\n")
    for name, text in EXPERIMENTS.items():
        (place / f"{name}.toml").write_text(text)
        odonata.run(place / f"{name}.toml", out=place / name)
    (place / "sweep.toml").write_text(
        FLOW + '\n[sweep]\n"engine.routing" = ["min", "adaptive-hybrid"]\n"engine.seed" = [1, 2]\n'
    )
    odonata.sweep(place / "sweep.toml", out=place / "sweep", processes=1)
    routings = '\n[sweep]\n"engine.routing" = ["min", "adaptive-hybrid"]\n'
    (place / "search.toml").write_text(FLOW + routings + '[optimize]\nobjectives = ["slowest job"]\n')
    odonata.optimize(place / "search.toml", out=place / "search", processes=1)
    _, hierarchy = library.directories()[0]
    damage.copy(hierarchy, place / "hierarchy")
    return place


class SameProcess:
    """Does the work of a sweep's processes here: to start one takes half a second.

    A process would report an internal error as a failed point. Here it passes.
    """

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(function(*arguments))
        except odonata.OdonataError as error:
            future.set_exception(error)
        return future


def filled(command: str, directory: Path, whole: Path, out: Path, kind: str) -> str:
    page = out / ("page.html" if "view" in command else "picture.png")
    page.unlink(missing_ok=True)
    return command.format(directory, whole / "run", page, whole / f"{kind}.toml")


def invoke(command: str) -> tuple[int, str]:
    """Exit code of a command in this process, and the end of what it says."""
    try:
        with limited(), warnings.catch_warnings():
            result = CliRunner().invoke(main, command.split())
    except TimeoutError:
        return DEFECT, f"hangs: no end after {CPU_S} s of processor time, or {WALL_S} s"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return DEFECT, "".join(traceback.format_exception(result.exception)[-3:])
    return result.exit_code, result.output[-400:]


@contextmanager
def limited() -> Iterator[None]:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    timers = {signal.ITIMER_PROF: (signal.SIGPROF, CPU_S), signal.ITIMER_REAL: (signal.SIGALRM, WALL_S)}
    before = {number: signal.signal(number, end) for number, _ in timers.values()}
    for timer, (_, seconds) in timers.items():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
