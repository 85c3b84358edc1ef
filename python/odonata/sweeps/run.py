"""Running a sweep: from an experiment with a table `[sweep]` to its directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata.api import Experiment, Source, overrides
from odonata.errors import OdonataError
from odonata.runs import Run
from odonata.store.sweep import Point
from odonata.sweeps.cluster import Cluster
from odonata.sweeps.execute import Foresee, Progress, processors, run_tasks
from odonata.sweeps.point import Task
from odonata.sweeps.result import Sweep, prepare

Finished = Callable[[Point, Run], None]
"""Takes a point and its run."""


def run_sweep(
    source: Source,
    changes: Sequence[str],
    directory: Path,
    *,
    processes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    only: int | None = None,
    foresee: Foresee | None = None,
    finished: Finished | None = None,
    cluster: Cluster | None = None,
) -> Sweep:
    """`sweep` of an experiment that was read, with overrides as text; `only` runs a single point.

    Raises:
        OdonataError: As `sweep`.
        DeclinedError: `foresee` was told what is ahead, and said no.
    """
    for name, given in (("processes", processes), ("threads", threads)):
        if given is not None and given < 1:
            raise OdonataError(f"{name} is {given}; expected a number from 1 up")
    prepared = prepare(source, changes, directory)
    chosen = prepared.points
    if only is not None:
        if not 0 <= only < len(chosen):
            raise OdonataError(f"there is no point {only}; the points are 0 to {len(chosen) - 1}")
        chosen = [chosen[only]]
    processes = processes or max(processors() // (threads or 1), 1)
    kept, failures = run_tasks(
        [Task(source, tuple(changes), point, directory) for point in chosen],
        processes=processes,
        threads=threads or 1,
        progress=progress or (lambda *_: None),
        foresee=foresee,
        finished=None
        if finished is None
        else lambda task: finished(task.point, Run.from_directory(task.target)),
        cluster=cluster,
    )
    result = Sweep(directory, prepared.axes, kept=kept, failures=failures)
    if only is None:
        result.write_results()
    return result


def sweep(
    experiment: Experiment,
    *,
    out: str | Path,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    processes: int | None = None,
    threads: int | None = None,
    on: str | None = None,
    progress: Progress | None = None,
    finished: Finished | None = None,
) -> Sweep:
    """Runs an experiment at every combination of the values in its table `[sweep]`.

    Points with the same seed have the same placements and the same random choices wherever they share them,
    so their differences are paired. Points that an earlier call finished are kept. From a script, call this
    below `if __name__ == "__main__":`, since it starts processes.

    Args:
        experiment: A file, its text, or a dict.
        out: The sweep's directory; an existing one is continued.
        set: Keys to change at all points.
        processes: How many points run at a time; as many as the processors allow if not given.
        threads: For each point; 1 if not given.
        on: Where the points run instead of in processes of this machine: `dask`, `slurm`, `pbs`, `lsf`, or
            the address of a Dask scheduler, as `tcp://node17:8786`. Takes the extra `odonata[cluster]`.
        progress: Called with `checking` or `running`, the number of points done, and of all.
        finished: Called with each point and its run, in this process: first those of an earlier call, then
            each as it ends. What it raises ends the sweep; what is finished by then stays.

    Returns:
        The sweep: its runs by point, and tables with a row for each point, job and class. Points whose runs
        failed are its `failures`.

    Raises:
        OdonataError: A point cannot be run, or `out` holds something else, and nothing was run; or the
            cluster cannot be had, or was lost.

    Examples:
        >>> sweep = odonata.sweep("design.toml", out="runs/new", processes=1)
        >>> [(axis.key, len(axis.values)) for axis in sweep.axes], len(sweep.runs)
        ([('machine.edit', 2), ('engine.routing', 2), ('engine.seed', 2)], 8)
        >>> sweep.jobs.select(["engine.seed", "name", "job_time_s"]).num_rows
        16
    """
    return run_sweep(
        Source.of(experiment),
        overrides(set),
        Path(out),
        processes=processes,
        threads=threads,
        progress=progress,
        finished=finished,
        cluster=None if on is None else Cluster(on),
    )
