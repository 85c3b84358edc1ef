"""Terms of a job's time predicted by a closed form, for its slowest rank.

The engine prices each rank, and a rank's time is the sum of the form's terms. So the effect of a scaled term
needs no further run: it is the slowest rank after scaling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from odonata.store.arrays import numbers
from odonata.store.schema import TABLES

if TYPE_CHECKING:
    from odonata.store.run import RunData

TABLE = "rank_costs"
CYCLE = "cycle"
"""The table of a multigrid cycle: times by level, phase and term of each scenario."""
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
    found = cost_rows(run, job)
    return None if found is None else (pa.Table.from_pylist(found[0]), found[1])


def cost_rows(run: RunData, job: int) -> tuple[list[dict[str, Any]], int] | None:
    """The rows of the table of `costs_of`, made without pandas, which a table from rows loads."""
    if TABLE not in run.table_names:
        return None
    ranks = run.table(TABLE)
    of_job = numbers(ranks["job"]) == job
    whole = numbers(ranks["rank_time_s"])[of_job]
    if not len(whole) or not whole.max():
        return None
    slowest = int(np.argmax(whole))
    longest = float(whole[slowest])
    rows: list[dict[str, Any]] = []
    for name, meaning in terms().items():
        values = numbers(ranks[name])[of_job]
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
    return rows, int(numbers(ranks["rank"])[of_job][slowest])


def slowest_level(run: RunData, job: int) -> dict[str, Any] | None:
    """The longest level of a job's multigrid cycle in the first scenario, which its time is of.

    Returns:
        `level`, its `share` of the cycle and its largest `term`; None without a cycle.
    """
    if CYCLE not in run.table_names:
        return None
    rows = run.table(CYCLE).select(["job", "scenario", "level", "term", "term_time_s"]).to_pandas()
    rows = rows[rows["job"] == job]
    rows = rows[rows["scenario"] == rows["scenario"].iloc[0]] if len(rows) else rows
    whole = float(rows["term_time_s"].sum())
    if not whole:
        return None
    levels = rows.groupby("level")["term_time_s"].sum()
    level = int(levels.idxmax())
    terms = rows[rows["level"] == level].groupby("term", observed=True)["term_time_s"].sum()
    return {"level": level, "share": float(levels.max()) / whole, "term": str(terms.idxmax())}
