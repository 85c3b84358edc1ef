"""What an optimization has found: its directory, its trials, and the best of them.

The directory holds `experiment.toml`, `optimize.json` (axes, aims, limits), `points/<name>/` with a run
directory for each combination and seed, `trials.parquet`, and `optuna.log`, from which a search goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from odonata.errors import DamagedRunError
from odonata.optimization.aims import PRICE
from odonata.store.optimization import FORMAT, FORMAT_VERSION, TRIALS, read_description
from odonata.store.schema import Column, declared
from odonata.store.sweep import Axis, text

if TYPE_CHECKING:
    from odonata.plot import Picture


@dataclass(frozen=True)
class Asked:
    """What is looked for, and among what."""

    axes: tuple[Axis, ...]
    """The keys that are chosen."""
    seeds: Axis | None
    """The seeds over which aims are means, if the sweep has some."""
    minimise: tuple[str, ...]
    at_most: Mapping[str, float]
    sampler: str
    seed: int

    @property
    def aims(self) -> tuple[str, ...]:
        """All that is to be known of a combination: what is minimised, then what is limited only."""
        return (*self.minimise, *(aim for aim in self.at_most if aim not in self.minimise))

    @property
    def combinations(self) -> int:
        """How many there are."""
        count = 1
        for axis in self.axes:
            count *= len(axis.values)
        return count

    def describe(self, version: str) -> str:
        """The text of `optimize.json`."""
        axes = [*self.axes, *([] if self.seeds is None else [self.seeds])]
        description = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "odonata_version": version,
            "axes": [
                {
                    "key": axis.key,
                    "values": list(axis.values),
                    "overrides": [list(each) for each in axis.overrides],
                }
                for axis in axes
            ],
            "minimise": list(self.minimise),
            "at_most": dict(self.at_most),
            "sampler": self.sampler,
            "seed": self.seed,
        }
        return json.dumps(description, indent=2, ensure_ascii=False) + "\n"


class Optimization:
    """A search that has ended, or the part of it that has.

    `trials` is the table of all combinations that were tried, `front` those that nothing else beats in all
    aims.

    Examples:
        >>> found = odonata.optimize("design.toml", out="runs/best")
        >>> found.best["machine.edit"], found.best["engine.routing"], found.best["price"]
        ('[]', 'adaptive-hybrid', 32400.0)
        >>> found.plot().savefig("front.png")
        >>> odonata.Optimization.load("runs/best").trials.num_rows
        4
    """

    def __init__(self, directory: Path, minimise: Sequence[str], trials: pa.Table) -> None:
        self.path = directory
        self.minimise = tuple(minimise)
        self.trials = trials

    def __repr__(self) -> str:
        aims = " and ".join(self.minimise)
        return f"<odonata.Optimization of {self.trials.num_rows} trials, {aims}, {self.path}>"

    @classmethod
    def load(cls, directory: str | Path) -> Optimization:
        """Opens the directory of an optimization.

        Raises:
            NotARunError: It holds none.
            NewerRunError: It was written by a newer version.
            DamagedRunError: A file of it is not as the format says.
        """
        directory = Path(directory)
        description = read_description(directory)
        try:
            return cls(directory, description["minimise"], pq.ParquetFile(directory / TRIALS).read())
        except (OSError, pa.ArrowInvalid, KeyError) as error:
            raise DamagedRunError(f"{directory / TRIALS} cannot be read: {error}") from None

    @property
    def front(self) -> pa.Table:
        """The trials that are allowed and that no other beats; by the first aim.

        Another beats it that is better in one aim and worse in none.
        """
        table = self.trials.filter(self.trials["front"])
        return table.sort_by([(aim, "ascending") for aim in self.minimise])

    @property
    def best(self) -> dict[str, Any] | None:
        """The trial with the least of the first aim, as a dict of its columns; None if none is allowed."""
        rows: list[dict[str, Any]] = self.front.slice(0, 1).to_pylist()
        return rows[0] if rows else None

    def plot(self) -> Picture:
        """All trials and their front: over the first two aims, or the trials' order if there is one."""
        from odonata.plot.front import plot_front

        return plot_front(self.trials, self.minimise)


@dataclass(frozen=True)
class Trial:
    """A combination that was tried."""

    number: int
    place: tuple[int, ...]
    """The number of its value on each axis."""
    values: tuple[float, ...] | None
    """Of each aim; None if it cannot be run."""
    spread: tuple[float, ...] | None
    """Most less least over the seeds."""
    reason: str | None
    """Why it cannot be run."""


def table_of(asked: Asked, trials: Sequence[Trial]) -> pa.Table:
    """A row a trial: `trial`, the axes, the aims, their spread over seeds, `allowed`, `front`, `reason`."""
    columns: dict[str, list[Any]] = {"trial": [trial.number for trial in trials]}
    kinds = [
        Column("trial", "i64", merge="key", label="Trial", meaning="In the order of the search, from 0.")
    ]
    for axis, on_axis in zip(asked.axes, zip(*(trial.place for trial in trials), strict=True), strict=False):
        columns[axis.key] = [text(axis.values[i]) for i in on_axis]
        kinds.append(Column(axis.key, "str", merge="key", label=axis.key))
    for i, aim in enumerate(asked.aims):
        unit = "none" if aim == PRICE else "s"
        columns[aim] = [None if trial.values is None else trial.values[i] for trial in trials]
        kinds.append(Column(aim, "f64", unit, label=aim.capitalize(), meaning="Mean over the seeds."))
        if asked.seeds is not None and aim != PRICE:
            name = f"{aim}, spread"
            columns[name] = [None if trial.spread is None else trial.spread[i] for trial in trials]
            kinds.append(
                Column(name, "f64", unit, label=name.capitalize(), meaning="Most less least over the seeds.")
            )
    allowed = [is_allowed(asked, trial) for trial in trials]
    columns["allowed"] = allowed
    kinds.append(
        Column("allowed", "bool", label="Allowed", meaning="Whether it can be run and keeps the limits.")
    )
    columns["front"] = front_of(asked, trials, allowed)
    kinds.append(Column("front", "bool", label="Front", meaning="Whether no other allowed trial beats it."))
    columns["reason"] = [trial.reason for trial in trials]
    kinds.append(Column("reason", "str", label="Reason", meaning="Why it cannot be run."))
    return declared(
        kinds,
        pa.table(
            {
                name: pa.array(values, _TYPES[kind.type])
                for (name, values), kind in zip(columns.items(), kinds, strict=True)
            }
        ),
    )


_TYPES = {"i64": pa.int64(), "str": pa.string(), "f64": pa.float64(), "bool": pa.bool_()}


def is_allowed(asked: Asked, trial: Trial) -> bool:
    """Whether a trial can be run and keeps the limits."""
    if trial.values is None:
        return False
    found = dict(zip(asked.aims, trial.values, strict=True))
    return all(found[aim] <= most for aim, most in asked.at_most.items())


def front_of(asked: Asked, trials: Sequence[Trial], allowed: Sequence[bool]) -> list[bool]:
    """Which trials no other one beats: better in one of what is minimised, and worse in none."""
    count = len(asked.minimise)
    points = [None if trial.values is None else trial.values[:count] for trial in trials]

    def beaten(own: tuple[float, ...]) -> bool:
        others = (point for point, may in zip(points, allowed, strict=True) if may and point is not None)
        return any(all(a <= b for a, b in zip(other, own, strict=True)) and other != own for other in others)

    return [
        may and point is not None and not beaten(point) for point, may in zip(points, allowed, strict=True)
    ]
