"""The table of jobs alone and with others: the job that runs alone has its own column."""

from __future__ import annotations

import pandas as pd

from odonata.studies import Results


def neighbours(results: Results) -> pd.DataFrame:
    """The traffic of each job alone on its nodes, and in the whole workload."""
    rows = results.frame("neighbours.traffic")
    rows = rows[rows["job"] != "all jobs"]
    individual, together = rows["alone"] == rows["job"], rows["alone"] == "together"
    rows = pd.concat(
        [
            rows[individual].assign(setting="individual"),
            rows[together].assign(setting="in workload"),
        ]
    )
    return rows[["file", "job", "engine.seed", "class", "setting", "bytes_mean", "bytes_max"]]
