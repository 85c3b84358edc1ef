"""Running the points of a sweep in local processes.

All points are checked before the first one runs, so that a mistake shows in seconds and not after hours. A
point is finished if its run directory was made by this version from the same resolved experiment and the same
input files; finished points are kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from odonata import __version__, _core
from odonata.api import Source, run_source
from odonata.errors import ExperimentError, OdonataError, StoreError
from odonata.store import RunReader
from odonata.store.schema import RESOLVED
from odonata.store.sweep import Point

_Result = TypeVar("_Result")

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how many points are done, and of how many."""


@dataclass(frozen=True)
class Failure:
    """A point that could not be finished."""

    point: Point
    message: str


def run_points(
    source: Source,
    changes: Sequence[str],
    points: Sequence[Point],
    directory: Path,
    *,
    processes: int,
    threads: int,
    progress: Progress,
) -> tuple[int, list[Failure]]:
    """Runs all points that are not finished.

    Args:
        source: The experiment.
        changes: Overrides that hold for all points.
        points: The points to run.
        directory: Where each point has its run directory, by its name.
        processes: How many points run at a time.
        threads: How many threads each of them has.
        progress: Called after each point.

    Returns:
        How many points were finished already, and those that failed while they ran.

    Raises:
        OdonataError: Some of the points are no experiments that can be run. None was run.
    """
    # A worker that imports a script which calls this again, without the guard, is to end quietly: the first
    # caller says what is wrong. The same test makes multiprocessing raise an error with a page of advice.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)
    with _pool(min(processes, len(points))) as pool:
        resolved = _check(pool, source, changes, points, progress)
        missing = [
            point for point in points if not is_finished(directory / point.name, resolved[point.index])
        ]
        done = len(points) - len(missing)
        progress("running", done, len(points))
        tasks = {
            pool.submit(
                _run_point, source, [*changes, *point.overrides], directory / point.name, threads
            ): point
            for point in missing
        }
        failures = []
        for task, point in _as_finished(tasks):
            try:
                task.result()
            except BrokenProcessPool:
                failures.append(Failure(point, "its process was killed, perhaps for want of memory"))
            except Exception as error:
                failures.append(Failure(point, f"{type(error).__name__}: {error}"))
            done += 1
            progress("running", done, len(points))
    return len(points) - len(missing), sorted(failures, key=lambda failure: failure.point.index)


def is_finished(directory: Path, resolved: str) -> bool:
    """Whether a point's run is there and would come out the same again."""
    try:
        reader = RunReader(directory)
        return (
            reader.summary["complete"] is True
            and reader.summary["odonata_version"] == __version__
            and reader.text(RESOLVED) == resolved
            and all(_is_as_it_was(entry) for entry in reader.summary.get("inputs", []))
        )
    except StoreError:
        return False


def _is_as_it_was(entry: dict[str, Any]) -> bool:
    """Whether a file that a run has read still has the content that it had then."""
    path = Path(entry["path"])
    try:
        return bool(hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"])
    except OSError:
        return False


def _check(
    pool: ProcessPoolExecutor,
    source: Source,
    changes: Sequence[str],
    points: Sequence[Point],
    progress: Progress,
) -> dict[int, str]:
    progress("checking", 0, len(points))
    tasks = {pool.submit(_check_point, source, [*changes, *point.overrides]): point for point in points}
    resolved: dict[int, str] = {}
    mistakes: list[tuple[Point, str]] = []
    for done, (task, point) in enumerate(_as_finished(tasks), start=1):
        try:
            result = task.result()
        except BrokenProcessPool:
            raise OdonataError(
                "a process of the sweep ended before it answered",
                hint='A script has to call odonata.sweep below `if __name__ == "__main__":`, since the '
                "processes of the sweep import the script. If it does, memory may be short.",
            ) from None
        if isinstance(result, ExperimentProblem):
            mistakes.append((point, result.message))
        else:
            resolved[point.index] = result
        progress("checking", done, len(points))
    if mistakes:
        point, message = min(mistakes, key=lambda mistake: mistake[0].index)
        count = f"{len(mistakes)} of {len(points)} points cannot be run, the first of them {point.name}"
        raise OdonataError(f"{count}:\n{message}", hint="None was run.")
    return resolved


@dataclass(frozen=True)
class ExperimentProblem:
    """A mistake in one point, as text: exceptions with their own arguments do not cross processes well."""

    message: str


def _check_point(source: Source, changes: list[str]) -> str | ExperimentProblem:
    try:
        return _core.check(source.text, source.path, changes)["resolved"]
    except ExperimentError as error:
        return ExperimentProblem(str(error))


def _run_point(source: Source, changes: list[str], directory: Path, threads: int) -> None:
    _forget_peak_memory()
    try:
        run_source(source, changes, out=directory, threads=threads, force=True)
    except (KeyboardInterrupt, SystemExit):
        # The pool would take the exception for a result and go on with the next point. What the run had so
        # far is written.
        os._exit(128 + signal.SIGTERM)


def _forget_peak_memory() -> None:
    """Lets the next run state its own peak of memory, not that of an earlier one in this process (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _as_finished(tasks: dict[Future[_Result], Point]) -> Iterator[tuple[Future[_Result], Point]]:
    for task in as_completed(tasks):
        yield task, tasks[task]


@contextlib.contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that end when this one is interrupted, cleaning up what they were writing."""
    # Not forked: threads of this process would leave locks behind in the children.
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare_worker
    )
    try:
        yield pool
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


def _prepare_worker() -> None:
    """Ctrl-C reaches the whole group of processes; the parent decides, and ends its workers by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)


def _leave(*_: Any) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
