"""Running the points of sweeps, in local processes or on a cluster.

All points are checked before the first one runs, so that a mistake shows in seconds and not after hours. A
point is finished if its run directory was made by this version from the same resolved experiment and the same
input files; finished points are kept.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import _core
from odonata.api import Source, run_source
from odonata.errors import ExperimentError, OdonataError
from odonata.store.sweep import Point
from odonata.sweeps.cluster import Cluster, Demand, check_settings, connected
from odonata.sweeps.estimate import Estimate, estimate
from odonata.sweeps.point import MARK, Checked, Task, is_finished

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how many points are done, and of how many."""

Foresee = Callable[[Estimate], bool]
"""Called with what is ahead, if that is known; whether the points are to be run."""


@dataclass(frozen=True)
class Failure:
    """A point that could not be finished."""

    task: Task
    message: str

    @property
    def point(self) -> Point:
        """Which one."""
        return self.task.point


class DeclinedError(Exception):
    """The points were not to be run."""


def run_tasks(
    tasks: Sequence[Task],
    *,
    processes: int,
    threads: int,
    progress: Progress,
    foresee: Foresee | None = None,
    finished: Callable[[Task], None] | None = None,
    cluster: Cluster | None = None,
) -> tuple[int, list[Failure]]:
    """Runs all points that are not finished, of one sweep or of several.

    Args:
        tasks: The points.
        processes: How many of them run at a time.
        threads: How many threads each of them has.
        progress: Called after each point.
        foresee: Called before the first point with an estimate, which takes some seconds to make.
        finished: Called with each point that has run, those of before first; what it raises ends the others.
        cluster: Where the points run; in processes of this machine if not given.

    Returns:
        How many points were finished already, and those that failed while they ran, in the order of `tasks`.

    Raises:
        OdonataError: Some of the points are no experiments that can be run, and none was run; or the cluster
            cannot be had, or was lost.
        DeclinedError: `foresee` said no.
    """
    # A worker that imports a script which calls this again, without the guard, is to end quietly: the first
    # caller says what is wrong. The same test makes multiprocessing raise an error with a page of advice.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)
    settings: Mapping[str, Any] = {}
    if cluster is not None:
        settings = _settings(tasks)
        check_settings(cluster, settings)
    declined = False
    with _pool(min(processes, len(tasks))) as pool:
        resolved = _check(pool, tasks, progress)
        missing = [
            index
            for index, task in enumerate(tasks)
            if not is_finished(task.target, resolved[index].resolved)
        ]
        done = len(tasks) - len(missing)
        if foresee is not None:
            progress("estimating", done, len(tasks))
            ahead = estimate(pool, [(tasks[i], resolved[i]) for i in missing], processes * threads)
            declined = ahead is not None and not foresee(ahead)
            if declined:
                missing = []
        work = {index: (tasks[index], resolved[index]) for index in missing}
        if finished is not None and not declined:
            for index in sorted({*range(len(tasks))} - {*missing}):
                finished(tasks[index])
        failures: dict[int, str] = {}

        def follow(ended: Iterator[tuple[int, str | None]]) -> None:
            nonlocal done
            progress("running", done, len(tasks))
            for index, mistake in ended:
                if mistake is not None:
                    failures[index] = mistake
                elif finished is not None:
                    finished(tasks[index])
                done += 1
                progress("running", done, len(tasks))

        if cluster is None:
            follow(_run_here(pool, work, threads))
    # Not within: an exception there ends the workers wherever they are.
    if declined:
        raise DeclinedError
    # Not within, either: who is killed while others do the work leaves no processes behind.
    if cluster is not None and work:
        follow(_run_there(cluster, settings, work, processes, threads))
    _tidy(tasks if not work else ())
    found = [Failure(tasks[index], message) for index, message in sorted(failures.items())]
    return len(tasks) - len(missing), found


def _run_here(
    pool: ProcessPoolExecutor, work: Mapping[int, tuple[Task, Checked]], threads: int
) -> Iterator[tuple[int, str | None]]:
    """Runs points in processes of this machine; hands out each as it ends, with what was wrong with it."""

    def start(index: int) -> Future[None]:
        task, _ = work[index]
        try:
            return pool.submit(_run_point, task.source, task.overrides, task.target, threads)
        except BrokenProcessPool as error:
            broken = Future[None]()
            broken.set_exception(error)
            return broken

    bytes_of = {index: checked.memory_bytes for index, (_, checked) in work.items()}
    for index, future in as_memory_allows(bytes_of, shared_memory(), start):
        try:
            future.result()
        except BrokenProcessPool:
            yield index, "its process was killed, perhaps for want of memory"
        except Exception as error:
            yield index, f"{type(error).__name__}: {error}"
        else:
            yield index, None


def _tidy(finished: Sequence[Task]) -> None:
    """Removes what a command left on a cluster that was killed when all its points were there."""
    for directory in {task.directory for task in finished}:
        (directory / MARK).unlink(missing_ok=True)


def _run_there(
    cluster: Cluster,
    settings: Mapping[str, Any],
    work: Mapping[int, tuple[Task, Checked]],
    processes: int,
    threads: int,
) -> Iterator[tuple[int, str | None]]:
    """`_run_here` on a cluster."""
    # Dask takes half a second to import, and need not be installed.
    from odonata.sweeps.remote import run_on

    tasks = [task for task, _ in work.values()]
    largest = max(checked.memory_bytes for _, checked in work.values())
    demand = Demand(min(processes, len(work)), threads, largest)
    with connected(cluster, settings, demand, shared_memory(), tasks[0].directory / "logs") as client:
        yield from run_on(client, cluster, work, threads)


def _settings(tasks: Sequence[Task]) -> Mapping[str, Any]:
    """`[cluster]` of the experiments; empty if none has it.

    Raises:
        OdonataError: Two of them do not agree.
    """
    found: dict[tuple[Source, tuple[str, ...]], Mapping[str, Any]] = {}
    for task in tasks:
        key = (task.source, task.changes)
        if key not in found:
            found[key] = _core.cluster(task.source.text, task.source.path, list(task.changes))
    given = [(source, settings) for (source, _), settings in found.items() if settings]
    for source, settings in given[1:]:
        if settings != given[0][1]:
            raise OdonataError(
                f"{given[0][0].path} and {source.path} ask for different batch jobs in [cluster]",
                hint="Points of all files run on the same workers: say it alike, or in one of them.",
            )
    return given[0][1] if given else {}


def shared_memory() -> int | None:
    """Memory that all processes of a sweep may take together, bytes; None where the system does not say."""
    available = _core.available_memory()
    return None if available is None else available[0]


def as_memory_allows(
    bytes_of: Mapping[int, int], memory: int | None, start: Callable[[int], Future[None]]
) -> Iterator[tuple[int, Future[None]]]:
    """Starts runs in their order, each when those that go on leave it the memory that it needs.

    They are handed out as they end.
    A run that needs more than there is starts when it is alone, and says so by itself.
    """
    waiting, running = list(bytes_of), dict[Future[None], int]()
    while waiting or running:
        taken = sum(bytes_of[index] for index in running.values())
        while waiting and (not running or memory is None or taken + bytes_of[waiting[0]] <= memory):
            index = waiting.pop(0)
            running[start(index)] = index
            taken += bytes_of[index]
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        yield from ((running.pop(future), future) for future in finished)


def _check(pool: ProcessPoolExecutor, tasks: Sequence[Task], progress: Progress) -> dict[int, Checked]:
    """What each task is."""
    progress("checking", 0, len(tasks))
    checking = {
        pool.submit(_check_points, tasks[some[0]].source, [tasks[index].overrides for index in some]): some
        for some in _parts(tasks)
    }
    resolved: dict[int, Checked] = {}
    mistakes: dict[int, str] = {}
    for future in as_completed(checking):
        try:
            results = future.result()
        except BrokenProcessPool:
            raise OdonataError(
                "a process of the sweep ended before it answered",
                hint='A script has to call odonata.sweep below `if __name__ == "__main__":`, since the '
                "processes of the sweep import the script. If it does, memory may be short.",
            ) from None
        for index, result in zip(checking[future], results, strict=True):
            if isinstance(result, ExperimentProblem):
                mistakes[index] = result.message
            else:
                resolved[index] = result
        progress("checking", len(mistakes) + len(resolved), len(tasks))
    if mistakes:
        first = min(mistakes)
        count = f"{len(mistakes)} of {len(tasks)} points cannot be run"
        raise OdonataError(
            f"{count}, the first of them {tasks[first].point.name}:\n{mistakes[first]}", hint="None was run."
        )
    return resolved


@dataclass(frozen=True)
class ExperimentProblem:
    """A mistake in one point, as text: exceptions with their own arguments do not cross processes well."""

    message: str


CHECKED_TOGETHER = 32
"""Points that one call checks at most: the same programs are looked through once for all of them."""


def _parts(tasks: Sequence[Task]) -> Iterator[list[int]]:
    """Tasks that are checked together: some that follow each other, of one source."""
    for _, same in itertools.groupby(range(len(tasks)), lambda index: tasks[index].source):
        indices = list(same)
        for first in range(0, len(indices), CHECKED_TOGETHER):
            yield indices[first : first + CHECKED_TOGETHER]


def _check_points(source: Source, points: list[list[str]]) -> list[Checked | ExperimentProblem]:
    return [_checked(found) for found in _core.check_points(source.text, source.path, points)]


def _checked(found: _core.Checked | Exception) -> Checked | ExperimentProblem:
    if isinstance(found, ExperimentError):
        return ExperimentProblem(str(found))
    if isinstance(found, Exception):
        raise found
    summary = found["summary"]
    return Checked(
        found["resolved"], found["memory_estimate_bytes"], summary["routing"], summary.get("packets")
    )


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
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """A parent that was killed tells nobody: its workers would wait for their next point for ever.

    What they were writing is removed by the next run there, as after any kill.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "workers are started by a process"
    parent.join()
    os._exit(128 + signal.SIGTERM)


def _leave(*_: Any) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
