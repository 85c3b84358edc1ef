"""Runs the points of sweeps, in local processes or on a cluster.

All points are checked before the first one runs, so that mistakes show in seconds. A point is finished if its
run directory was made by this version from the same resolved experiment and input files. Finished points are
not run again.
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
from odonata._core import Experiment
from odonata.api import run
from odonata.errors import ExperimentError, OdonataError
from odonata.notebook import Count
from odonata.quantity import counted
from odonata.records import CheckResult
from odonata.store.sweep import Point
from odonata.sweeps.cluster import Cluster, Demand, check_settings, connected
from odonata.sweeps.estimate import Estimate, estimate
from odonata.sweeps.point import MARK, CheckedPoint, Task, is_finished

OnEstimate = Callable[[Estimate | None], bool]
"""Takes an estimate, or None if there is none, and returns whether to run the points."""


@dataclass(frozen=True)
class Failure:
    """A point that failed."""

    task: Task
    message: str

    @property
    def point(self) -> Point:
        """Point of the task."""
        return self.task.point


class DeclinedError(Exception):
    """The user declined to run the points."""


def run_tasks(
    tasks: Sequence[Task],
    *,
    processes: int,
    threads: int,
    progress: Count,
    on_estimate: OnEstimate | None = None,
    starting: Callable[[], object] = lambda: None,
    finished: Callable[[Task], None] | None = None,
    cluster: Cluster | None = None,
) -> tuple[int, list[Failure]]:
    """Runs all unfinished points of one or several sweeps.

    Args:
        tasks: The points.
        processes: Number of concurrent points.
        threads: Threads per point.
        progress: Called after each point.
        on_estimate: Called before the first point with an estimate, which takes a few seconds.
        starting: Called before the first point, if all points can run and `on_estimate` does not decline.
        finished: Called with each finished point, starting with points of earlier calls. An exception ends
            all points.
        cluster: Cluster of the points; by default processes of this machine.

    Returns:
        The number of points that were already finished, and the failed points in the order of `tasks`.

    Raises:
        OdonataError: Some points cannot run, and no point was run; or the cluster is not available.
        DeclinedError: `on_estimate` returned False.
    """
    # A worker that imports an unguarded script calls this again. It ends quietly, because the first caller
    # reports the mistake. multiprocessing itself uses this test and raises an error with long advice.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)
    settings: Mapping[str, Any] = {}
    if cluster is not None:
        settings = _settings(tasks)
        check_settings(cluster, settings)
    declined = False
    with _pool(min(processes, len(tasks))) as pool:
        resolved = _check(pool, tasks, progress)
        missing = _unfinished(tasks, resolved)
        done = len(tasks) - len(missing)
        if on_estimate is not None:
            progress("estimating", done, len(tasks))
            ahead = estimate(pool, [(tasks[i], resolved[i]) for i in missing], processes * threads)
            declined = not on_estimate(ahead)
            if declined:
                missing = []
        if not declined:
            starting()
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
            follow(_run_locally(pool, work, threads))
    # Outside the pool: an exception inside it terminates the workers.
    if declined:
        raise DeclinedError
    # Outside the pool, too, so that a killed client of a cluster leaves no local processes behind.
    if cluster is not None and work:
        follow(_run_on_cluster(cluster, settings, work, processes, threads))
    _tidy(tasks if not work else ())
    found = [Failure(tasks[index], message) for index, message in sorted(failures.items())]
    return len(tasks) - len(missing), found


def _unfinished(tasks: Sequence[Task], resolved: Mapping[int, CheckedPoint]) -> list[int]:
    """Positions of the tasks that have no finished run."""
    return [i for i, task in enumerate(tasks) if not is_finished(task.target, resolved[i].resolved)]


def _run_locally(
    pool: ProcessPoolExecutor, work: Mapping[int, tuple[Task, CheckedPoint]], threads: int
) -> Iterator[tuple[int, str | None]]:
    """Runs points in local processes; yields each one as it ends, with its error message or None."""

    def start(index: int) -> Future[None]:
        task, _ = work[index]
        try:
            return pool.submit(_run_point, task.experiment, task.target, threads)
        except BrokenProcessPool as error:
            broken = Future[None]()
            broken.set_exception(error)
            return broken

    bytes_of = {index: checked.memory_bytes for index, (_, checked) in work.items()}
    for index, future in as_memory_allows(bytes_of, shared_memory(), start):
        try:
            future.result()
        except BrokenProcessPool:
            yield index, "its process was killed, perhaps due to lack of memory"
        except Exception as error:
            yield index, f"{type(error).__name__}: {error}"
        else:
            yield index, None


def _tidy(finished: Sequence[Task]) -> None:
    """Removes the marks that a killed command of a cluster left behind."""
    for directory in {task.directory for task in finished}:
        (directory / MARK).unlink(missing_ok=True)


def _run_on_cluster(
    cluster: Cluster,
    settings: Mapping[str, Any],
    work: Mapping[int, tuple[Task, CheckedPoint]],
    processes: int,
    threads: int,
) -> Iterator[tuple[int, str | None]]:
    """`_run_locally`, but on a cluster."""
    # Dask is optional and takes half a second to import.
    from odonata.sweeps.remote import run_on

    tasks = [task for task, _ in work.values()]
    largest = max(checked.memory_bytes for _, checked in work.values())
    demand = Demand(min(processes, len(work)), threads, largest)
    with connected(cluster, settings, demand, shared_memory(), tasks[0].directory / "logs") as client:
        yield from run_on(client, cluster, work, threads)


def _settings(tasks: Sequence[Task]) -> Mapping[str, Any]:
    """`[cluster]` of the experiments; empty if none has it.

    Raises:
        OdonataError: Two of them differ.
    """
    found = {sweep: sweep.cluster() for sweep in dict.fromkeys(task.sweep for task in tasks)}
    given = [(sweep, settings) for sweep, settings in found.items() if settings]
    for sweep, settings in given[1:]:
        if settings != given[0][1]:
            raise OdonataError(
                f"{given[0][0].path} and {sweep.path} have different tables [cluster]",
                hint="All points share the same workers. Use equal tables, or only one.",
            )
    return given[0][1] if given else {}


def shared_memory() -> int | None:
    """Memory for all processes of a sweep, in bytes; None if unknown."""
    available = _core.available_memory()
    return None if available is None else available[0]


def as_memory_allows(
    bytes_of: Mapping[int, int], memory: int | None, start: Callable[[int], Future[None]]
) -> Iterator[tuple[int, Future[None]]]:
    """Starts runs in order, each when the running ones leave enough memory; yields them as they end.

    A run that needs more memory than there is starts when it is alone.
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


def _check(pool: ProcessPoolExecutor, tasks: Sequence[Task], progress: Count) -> dict[int, CheckedPoint]:
    progress("checking", 0, len(tasks))
    checking = {
        pool.submit(
            _check_points, tasks[some[0]].sweep, [tasks[index].point.overrides for index in some]
        ): some
        for some in _parts(tasks)
    }
    resolved: dict[int, CheckedPoint] = {}
    mistakes: dict[int, str] = {}
    for future in as_completed(checking):
        try:
            results = future.result()
        except BrokenProcessPool:
            raise OdonataError(
                "a process of the sweep ended without an answer",
                hint='In a script, call odonata.sweep below `if __name__ == "__main__":`, because the '
                "processes import the script. Otherwise, check the available memory.",
            ) from None
        for index, result in zip(checking[future], results, strict=True):
            if isinstance(result, ExperimentProblem):
                mistakes[index] = result.message
            else:
                resolved[index] = result
        progress("checking", len(mistakes) + len(resolved), len(tasks))
    if mistakes:
        first = min(mistakes)
        count = f"{len(mistakes)} of {counted(len(tasks), 'point')} cannot run"
        raise OdonataError(
            f"{count}. The first is {tasks[first].point.name}:\n{mistakes[first]}", hint="No point was run."
        )
    return resolved


@dataclass(frozen=True)
class ExperimentProblem:
    """A mistake in a point as text, since exceptions with own arguments cannot be pickled."""

    message: str


CHECKED_TOGETHER = 32
"""Maximum points per check. Larger batches examine shared programs once, but use fewer processes."""


def _parts(tasks: Sequence[Task]) -> Iterator[list[int]]:
    """Batches of consecutive tasks of the same sweep."""
    for _, same in itertools.groupby(range(len(tasks)), lambda index: tasks[index].sweep):
        indices = list(same)
        for first in range(0, len(indices), CHECKED_TOGETHER):
            yield indices[first : first + CHECKED_TOGETHER]


def _check_points(sweep: Experiment, points: list[tuple[str, ...]]) -> list[CheckedPoint | ExperimentProblem]:
    return [_checked(found) for found in sweep.check_points(points)]


def _checked(found: CheckResult | Exception) -> CheckedPoint | ExperimentProblem:
    if isinstance(found, ExperimentError):
        return ExperimentProblem(str(found))
    if isinstance(found, Exception):
        raise found
    summary = found["summary"]
    return CheckedPoint(
        found["resolved"], found["memory_estimate_bytes"], summary["routing"], summary.get("packets")
    )


def _run_point(experiment: Experiment, directory: Path, threads: int) -> None:
    _forget_peak_memory()
    try:
        run(experiment, out=directory, threads=threads, force=True)
    except (KeyboardInterrupt, SystemExit):
        # The pool would treat the exception as a result and start the next point. Partial results are
        # written.
        os._exit(128 + signal.SIGTERM)


def _forget_peak_memory() -> None:
    """Resets the peak memory of this process, so that the next run reports its own (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@contextlib.contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that end and clean up if this one is interrupted."""
    # Forked children would inherit locks of this process's threads.
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
    """Ignores Ctrl-C, which reaches all processes; the parent ends its workers by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """Ends the worker if its parent is killed; otherwise it would wait forever for its next point.

    The next run there removes unfinished output.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "workers are started by a process"
    parent.join()
    os._exit(128 + signal.SIGTERM)


def _leave(*_: Any) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
