"""The bottleneck of a job, the jobs that share it, and the sensitivity of the job's time.

A job runs for T seconds. A link with capacity C carries its bytes b_own, and the bytes b_k of every other
job k with time T_k. Of job k it carries the share min(1, T / T_k): all bytes if the job ends earlier,
otherwise the part sent by time T. So the busy time of the link is

    busy = (b_own + sum over k of b_k min(1, T / T_k)) / C

The bottleneck is the link or NIC port that carries bytes of the job and has the longest busy time. If busy /
T is 1, it is busy all the time and limits the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.links import Floats, class_names, floats, link_names

if TYPE_CHECKING:
    import pandas as pd

NIC = "NIC"
"""Class of NIC ports in tables whose other rows are links."""
LIMITING_SHARE = 0.9
"""A link that is busy for at least this share of the job's time limits the job. The flow engine's times
come from coarse steps (docs/models/flow.md), so 1 would miss bottlenecks."""
STEP = 0.1
"""Relative change of a bandwidth in `sensitivity`."""


@dataclass(frozen=True)
class BusyTimes:
    """Busy times of the links that carry a job's bytes, then of its injection and ejection ports.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, {0: 1e-4, 1: 1e-4}, 1)
        >>> first = busy.order()[0]
        >>> busy.link_class[first], f"{busy.busy_s[first]:.1e} s", len(busy.busy_s) == len(busy.number)
        ('local', '1.0e-04 s', True)
    """

    number: np.ndarray
    """Number of the link or node."""
    link_class: np.ndarray
    """Class of the link, or `NIC`."""
    is_ejection: np.ndarray
    """Whether it is an ejection port."""
    busy_s: Floats
    """Busy time while the job runs."""
    parallel: Floats
    """Number of parallel links of the class between the same routers; 1 for NIC ports."""

    def order(self) -> np.ndarray:
        """Indices, busiest first; ties in the order of numbers, links first."""
        return np.argsort(-self.busy_s, kind="stable")


def busy_times(
    links: pa.Table, link_jobs: pa.Table, nodes: pa.Table, times_s: Mapping[int, float], job: int
) -> BusyTimes:
    """Busy times of the links and NIC ports that carry a job's bytes, while the job runs.

    Args:
        links: The run's links.
        link_jobs: The run's bytes per link and job.
        nodes: The run's nodes.
        times_s: Time of each job by number. A job without a time is assumed to run as long as this one.
        job: Number of the job.

    Returns:
        One entry for each link and NIC port with bytes of the job; times in seconds.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["completion_time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, times, 1)
        >>> f"{max(busy.busy_s) / times[1]:.3f} of its time"
        '1.000 of its time'
    """
    passed = _bytes_during(links, link_jobs, times_s, job).groupby("link")["passed"].sum()
    own = np.unique(link_jobs.filter(pc.equal(link_jobs["job"], job))["link"].to_numpy())
    on_links = passed.reindex(own).to_numpy(np.float64) / floats(links, "capacity_bytes_per_s")[own]
    classes = np.array(links["class"].cast(pa.string()).to_pylist(), dtype=object)
    mine = nodes.filter(pc.fill_null(pc.equal(nodes["job"], job), False))
    capacity = floats(mine, "capacity_bytes_per_s")
    ports = [floats(mine, name) / capacity for name in ("injected_bytes", "ejected_bytes")]
    count = mine.num_rows
    return BusyTimes(
        np.concatenate([own, mine["node"].to_numpy(), mine["node"].to_numpy()]).astype(np.int64),
        np.concatenate([classes[own], np.full(2 * count, NIC, dtype=object)]),
        np.repeat([False, True], [len(own) + count, count]),
        np.concatenate([on_links, *ports]),
        np.concatenate([_parallel(links)[own], np.ones(2 * count)]),
    )


def _bytes_during(
    links: pa.Table, link_jobs: pa.Table, times_s: Mapping[int, float], job: int
) -> pd.DataFrame:
    """The bytes of each job on each link while one job runs.

    The others send evenly until they end, but only what fits through the link with the job's own bytes.
    """
    frame: pd.DataFrame = link_jobs.to_pandas()
    own = times_s.get(job, 0.0)
    shares = {k: min(1.0, own / time) if time else 1.0 for k, time in times_s.items()}
    frame["passed"] = frame["bytes"] * frame["job"].map(shares).fillna(1.0)
    if own:
        others = frame["job"] != job
        of_job = frame["passed"].where(~others, 0.0).groupby(frame["link"]).transform("sum")
        of_others = frame["passed"].where(others, 0.0).groupby(frame["link"]).transform("sum")
        room = own * floats(links, "capacity_bytes_per_s")[frame["link"].to_numpy()] - of_job
        fits = (room.clip(lower=0.0) / of_others.where(of_others > 0.0, 1.0)).clip(upper=1.0)
        frame["passed"] *= fits.where(others, 1.0)
    return frame


def _parallel(links: pa.Table) -> Floats:
    frame = links.select(["source", "target", "class"]).to_pandas()
    counts: Floats = frame.groupby(["source", "target", "class"], observed=True)["source"].transform("size")
    return np.asarray(counts, dtype=np.float64)


def bottlenecks(
    busy: BusyTimes, links: pa.Table, routers: pa.Table, nodes: pa.Table, time_s: float, *, count: int = 10
) -> pa.Table:
    """The links and NIC ports with the longest busy times of a job, longest first.

    Args:
        busy: From `busy_times`.
        links: The run's links.
        routers: The run's routers.
        nodes: The run's nodes.
        time_s: The job's time.
        count: Maximum number of rows.

    Returns:
        `name`; `class`, `NIC` for ports; `link`, null for ports; `busy_s`; `share` of the job's time.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["completion_time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, times, 1)
        >>> table = odonata.analysis.bottlenecks(busy, run.links, run.routers, run.nodes, times[1], count=2)
        >>> table.select(["name", "class"]).to_pylist()
        [{'name': 'g0r1>g0r2:local.0', 'class': 'local'}, {'name': 'g0r2>g0r1:local.0', 'class':
        'local'}]
    """
    chosen = busy.order()[:count]
    rows = []
    for place in chosen:
        number, time = int(busy.number[place]), float(busy.busy_s[place])
        if busy.link_class[place] == NIC:
            port = "ejection" if busy.is_ejection[place] else "injection"
            name, link = f"{port} port of node {nodes['name'][number].as_py()}", None
        else:
            name, link = link_names(links.slice(number, 1), routers)[0].as_py(), number
        rows.append(
            {
                "name": name,
                "class": busy.link_class[place],
                "link": link,
                "busy_s": time,
                "share": time / time_s if time_s else 0.0,
            }
        )
    schema = [("name", pa.string()), ("class", pa.string()), ("link", pa.uint32()), ("busy_s", pa.float64())]
    return pa.Table.from_pylist(rows, schema=pa.schema([*schema, ("share", pa.float64())]))


def sharers(
    link: int | None,
    links: pa.Table,
    link_jobs: pa.Table,
    jobs: pa.Table,
    times_s: Mapping[int, float],
    job: int,
    busy_s: float,
) -> pa.Table:
    """Busy time of a bottleneck by job while a job runs, largest first; a NIC port has one job.

    Args:
        link: Number of the link; None for a NIC port.
        links: The run's links.
        link_jobs: The run's bytes per link and job.
        jobs: The run's jobs.
        times_s: Time of each job by number, as in `busy_times`.
        job: Number of the job.
        busy_s: Busy time of the bottleneck.

    Returns:
        `name`, `busy_s`, `share`; the busy times sum up to `busy_s` of the bottleneck.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["completion_time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, times, 1)
        >>> table = odonata.analysis.bottlenecks(busy, run.links, run.routers, run.nodes, times[1])
        >>> first = table.to_pylist()[0]
        >>> table = odonata.analysis.sharers(
        ...     first["link"], run.links, run.link_jobs, run.jobs, times, 1, first["busy_s"]
        ... )
        >>> [(row["name"], round(row["share"], 2)) for row in table.to_pylist()]
        [('fft', 0.78), ('cfd', 0.22)]
    """
    names = jobs["name"].to_pylist()
    rows = [{"name": names[job], "busy_s": busy_s}]
    if link is not None:
        frame = _bytes_during(links, link_jobs.filter(pc.equal(link_jobs["link"], link)), times_s, job)
        capacity = links["capacity_bytes_per_s"][link].as_py()
        frame = frame.sort_values("passed", ascending=False, kind="stable")
        rows = [
            {"name": names[k], "busy_s": passed / capacity}
            for k, passed in zip(frame["job"], frame["passed"], strict=True)
        ]
    for row in rows:
        row["share"] = row["busy_s"] / busy_s if busy_s else 0.0
    schema = pa.schema([("name", pa.string()), ("busy_s", pa.float64()), ("share", pa.float64())])
    return pa.Table.from_pylist(rows, schema=schema)


def sensitivity(busy: BusyTimes, links: pa.Table) -> pa.Table:
    """Change of a job's time with the bandwidth and cables of a link class, if the bottleneck limits the job.

    With `f` times the bandwidth, links of a class are busy for 1/f of the time. With one cable more or less
    than n between two routers, they are busy for n / (n + 1) or n / (n - 1) of the time. The job's time
    changes like the longest busy time. Paths are assumed not to change, and latency to have no
    effect.

    Returns:
        One row per link class that the job uses, and one for `NIC`. All values are relative changes of time:

        - `class`: Link class, or `NIC`.
        - `elasticity`: per relative change of bandwidth; -1 for the bottleneck's class, else 0.
        - `slower`, `faster`: with 10 % less and 10 % more bandwidth.
        - `latency`: per relative change of latency.
        - `cable_more`, `cable_less`: with one cable more or less between each pair of routers. Null for
          `NIC`, and if it would be the last cable.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["completion_time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, times, 1)
        >>> odonata.analysis.sensitivity(busy, run.links).select(["class", "elasticity"]).to_pylist()
        [{'class': 'local', 'elasticity': -1.0}, {'class': 'global', 'elasticity': 0.0}, {'class':
        'NIC', 'elasticity': 0.0}]
    """
    rows = []
    whole = float(busy.busy_s.max(initial=0.0))
    limiting = busy.link_class[busy.order()[0]] if whole else None

    def changed(factor: float | Floats, of: np.ndarray) -> float:
        return float(np.where(of, busy.busy_s * factor, busy.busy_s).max() / whole - 1.0)

    for name in [*class_names(links), NIC]:
        of = busy.link_class == name
        if not whole or not of.any():
            continue
        cables = busy.parallel
        last = name == NIC or bool((cables[of] <= 1).any())
        rows.append(
            {
                "class": name,
                "elasticity": -1.0 if name == limiting else 0.0,
                "slower": changed(1.0 / (1.0 - STEP), of),
                "faster": changed(1.0 / (1.0 + STEP), of),
                "latency": 0.0,
                "cable_more": None if name == NIC else changed(cables / (cables + 1), of),
                "cable_less": None if last else changed(cables / np.maximum(cables - 1, 1), of),
            }
        )
    numbers = ["elasticity", "slower", "faster", "latency", "cable_more", "cable_less"]
    schema = pa.schema([("class", pa.string()), *((name, pa.float64()) for name in numbers)])
    return pa.Table.from_pylist(rows, schema=schema)
