"""Quantities of objectives and constraints: times, loads and prices of finished runs."""

from __future__ import annotations

import numpy as np

from odonata import machines
from odonata._core import Experiment
from odonata.analysis.job_bottleneck import time_of, times_of
from odonata.errors import OdonataError
from odonata.runs import Run

SLOWEST, HOTTEST, PRICE = "slowest job", "hottest link", "price"
TIME_OF = "time of "

UNITS = {PRICE: None}
"""Units of quantities other than times in seconds."""


class NoResultError(OdonataError):
    """A run does not have a quantity, so its configuration has no values."""


def value_of(quantity: str, run: Run) -> float:
    """A quantity of a run in seconds; `price_of` gives the price.

    Raises:
        NoResultError: The run does not have it.
    """
    if quantity == HOTTEST:
        links = run.links
        if not run.routed or not links.num_rows:
            raise NoResultError(f"the {run.summary['engine']} engine has no traffic of links")
        times = links["bytes"].to_numpy() / links["capacity_bytes_per_s"].to_numpy()
        return float(np.max(times))
    if quantity == SLOWEST:
        known = times_of(run)
        if not known:
            raise NoResultError(f"no job of {run.name} has a time")
        return max(known.values())
    job = quantity.removeprefix(TIME_OF)
    time = time_of(run, job)
    if time is None:
        raise NoResultError(f"job {job} of {run.name} has no time")
    return time


def price_of(experiment: Experiment) -> float:
    """The price of the cables of an experiment's machine.

    Raises:
        OdonataError: No class has a price.
    """
    cost = machines.build(experiment).metrics["cost"]
    if cost is None:
        raise OdonataError(
            "no link class has a price, so all machines cost the same",
            hint="Add prices of cables:  [machine.class.blue]  price = 200",
        )
    return float(cost["total"])
