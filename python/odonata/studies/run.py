"""Running a study: the points of all its experiments in one pool, then what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from odonata import _core
from odonata.errors import OdonataError, StoreError
from odonata.store import RunReader, is_run
from odonata.store.sweep import Point, point_directory, text
from odonata.studies.expand import Part
from odonata.studies.read import nearest
from odonata.studies.results import Results
from odonata.studies.spec import Study
from odonata.sweeps.cluster import Cluster
from odonata.sweeps.execute import Failure, Progress, processors, run_tasks
from odonata.sweeps.point import Task, is_finished
from odonata.sweeps.result import make


@dataclass(frozen=True)
class Ran:
    """What running came to."""

    points: int
    kept: int
    """How many were finished before."""
    failures: tuple[Failure, ...]


def run_study(
    study: Study,
    directory: Path,
    *,
    only: Mapping[str, Sequence[str]] | None = None,
    processes: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> tuple[Results, Ran]:
    """Runs the points of a study that are not finished; those that are stay as they are.

    Args:
        study: The study.
        directory: Where its results lie; one that is there is continued.
        only: By axis, or `experiment`, the values of the points to run, as texts; all points if not given.
        processes: How many points run at a time; as many as the processors allow if not given.
        threads: For each point.
        progress: Called with `checking` or `running`, the number of points done, and of all.
        cluster: Where the points run; in processes of this machine if not given.

    Raises:
        OdonataError: The study is wrong, a point cannot be run, or the directory holds something else.
    """
    results = Results(study, directory)
    tasks, wanted = [], []
    for part, points in _chosen(results, only or {}):
        sweep = make(directory / part.name, part.axes, part.source)
        wanted.append(part)
        tasks += [Task(part.source, part.changes, point, sweep.path) for point in points]
    if not tasks:
        return results, Ran(0, 0, ())
    kept, failures = run_tasks(
        tasks,
        processes=processes or max(processors() // threads, 1),
        threads=threads,
        progress=progress or (lambda *_: None),
        cluster=cluster,
    )
    if not failures:
        for part in wanted:
            results.sweep(part).write_results()
    return results, Ran(len(tasks), kept, tuple(failures))


EXPERIMENT = "experiment"
"""What `only` calls the experiment that a point is of."""


def _chosen(results: Results, only: Mapping[str, Sequence[str]]) -> list[tuple[Part, list[Point]]]:
    """The points that have the wanted values, by the file that they are of."""
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
                hint=f"{nearest(key, known) or ''} There are: {', '.join(known)}.".strip(),
            )
        for value in values:
            if value not in known[key]:
                raise OdonataError(
                    f"no point of {results.study.name} has {key} = {value}", hint=nearest(value, known[key])
                )
    if not chosen and only:
        wanted = ", ".join(f"{key} = {' or '.join(values)}" for key, values in only.items())
        raise OdonataError(f"no point of {results.study.name} has {wanted}")
    return chosen


def _has(part: Part, point: Point, only: Mapping[str, Sequence[str]]) -> bool:
    """Whether a point has the wanted values; one without such an axis has not."""
    place = {axis.key: text(value) for axis, value in zip(part.axes, point.values, strict=True)}
    place[EXPERIMENT] = part.experiment
    return all(place.get(key) in values for key, values in only.items())


def made(results: Results) -> tuple[int, int]:
    """How many points have a run, be it of the study as it is now or not, and how many there are."""
    targets = [
        point_directory(results.directory / part.name, point)
        for part in results.parts
        for point in part.points
    ]
    return sum(map(is_run, targets)), len(targets)


def finished(results: Results) -> tuple[int, int]:
    """How many points of a study are finished as it is now, and how many there are."""
    done = total = 0
    for part in results.parts:
        for point in part.points:
            resolved = _core.check(part.source.text, part.source.path, [*part.changes, *point.overrides])
            task = Task(part.source, part.changes, point, results.directory / part.name)
            done += is_finished(task.target, resolved["resolved"])
            total += 1
    return done, total


def check_up_to_date(results: Results) -> None:
    """Raises `OdonataError` if a point has run but not as the study is now.

    Points may be missing; one whose run was stopped before its end is.
    """
    for part in results.parts:
        for point in part.points:
            task = Task(part.source, part.changes, point, results.directory / part.name)
            if is_run(task.target) and not _was_stopped(task.target):
                resolved = _core.check(part.source.text, part.source.path, task.overrides)
                if not is_finished(task.target, resolved["resolved"]):
                    raise OdonataError(
                        f"{task.target} was not made by this version from the study as it is now",
                        hint="Run it again, or remove it.",
                    )


def _was_stopped(directory: Path) -> bool:
    try:
        return RunReader(directory).summary["complete"] is not True
    except StoreError:
        # Of another version.
        return False


def check_finished(results: Results) -> None:
    """Raises `OdonataError` if points are missing, so that nothing is said from some of them."""
    done, total = finished(results)
    if done < total:
        quick = " --quick" if results.study.quick else ""
        raise OdonataError(
            f"{total - done} of the {total} points of {results.study.name} are not finished in "
            f"{results.directory}",
            hint=f"Run them: odonata study run {results.study.name}{quick}",
        )
