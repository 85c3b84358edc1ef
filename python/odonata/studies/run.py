"""Runs a study: the points of all its experiments in one pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from odonata.errors import OdonataError, StoreError
from odonata.notebook import Count
from odonata.runs import Run
from odonata.store.reader import RunReader
from odonata.store.schema import INTERRUPTED, RESOLVED, ending_of
from odonata.store.sweep import Point, point_directory, text
from odonata.store.writer import is_run
from odonata.studies.expand import Part
from odonata.studies.read import nearest
from odonata.studies.results import Results
from odonata.studies.spec import Study
from odonata.sweeps.cluster import Cluster
from odonata.sweeps.execute import Failure, processors, run_tasks
from odonata.sweeps.point import Task, is_finished
from odonata.sweeps.result import make


@dataclass(frozen=True)
class StudyRun:
    """The result of running a study."""

    points: int
    kept: int
    """Number of points that were finished before."""
    failures: tuple[Failure, ...]


def run_study(
    study: Study,
    directory: Path,
    *,
    only: Mapping[str, Sequence[str]] | None = None,
    processes: int | None = None,
    threads: int = 1,
    progress: Count | None = None,
    cluster: Cluster | None = None,
    store: bool = False,
) -> tuple[Results, StudyRun]:
    """Runs the unfinished points of a study; finished points stay unchanged.

    Args:
        study: The study.
        directory: Directory of its results; an existing one is continued.
        only: By axis, or `experiment`, the values of the points to run, as texts; by default all points.
        processes: Number of points to run at a time; by default as many as the processors allow.
        threads: Threads per point.
        progress: Called with `checking` or `running`, the number of finished points, and of all.
        cluster: Cluster for the points; by default processes of this machine.
        store: Whether to store the compact form of each point in the study's folder as soon as it has run.
            Points that are stored and up to date do not run.

    Raises:
        OdonataError: The study is wrong, a point cannot run, or the directory holds something else.
    """
    results = Results(study, directory)
    if store and not study.keep:
        raise OdonataError(f"{study.name} stores no points: its study.toml has no key keep")
    tasks, parts_to_run, stored = [], [], 0
    for part, points in _chosen(results, only or {}):
        missing = [point for point in points if not (store and _is_stored(results, part, point))]
        stored += len(points) - len(missing)
        if missing:
            sweep = make(directory / part.name, part.axes, part.sweep)
            parts_to_run.append(part)
            tasks += [Task(part.sweep, point, sweep.path) for point in missing]
    if not tasks:
        return results, StudyRun(stored, stored, ())
    part_of = {
        task.target: part for part in results.parts for task in tasks if task.directory.name == part.name
    }
    kept, failures = run_tasks(
        tasks,
        processes=processes or max(processors() // threads, 1),
        threads=threads,
        progress=progress or (lambda *_: None),
        cluster=cluster,
        finished=(lambda task: _store(results, part_of[task.target], task)) if store else None,
    )
    if not failures and not stored:
        for part in parts_to_run:
            results.sweep(part).write_results()
    return results, StudyRun(stored + len(tasks), stored + kept, tuple(failures))


def _is_stored(results: Results, part: Part, point: Point) -> bool:
    """Whether the study's folder has a point as a new run would make it."""
    if not results.stored.has(part.name, point):
        return False
    resolved = Task(part.sweep, point, results.directory).experiment.check()["resolved"]
    return results.stored.is_current(part.name, point, resolved)


def _store(results: Results, part: Part, task: Task) -> None:
    """Stores a point that has run."""
    reader = RunReader(task.target)
    if ending_of(reader.summary) == INTERRUPTED:
        return
    kept = results.compact(Results.place(part, task.point), Run.from_directory(task.target))
    results.stored.write(part.name, task.point, reader.text(RESOLVED), kept)


EXPERIMENT = "experiment"
"""Name in `only` for the experiment of a point."""


def _chosen(results: Results, only: Mapping[str, Sequence[str]]) -> list[tuple[Part, list[Point]]]:
    """The points with the given values, by file."""
    known: dict[str, dict[str, None]] = {EXPERIMENT: {}}
    chosen = []
    for part in results.parts:
        known[EXPERIMENT][part.experiment] = None
        for axis in part.axes:
            known.setdefault(axis.key, {}).update(dict.fromkeys(map(text, axis.values)))
        points = [point for point in part.points if _has(part, point, only)]
        if points:
            chosen.append((part, points))
    for key, values in only.items():
        if key not in known:
            raise OdonataError(
                f"{results.study.name} has no axis {key}",
                hint=f"{nearest(key, known) or ''} The axes are {', '.join(known)}.".strip(),
            )
        for value in values:
            if value not in known[key]:
                raise OdonataError(
                    f"no point of {results.study.name} has {key} = {value}", hint=nearest(value, known[key])
                )
    if not chosen and only:
        conditions = ", ".join(f"{key} = {' or '.join(values)}" for key, values in only.items())
        raise OdonataError(f"no point of {results.study.name} has {conditions}")
    return chosen


def _has(part: Part, point: Point, only: Mapping[str, Sequence[str]]) -> bool:
    """Whether a point has the given values; False if it has no such axis."""
    place = {axis.key: text(value) for axis, value in zip(part.axes, point.values, strict=True)}
    place[EXPERIMENT] = part.experiment
    return all(place.get(key) in values for key, values in only.items())


def count_started(results: Results) -> tuple[int, int]:
    """The number of points with a run or stored, up to date or not, and the number of all points."""
    started = [
        is_run(point_directory(results.directory / part.name, point)) or results.stored.has(part.name, point)
        for part in results.parts
        for point in part.points
    ]
    return sum(started), len(started)


def count_finished(results: Results) -> tuple[int, int]:
    """The number of points that are finished and up to date, and the number of all points."""
    done = total = 0
    for part in results.parts:
        for point in part.points:
            task = Task(part.sweep, point, results.directory / part.name)
            done += is_finished(task.target, task.experiment.check()["resolved"]) or _is_stored(
                results, part, point
            )
            total += 1
    return done, total


def check_up_to_date(results: Results) -> None:
    """Raises `OdonataError` if a run is not up to date with the study.

    A missing point is no error, and a run that stopped before its end counts as missing.
    """
    for part in results.parts:
        for point in part.points:
            task = Task(part.sweep, point, results.directory / part.name)
            if not is_run(task.target) or _was_stopped(task.target):
                if results.stored.has(part.name, point) and not _is_stored(results, part, point):
                    file = results.stored.path(part.name, point)
                    raise OdonataError(
                        f"{file} is not up to date with this version and the current study",
                        hint="Run the point again with --store, or remove the file.",
                    )
                continue
            if not is_finished(task.target, task.experiment.check()["resolved"]):
                raise OdonataError(
                    f"{task.target} is not up to date with this version and the current study",
                    hint="Run it again, or remove it.",
                )


def _was_stopped(directory: Path) -> bool:
    try:
        return ending_of(RunReader(directory).summary) == INTERRUPTED
    except StoreError:
        # The run is from another version.
        return False


def check_finished(results: Results) -> None:
    """Raises `OdonataError` if points are missing, so that no conclusion rests on a part of them."""
    done, total = count_finished(results)
    if done < total:
        quick = " --quick" if results.study.quick else ""
        raise OdonataError(
            f"{total - done} of the {total} points of {results.study.name} are not finished in "
            f"{results.directory}",
            hint=f"Run them with `odonata study run {results.study.name}{quick}`.",
        )
