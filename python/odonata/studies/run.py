"""Running a study: the points of all its experiments in one pool, then what they say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from odonata import _core
from odonata.errors import OdonataError
from odonata.store import is_run
from odonata.store.sweep import point_directory
from odonata.studies.results import Results
from odonata.studies.spec import Study
from odonata.sweeps.execute import Failure, Progress, Task, is_finished, processors, run_tasks
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
    processes: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Results, Ran]:
    """Runs the points of a study that are not finished; those that are stay as they are.

    Args:
        study: The study.
        directory: Where its results lie; one that is there is continued.
        processes: How many points run at a time; as many as the processors allow if not given.
        threads: For each point.
        progress: Called with `checking` or `running`, the number of points done, and of all.

    Raises:
        OdonataError: The study is wrong, a point cannot be run, or the directory holds something else.
    """
    results = Results(study, directory)
    tasks = []
    for part in results.parts:
        sweep = make(directory / part.name, part.axes, part.source)
        tasks += [Task(part.source, part.changes, point, sweep.path) for point in sweep.points]
    if not tasks:
        return results, Ran(0, 0, ())
    kept, failures = run_tasks(
        tasks,
        processes=processes or max(processors() // threads, 1),
        threads=threads,
        progress=progress or (lambda *_: None),
    )
    if not failures:
        for part in results.parts:
            results.sweep(part).write_results()
    return results, Ran(len(tasks), kept, tuple(failures))


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
