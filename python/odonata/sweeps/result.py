"""A sweep and its directory.

The directory holds `experiment.toml`, `sweep.json` (axes and points) and `points/<name>/` with the run of
each point. After all points have run, it also holds `results.parquet`, `jobs.parquet` and, with
`[interference]`, `interference.parquet`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from odonata import __version__
from odonata._core import Experiment
from odonata.analysis import interactions, paired_differences, stratified_differences
from odonata.analysis.ranking import Ranking, job_values, loads_in, rank
from odonata.errors import DamagedRunError, NotARunError, OdonataError, StoreError
from odonata.lazy import LazyModule
from odonata.notebook import facts
from odonata.quantity import counted
from odonata.runs import Run
from odonata.store.atomic import atomic_file, is_unused
from odonata.store.schema import ALL_CLASSES, EXPERIMENT
from odonata.store.sweep import (
    DESCRIPTION,
    Axis,
    Point,
    describe,
    point_directory,
    points,
    read_axes,
    short_keys,
    text,
)
from odonata.sweeps.execute import Failure
from odonata.sweeps.interference import NONE, interference_table, is_interference
from odonata.sweeps.results import ALL_JOBS, jobs_table, place_of, statistics_table

if TYPE_CHECKING:
    from odonata.plot import style
else:
    style = LazyModule("odonata.plot.style")


class Sweep:
    """A finished or partial sweep.

    `results` and `jobs` are tables over all complete points; `runs` are the runs of all finished points. A
    point whose run is not complete (a deadlock, a time limit) has no figures: see `incomplete`.

    Examples:
        >>> sweep = odonata.Sweep.load("runs/design")
        >>> sweep
        <odonata.Sweep of 8 points over machine.edit, engine.routing, engine.seed, runs/design>
        >>> sweep.results.num_rows, sweep.jobs.num_rows
        (72, 16)
        >>> sweep.directory_of(sweep.points[0]).is_dir()
        True
        >>> len(sweep.runs), sweep.runs[sweep.points[0]].summary["seed"]
        (8, 1)
        >>> sweep.write_results()
    """

    def __init__(
        self, directory: Path, axes: Sequence[Axis], *, kept: int = 0, failures: Sequence[Failure] = ()
    ) -> None:
        self.path = directory
        self.axes = tuple(axes)
        self.points = points(axes)
        self.kept = kept
        """Number of points that were finished before the call."""
        self.failures = tuple(failures)

    def __repr__(self) -> str:
        keys = ", ".join(axis.key for axis in self.axes)
        return (
            f"<odonata.Sweep of {counted(len(self.points), 'point')} over {keys or 'nothing'}, {self.path}>"
        )

    def _repr_html_(self) -> str:
        rows = [(axis.key, ", ".join(str(value) for value in axis.values)) for axis in self.axes]
        done = f"{len(self.runs):,} of {len(self.points):,}"
        return facts(f"Sweep {self.path.name}", [*rows, ("finished", done), ("directory", str(self.path))])

    @classmethod
    def load(cls, directory: str | Path) -> Sweep:
        """Opens the directory of a sweep."""
        return cls(Path(directory), read_axes(Path(directory)))

    def directory_of(self, point: Point) -> Path:
        """The run directory of a point."""
        return point_directory(self.path, point)

    @cached_property
    def runs(self) -> dict[Point, Run]:
        """The runs of all finished points in order; a partial run is not finished."""
        failed = {failure.point for failure in self.failures}
        found = {
            point: Run.from_directory(self.directory_of(point))
            for point in self.points
            if point not in failed and self.directory_of(point).exists()
        }
        return {point: run for point, run in found.items() if run.partial is None}

    @property
    def incomplete(self) -> dict[Point, str]:
        """The ending of each point whose run is not complete, such as `deadlock`."""
        return {point: run.ending for point, run in self.runs.items() if not run.is_complete}

    @property
    def complete(self) -> dict[Point, Run]:
        """The runs of the points that are complete. Only they have figures."""
        return {point: run for point, run in self.runs.items() if run.is_complete}

    @cached_property
    def results(self) -> pa.Table:
        """Traffic statistics, one row per complete point, job (also `all jobs`) and link class."""
        return statistics_table(self.axes, self.complete.items())

    @cached_property
    def jobs(self) -> pa.Table:
        """Columns of the engine, one row per complete point and job."""
        return jobs_table(self.axes, self.complete.items())

    @cached_property
    def interference(self) -> pa.Table:
        """Slowdowns, one row per point and target of `[interference]`: `docs/models/interference.md`.

        Raises:
            OdonataError: The experiment has no such table.
        """
        if not is_interference(self.axes):
            raise OdonataError(
                f"the experiment of {self.path} has no table [interference]",
                hint='Add, for example:  [interference]  pairs = "mixed"',
            )
        return interference_table(self.axes, self.runs.items())

    def differences(
        self,
        factor: str,
        *,
        value: str = "bytes_max",
        link_class: str = ALL_CLASSES,
        job: str = ALL_JOBS,
        base: object | None = None,
    ) -> pa.Table:
        """The effect of each value of an axis, with equal values on all other axes.

        Args:
            factor: Key of the axis.
            value: Compared quantity: a statistic of `results`, or a column of `jobs`, such as `job_time_s`.
            link_class: Link class of a statistic.
            job: Job of the statistic or column.
            base: Value of the axis to compare with; by default its first value with a complete point.

        Returns:
            See `odonata.analysis.paired_differences`.

        Examples:
            >>> sweep = odonata.Sweep.load("runs/design")
            >>> table = sweep.differences("machine.edit", value="job_time_s", job="fft")
            >>> table.select(["machine.edit", "pairs", "lower"]).to_pylist()
            [{'machine.edit': '["-25% local"]', 'pairs': 4, 'lower': 0}]
        """
        keys = [axis.key for axis in self.axes]
        if factor not in keys:
            raise OdonataError(f"unknown axis {factor}", hint=f"Axes of the sweep: {', '.join(keys)}.")
        rows = self._rows_of(value, link_class, job)
        first = self._first(factor) if base is None else base
        return paired_differences(
            rows, factor=factor, base=first, pair_by=[key for key in keys if key != factor], value=value
        )

    def strata(
        self,
        factor: str,
        level: object,
        *,
        value: str = "bytes_max",
        link_class: str = ALL_CLASSES,
        job: str = ALL_JOBS,
        base: object | None = None,
    ) -> pa.Table:
        """The effect of one value of an axis, split by the axes that it interacts with.

        An axis interacts if the interval of its difference of differences excludes zero, or if the value
        rises at one of its values and falls at another. Seeds form pairs, not strata.

        Args:
            factor: Key of the axis.
            level: The compared value of the axis.
            value: As in `differences`.
            link_class: As in `differences`.
            job: As in `differences`.
            base: As in `differences`.

        Returns:
            The interacting axes, then the columns of `odonata.analysis.paired_differences`; one row without
            interactions.

        Examples:
            >>> sweep = odonata.Sweep.load("runs/design")
            >>> sweep.strata("engine.routing", "static-direct").select(["pairs", "lower"]).to_pylist()
            [{'pairs': 4, 'lower': 0}]
        """
        rows = self._rows_of(value, link_class, job)
        first = self._first(factor) if base is None else base
        others = [axis for axis in self.axes if axis.key != factor]
        by = [
            axis.key
            for axis in others
            if not axis.is_seed
            and len(set(rows[axis.key].to_pylist())) > 1
            and any(self._interactions(rows, factor, first, level, axis.key, value)["interacts"].to_pylist())
        ]
        rest = [axis.key for axis in others if axis.key not in by]
        return stratified_differences(
            rows, factor=factor, base=first, level=level, by=by, pair_by=rest, value=value
        )

    def without_effect(self) -> list[str]:
        """The axes without any effect on jobs or links at any point.

        Examples:
            >>> odonata.Sweep.load("runs/design").without_effect()
            []
        """
        found = []
        for place, axis in enumerate(self.axes):
            alike: dict[tuple[object, ...], list[Run]] = {}
            for point, run in self.complete.items():
                rest = tuple(text(v) for i, v in enumerate(point.values) if i != place)
                alike.setdefault(rest, []).append(run)
            compared = [(runs[0], other) for runs in alike.values() for other in runs[1:]]
            if compared and all(_same(one, other) for one, other in compared):
                found.append(axis.key)
        return found

    def interactions(
        self,
        factor: str,
        level: object,
        by: str,
        *,
        value: str = "bytes_max",
        link_class: str = ALL_CLASSES,
        job: str = ALL_JOBS,
        base: object | None = None,
    ) -> pa.Table:
        """How the effect of one value of an axis differs between the values of another axis.

        Returns:
            See `odonata.analysis.interactions`: differences of differences with intervals.

        Examples:
            >>> sweep = odonata.Sweep.load("runs/design")
            >>> table = sweep.interactions("engine.routing", "static-direct", "machine.edit")
            >>> table.select(["machine.edit", "pairs", "crosses"]).to_pylist()
            [{'machine.edit': '["-25% local"]', 'pairs': 2, 'crosses': False}]
        """
        rows = self._rows_of(value, link_class, job)
        first = self._first(factor) if base is None else base
        return self._interactions(rows, factor, first, level, by, value)

    def _interactions(
        self, rows: pa.Table, factor: str, base: object, level: object, by: str, value: str
    ) -> pa.Table:
        rest = [axis.key for axis in self.axes if axis.key not in (factor, by)]
        return interactions(rows, factor=factor, base=base, level=level, by=by, pair_by=rest, value=value)

    def _first(self, factor: str) -> object:
        """The first value of an axis that has a complete point, as in the tables."""
        place = next(place for place, axis in enumerate(self.axes) if axis.key == factor)
        complete = {text(point.values[place]): point for point in self.complete}
        value = next(value for value in self.axes[place].values if text(value) in complete)
        return place_of(self.axes, complete[text(value)])[factor]

    def _rows_of(self, value: str, link_class: str, job: str) -> pa.Table:
        """One row per point with a column `value`: a statistic of a job and class, or a figure of a job."""
        if value in self.results.column_names:
            return self.results.filter(
                pc.and_(pc.equal(self.results["class"], link_class), pc.equal(self.results["job"], job))
            )
        names = list(dict.fromkeys(self.jobs["name"].to_pylist()))
        if value not in self.jobs.column_names:
            raise OdonataError(f"unknown column {value}: it is in neither results nor jobs of the sweep")
        if job not in names:
            raise OdonataError(f"{value} needs a job", hint=f"Choose one of: {', '.join(names)}.")
        return self.jobs.filter(pc.equal(self.jobs["name"], job))

    @property
    def ranking(self) -> Ranking | None:
        """The settings from best to worst by times of jobs, or by latency of packets if they have no end.

        Of a sweep over loads, at the highest one. None if the runs have neither, or differ only by load.

        Examples:
            >>> odonata.Sweep.load("runs/design").ranking.jobs
            ('cfd', 'fft')
        """
        return next(reversed(self.rankings.values()), None)

    @cached_property
    def rankings(self) -> dict[str, Ranking]:
        """The settings from best to worst at each load, by load in ascending order; by "" without several."""
        found = [job_values(run.jobs) for run in self.complete.values()]
        known = next((one for one in found if one is not None), None)
        if known is None:
            return {}
        label, unit, _ = known
        shorts = short_keys([axis.key for axis in self.axes])
        settings = [
            {short: text(value) for short, value in zip(shorts, point.values, strict=True)}
            for point in self.complete
        ]
        axes = list(zip(shorts, self.axes, strict=True))
        seeds = [short for short, axis in axes if axis.is_seed]
        loads = [short for short, axis in axes if axis.is_load and len(axis.values) > 1]
        values = [one[2] if one else {} for one in found]
        ranked = {
            ", ".join(map(str, at.values())): rank(
                settings, values, seeds=seeds, at=at, label=label, unit=unit
            )
            for at in loads_in(settings, loads)
        }
        return {at: ranking for at, ranking in ranked.items() if ranking is not None}

    def times(self) -> style.Picture:
        """Draws the time of each job by setting, best first, with 95 % intervals over seeds.

        Examples:
            >>> odonata.Sweep.load("runs/design").times().savefig("times.png")
        """
        from odonata.plot import plot_times

        if self.ranking is None:
            raise OdonataError(f"no point of {self.path} has times or latencies")
        return plot_times(self.ranking)

    def throughput(self) -> style.Picture:
        """Draws the throughput of each target of `[interference]` over time, alone and with each background.

        Panels are side by side by routing. Of several seeds, the first is drawn.

        Raises:
            OdonataError: The sweep has no `[interference]`, or its runs no time series.

        Examples:
            >>> odonata.Sweep.load("runs/pairs").throughput().savefig("throughput.png")
        """
        from odonata.plot import plot_throughput
        from odonata.plot.throughput import Line, Panel, line

        panels: dict[tuple[str, ...], list[Line]] = {}
        table = self.interference
        if not table.num_rows:
            raise OdonataError(f"no point of {self.path} is complete")
        seeds = {axis.key for axis in self.axes if axis.is_seed}
        others = [axis.key for axis in self.axes if axis.key in table.column_names and axis.key not in seeds]
        runs = {point.index: run for point, run in self.complete.items()}
        for row in table.to_pylist():
            place = (row["target"], *(text(row[key]) for key in others))
            drawn = panels.setdefault(place, [])
            is_alone = row["background"] == NONE
            label = "alone" if is_alone else f"with {row['background']}"
            if row["point"] in runs and label not in [one.label for one in drawn]:
                drawn.append(line(runs[row["point"]], row["target"], label, is_alone=is_alone))
        # Rows are targets, so that routings stand side by side.
        targets = list(dict.fromkeys(place[0] for place in panels))
        ordered = sorted(panels.items(), key=lambda item: targets.index(item[0][0]))
        return plot_throughput(
            [Panel(", ".join(place), tuple(lines)) for place, lines in ordered],
            columns=min(len(panels) // len(targets), 3),
        )

    def load_curve(self) -> style.Picture:
        """Draws accepted load and mean latency over offered load, averaged over seeds.

        Each setting of the other axes, such as a routing, has a line. Needs the packet engine, open traffic
        and an axis of loads, such as `job.*.traffic.load`.

        Examples:
            >>> loads = {"sweep": {"job.*.traffic.load": [0.1, 0.3]}}
            >>> odonata.sweep("packets.toml", out="runs/loads", set=loads).load_curve().savefig("loads.png")
        """
        from odonata.plot import plot_load_curve

        if not self.complete:
            raise OdonataError(f"no point of {self.path} is complete")
        lines = [i for i, axis in enumerate(self.axes) if not axis.is_seed and not axis.is_load]
        labels = [", ".join(text(point.values[i]) for i in lines) for point in self.complete]
        return plot_load_curve(list(self.complete.values()), labels=labels if lines else None)

    def slowdowns(self) -> style.Picture:
        """Draws the slowdown of each target by every background, by routing.

        Examples:
            >>> pairs = odonata.Sweep.load("runs/pairs")
            >>> pairs.interference.select(["target", "background"]).to_pylist()
            [{'target': 'halo', 'background': 'none'}, {'target': 'sum', 'background': 'none'}, {'target':
            'halo', 'background': 'sum'}, {'target': 'sum', 'background': 'halo'}]
            >>> pairs.slowdowns().savefig("slowdowns.png")
        """
        from odonata.plot import plot_interference

        return plot_interference(self.interference)

    def write_results(self) -> None:
        """Writes `results.parquet`, `jobs.parquet` and, with `[interference]`, `interference.parquet`."""
        tables = {"results": self.results, "jobs": self.jobs}
        if is_interference(self.axes):
            tables["interference"] = self.interference
        for name, table in tables.items():
            with atomic_file(self.path / f"{name}.parquet") as path:
                pq.write_table(table, path)


def prepare(experiment: Experiment, directory: Path) -> Sweep:
    """Creates the directory of a sweep from `[interference]` and `[sweep]`; runs nothing.

    Raises:
        OdonataError: See `plan`.
    """
    return make(directory, plan(experiment, directory).axes, experiment)


def plan(experiment: Experiment, directory: Path) -> Sweep:
    """The sweep of an experiment's `[interference]` and `[sweep]`; writes nothing.

    Raises:
        ExperimentError: The file has mistakes.
        OdonataError: It has neither table, or the directory holds something else.
    """
    axes = read_sweep(experiment)
    if not axes:
        raise OdonataError(
            f"{experiment.path} has no table [sweep] or [interference]",
            hint='Add, for example:  [sweep]  "engine.seed" = [1, 2, 3]   or use `odonata run`.',
        )
    _check_directory(directory)
    return Sweep(directory, axes)


def read_sweep(experiment: Experiment) -> list[Axis]:
    """The axes of an experiment's `[interference]` and `[sweep]`; empty without these tables.

    Raises:
        ExperimentError: The file has mistakes.
    """
    return list(map(Axis.of, experiment.sweep()))


def _check_directory(directory: Path) -> None:
    if not is_unused(directory):
        try:
            read_axes(directory)
        except DamagedRunError:
            pass  # it is written again from the experiment
        except NotARunError as error:
            raise StoreError(
                f"{directory} exists and is not the directory of a sweep",
                hint=error.hint or "Choose another directory with -o.",
            ) from None


def make(directory: Path, axes: Sequence[Axis], experiment: Experiment) -> Sweep:
    """Creates the directory of a sweep, or continues an existing one.

    Raises:
        StoreError: The directory holds something else.
    """
    _check_directory(directory)
    directory.mkdir(parents=True, exist_ok=True)
    # The description first: without it a directory is not known again after a kill.
    for name, content in ((DESCRIPTION, describe(axes, __version__)), (EXPERIMENT, experiment.text)):
        with atomic_file(directory / name) as path:
            path.write_text(content, encoding="utf-8")
    (directory / "points").mkdir(exist_ok=True)
    return Sweep(directory, axes)


def _same(one: Run, other: Run) -> bool:
    return bool(one.jobs.equals(other.jobs) and one.links.equals(other.links))
