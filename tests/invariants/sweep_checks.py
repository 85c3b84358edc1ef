"""Checks of the tables over all points of a sweep: the links of each run, counted again."""

from __future__ import annotations

import math

import numpy as np
from checking import Tables, check, close, same
from column_runs import RANKS, SWEPT, swept

from odonata import Run


@check("swept")
def statistics_match_the_links(run: Tables) -> None:
    """Of all jobs and of each, of all links and of each class; links without traffic count."""
    found = run["results"]
    expected = []
    for point, one in swept().runs.items():
        tables = Tables.of(one)
        links, shares = tables["links"], tables["link_jobs"]
        loads = {"all jobs": links["bytes"].to_numpy()}
        for number, job in enumerate(RANKS):
            mine = shares[shares["job"] == number]
            loads[job] = np.bincount(mine["link"], mine["bytes"], len(links))
        for job, values in loads.items():
            for name in ("all", "local", "global"):
                chosen = values[(links["class"] == name) | (name == "all")]
                expected.append((point.index, *_said(one), job, name, *_statistics(chosen)))
    for number, name in enumerate(["point", *SWEPT, "job", "class"]):
        same(found[name], [row[number] for row in expected])
    names = ["bytes_mean", "bytes_max", "bytes_p50", "bytes_p90", "bytes_p99", "loaded_links"]
    close(found[names], [row[5:] for row in expected])


def _said(one: Run) -> tuple[str, int]:
    """Values of the axes of a run."""
    return one.summary["routing"], one.summary["seed"]


def _statistics(values: np.ndarray) -> tuple[float, ...]:
    """Mean, largest, the values at rank ceil(p / 100 n) of n, how many are not 0."""
    ordered = np.sort(values)
    ranked = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99))
    return (values.mean(), values.max(), *ranked, np.count_nonzero(values))


@check("swept")
def jobs_of_points_match_the_runs(run: Tables) -> None:
    """Points count with the last axis fastest, and a run did what its row says."""
    jobs, (routings, seeds) = run["jobs of points"], SWEPT.values()
    points = [(routing, seed) for routing in routings for seed in seeds]
    assert [_said(one) for one in swept().runs.values()] == points
    same(jobs["point"], np.repeat(np.arange(len(points)), len(RANKS)))
    for number, key in enumerate(SWEPT):
        same(jobs[key], [point[number] for point in points for _ in RANKS])
    of_runs = [Tables.of(one)["jobs"] for one in swept().runs.values()]
    for column in ("job", "name", "byte_hops_mean"):
        same(jobs[column], np.concatenate([each[column] for each in of_runs]))
