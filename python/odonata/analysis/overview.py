"""The busiest link or port of every job of a run, and the job that competes there most.

`bottleneck` has the rule for one job. Applied to every job in turn, it would read all traffic once per job.
Here, prefix sums along each link give all busy times except for rounding. The rule itself then decides
among the links that rounding could exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.analysis.bottleneck import NIC, Spans, fitting_bytes
from odonata.analysis.job_bottleneck import spans_of, times_of
from odonata.analysis.links import Floats, floats, link_names
from odonata.lazy import LazyModule
from odonata.store.run import RunData

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = LazyModule("pandas")

Integers = npt.NDArray[np.int64]

SLACK = 1e-6
"""Links within this of a job's largest estimate are compared exactly. Smaller: an estimate could decide."""
ROUNDING = 1e-14
"""Error of prefix sums, relative to rate times duration. Compensated sums have about 1e-15."""
CHUNK_ROWS = 2_000_000
"""Rows of links that are compared at a time; more need more memory, about 100 bytes each."""


@dataclass(frozen=True)
class Traffic:
    """Bytes by link and job, sorted by link, with start, end and time of the jobs."""

    link: Integers
    job: Integers
    bytes_: Floats
    capacity: Floats
    """Bytes per second, by link."""
    start: Floats
    """Start by job, in seconds; NaN if the job has no known span."""
    end: Floats
    """End by job, in seconds; NaN if the job has no known span."""
    is_asked: npt.NDArray[np.bool_]
    """By job, whether it has a time."""

    @classmethod
    def of_run(cls, run: RunData, times: dict[int, float], spans: Spans) -> Traffic:
        """The traffic of a run."""
        count = run.jobs.num_rows
        start, end = np.full(count, np.nan), np.full(count, np.nan)
        for job, (first, last) in spans.items():
            start[job], end[job] = first, last
        link = run.link_jobs["link"].to_numpy().astype(np.int64)
        # A stable order keeps sums over the jobs of a link the same to the last bit.
        order = np.argsort(link, kind="stable")
        return cls(
            link[order],
            run.link_jobs["job"].to_numpy().astype(np.int64)[order],
            floats(run.link_jobs, "bytes")[order],
            floats(run.links, "capacity_bytes_per_s"),
            start,
            end,
            np.array([bool(times.get(job)) for job in range(count)], dtype=np.bool_),
        )

    def lasts(self) -> npt.NDArray[np.bool_]:
        """By row, whether its job has a duration. The bytes of others count in full at any time."""
        found: npt.NDArray[np.bool_] = (self.end > self.start)[self.job]
        return found


def estimated_busy_times(traffic: Traffic) -> tuple[Floats, Floats]:
    """Busy time of each row's link while the row's job runs, and a bound of the error by rounding.

    Job k sends at the rate b_k / (e_k - s_k). F(t) is the integral over the rates of all jobs of a link
    until t. In its time, a job sees F(e) - F(s), of which its own bytes are a part.
    """
    lasts, count = traffic.lasts(), len(traffic.link)
    start, end = traffic.start[traffic.job], traffic.end[traffic.job]
    rate = np.zeros(count)
    np.divide(traffic.bytes_, end - start, out=rate, where=lasts)
    time = np.nan_to_num(np.concatenate([start, end]))
    link = np.concatenate([traffic.link, traffic.link])
    order = np.lexsort((time, link))
    link, time = link[order], time[order]
    rates = pd.Series(np.concatenate([rate, -rate])[order]).groupby(link).cumsum().to_numpy()
    step = np.zeros(2 * count)
    same = link[1:] == link[:-1]
    step[1:][same] = (rates[:-1] * np.diff(time))[same]
    sums = np.empty(2 * count)
    sums[order] = pd.Series(step).groupby(link).cumsum().to_numpy()
    always = pd.Series(np.where(lasts, 0.0, traffic.bytes_)).groupby(traffic.link).transform("sum")
    capacity = traffic.capacity[traffic.link]
    others = sums[count:] - sums[:count] + always.to_numpy() - traffic.bytes_
    room = np.where(lasts, np.maximum((end - start) * capacity - traffic.bytes_, 0.0), np.inf)
    times = pd.Series(time).groupby(link)
    duration = times.max() - times.min()
    total = pd.Series(rate).groupby(traffic.link).sum() * duration
    error = ROUNDING * total.reindex(traffic.link).to_numpy(np.float64) / capacity
    return (traffic.bytes_ + np.minimum(np.maximum(others, 0.0), room)) / capacity, error


def candidates(traffic: Traffic) -> tuple[Integers, Integers]:
    """Job and link of each pair in which the link may be the job's busiest, in the order of these."""
    busy, error = estimated_busy_times(traffic)
    rows = np.flatnonzero(traffic.is_asked[traffic.job])
    job, least, most = traffic.job[rows], busy[rows] - error[rows], busy[rows] + error[rows]
    best = np.zeros(len(traffic.start))
    np.maximum.at(best, job, least)
    rows = rows[most >= best[job] * (1.0 - SLACK)]
    rows = rows[np.lexsort((traffic.link[rows], traffic.job[rows]))]
    return traffic.job[rows], traffic.link[rows]


def shared_rows(traffic: Traffic, jobs: Integers, links: Integers) -> Iterator[pd.DataFrame]:
    """The traffic of all jobs on each link while one job runs, in chunks of whole pairs.

    Args:
        traffic: The traffic.
        jobs: The job of each pair.
        links: The link of each pair.

    Returns:
        `pair`, its number; `job` of the bytes; `is_own`; `passed`, its bytes in the job's time.
    """
    first = np.searchsorted(traffic.link, links, "left")
    count = np.searchsorted(traffic.link, links, "right") - first
    chunk = np.cumsum(count) // CHUNK_ROWS
    for pairs in np.split(np.arange(len(jobs)), np.flatnonzero(np.diff(chunk)) + 1):
        sizes = count[pairs]
        pair = np.repeat(pairs, sizes)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield _passed(traffic, first[pair] + within, pair, jobs[pair], links[pair])


def _passed(
    traffic: Traffic, rows: Integers, pair: Integers, runs: Integers, links: Integers
) -> pd.DataFrame:
    job = traffic.job[rows]
    start, end = traffic.start[runs], traffic.end[runs]
    first, last = traffic.start[job], traffic.end[job]
    share = np.ones(len(rows))
    overlap = np.maximum(0.0, np.minimum(end, last) - np.maximum(start, first))
    np.divide(overlap, last - first, out=share, where=(last > first) & (job != runs))
    frame: pd.DataFrame = pd.DataFrame({"pair": pair, "job": job, "is_own": job == runs})
    sent = traffic.bytes_[rows] * share
    # Numbers from 0, since the arrays of a part would else be as long as all parts before.
    group = pair - pair[:1].sum()
    room = np.zeros(group.max(initial=-1) + 1)
    room[group] = (end - start) * traffic.capacity[links]
    frame["passed"] = np.where(end != start, fitting_bytes(sent, job == runs, group, room), sent)
    return frame


def busiest_links(traffic: Traffic) -> pd.DataFrame:
    """By job: `link`, its busiest, `busy_s`, and there `own_share`, `competitor` and `competitor_share`.

    Jobs without a time or without traffic on links are left out. `competitor` is -1 without one.
    """
    jobs, links = candidates(traffic)
    busy_s = np.zeros(len(jobs))
    for frame in shared_rows(traffic, jobs, links):
        # Added in the order of rows, as `busy_times` does, so that ties are the same.
        pair = frame["pair"].to_numpy()
        passed = np.bincount(pair - pair[:1].sum(), frame["passed"])
        chosen = np.arange(len(passed)) + pair[:1].sum()
        busy_s[chosen] = passed / traffic.capacity[links[chosen]]
    # Ties are in the order of links.
    order = np.lexsort((links, -busy_s, jobs))
    chosen = order[np.unique(jobs[order], return_index=True)[1]]
    jobs, links, busy_s = jobs[chosen], links[chosen], busy_s[chosen]
    found: pd.DataFrame = pd.DataFrame({"link": links, "busy_s": busy_s}, index=jobs)
    own, competitor, largest = np.zeros(len(jobs)), np.full(len(jobs), -1), np.zeros(len(jobs))
    for frame in shared_rows(traffic, jobs, links):
        mine = frame[frame["is_own"]]
        own[mine["pair"]] = mine["passed"]
        others = frame[~frame["is_own"] & (frame["passed"] > 0)]
        main = others.loc[others.groupby("pair")["passed"].idxmax()]
        competitor[main["pair"]], largest[main["pair"]] = main["job"], main["passed"]
    used = np.where(busy_s > 0, busy_s, 1.0)
    found["own_share"] = own / traffic.capacity[links] / used
    found["competitor"] = competitor
    found["competitor_share"] = largest / traffic.capacity[links] / used
    return found


def busiest_ports(nodes: pa.Table, jobs: int) -> tuple[Floats, Integers, npt.NDArray[np.bool_]]:
    """By job: the longest busy time of its NIC ports, the row of the node, and whether it is ejection.

    Ties are in the order of nodes, injection first. The time is zero without a port that carries bytes.
    """
    owned = nodes["job"].combine_chunks()
    mine = np.flatnonzero(owned.is_valid().to_numpy(zero_copy_only=False))
    job = owned.fill_null(0).to_numpy()[mine].astype(np.int64)
    capacity = floats(nodes, "capacity_bytes_per_s")[mine]
    busy = np.concatenate(
        [floats(nodes, name)[mine] / capacity for name in ("injected_bytes", "ejected_bytes")]
    )
    busy = np.nan_to_num(busy)
    job, node = np.concatenate([job, job]), np.concatenate([mine, mine])
    is_ejection = np.repeat([False, True], len(mine))
    order = np.lexsort((node, is_ejection, -busy, job))
    known, first = np.unique(job[order], return_index=True)
    time, row, ejection = np.zeros(jobs), np.zeros(jobs, np.int64), np.zeros(jobs, np.bool_)
    chosen = order[first]
    time[known], row[known], ejection[known] = busy[chosen], node[chosen], is_ejection[chosen]
    return time, row, ejection


def overview(run: RunData) -> pa.Table:
    """Time and busiest link of each job, and its main competitor there.

    Returns:
        `name`, `time_s`, and null if a job has no time or sends nothing:

        - `busiest`, `class`: Name and class of the link or port.
        - `busy_share`: Its busy time divided by the job's time.
        - `own_share`: Share of the busy time for the job itself.
        - `main_competitor`, `competitor_share`: The other job with the largest share.
    """
    times = times_of(run)
    links = busiest_links(Traffic.of_run(run, times, spans_of(run)))
    taken = run.links.take(pa.array(links["link"]))
    links["name"] = link_names(taken, run.routers).to_pylist()
    links["class"] = taken["class"].cast(pa.string()).to_pylist()
    on_links = links.to_dict("index")
    port_s, node, is_ejection = busiest_ports(run.nodes, run.jobs.num_rows)
    names = run.jobs["name"].to_pylist()
    rows = []
    for number, name in enumerate(names):
        time_s, link = times.get(number), on_links.get(number)
        row: dict[str, Any] = dict.fromkeys(
            ("busiest", "class", "busy_share", "own_share", "main_competitor", "competitor_share")
        )
        busy_s = 0.0 if link is None else link["busy_s"]
        if time_s and port_s[number] > busy_s:
            port = "ejection" if is_ejection[number] else "injection"
            row |= {"busiest": f"{port} port of node {run.nodes['name'][node[number]].as_py()}", "class": NIC}
            row |= {"busy_share": float(port_s[number]) / time_s, "own_share": 1.0}
        elif time_s and link is not None and busy_s:
            row |= {"busiest": link["name"], "class": link["class"], "busy_share": busy_s / time_s}
            row["own_share"] = link["own_share"]
            if link["competitor"] >= 0:
                row["main_competitor"] = names[link["competitor"]]
                row["competitor_share"] = link["competitor_share"]
        rows.append({"name": name, "time_s": time_s, **row})
    return pa.Table.from_pylist(rows)
