"""What a congestion control does to pairs of nodes, against the packets of the run.

Nodes 2, 4 and 6 of routers 1 to 3 send to node 1 of router 0, one local cable away.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from checking import Tables, check, same
from control_runs import CLASSES

SERIALISATION_PS = 25_600
"""A packet of 512 B on a node's link."""
TO_LAST_ROUTER_PS = 70_000
"""From the departure of a head to its last router: two cables (10 and 30 ns) and three pipelines (10 ns)."""
TO_NODE_PS = 20_000
SOURCES = [2, 4, 6]
INTERVAL_PS = 100_000


def by_source(packets: pd.DataFrame) -> list[pd.DataFrame]:
    ordered = packets.sort_values("injected_ps")
    return [ordered[ordered["source"] == source] for source in SOURCES]


@check("windowed", "held by a port")
def sources_wait_from_the_first_held_packet_to_the_last(run: Tables) -> None:
    """All packets exist from the start, so all that follow a held packet wait, too."""
    pairs = run["control_pairs"]
    same(pairs["job"], [1, 1, 1])
    same(pairs["source"], SOURCES)
    same(pairs["destination"], [1, 1, 1])
    for row, packets in zip(pairs.itertuples(), by_source(run["packets"]), strict=True):
        left = packets["injected_ps"].to_numpy()
        last_free = len(left) - row.held_packets - 1
        assert 0 <= last_free < len(left) - 1
        assert row.held_ps == left[-1] - left[last_free] - SERIALISATION_PS


@check("windowed")
def all_but_the_first_packet_wait_for_a_window_of_one(run: Tables) -> None:
    same(run["control_pairs"]["held_packets"], [9, 7, 5])
    same(run["control_pairs"]["holds"], [0, 0, 0])


@check("windowed")
def packets_that_leave_others_behind_are_marked(run: Tables) -> None:
    """The threshold is one packet, and the packet itself counts."""
    packets = run["packets"]
    arrived = (packets["injected_ps"] + TO_LAST_ROUTER_PS).to_numpy()
    left = (packets["delivered_ps"] - TO_NODE_PS - SERIALISATION_PS).to_numpy()
    others = (arrived[None, :] <= left[:, None]) & (left[None, :] > left[:, None])
    marked = packets["source"][others.any(axis=1)]
    expected = [int(np.sum(marked == source)) for source in SOURCES]
    assert sum(expected) > 0
    same(run["control_pairs"]["marks"], expected)


@check("held by a port")
def a_port_holds_each_source_once(run: Tables) -> None:
    """Below `q_lo = 0` it releases none, so each sends with credits to its end."""
    same(run["control_pairs"]["holds"], [1, 1, 1])
    same(run["control_pairs"]["marks"], [0, 0, 0])


@check("windowed", "held by a port")
def the_series_counts_departures_by_interval(run: Tables) -> None:
    series = run["control_series"]
    for source, packets in zip(SOURCES, by_source(run["packets"]), strict=True):
        rows = series[series["source"] == source]
        same(rows["destination"], [1] * len(rows))
        starts, counts = np.unique(packets["injected_ps"] // INTERVAL_PS * INTERVAL_PS, return_counts=True)
        same(rows["start_ps"], starts)
        same(rows["packets"], counts)


@check("windowed")
def a_fixed_window_stays(run: Tables) -> None:
    """One packet, at the full rate, and no credits."""
    series = run["control_series"]
    assert set(series["window_mean_bytes"]) == {512.0}
    assert set(series["rate_mean_share"]) == {1.0}
    assert set(series["credited_packets"]) == {0}


@check("held by a port")
def a_first_window_goes_without_credits(run: Tables) -> None:
    """1 KiB are two packets; the last packets of each source need credits."""
    series = run["control_series"]
    for source, packets in zip(SOURCES, by_source(run["packets"]), strict=True):
        credited = series[series["source"] == source]["credited_packets"].sum()
        assert 0 < credited <= len(packets) - 2


@check("two classes")
def the_urgent_class_leaves_first(run: Tables) -> None:
    """Their cable takes 5 of 8 offered packets, so the class with the higher priority ends first."""
    assert run["jobs"]["traffic_class"].tolist() == list(CLASSES)
    last = run["packets"].groupby("job")["delivered_ps"].max()
    assert last[1] < last[0]
