"""A multigrid hierarchy as tables: sizes and messages of each level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from odonata.errors import OdonataError

LEVEL_FIELDS = (
    "unknowns",
    "nonzeros_per_row",
    "sends",
    "values_sent",
    "interpolation_nonzeros_per_row",
    "interpolation_sends",
    "interpolation_values_sent",
    "active_ranks",
    "messages",
    "interpolation_messages",
)
"""C, s, p, n, s^, p^, n^, active ranks, messages: the model's inputs, in its order."""

RANK_COLUMNS = (
    "level",
    "rank",
    "rows",
    "nonzeros",
    "interpolation_nonzeros",
    "sends",
    "values_sent",
    "interpolation_sends",
    "interpolation_values_sent",
    "interpolation_receives",
    "interpolation_values_received",
)
MESSAGE_COLUMNS = ("level", "operator", "source", "destination", "values")
SOLVE, INTERPOLATION = 0, 1
"""Codes of `operator`."""

Table = dict[str, npt.NDArray[np.int64]]
Level = dict[str, float]
PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A hierarchy on `ranks` ranks, finest level first."""

    ranks: int
    levels: list[Level]
    """One entry per level with `LEVEL_FIELDS`, and with means and percentiles if counted."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Problem, points, grid and BoomerAMG's options."""
    source: str = "given"
    """Origin: hypre with its version, PyAMG, or an extrapolation."""

    def __repr__(self) -> str:
        return (
            f"<odonata.amg.Hierarchy of {len(self.levels)} levels, {self.unknowns:,.0f} unknowns on "
            f"{self.ranks:,} ranks, {self.source}>"
        )

    @classmethod
    def from_pyamg(cls, solver: Any, ranks: int, **options: Any) -> Hierarchy:
        """A hierarchy from PyAMG without its messages; `odonata.amg.from_pyamg` also returns those."""
        from odonata.amg.foreign import from_pyamg

        return from_pyamg(solver, ranks, **options).hierarchy

    @property
    def rows(self) -> list[list[float]]:
        """The levels in the form of the compiled module."""
        return [[float(level[name]) for name in LEVEL_FIELDS] for level in self.levels]

    @property
    def unknowns(self) -> float:
        """Number of unknowns of the finest level."""
        return self.levels[0]["unknowns"]


def level_statistics(ranks: Table, count: int) -> list[Level]:
    """The table of levels from one row per level and rank.

    Maximum, mean and percentiles of `sends` and `values_sent` include idle ranks, so `count` is all ranks.
    Names without a suffix are the maximum, which the model charges.
    """
    levels = []
    for level in range(int(ranks["level"].max()) + 1):
        of_level = {name: values[ranks["level"] == level] for name, values in ranks.items()}
        rows = int(of_level["rows"].sum())
        entry: Level = {
            "level": level,
            "unknowns": rows,
            "nonzeros_per_row": float(of_level["nonzeros"].sum()) / rows,
            "interpolation_nonzeros_per_row": float(of_level["interpolation_nonzeros"].sum()) / rows,
            "active_ranks": int((of_level["rows"] > 0).sum()),
            "messages": int(of_level["sends"].sum()),
            "interpolation_messages": int(of_level["interpolation_sends"].sum()),
        }
        for name in ("sends", "values_sent", "interpolation_sends", "interpolation_values_sent"):
            values = np.zeros(count)
            values[: len(of_level[name])] = of_level[name]
            entry[name] = int(values.max())
            entry[f"{name}_mean"] = float(values.mean())
            for percent in PERCENTILES:
                entry[f"{name}_p{percent}"] = float(np.percentile(values, percent, method="inverted_cdf"))
        levels.append(entry)
    return levels


def add_node_split(levels: list[Level], messages: Table, ranks_per_node: int) -> None:
    """Adds the messages and values of each level that stay on a node when ranks fill nodes in order."""
    same = messages["source"] // ranks_per_node == messages["destination"] // ranks_per_node
    for level in levels:
        for code, prefix in ((SOLVE, ""), (INTERPOLATION, "interpolation_")):
            chosen = (messages["level"] == level["level"]) & (messages["operator"] == code)
            level[f"{prefix}messages_on_node"] = int((chosen & same).sum())
            level[f"{prefix}values_on_node"] = int(messages["values"][chosen & same].sum())
            level[f"{prefix}values"] = int(messages["values"][chosen].sum())


def read_table(path: Any, columns: tuple[str, ...]) -> Table:
    """Reads a table of the hierarchy program.

    Raises:
        OdonataError: The table is truncated or has another format.
    """
    data = path.read_bytes()
    head = np.frombuffer(data[8:24], dtype="<i8") if len(data) >= 24 else np.zeros(2, dtype="<i8")
    if data[:8] != b"ODOTABLE" or len(data) < 24:
        raise OdonataError(f"{path} is not a table of the hierarchy program")
    width, rows = int(head[0]), int(head[1])
    if width != len(columns) or rows < 0 or len(data) != 24 + 8 * width * rows:
        expected = f"{rows} rows of {width} numbers" if rows >= 0 else "a finished table"
        raise OdonataError(f"{path} is truncated: it has {len(data)} bytes; expected {expected}")
    values = np.frombuffer(data[24:], dtype="<i8").reshape(rows, width)
    return {name: values[:, i].copy() for i, name in enumerate(columns)}
