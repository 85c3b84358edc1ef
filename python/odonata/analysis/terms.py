"""Terms of a job's time predicted by a closed form, for its slowest rank.

The engine prices each rank, and a rank's time is the sum of the form's terms. So the effect of a scaled term
needs no further run: it is the slowest rank after scaling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from odonata.store.schema import TABLES

if TYPE_CHECKING:
    from odonata.store.run import RunData

TABLE = "rank_costs"
LESS, MORE = 0.9, 1.1
"""Factors of a term for `less` and `more`."""


def terms() -> dict[str, str]:
    """Names and meanings of the terms of a rank's time: all times of the table except their sum."""
    return {
        column.name: column.meaning
        for column in TABLES[TABLE].columns
        if column.unit == "s" and column.name != "rank_time_s"
    }


def costs_of(run: RunData, job: int) -> tuple[pa.Table, int] | None:
    """The terms of a job's time, largest first.

    Returns:
        A table and the slowest rank; None if the run has no prices per rank. Columns: `term`, `meaning`,
        `term_time_s` and `share` of the slowest rank, `mean_s` over all ranks; `less` and `more`, the
        relative change of the job's time with 10 % less and 10 % more of the term.
    """
    if TABLE not in run.table_names:
        return None
    ranks = run.table(TABLE).to_pandas()
    ranks = ranks[ranks["job"] == job]
    whole = ranks["rank_time_s"].to_numpy()
    if not len(whole) or not whole.max():
        return None
    slowest = int(np.argmax(whole))
    longest = float(whole[slowest])
    rows: list[dict[str, Any]] = []
    for name, meaning in terms().items():
        values = ranks[name].to_numpy()
        changed = {
            word: float((whole + (factor - 1.0) * values).max()) / longest - 1.0
            for word, factor in (("less", LESS), ("more", MORE))
        }
        time_s = float(values[slowest])
        rows.append(
            {
                "term": name.removesuffix("_s"),
                "meaning": meaning,
                "term_time_s": time_s,
                "share": time_s / longest,
                "mean_s": float(values.mean()),
                **changed,
            }
        )
    rows.sort(key=lambda row: -row["term_time_s"])
    return pa.Table.from_pylist(rows), int(ranks["rank"].iloc[slowest])
