"""The busiest links of a job while it runs, and the jobs that share them.

A job runs from s to e. A link with capacity C carries its bytes b_own, and the bytes b_k of every other
job k, which runs from s_k to e_k. Of job k it carries the part that falls into the job's time:

    busy = (b_own + sum over k of b_k overlap(k) / (e_k - s_k)) / C
    overlap(k) = max(0, min(e, e_k) - max(s, s_k))

The first link or NIC port is the one that carries bytes of the job and has the longest busy time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.links import Floats, floats, link_names

if TYPE_CHECKING:
    import pandas as pd

NIC = "NIC"
"""Class of NIC ports in tables whose other rows are links."""
Spans = Mapping[int, tuple[float, float]]
"""Start and end of jobs by number, in seconds."""


@dataclass(frozen=True)
class BusyTimes:
    """Busy times of the links that carry a job's bytes, then of its injection and ejection ports.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> spans = {0: (0.0, 1e-4), 1: (0.0, 1e-4)}
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, spans, 1)
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

    def order(self) -> np.ndarray:
        """Indices, busiest first; ties in the order of numbers, links first."""
        return np.argsort(-self.busy_s, kind="stable")


def busy_times(links: pa.Table, link_jobs: pa.Table, nodes: pa.Table, spans_s: Spans, job: int) -> BusyTimes:
    """Busy times of the links and NIC ports that carry a job's bytes, while the job runs.

    Args:
        links: The run's links.
        link_jobs: The run's bytes per link and job.
        nodes: The run's nodes.
        spans_s: Start and end of each job by number. A job without them is assumed to run as this one.
        job: Number of the job.

    Returns:
        One entry for each link and NIC port with bytes of the job; times in seconds.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> spans = {k: (0.0, time) for k, time in enumerate(run.jobs["completion_time_s"].to_pylist())}
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, spans, 1)
        >>> f"{max(busy.busy_s) / spans[1][1]:.3f} of its time"
        '1.000 of its time'
    """
    passed = _bytes_during(links, link_jobs, spans_s, job).groupby("link")["passed"].sum()
    own = np.unique(link_jobs.filter(pc.equal(link_jobs["job"], job))["link"].to_numpy())
    on_links = passed.reindex(own).to_numpy(np.float64) / floats(links, "capacity_bytes_per_s")[own]
    classes = np.array(links["class"].take(pa.array(own)).cast(pa.string()).to_pylist(), dtype=object)
    mine = nodes.filter(pc.fill_null(pc.equal(nodes["job"], job), False))
    capacity = floats(mine, "capacity_bytes_per_s")
    ports = [floats(mine, name) / capacity for name in ("injected_bytes", "ejected_bytes")]
    count = mine.num_rows
    return BusyTimes(
        np.concatenate([own, mine["node"].to_numpy(), mine["node"].to_numpy()]).astype(np.int64),
        np.concatenate([classes, np.full(2 * count, NIC, dtype=object)]),
        np.repeat([False, True], [len(own) + count, count]),
        np.concatenate([on_links, *ports]),
    )


def _bytes_during(links: pa.Table, link_jobs: pa.Table, spans_s: Spans, job: int) -> pd.DataFrame:
    """The bytes of each job on each link while one job runs.

    The others send evenly until they end, but only what fits through the link with the job's own bytes.
    """
    frame: pd.DataFrame = link_jobs.to_pandas()
    start, end = spans_s.get(job, (0.0, 0.0))
    shares = {
        k: max(0.0, min(end, last) - max(start, first)) / (last - first) if last > first else 1.0
        for k, (first, last) in spans_s.items()
    }
    shares[job] = 1.0
    sent = frame["bytes"] * frame["job"].map(shares).fillna(1.0)
    room = (end - start) * floats(links, "capacity_bytes_per_s")[frame["link"].to_numpy()]
    frame["passed"] = sent
    if end != start:
        frame["passed"] = fitting_bytes(sent, frame["job"] == job, frame["link"], room)
    return frame


def fitting_bytes(sent: pd.Series, is_own: pd.Series, group: pd.Series, room: Floats) -> pd.Series:
    """What passes a link while a job runs: all its own bytes, and as many bytes of others as fit.

    Args:
        sent: Bytes that each job would send in that time.
        is_own: Whether they are the job's own.
        group: Rows with one value are of one link and one time.
        room: Bytes that fit through the link in that time.
    """
    of_job = sent.where(is_own, 0.0).groupby(group).transform("sum")
    of_others = sent.where(~is_own, 0.0).groupby(group).transform("sum")
    fits = ((room - of_job).clip(lower=0.0) / of_others.where(of_others > 0.0, 1.0)).clip(upper=1.0)
    passed: pd.Series = sent * fits.where(~is_own, 1.0)
    return passed


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
        >>> spans = {k: (0.0, time) for k, time in enumerate(run.jobs["completion_time_s"].to_pylist())}
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, spans, 1)
        >>> time_s = spans[1][1]
        >>> table = odonata.analysis.bottlenecks(busy, run.links, run.routers, run.nodes, time_s, count=2)
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
    spans_s: Spans,
    job: int,
    busy_s: float,
) -> pa.Table:
    """Busy time of a bottleneck by job while a job runs, largest first; a NIC port has one job.

    Args:
        link: Number of the link; None for a NIC port.
        links: The run's links.
        link_jobs: The run's bytes per link and job.
        jobs: The run's jobs.
        spans_s: Start and end of each job, as in `busy_times`.
        job: Number of the job.
        busy_s: Busy time of the bottleneck.

    Returns:
        `name`, `busy_s`, `share`; the busy times sum up to `busy_s` of the bottleneck.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> spans = {k: (0.0, time) for k, time in enumerate(run.jobs["completion_time_s"].to_pylist())}
        >>> busy = odonata.analysis.busy_times(run.links, run.link_jobs, run.nodes, spans, 1)
        >>> table = odonata.analysis.bottlenecks(busy, run.links, run.routers, run.nodes, spans[1][1])
        >>> first = table.to_pylist()[0]
        >>> table = odonata.analysis.sharers(
        ...     first["link"], run.links, run.link_jobs, run.jobs, spans, 1, first["busy_s"]
        ... )
        >>> [(row["name"], round(row["share"], 2)) for row in table.to_pylist()]
        [('fft', 0.78), ('cfd', 0.22)]
    """
    names = jobs["name"].to_pylist()
    rows = [{"name": names[job], "busy_s": busy_s}]
    if link is not None:
        frame = _bytes_during(links, link_jobs.filter(pc.equal(link_jobs["link"], link)), spans_s, job)
        capacity = links["capacity_bytes_per_s"][link].as_py()
        frame = frame.sort_values("passed", ascending=False, kind="stable")
        rows = [
            {"name": names[k], "busy_s": passed / capacity}
            for k, passed in zip(frame["job"], frame["passed"], strict=True)
            if passed > 0 or k == job
        ]
    for row in rows:
        row["share"] = row["busy_s"] / busy_s if busy_s else 0.0
    schema = pa.schema([("name", pa.string()), ("busy_s", pa.float64()), ("share", pa.float64())])
    return pa.Table.from_pylist(rows, schema=schema)
