"""Runs a sweep and writes its directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from odonata._core import Experiment
from odonata.api import ExperimentInput, read
from odonata.errors import OdonataError
from odonata.notebook import Count, shown_count
from odonata.runs import Run
from odonata.store.sweep import Point
from odonata.sweeps.cluster import Cluster
from odonata.sweeps.execute import OnEstimate, processors, run_tasks
from odonata.sweeps.point import Task
from odonata.sweeps.result import Sweep, make, plan

Finished = Callable[[Point, Run], None]
"""Takes a finished point and its run."""


def run_sweep(
    experiment: Experiment,
    directory: Path,
    *,
    processes: int | None = None,
    threads: int | None = None,
    progress: Count | None = None,
    only: int | None = None,
    on_estimate: OnEstimate | None = None,
    finished: Finished | None = None,
    cluster: Cluster | None = None,
) -> Sweep:
    """`sweep`; `only` runs a single point.

    Raises:
        OdonataError: See `sweep`.
        DeclinedError: `on_estimate` returned False.
    """
    for name, given in (("processes", processes), ("threads", threads)):
        if given is not None and given < 1:
            raise OdonataError(f"{name} is {given}; expected at least 1")
    planned = plan(experiment, directory)
    chosen = planned.points
    if only is not None:
        if not 0 <= only < len(chosen):
            raise OdonataError(f"there is no point {only}; the points are 0 to {len(chosen) - 1}")
        chosen = [chosen[only]]
    processes = processes or max(processors() // (threads or 1), 1)
    kept, failures = run_tasks(
        [Task(experiment, point, directory) for point in chosen],
        processes=processes,
        threads=threads or 1,
        progress=progress or (lambda *_: None),
        on_estimate=on_estimate,
        starting=lambda: make(directory, planned.axes, experiment),
        finished=None
        if finished is None
        else lambda task: finished(task.point, Run.from_directory(task.target)),
        cluster=cluster,
    )
    result = Sweep(directory, planned.axes, kept=kept, failures=failures)
    if only is None:
        result.write_results()
    return result


def sweep(
    experiment: ExperimentInput,
    *,
    out: str | Path,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    processes: int | None = None,
    threads: int | None = None,
    on: str | None = None,
    progress: Count | None = None,
    finished: Finished | None = None,
) -> Sweep:
    """Runs an experiment at every combination of the values in its table `[sweep]`.

    Points with the same seed share placements and random choices, so their differences are paired. Finished
    points of earlier calls are not run again. It starts processes, so call it from scripts below
    `if __name__ == "__main__":`.

    Args:
        experiment: A file, its text, or a dict.
        out: Directory of the sweep; an existing sweep continues.
        set: Keys to change at all points.
        processes: Number of concurrent points; by default as many as the processors allow.
        threads: Threads per point; 1 by default.
        on: Cluster to run on: `dask`, `slurm`, `pbs`, `lsf`, or the address of a Dask scheduler, such as
            `tls://node17:8786`. Needs the extra `odonata[cluster]`. Default: processes of this machine.
        progress: Called with `checking` or `running`, the number of finished points, and of all. Without it,
            a notebook shows a bar.
        finished: Called in this process with each point and its run, starting with earlier calls. An
            exception ends the sweep; finished points remain.

    Returns:
        The sweep: its runs by point, and tables with one row per point, job and class. Points that failed are
        in `failures`.

    Raises:
        OdonataError: A point cannot run, or `out` holds something else, and nothing was run; or the cluster
            is not available.

    Examples:
        >>> sweep = odonata.sweep("design.toml", out="runs/new", processes=1)
        >>> [(axis.key, len(axis.values)) for axis in sweep.axes], len(sweep.runs)
        ([('machine.edit', 2), ('engine.routing', 2), ('engine.seed', 2)], 8)
        >>> sweep.jobs.select(["engine.seed", "name", "job_time_s"]).num_rows
        16
    """
    with shown_count(progress) as report:
        return run_sweep(
            read(experiment, set),
            Path(out),
            processes=processes,
            threads=threads,
            progress=report,
            finished=finished,
            cluster=None if on is None else Cluster(on),
        )
