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
