"""What the LogGOPS engine must say: rules of docs/models/loggops.md worked out by hand."""

from __future__ import annotations

from checking import Tables, check, close, same

NS = 1_000


@check("without network")
def ranks_end_when_their_lanes_are_free(run: Tables) -> None:
    """L = 1 us, o = 200 ns, g = 400 ns, G = 1 ns; see the programs in program_runs."""
    ranks = run["rank_times"]
    same(ranks["job"], run["placement"]["job"])
    same(ranks["rank"], run["placement"]["rank"])
    # The pair: 2,000 of computation and o; the message arrives after o + L more and costs o + 99 G.
    pair = [2_000 + 200, 2_000 + 200 + 1_000 + 200 + 99]
    # The other two wait for each other, but both messages arrive and occupy the lanes for o + 69,999 G.
    stuck = [200 + 1_000 + 200 + 69_999, 1_000 + 200 + 1_000 + 200 + 69_999]
    starts = [100, 100, 0, 0]
    same(ranks["start_ps"], [start * NS for start in starts])
    same(ranks["end_ps"], [(start + end) * NS for start, end in zip(starts, pair + stuck, strict=True)])
    same(ranks["finished"], [True, True, False, False])
    same(ranks["compute_ps"], [2_000 * NS, 500 * NS, 1_000 * NS, 0])
    same(ranks["messages"], [1, 0, 1, 1])
    same(ranks["bytes"], [100, 0, 70_000, 70_000])
    close(run["jobs"]["completion_time_s"], [pair[1] * 1e-9, float("nan")])
    assert not run["links"]["bytes"].any()


@check("without network")
def jobs_and_messages_match_the_programs(run: Tables) -> None:
    """A message of 100 B in one job, and two of 70,000 B that cross in the other; all nodes have one rank."""
    jobs, sent = run["jobs"], [100, 140_000]
    same(jobs["job"], [0, 1])
    same(jobs["name"], ["pair", "stuck"])
    same(jobs["color"], ["#0072b2", "#e69f00"])
    same(jobs["pattern"], ["file", "file"])
    same(jobs["placement"], ["compact", "compact"])
    for name, value in (("ranks", 2), ("ranks_per_node", 1), ("nodes", 2), ("routers", 1)):
        same(jobs[name], [value, value])
    same(jobs["messages"], [1, 2])
    same(jobs["bytes"], sent)
    # Both nodes of a job are at one router.
    same(jobs["on_router_bytes"], sent)
    for name in ("self_bytes", "on_node_bytes", "network_bytes", "byte_hops_mean"):
        same(jobs[name], [0, 0])
    same(run["placement"]["node"], range(4))
    cells = [(0, 0, 1, 1, 1, 100), (1, 0, 1, 1, 1, 70_000), (1, 1, 0, 1, 1, 70_000)]
    names = ["job", "source", "destination", "ranks_per_cell", "messages", "bytes"]
    for name, values in zip(names, zip(*cells, strict=True), strict=True):
        same(run["communication"][name], values)
    nodes = run["nodes"]
    others = [0] * (len(nodes) - 4)
    same(nodes["injected_bytes"], [100, 0, 70_000, 70_000, *others])
    same(nodes["ejected_bytes"], [0, 100, 70_000, 70_000, *others])
