"""The table of jobs alone and beside others: which of them is alone stands in another column than the job."""

from __future__ import annotations

import pandas as pd

from odonata.studies import Results


def neighbours(results: Results) -> pd.DataFrame:
    """The traffic of each job that is alone on its nodes, and the same job's in the whole workload."""
    rows = results.frame("neighbours.traffic")
    rows = rows[rows["job"] != "all jobs"]
    individual, together = rows["alone"] == rows["job"], rows["alone"] == "together"
    rows = pd.concat(
        [
            rows[individual].assign(beside="individual"),
            rows[together].assign(beside="in workload"),
        ]
    )
    return rows[["file", "job", "engine.seed", "class", "beside", "bytes_mean", "bytes_max"]]
