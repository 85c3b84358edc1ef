"""The result of an optimization: its directory, its trials and the best of them.

The directory holds `experiment.toml`, `optimize.json` (axes, objectives, constraints), `points/<name>/` with
the run of each configuration and seed, `trials.parquet`, and `optuna.log`, from which a search resumes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from odonata import files
from odonata.errors import DamagedRunError
from odonata.lazy import LazyModule
from odonata.optimization.objectives import PRICE
from odonata.quantity import counted
from odonata.store.optimization import FORMAT, FORMAT_VERSION, TRIALS, read_description
from odonata.store.schema import Column, declared
from odonata.store.sweep import Axis, text

if TYPE_CHECKING:
    from odonata.plot import style
else:
    style = LazyModule("odonata.plot.style")


@dataclass(frozen=True)
class SearchSettings:
    """Axes, objectives and constraints of a search."""

    axes: tuple[Axis, ...]
    """The searched keys."""
    seeds: Axis | None
    """Seeds over which values are averaged; None without an axis of seeds."""
    objectives: tuple[str, ...]
    constraints: Mapping[str, float]
    sampler: str
    seed: int

    @property
    def quantities(self) -> tuple[str, ...]:
        """All quantities of a configuration: objectives, then quantities with only a constraint."""
        return (
            *self.objectives,
            *(quantity for quantity in self.constraints if quantity not in self.objectives),
        )

    @property
    def combinations(self) -> int:
        """Number of configurations."""
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
            "axes": [vars(axis) for axis in axes],
            "objectives": list(self.objectives),
            "constraints": dict(self.constraints),
            "sampler": self.sampler,
            "seed": self.seed,
        }
        return json.dumps(description, indent=2, ensure_ascii=False) + "\n"


class Optimization:
    """A finished or partial search.

    `trials` is the table of all tried configurations. `front` is the Pareto front: the trials that no other
    trial beats in all objectives.

    Examples:
        >>> found = odonata.optimize("design.toml", out="runs/best")
        >>> found.best["machine.edit"], found.best["engine.routing"], found.best["price"]
        ('[]', 'adaptive-hybrid', 32400.0)
        >>> found.plot().savefig("front.png")
        >>> odonata.Optimization.load("runs/best").trials.num_rows
        4
    """

    def __init__(self, directory: Path, objectives: Sequence[str], trials: pa.Table) -> None:
        self.path = directory
        self.objectives = tuple(objectives)
        self.trials = trials

    def __repr__(self) -> str:
        quantities = " and ".join(self.objectives)
        return (
            f"<odonata.Optimization of {counted(self.trials.num_rows, 'trial')}, {quantities}, {self.path}>"
        )

    @classmethod
    def load(cls, directory: str | Path) -> Optimization:
        """Opens the directory of an optimization.

        Raises:
            NotARunError: It holds no optimization.
            NewerRunError: It was written by a newer version.
            DamagedRunError: A file of it violates the format.
        """
        directory = Path(directory)
        description = read_description(directory)
        try:
            trials = files.read_parquet(directory / TRIALS, rows=files.ROWS_MAX)
        except (OSError, ValueError) as error:
            raise DamagedRunError(f"{directory / TRIALS} cannot be read: {error}") from None
        known = {field.name: field.type for field in trials.schema}
        needed = {**_NEEDED, **dict.fromkeys(description["objectives"], pa.float64())}
        wrong = [name for name, kind in needed.items() if known.get(name) != kind]
        wrong += [name for name in ("trial", "allowed", "front") if not wrong and trials[name].null_count]
        if wrong:
            raise DamagedRunError(f"column {wrong[0]} of {directory / TRIALS} does not match the format")
        return cls(directory, description["objectives"], trials)

    @property
    def front(self) -> pa.Table:
        """The Pareto front, sorted by the first objective.

        It holds the allowed trials that no other one beats, that is, is better in one objective and worse in
        none.
        """
        table = self.trials.filter(self.trials["front"])
        return table.sort_by([(quantity, "ascending") for quantity in self.objectives])

    @property
    def best(self) -> dict[str, Any] | None:
        """The trial with the lowest first objective, as a dict of columns; None if none is allowed."""
        rows: list[dict[str, Any]] = self.front.slice(0, 1).to_pylist()
        return rows[0] if rows else None

    def plot(self) -> style.Picture:
        """Draws trials and front over two objectives; with one objective, over the trial number."""
        from odonata.plot.front import plot_front

        return plot_front(self.trials, self.objectives)


@dataclass(frozen=True)
class Trial:
    """A tried configuration."""

    number: int
    place: tuple[int, ...]
    """Index of its value on each axis."""
    values: tuple[float, ...] | None
    """Value of each quantity; None if it cannot run, or a run of it is not complete."""
    spread: tuple[float, ...] | None
    """Maximum minus minimum over the seeds."""
    reason: str | None
    """Why it has no values."""
    is_final: bool = True
    """Whether another call need not try it again: no run of it failed, as on a full disk."""


def table_of(settings: SearchSettings, trials: Sequence[Trial]) -> pa.Table:
    """One row per trial: `trial`, axes, quantities and their spread, `allowed`, `front`, `reason`."""
    columns: dict[str, list[Any]] = {"trial": [trial.number for trial in trials]}
    kinds = [
        Column(
            "trial",
            "i64",
            merge="key",
            label="Trial",
            meaning="Number of the trial in the order of the search, from 0.",
        )
    ]
    for axis, on_axis in zip(
        settings.axes, zip(*(trial.place for trial in trials), strict=True), strict=False
    ):
        columns[axis.key] = [text(axis.values[i]) for i in on_axis]
        kinds.append(Column(axis.key, "str", merge="key", label=axis.key))
    for i, quantity in enumerate(settings.quantities):
        unit = "none" if quantity == PRICE else "s"
        columns[quantity] = [None if trial.values is None else trial.values[i] for trial in trials]
        kinds.append(
            Column(quantity, "f64", unit, label=quantity.capitalize(), meaning="Mean over the seeds.")
        )
        if settings.seeds is not None and quantity != PRICE:
            name = f"{quantity}, spread"
            columns[name] = [None if trial.spread is None else trial.spread[i] for trial in trials]
            kinds.append(
                Column(
                    name,
                    "f64",
                    unit,
                    label=name.capitalize(),
                    meaning="Maximum minus minimum over the seeds.",
                )
            )
    allowed = [is_allowed(settings, trial) for trial in trials]
    columns["allowed"] = allowed
    kinds.append(
        Column(
            "allowed",
            "bool",
            label="Allowed",
            meaning="Whether its runs are complete and meet the constraints.",
        )
    )
    columns["front"] = front_of(settings, trials, allowed)
    kinds.append(Column("front", "bool", label="Front", meaning="Whether no other allowed trial beats it."))
    columns["reason"] = [trial.reason for trial in trials]
    kinds.append(
        Column(
            "reason",
            "str",
            label="Reason",
            meaning="Reason why it has no values: it cannot run, or a run of it did not complete.",
        )
    )
    return declared(
        kinds,
        pa.table(
            {
                name: pa.array(values, _TYPES[kind.type])
                for (name, values), kind in zip(columns.items(), kinds, strict=True)
            }
        ),
    )


_NEEDED = {"trial": pa.int64(), "allowed": pa.bool_(), "front": pa.bool_(), "reason": pa.string()}

_TYPES = {"i64": pa.int64(), "str": pa.string(), "f64": pa.float64(), "bool": pa.bool_()}


def is_allowed(settings: SearchSettings, trial: Trial) -> bool:
    """Whether the runs of a trial are complete and meet the constraints."""
    if trial.values is None:
        return False
    found = dict(zip(settings.quantities, trial.values, strict=True))
    return all(found[quantity] <= limit for quantity, limit in settings.constraints.items())


def front_of(settings: SearchSettings, trials: Sequence[Trial], allowed: Sequence[bool]) -> list[bool]:
    """Which allowed trials no other allowed trial beats."""
    count = len(settings.objectives)
    points = [None if trial.values is None else trial.values[:count] for trial in trials]

    def beaten(own: tuple[float, ...]) -> bool:
        others = (point for point, may in zip(points, allowed, strict=True) if may and point is not None)
        return any(all(a <= b for a, b in zip(other, own, strict=True)) and other != own for other in others)

    return [
        may and point is not None and not beaten(point) for point, may in zip(points, allowed, strict=True)
    ]
