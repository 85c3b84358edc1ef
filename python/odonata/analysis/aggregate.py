"""Aggregation of a column over rows, by the rule of its declaration."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from odonata.store.schema import Column


def aggregate(table: pa.Table, name: str) -> float:
    """The sum, maximum, last value or weighted mean of a column; NaN without values.

    Raises:
        ValueError: The column is a key or an attribute, or has no declaration, so it has no rule.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> f"{odonata.analysis.aggregate(run.links, 'bytes'):.3e} bytes over all links"
        '3.799e+08 bytes over all links'
    """
    column = Column.of_field(table.schema.field(name))
    values = _floats(table, name)
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    if column.merge == "sum":
        return float(values[known].sum())
    if column.merge == "max":
        return float(values[known].max())
    if column.merge == "last":
        return float(values[known][-1])
    if column.merge == "mean":
        weights = np.ones(len(values)) if column.weight is None else _floats(table, column.weight)
        weight = weights[known].sum()
        return float((values[known] * weights[known]).sum() / weight) if weight else float("nan")
    raise ValueError(f"cannot aggregate {name}, which is declared as {column.merge}")


def _floats(table: pa.Table, name: str) -> np.ndarray:
    values: np.ndarray = table[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values
