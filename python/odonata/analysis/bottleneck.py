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
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.analysis.links import Floats, floats, link_name
from odonata.store.arrays import coded, numbers, table_of

Integers: TypeAlias = npt.NDArray[np.int64]
Row: TypeAlias = dict[str, Any]
"""A row of a table, by column."""

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
    link, of_job, passed = _bytes_during(links, link_jobs, spans_s, job)
    capacity = floats(links, "capacity_bytes_per_s")
    own = np.flatnonzero(np.bincount(link[of_job == job]))
    on_links = np.bincount(link, passed, links.num_rows)[own] / capacity[own]
    names, codes = coded(links["class"])
    classes = np.array([*names, None], dtype=object)[codes[own]]
    mine = np.flatnonzero(numbers(nodes["job"]) == job)
    ports = [
        floats(nodes, name)[mine] / floats(nodes, "capacity_bytes_per_s")[mine]
        for name in ("injected_bytes", "ejected_bytes")
    ]
    number, count = numbers(nodes["node"])[mine], len(mine)
    return BusyTimes(
        np.concatenate([own, number, number]).astype(np.int64),
        np.concatenate([classes, np.full(2 * count, NIC, dtype=object)]),
        np.repeat([False, True], [len(own) + count, count]),
        np.concatenate([on_links, *ports]),
    )


def _bytes_during(
    links: pa.Table, link_jobs: pa.Table, spans_s: Spans, job: int, only: int | None = None
) -> tuple[Integers, Integers, Floats]:
    """Link and job of each row, or of the rows of `only` one link, and its bytes while one job runs.

    The others send evenly until they end, but only what fits through the link with the job's own bytes.
    """
    link, of_job = (numbers(link_jobs[name]).astype(np.int64) for name in ("link", "job"))
    bytes_ = floats(link_jobs, "bytes")
    if only is not None:
        rows = np.flatnonzero(link == only)
        link, of_job, bytes_ = link[rows], of_job[rows], bytes_[rows]
    start, end = spans_s.get(job, (0.0, 0.0))
    shares = np.ones(max([*spans_s, job, int(of_job.max(initial=0))]) + 1)
    for k, (first, last) in spans_s.items():
        shares[k] = max(0.0, min(end, last) - max(start, first)) / (last - first) if last > first else 1.0
    shares[job] = 1.0
    sent = bytes_ * shares[of_job]
    if end == start:
        return link, of_job, sent
    room = (end - start) * floats(links, "capacity_bytes_per_s")
    return link, of_job, fitting_bytes(sent, of_job == job, link, room)


def fitting_bytes(sent: Floats, is_own: npt.NDArray[np.bool_], group: Integers, room: Floats) -> Floats:
    """What passes a link while a job runs: all its own bytes, and as many bytes of others as fit.

    Args:
        sent: Bytes that each job would send in that time.
        is_own: Whether they are the job's own.
        group: Rows with one number are of one link and one time.
        room: By group, bytes that fit through the link in that time.
    """
    own = np.bincount(group, np.where(is_own, sent, 0.0), len(room))
    others = np.bincount(group, np.where(is_own, 0.0, sent), len(room))
    fits = np.minimum(np.maximum(room - own, 0.0) / np.where(others > 0.0, others, 1.0), 1.0)
    return sent * np.where(is_own, 1.0, fits[group])


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
    rows = bottleneck_rows(busy, links, routers, nodes, time_s, count=count)
    schema = [("name", pa.string()), ("class", pa.string()), ("link", pa.uint32()), ("busy_s", pa.float64())]
    return table_of(rows, pa.schema([*schema, ("share", pa.float64())]))


def bottleneck_rows(
    busy: BusyTimes, links: pa.Table, routers: pa.Table, nodes: pa.Table, time_s: float, *, count: int
) -> list[Row]:
    """The rows of `bottlenecks`, made without pandas."""
    rows: list[Row] = []
    for place in busy.order()[:count]:
        # The rest was idle.
        if not busy.busy_s[place] > 0:
            break
        number, time = int(busy.number[place]), float(busy.busy_s[place])
        if busy.link_class[place] == NIC:
            port = "ejection" if busy.is_ejection[place] else "injection"
            name, link = f"{port} port of node {nodes['name'][number].as_py()}", None
        else:
            name, link = link_name(links, routers, number), number
        rows.append(
            {
                "name": name,
                "class": busy.link_class[place],
                "link": link,
                "busy_s": time,
                "share": time / time_s if time_s else 0.0,
            }
        )
    return rows


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
    rows = sharer_rows(link, links, link_jobs, jobs, spans_s, job, busy_s)
    schema = pa.schema([("name", pa.string()), ("busy_s", pa.float64()), ("share", pa.float64())])
    return table_of(rows, schema)


def sharer_rows(
    link: int | None,
    links: pa.Table,
    link_jobs: pa.Table,
    jobs: pa.Table,
    spans_s: Spans,
    job: int,
    busy_s: float,
) -> list[Row]:
    """The rows of `sharers`, made without pandas."""
    names = jobs["name"].to_pylist()
    rows: list[Row] = [{"name": names[job], "busy_s": busy_s}]
    if link is not None:
        _, of_job, passed = _bytes_during(links, link_jobs, spans_s, job, only=link)
        capacity = links["capacity_bytes_per_s"][link].as_py()
        order = np.argsort(-passed, kind="stable")
        rows = [
            {"name": names[k], "busy_s": amount / capacity}
            for k, amount in zip(of_job[order].tolist(), passed[order].tolist(), strict=True)
            if amount > 0 or k == job
        ]
    for row in rows:
        row["share"] = row["busy_s"] / busy_s if busy_s else 0.0
    return rows
