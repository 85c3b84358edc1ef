"""Results of a study's finished points: its runs, and the tables for claims, figures and pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from odonata.errors import OdonataError
from odonata.lazy import LazyModule
from odonata.runs import Run
from odonata.store.sweep import Point
from odonata.studies.expand import Part, parts
from odonata.studies.functions import Functions
from odonata.studies.points import StoredPoints, plain, restored
from odonata.studies.read import nearest
from odonata.studies.select import NoRowsError, StudyTable
from odonata.studies.spec import FILE, Study
from odonata.sweeps.result import Sweep
from odonata.sweeps.results import jobs_table, statistics_table

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = LazyModule("pandas")

TRAFFIC = "traffic"
JOBS = "jobs"


class Results:
    """The results of a study in full or quick form; the argument of the functions of `study.py`."""

    def __init__(self, study: Study, directory: Path) -> None:
        self.study = study
        self.directory = directory
        """Directory of the points and of everything made from them."""
        self.functions = Functions(study.folder)
        self.parts: list[Part] = [
            part for experiment in study.experiments.values() for part in parts(experiment, self._variants)
        ]
        self._sweeps = {part.name: Sweep(directory / part.name, part.axes) for part in self.parts}
        self.stored = StoredPoints(study.folder)
        """Points that are kept with the study."""
        self._tables: dict[str, StudyTable] = {}
        self._kept: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.unfinished = False
        """Whether tables may lack rows of points that have not run."""

    def __repr__(self) -> str:
        return f"<results of {self.study.name}, {len(self.parts)} sweeps in {self.directory}>"

    def sweep(self, part: Part) -> Sweep:
        """The sweep of one file of an experiment."""
        return self._sweeps[part.name]

    def runs(self, experiment: str) -> Iterator[tuple[dict[str, Any], Run]]:
        """The runs of an experiment, each with its file's label and its value on each axis."""
        for part in self._parts_of(experiment):
            sweep = self._sweeps[part.name]
            for point, run in sweep.runs.items():
                yield self.place(part, point), run

    def kept(self, experiment: str) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
        """What `keep` of `study.py` keeps of each point of an experiment: of its run, or stored earlier."""
        for part in self._parts_of(experiment):
            for point in part.points:
                run = self._sweeps[part.name].runs.get(point)
                if run is None and not self.stored.has(part.name, point):
                    continue
                place = self.place(part, point)
                key = (part.name, point.name)
                if key not in self._kept:
                    self._kept[key] = (
                        self.stored.read(part.name, point)
                        if run is None
                        else restored(plain(self.compact(place, run)))
                    )
                yield place, self._kept[key]

    def compact(self, place: Mapping[str, Any], run: Run) -> Any:
        """What `keep` of `study.py` keeps of a run."""
        return self.functions.get(self.study.keep, "keep")(place, run)

    @staticmethod
    def place(part: Part, point: Point) -> dict[str, Any]:
        """A point's file and its value on each axis."""
        place = dict(zip([axis.key for axis in part.axes], point.values, strict=True))
        return {FILE: part.label, **place} if part.label else place

    def run(self, experiment: str, place: Mapping[str, Any] | None = None) -> Run:
        """The only run of an experiment with these values on its axes.

        Raises:
            NoRowsError: There is no such run.
            OdonataError: There are several.
        """
        values = dict(place or {})
        found = [
            run
            for at, run in self.runs(experiment)
            if all(at.get(key) == value for key, value in values.items())
        ]
        if len(found) != 1:
            kind = OdonataError if found else NoRowsError
            raise kind(f"{len(found)} points of experiment {experiment} have {values}, expected one")
        return found[0]

    def table(self, name: str) -> StudyTable:
        """`EXPERIMENT.traffic`, `EXPERIMENT.jobs`, or a table from a function of `study.py`."""
        if name not in self._tables:
            experiment, _, kind = name.rpartition(".")
            if name in self.study.derived:
                self._tables[name] = self._derived(name)
            elif kind in (TRAFFIC, JOBS) and experiment:
                self._tables[name] = self._of_experiment(experiment, kind)
            else:
                known = [f"{one}.{kind}" for one in self.study.experiments for kind in (TRAFFIC, JOBS)]
                raise OdonataError(
                    f"the study {self.study.name} has no table {name}",
                    hint=nearest(name, [*self.study.derived, *known]),
                )
        return self._tables[name]

    def frame(self, name: str) -> pd.DataFrame:
        """`table` as a pandas frame."""
        return self.table(name).frame

    def _of_experiment(self, experiment: str, kind: str) -> StudyTable:
        make = statistics_table if kind == TRAFFIC else jobs_table
        found: list[pa.Table] = []
        keys: dict[str, None] = {}
        for part in self._parts_of(experiment):
            table = make(part.axes, self._sweeps[part.name].runs.items())
            if part.label:
                table = table.add_column(0, FILE, pa.array([part.label] * table.num_rows))
                keys[FILE] = None
            keys |= dict.fromkeys(axis.key for axis in part.axes)
            found.append(table)
        keys |= dict.fromkeys(["job", "class"] if kind == TRAFFIC else ["job", "name"])
        frame = pa.concat_tables(found, promote_options="default").to_pandas()
        return StudyTable(frame, tuple(keys), self.unfinished)

    def _derived(self, name: str) -> StudyTable:
        function = self.functions.get(self.study.derived[name], f"the table {name}")
        try:
            made = function(self)
        except OdonataError as error:
            # A function may compare rows of points that have not run; of a finished study it is a mistake.
            if not self.unfinished or not isinstance(error.__cause__, LookupError | ValueError):
                raise
            raise NoRowsError(f"table {name} needs points that have not run ({error})") from error
        frame = made.to_pandas() if isinstance(made, pa.Table) else pd.DataFrame(made)
        numbers = frame.select_dtypes("float").columns
        keys = tuple(column for column in frame.columns if column not in numbers)
        return StudyTable(frame, keys, self.unfinished)

    def _parts_of(self, experiment: str) -> Sequence[Part]:
        if ("experiment", experiment) in self.study.left_out:
            raise OdonataError(
                f"the quick form of {self.study.name} has no experiment {experiment}",
                hint="Add `quick = false` to the entry that reads it.",
            )
        if experiment not in self.study.experiments:
            raise OdonataError(
                f"the study {self.study.name} has no experiment {experiment}",
                hint=nearest(experiment, self.study.experiments),
            )
        return [part for part in self.parts if part.experiment == experiment]

    def _variants(self, name: str) -> Any:
        return self.functions.get(name, "an axis of variants")(self.study)
