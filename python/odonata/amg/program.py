"""Runs the hierarchy program: hypre's BoomerAMG on virtual ranks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from odonata import _core
from odonata.amg.problems import GATHERED_SMOOTHERS, NODAL, SMOOTHERS, Problem
from odonata.errors import OdonataError

PROGRAM = "ODONATA_AMG_PROGRAM"
"""Environment variable with the path of the built program, if it is elsewhere."""

Progress = Callable[[int, int], None]
"""Called with each finished level and its number of unknowns."""


@dataclass(frozen=True)
class Usage:
    """Resources that a run used."""

    cpu_s: float
    peak_rss_bytes: int


def find() -> Path:
    """Path of the built program.

    Raises:
        OdonataError: The program is not built.
    """
    given = os.environ.get(PROGRAM)
    candidates = [Path(given)] if given else [Path(__file__).parents[3] / "vmpi" / "build" / "amg-hierarchy"]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    where = (
        f"{PROGRAM} names {given}, which is not a program" if given else "the hierarchy program is not built"
    )
    raise OdonataError(
        where,
        hint="Run `make hypre` in Odonata's source tree: it installs Debian's libhypre-dev and builds it. "
        f"For a package from pip, also set {PROGRAM} to the path of vmpi/build/amg-hierarchy. Without "
        "hypre, use the shipped tables, or another hierarchy with --fallback pyamg.",
    )


def available_memory() -> int | None:
    """Bytes of memory available to a new program; None if the system does not report it."""
    available = _core.available_memory()
    return None if available is None else available[0]


def check_memory(problem: Problem, available: int | None = None) -> None:
    """Refuses a run that does not fit in memory; the message has both sizes."""
    if available is None:
        available = available_memory()
    if available is not None and problem.memory_bytes > available:
        raise OdonataError(
            f"{problem.unknowns:,} unknowns on {problem.ranks:,} ranks need about "
            f"{problem.memory_bytes / 1e9:.1f} GB; {available / 1e9:.1f} GB are available",
            hint="Use fewer points per rank, or `odonata amg model --extrapolate`.",
        )


def arguments(
    problem: Problem,
    out: Path,
    *,
    matrix: Path | None,
    solve: bool,
    redistribute: str | None,
    solver: str | None = None,
) -> list[str]:
    """Command line of the program, after vmpi's own options."""
    s = problem.settings
    words = ["--out", str(out)]
    if matrix is not None:
        words += ["--problem", "file", "--matrix", str(matrix)]
    else:
        words += ["--problem", problem.name]
        words += ["--points", "x".join(map(str, problem.points)), "--grid", "x".join(map(str, problem.grid))]
    if "coefficients" in problem.options:
        words += ["--coefficients", ",".join(repr(float(c)) for c in problem.options["coefficients"])]
    for name in ("angle", "epsilon"):
        if name in problem.options:
            words += [f"--{name}", repr(float(problem.options[name]))]
    words += ["--coarsening", str(s.coarsening), "--interpolation", str(s.interpolation)]
    words += ["--max-elements", str(s.max_elements), "--aggressive", str(s.aggressive_levels)]
    words += [
        "--truncation",
        repr(s.truncation),
        "--strength",
        repr(s.strength),
        "--max-levels",
        str(s.max_levels),
        "--functions",
        str(s.functions),
    ]
    down, up = SMOOTHERS[s.smoother]
    words += ["--smoother", f"{down},{up}", "--relax-weight", repr(s.relax_weight), "--cycle", s.cycle]
    if s.nodal:
        words += ["--nodal", str(NODAL[s.nodal])]
    words += ["--solve", str(int(solve)), "--solver", solver or ",".join(problem.solvers)]
    words += ["--null-space", str(int("null_space" in problem.options))]
    if redistribute is not None:
        words += ["--redistribute", redistribute]
    return words


def run(
    problem: Problem,
    out: Path,
    *,
    matrix: Path | None = None,
    solve: bool = False,
    solver: str | None = None,
    redistribute: tuple[int, int] | None = None,
    record: bool = False,
    progress: Progress | None = None,
) -> Usage:
    """Runs the program and writes its tables to `out`.

    Raises:
        OdonataError: The program is missing, does not fit in memory, or failed; the hint has its last output.
    """
    program = find()
    check_memory(problem)
    if redistribute is not None:
        _check_gathered(problem)
    words = [str(program), "-np", str(problem.ranks)]
    if record:
        words += ["-record", str(out / "record.bin")]
    pair = None if redistribute is None else f"{redistribute[0]}:{redistribute[1]}"
    words += ["--", *arguments(problem, out, matrix=matrix, solve=solve, redistribute=pair, solver=solver)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr is not None
    last: list[str] = []
    try:
        with process.stderr as lines:
            for line in lines:
                parts = line.split()
                if len(parts) == 4 and parts[0] == "level" and parts[2] == "unknowns":
                    if progress:
                        progress(int(parts[1]), int(parts[3]))
                else:
                    last = [*last[-19:], line.rstrip()]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        raise OdonataError(
            f"the hierarchy program ended with {_ending(process.returncode)}", hint="\n  ".join(last) or None
        )
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def _check_gathered(problem: Problem) -> None:
    """Refuses options that the cycle on fewer ranks does not support."""
    settings = problem.settings
    if settings.cycle != "v":
        raise OdonataError(
            f"a level is gathered in V-cycles only, not in a {settings.cycle.upper()}-cycle", hint="--cycle v"
        )
    if settings.smoother not in GATHERED_SMOOTHERS:
        raise OdonataError(
            f"a level cannot be gathered where {settings.smoother} smooths",
            hint=f"--smoother {', '.join(GATHERED_SMOOTHERS)}",
        )


def _ending(code: int) -> str:
    if code == -9:
        return "signal 9: the system stopped it, most likely because memory ran out"
    return f"signal {-code}" if code < 0 else f"exit status {code}"
