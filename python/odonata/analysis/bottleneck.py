"""The link or interface that binds a job, who shares it, and what another machine would change.

While a job runs, for `T` seconds, a link passes its bytes and, of every other job k with bytes b_k there and
a time T_k, the share min(1, T / T_k): all of a job that is done earlier, of a longer one what it
sends until then.
So the link is busy for

    busy = (b_own + sum over k of b_k min(1, T / T_k)) / C

of these T seconds. The job's bottleneck is the link or interface of its bytes that is busy longest; where
busy / T is 1, it never rests while the job runs, and decides its time.
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

INTERFACE = "interface"
"""Stands for a class of links where a node's network interface is meant."""
DECIDES = 0.9
"""From this share of the job's time on a busy link is said to decide it: the flow engine's times are up to a
tenth too high with its default settings (docs/models/flow.md)."""
STEP = 0.1
"""The change of a bandwidth that is asked about."""


@dataclass(frozen=True)
class Busy:
    """What is busy with a job's bytes: links by number, then the interfaces of its nodes, out and in.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> busy = odonata.analysis.busy_with(run.links, run.link_jobs, run.nodes, {0: 1e-4, 1: 1e-4}, 1)
        >>> first = busy.order()[0]
        >>> busy.link_class[first], f"{busy.busy_s[first]:.1e} s", len(busy.busy_s) == len(busy.number)
        ('local', '1.1e-04 s', True)
    """

    number: np.ndarray
    """Of the link, or of the node."""
    link_class: np.ndarray
    """Class of the link, or `interface`."""
    inwards: np.ndarray
    """Whether it is the inward direction of an interface."""
    busy_s: Floats
    """How long it is busy while the job runs."""
    parallel: Floats
    """Links of its class from the same router to the same one, itself included; 1 of interfaces."""

    def order(self) -> np.ndarray:
        """From the busiest on; ties in the order of numbers, links first."""
        return np.argsort(-self.busy_s, kind="stable")


def busy_with(
    links: pa.Table, link_jobs: pa.Table, nodes: pa.Table, times_s: Mapping[int, float], job: int
) -> Busy:
    """How long each link and interface that carries a job's bytes is busy while the job runs.

    Args:
        links: The run's links.
        link_jobs: Its bytes per link and job.
        nodes: Its nodes.
        times_s: The time of each job by number; a job without one is taken to run as long as this one.
        job: Its number.

    Returns:
        An entry for each link and each direction of an interface that has bytes of the job; times in seconds.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_with(run.links, run.link_jobs, run.nodes, times, 1)
        >>> f"{max(busy.busy_s) / times[1]:.3f} of its time"
        '0.865 of its time'
    """
    passed = _passed(link_jobs, times_s, job).groupby("link")["passed"].sum()
    own = np.unique(link_jobs.filter(pc.equal(link_jobs["job"], job))["link"].to_numpy())
    on_links = passed.reindex(own).to_numpy(np.float64) / floats(links, "capacity_bytes_per_s")[own]
    classes = np.array(links["class"].cast(pa.string()).to_pylist(), dtype=object)
    mine = nodes.filter(pc.fill_null(pc.equal(nodes["job"], job), False))
    capacity = floats(mine, "capacity_bytes_per_s")
    interfaces = [floats(mine, f"bytes_{way}") / capacity for way in ("out", "in")]
    count = mine.num_rows
    return Busy(
        np.concatenate([own, mine["node"].to_numpy(), mine["node"].to_numpy()]).astype(np.int64),
        np.concatenate([classes[own], np.full(2 * count, INTERFACE, dtype=object)]),
        np.repeat([False, True], [len(own) + count, count]),
        np.concatenate([on_links, *interfaces]),
        np.concatenate([_parallel(links)[own], np.ones(2 * count)]),
    )


def _passed(link_jobs: pa.Table, times_s: Mapping[int, float], job: int) -> pd.DataFrame:
    """The bytes of each job that each link passes while one of them runs."""
    frame: pd.DataFrame = link_jobs.to_pandas()
    own = times_s.get(job, 0.0)
    until = {k: min(1.0, own / time) if time else 1.0 for k, time in times_s.items()}
    frame["passed"] = frame["bytes"] * frame["job"].map(until).fillna(1.0)
    return frame


def _parallel(links: pa.Table) -> Floats:
    frame = links.select(["source", "target", "class"]).to_pandas()
    counts: Floats = frame.groupby(["source", "target", "class"], observed=True)["source"].transform("size")
    return np.asarray(counts, dtype=np.float64)


def bottlenecks(
    busy: Busy, links: pa.Table, routers: pa.Table, nodes: pa.Table, time_s: float, *, count: int = 10
) -> pa.Table:
    """The links and interfaces that are busiest with a job, the busiest first.

    Args:
        busy: From `busy_with`.
        links: The run's links.
        routers: The run's routers.
        nodes: The run's nodes.
        time_s: The job's time.
        count: How many at most.

    Returns:
        `name`, `class` (`interface` of interfaces), `link` (null of interfaces), `busy_s`, `share` (of the
        job's time).

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_with(run.links, run.link_jobs, run.nodes, times, 1)
        >>> table = odonata.analysis.bottlenecks(busy, run.links, run.routers, run.nodes, times[1], count=2)
        >>> table.select(["name", "class"]).to_pylist()
        [{'name': 'g4r1>g4r0:local.0', 'class': 'local'}, {'name': 'g4r0>g4r1:local.0', 'class':
        'local'}]
    """
    chosen = busy.order()[:count]
    rows = []
    for place in chosen:
        number, time = int(busy.number[place]), float(busy.busy_s[place])
        if busy.link_class[place] == INTERFACE:
            way = "in" if busy.inwards[place] else "out"
            name, link = f"{nodes['name'][number].as_py()} {way}", None
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
    """Whose bytes a bottleneck passes while a job runs, the most first; of an interface only the job's own.

    Args:
        link: The number of the link; None for an interface.
        links: The run's links.
        link_jobs: Its bytes per link and job.
        jobs: Its jobs.
        times_s: The time of each job by number, as in `busy_with`.
        job: Its number.
        busy_s: How long the bottleneck is busy.

    Returns:
        `name`, `busy_s` (they add up to the bottleneck's), `share` (of the bottleneck's).

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_with(run.links, run.link_jobs, run.nodes, times, 1)
        >>> table = odonata.analysis.bottlenecks(busy, run.links, run.routers, run.nodes, times[1])
        >>> first = table.to_pylist()[0]
        >>> table = odonata.analysis.sharers(
        ...     first["link"], run.links, run.link_jobs, run.jobs, times, 1, first["busy_s"]
        ... )
        >>> [(row["name"], round(row["share"], 2)) for row in table.to_pylist()]
        [('cfd', 0.87), ('fft', 0.13)]
    """
    names = jobs["name"].to_pylist()
    rows = [{"name": names[job], "busy_s": busy_s}]
    if link is not None:
        frame = _passed(link_jobs.filter(pc.equal(link_jobs["link"], link)), times_s, job)
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


def sensitivity(busy: Busy, links: pa.Table) -> pa.Table:
    """How a job's time changes where what is busiest decides it: with it, until something else is busier.

    A class of links with `f` times the bandwidth is busy for 1/f of the time, one with n cables from router
    to router and one more or less for n / (n + 1) or n / (n - 1) of it; the job's time changes as that of
    the busiest link or interface does. Bytes are taken to go the same ways. Latencies change nothing in a
    steady state.

    Returns:
        One row per class of links that the job uses, and `interface`: `class`, `elasticity` (relative change
        of the time per relative change of the bandwidth: -1 where the class decides, 0 elsewhere), `slower`
        and `faster` (relative changes of the time with 10 % less and more bandwidth), `latency` (the same as
        elasticity, of the latency), `cable_more` and `cable_less` (relative changes of the time with one
        cable more or less wherever there is one; null without a number where the last one would go, and of
        interfaces).

    Examples:
        >>> run = odonata.load("runs/both")
        >>> times = dict(enumerate(run.jobs["time_s"].to_pylist()))
        >>> busy = odonata.analysis.busy_with(run.links, run.link_jobs, run.nodes, times, 1)
        >>> odonata.analysis.sensitivity(busy, run.links).select(["class", "elasticity"]).to_pylist()
        [{'class': 'local', 'elasticity': -1.0}, {'class': 'global', 'elasticity': 0.0}, {'class':
        'interface', 'elasticity': 0.0}]
    """
    rows = []
    whole = float(busy.busy_s.max(initial=0.0))
    decides = busy.link_class[busy.order()[0]] if whole else None

    def changed(factor: float | Floats, of: np.ndarray) -> float:
        return float(np.where(of, busy.busy_s * factor, busy.busy_s).max() / whole - 1.0)

    for name in [*class_names(links), INTERFACE]:
        of = busy.link_class == name
        if not whole or not of.any():
            continue
        cables = busy.parallel
        last = name == INTERFACE or bool((cables[of] <= 1).any())
        rows.append(
            {
                "class": name,
                "elasticity": -1.0 if name == decides else 0.0,
                "slower": changed(1.0 / (1.0 - STEP), of),
                "faster": changed(1.0 / (1.0 + STEP), of),
                "latency": 0.0,
                "cable_more": None if name == INTERFACE else changed(cables / (cables + 1), of),
                "cable_less": None if last else changed(cables / np.maximum(cables - 1, 1), of),
            }
        )
    numbers = ["elasticity", "slower", "faster", "latency", "cable_more", "cable_less"]
    schema = pa.schema([("class", pa.string()), *((name, pa.float64()) for name in numbers)])
    return pa.Table.from_pylist(rows, schema=schema)
