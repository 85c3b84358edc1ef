"""What holds a job up: of the links and network interfaces that it uses, the busiest while it runs.

In the time T of the job another one that takes T_k sends a share min(1, T / T_k) of its bytes, as in a
steady state. A link is busy for what all jobs send over it in T, over its bandwidth. Where that is nearly
all of T the link is full and the job cannot be faster; where it is much less, nothing that it uses is full
all the time, and the job waits here and there. Without times of the jobs all bytes count, and the busiest is
what needs longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from odonata.analysis.links import Floats, floats, job_bytes, link_names

if TYPE_CHECKING:
    from odonata.store import RunData

OUT, IN = "out of a node", "into a node"
"""Classes of network interfaces."""


@dataclass(frozen=True)
class Bottleneck:
    """A link or a direction of a network interface, and what it carries."""

    name: str
    """Of the link, or of the node."""
    kind: str
    """Class of the link, or `OUT` or `IN`."""
    capacity_bytes_per_s: float
    bytes: float
    """Of all jobs, while the job runs."""
    jobs: dict[str, float] | None
    """Bytes by job, most first; None for the interface of a node that several jobs share."""
    time_s: float | None
    """Of the job."""

    @property
    def seconds(self) -> float:
        """Time that it needs for its bytes."""
        return self.bytes / self.capacity_bytes_per_s

    @property
    def busy_share(self) -> float | None:
        """Of the job's time; None if that is not known."""
        return None if self.time_s is None else self.seconds / self.time_s

    @property
    def is_link(self) -> bool:
        """Whether it is a link, and not an interface."""
        return self.kind not in (OUT, IN)


def bottleneck(run: RunData, job: int) -> Bottleneck | None:
    """What holds a job up; None if it sends nothing over the network.

    Args:
        run: A run of an engine that routes.
        job: Its number.
    """
    found = [one for one in (_link(run, job), _interface(run, job)) if one is not None]
    return max(found, key=lambda one: one.seconds, default=None)


def bytes_on(run: RunData, link: int, weights: Floats | None = None) -> dict[str, float]:
    """Bytes of each job on a link, most first; times the weights of the jobs, if given."""
    mine = run.link_jobs.filter(pc.equal(run.link_jobs["link"], link)).to_pylist()
    names = run.jobs["name"].to_pylist()
    found = {
        names[row["job"]]: float(row["bytes"] * (1.0 if weights is None else weights[row["job"]]))
        for row in mine
        if row["bytes"] > 0
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def link_of_name(run: RunData, name: str) -> int | None:
    """Number of a link, None if the machine has none of that name."""
    place = pc.index(link_names(run.links, run.routers), name).as_py()
    return None if place < 0 else int(run.links["link"][place].as_py())


def _times(run: RunData) -> list[float | None]:
    """By job; null where it has none."""
    if "time_s" not in run.jobs.column_names:
        return [None] * run.jobs.num_rows
    return [time if time else None for time in run.jobs["time_s"].to_pylist()]


def _weights(run: RunData, job: int) -> Floats:
    """By job the share of its bytes that it sends in the time of one."""
    times = _times(run)
    mine = times[job]
    shares = [1.0 if mine is None or other is None else min(1.0, mine / other) for other in times]
    return np.array(shares)


def _link(run: RunData, job: int) -> Bottleneck | None:
    own = job_bytes(run.links, run.link_jobs, job) > 0
    if not own.any():
        return None
    weights, parts = _weights(run, job), run.link_jobs
    weighted = floats(parts, "bytes") * weights[parts["job"].to_numpy()]
    loads = np.bincount(parts["link"].to_numpy(), weights=weighted, minlength=run.links.num_rows)
    capacities = floats(run.links, "capacity_bytes_per_s")
    worst = int(np.argmax(np.where(own, loads / capacities, -1.0)))
    one = run.links.slice(worst, 1)
    return Bottleneck(
        link_names(one, run.routers)[0].as_py(),
        str(one["class"][0].as_py()),
        float(capacities[worst]),
        float(loads[worst]),
        bytes_on(run, one["link"][0].as_py(), weights),
        _times(run)[job],
    )


def _interface(run: RunData, job: int) -> Bottleneck | None:
    placement = run.table("placement")
    used = np.unique(placement.filter(pc.equal(placement["job"], job))["node"].to_numpy())
    nodes = run.nodes.take(used)
    if not nodes.num_rows:
        return None
    capacities = floats(nodes, "capacity_bytes_per_s")
    names, found = run.jobs["name"].to_pylist(), []
    for kind, column in ((OUT, "bytes_out"), (IN, "bytes_in")):
        loads = floats(nodes, column)
        worst = int(np.argmax(loads / capacities))
        owner = nodes["job"][worst].as_py()
        jobs = {names[owner]: float(loads[worst])} if owner >= 0 else None
        name = nodes["name"][worst].as_py()
        time_s = _times(run)[job]
        found.append(Bottleneck(name, kind, float(capacities[worst]), float(loads[worst]), jobs, time_s))
    chosen = max(found, key=lambda one: one.seconds)
    return chosen if chosen.bytes > 0 else None
