"""What is to be small: times, loads and prices of finished runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odonata import machines
from odonata.analysis.binding import time_of, times_of
from odonata.api import Source
from odonata.errors import OdonataError
from odonata.runs import Run

SLOWEST, HOTTEST, PRICE = "slowest job", "hottest link", "price"
TIME_OF = "time of "

UNITS = {PRICE: None}
"""The unit of what is no time in seconds."""


def value_of(aim: str, run: Run) -> float:
    """What an aim, but the price, is in a run: seconds.

    Raises:
        OdonataError: The run's tables do not have it.
    """
    if aim == HOTTEST:
        links = run.links
        if "capacity_bytes_per_s" not in links.column_names or not links.num_rows:
            raise OdonataError(f"the {run.summary['engine']} engine has no traffic of links")
        times = links["bytes"].to_numpy() / links["capacity_bytes_per_s"].to_numpy()
        return float(np.max(times))
    if aim == SLOWEST:
        times = list(times_of(run).values())
        if not times:
            raise OdonataError(f"no job of the {run.summary['engine']} engine has a time here")
        return float(max(times))
    job = aim.removeprefix(TIME_OF)
    time = time_of(run, job)
    if time is None:
        raise OdonataError(f"job {job} has no time in {run.summary['engine']} runs of this kind")
    return time


def price_of(source: Source, changes: Sequence[str]) -> float:
    """What the cables of an experiment's machine cost.

    Raises:
        OdonataError: No class has a price.
    """
    cost = machines.build(source, changes).metrics["cost"]
    if cost is None:
        raise OdonataError(
            "no link class has a price, so that all machines cost the same",
            hint="Give prices of cables:  [machine.class.blue]  price = 200",
        )
    return float(cost["total"])
