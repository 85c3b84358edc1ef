"""What a job's time is made of where a closed form priced it: the terms of its slowest rank.

The engine prices rank by rank, and each rank's time is the sum of the form's terms. So what another machine
would take is known without another run, while each term scales: the slowest rank of the scaled ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from odonata.store.schema import TABLES

if TYPE_CHECKING:
    from odonata.store import RunData

TABLE = "rank_costs"
LESS, MORE = 0.9, 1.1
"""A term 10 % smaller and 10 % larger."""


def terms() -> dict[str, str]:
    """The terms of a rank's time and what they are: all seconds of the table but their sum."""
    return {
        column.name: column.meaning
        for column in TABLES[TABLE].columns
        if column.unit == "s" and column.name != "rank_time_s"
    }


def costs_of(run: RunData, job: int) -> tuple[pa.Table, int] | None:
    """The terms of a job's time, the largest first.

    Returns:
        `term`, `meaning`, `term_time_s` of the slowest rank, its `share`, `mean_s` over all ranks, `less` and
        `more` (relative change of the job's time with 10 % less and more of the term); and the slowest rank.
        None if ranks were not priced one by one.
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
