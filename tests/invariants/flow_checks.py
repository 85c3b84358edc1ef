"""Checks of the flow engine: two jobs on one cable by hand, minimal paths on a dragonfly."""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np
from checking import Tables, check, close, same

CABLE = 1e9
NIC_BYTES_PER_S = 10e9


@check("shared")
def two_jobs_share_a_cable_by_their_messages(run: Tables) -> None:
    """A message of 3 MB and two of 0.5 MB get a third each of a cable of 1 GB/s: 333 and 667 MB/s.

    The small ones end after 1.5 ms; 2.5 MB of the large one are left, which have the cable: 4 ms. Alone it is
    3 and 1 ms. The last byte needs 320 ns more. The 1 MB on the router has what the other message of its node
    leaves of the NIC's 10 GB/s: 9.67, and 9 alone.
    """
    jobs = run["jobs"]
    on_router = NIC_BYTES_PER_S - CABLE / 3
    close(jobs["completion_time_s"], [4e-3, 1.5e-3], rel=2e-3)
    close(jobs["completion_time_alone_s"], [3e-3, 1e-3], rel=2e-3)
    close(jobs["bandwidth_bytes_per_s"], [CABLE / 3 + on_router, 2 * CABLE / 3], rel=2e-3)
    close(jobs["bandwidth_alone_bytes_per_s"], [NIC_BYTES_PER_S, CABLE], rel=2e-3)
    close(jobs["slowdown"], [4 / 3, 1.5 / 1], rel=2e-3)
    same(jobs["zero_byte_messages"], [0, 1])
    same(jobs["self_messages"], [0, 1])
    close(run["links"]["bytes"], [4e6, 0])
    same(run["link_jobs"]["bytes"], [3e6, 1e6])
    close(jobs["byte_hops_mean"], [3 / 4, 1e6 / (1e6 + 4)])
    same(run["jobs"]["placement"], ["file", "file"])


@check("broken")
def bytes_take_minimal_paths(run: Tables) -> None:
    """Fewest hops between groups and then fewest in all, link by link; a job's mean is over all its bytes."""
    links, cells, jobs = run["links"], run["communication"], run["jobs"]
    near = defaultdict(list)
    for link in links.itertuples():
        near[link.source].append((link.target, FAR if link.source_group != link.target_group else 1))
    lengths = {router: _lengths(router, near) for router in range(len(run["routers"]))}
    router = run["nodes"]["router"].to_numpy()
    node = run["placement"].set_index(["job", "rank"])["node"]
    hops = np.zeros(len(jobs))
    for cell in cells.itertuples():
        source, target = (router[node[cell.job, rank]] for rank in (cell.source, cell.destination))
        hops[cell.job] += cell.bytes * sum(divmod(lengths[source][target], FAR))
    close(jobs["byte_hops_mean"], hops / jobs["bytes"])


FAR = 1000
"""Of a hop between groups, where one inside a group is 1."""


def _lengths(start: int, near: dict[int, list[tuple[int, int]]]) -> dict[int, int]:
    """The shortest path to every reachable router (Dijkstra)."""
    found: dict[int, int] = {}
    queue = [(0, start)]
    while queue:
        length, here = heapq.heappop(queue)
        if here not in found:
            found[here] = length
            for other, further in near[here]:
                heapq.heappush(queue, (length + further, other))
    return found
