"""Tests how well counters predict the time of a job, by order, rank correlation, and held-out runs.

For each counter and statistic:

* *concordant*: of all pairs of runs with different times, the share in which the slower run has the larger
  counter (Jain et al., SC 2013); equal counters count half. Chance is 0.5.
* *Spearman*: correlation of the ranks, with the 95 % interval of Fisher's z and the standard error of Bonett
  and Wright (Psychometrika 2000), sqrt((1 + r^2 / 2) / (n - 3)).
* *error*: mean of |predicted - measured| / measured. A straight line is fitted to 9 of 10 parts of the runs
  and judged on the tenth, for each part.

All counters together form a ridge regression of standardised counters (Hoerl and Kennard, Technometrics
1970). Its strength has the least leave-one-out error on the fitted runs. The baseline is the mean time of the
fitted runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pandas as pd

from odonata.counters.links import INJECTING, features
from odonata.errors import OdonataError
from odonata.runs import Run
from odonata.store.schema import job_times

Numbers = npt.NDArray[np.float64]

FOLDS = 10
"""Number of parts of the runs, each held out once. More parts: longer, and less bias."""
STRENGTHS = np.logspace(-4, 4, 33)
"""Strengths of the ridge, as shares of the number of runs."""


@dataclass(frozen=True)
class Prediction:
    """How well a counter, or all of them, predict times."""

    counter: str
    concordant: float
    spearman: float
    spearman_low: float
    spearman_high: float
    error: float
    """Mean relative error on held-out runs; NaN without a model."""


def features_and_times(runs: Sequence[Run], job: str | None) -> tuple[pd.DataFrame, Numbers]:
    """Features of each run (one row each), and times of the job in seconds; by default the last job to end.

    Raises:
        OdonataError: A run has no such job, or no time.
    """
    rows, times = [], []
    for run in runs:
        jobs = run.jobs.to_pandas()
        if job is not None and job not in set(jobs["name"]):
            raise OdonataError(f"{run.name} has no job {job}", hint=f"Use one of {', '.join(jobs['name'])}.")
        chosen = jobs if job is None else jobs[jobs["name"] == job]
        time = next(iter(job_times(run.jobs.schema)), None)
        if time is None or chosen[time].isna().all():
            raise OdonataError(
                f"{run.name} has no time of a job", hint="Use the packet engine, and jobs that end."
            )
        rows.append(features(run))
        times.append(float(chosen[time].max()))
    table = pd.DataFrame(rows)
    for name in (name for name in table if str(name).endswith(INJECTING)):
        # If all nodes inject, all links belong to injecting routers.
        table[name] = table[name].fillna(table[str(name).removesuffix(INJECTING)])
    return table.fillna(0.0), np.array(times)


def predictions(
    counters: pd.DataFrame, times: Numbers, groups: Sequence[object] | None = None, seed: int = 1
) -> list[Prediction]:
    """Quality of each column's prediction, farthest from chance first; then all columns, then the mean time.

    Args:
        counters: One row per run. Constant columns are left out.
        times: Times of the runs.
        groups: Groups to hold out together, such as the pattern of each run; by default ten random parts.
        seed: Seed of the random parts.

    Raises:
        OdonataError: There are fewer than five runs, equal times, or fewer than two groups.
    """
    if len(times) < 5 or np.ptp(times) == 0:
        raise OdonataError(
            f"{len(times)} runs with {len(np.unique(times))} different times; expected five or more"
        )
    parts = _parts(len(times), groups, seed)
    varying = [name for name in counters.columns if np.ptp(counters[name].to_numpy()) > 0]
    found = []
    for name in varying:
        values = counters[name].to_numpy(dtype=np.float64)
        low, middle, high = spearman(values, times)
        error = held_out_error({name: values}, times, parts)
        found.append(Prediction(name, concordant(values, times), middle, low, high, error))
    found.sort(key=lambda one: (-abs(one.concordant - 0.5), one.counter))
    nan = float("nan")
    every = {name: counters[name].to_numpy(dtype=np.float64) for name in varying}
    together = held_out_error(every, times, parts)
    found.append(Prediction("all counters", nan, nan, nan, nan, together))
    found.append(Prediction("mean time", nan, nan, nan, nan, held_out_error({}, times, parts)))
    return found


def concordant(values: Numbers, times: Numbers) -> float:
    """Share of pairs with different times in which the counter grows with the time; equal ones count half."""
    later, sooner = np.triu_indices(len(times), 1)
    order = np.sign(times[later] - times[sooner]) * np.sign(values[later] - values[sooner])
    differ = times[later] != times[sooner]
    return float(np.mean((order[differ] + 1) / 2))


def spearman(values: Numbers, times: Numbers) -> tuple[float, float, float]:
    """Lower end of the 95 % interval, rank correlation, upper end."""
    ranks = [pd.Series(each).rank().to_numpy() for each in (values, times)]
    r = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    if abs(r) >= 1 - 1e-12:
        return r, r, r
    width = NormalDist().inv_cdf(0.975) * np.sqrt((1 + r * r / 2) / (len(times) - 3))
    return float(np.tanh(np.arctanh(r) - width)), r, float(np.tanh(np.arctanh(r) + width))


def _parts(count: int, groups: Sequence[object] | None, seed: int) -> npt.NDArray[np.int64]:
    """The number of the held-out part of each run."""
    if groups is None:
        parts = np.arange(count) % FOLDS
        np.random.default_rng(seed).shuffle(parts)
        return parts
    numbers: npt.NDArray[np.int64] = pd.factorize(pd.Series([str(group) for group in groups]))[0].astype(
        np.int64
    )
    if numbers.max() == 0:
        raise OdonataError("all runs are in one group; expected two or more")
    return numbers


def held_out_error(counters: Mapping[str, Numbers], times: Numbers, parts: npt.NDArray[np.int64]) -> float:
    """Mean relative error of a model on the parts that it was not fitted to."""
    columns = np.stack(list(counters.values()), axis=1) if counters else np.zeros((len(times), 0))
    errors = np.empty(len(times))
    for part in np.unique(parts):
        seen = parts != part
        predicted = _fitted(columns[seen], times[seen], columns[~seen])
        errors[~seen] = np.abs(predicted - times[~seen]) / times[~seen]
    return float(errors.mean())


def _fitted(columns: Numbers, times: Numbers, others: Numbers) -> Numbers:
    """Predictions for other runs: the mean, a straight line, or a ridge."""
    mean, spread = columns.mean(axis=0), columns.std(axis=0)
    use = spread > 0
    inside, outside = ((each[:, use] - mean[use]) / spread[use] for each in (columns, others))
    if not use.any():
        return np.full(len(others), times.mean())
    left, sizes, right = np.linalg.svd(inside, full_matrices=False)
    projected = left.T @ (times - times.mean())
    strengths = STRENGTHS * len(times) if inside.shape[1] > 1 else np.zeros(1)
    shrunk = [sizes**2 / (sizes**2 + strength) for strength in strengths]
    # Leave-one-out error of a linear smoother: residual over one minus leverage; the mean takes 1 / n of it.
    residuals = []
    for shares in shrunk:
        rest = times - times.mean() - left @ (shares * projected)
        leverage = (left**2) @ shares + 1 / len(times)
        residuals.append(float(np.mean((rest / np.maximum(1 - leverage, 1e-9)) ** 2)))
    best = int(np.argmin(residuals))
    coefficients = right.T @ (shrunk[best] / np.maximum(sizes, 1e-300) * projected)
    predicted: Numbers = times.mean() + outside @ coefficients
    return predicted
