"""What the packet engine must say of runs that are followed by hand, to the picosecond.

512 B at 25 GB/s take 20.48 ns; a packet takes 10 ns into and 10 ns out of a router, 10 ns of cable to a node.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from checking import Tables, check, close, same, sorted_by
from column_runs import LEARNT_PACKETS, LOSS, PACED_LOAD, PACKET, ROOM, SHORT_PS, q_table


@check("crossing")
def the_second_of_two_packets_waits_for_the_first(run: Tables) -> None:
    """Both are at the heads of their inputs at once, and a crossbar at 25 GB/s moves 512 B in 20.48 ns."""
    same(run["links"]["crossbar_stall_ps"], [20_480, 0])
    same(run["nodes"]["crossbar_stall_ps"], [0, 0, 0, 0, 0, 20_480, 0, 0])


@check("held")
def waits_are_charged_to_who_causes_them(run: Tables) -> None:
    """In ns. A cable takes 620 for each packet from a to b, 310 from b to c: until its place is free again.

    From a: packets of jobs 0, 1, 2 enter the queue at 20, 25.12 and 30.24 (the crossbar moves one in
    5.12) and leave at 20, 640 and 1,260; the packet before blocks, sent or beyond. They are at b's
    output 320 later, at 340, 960 and 1,580, each 10 after a packet of job 3, which b sends at 20 + 310
    k: they wait 10.48 for it, in channel 1. Job 3's six enter at 20 + 30 k, for want of credit of their
    NIC, and wait 280 k; of that, four of them 20.48 for the packet of job 0, two for the one of job
    1, and all the rest for each other. Back: two packets enter c's queue at 20 and 50 and leave at 20
    and 330; b has them at 185 and 495, and sends at 185 and 805.
    """
    waits = run["job_waits"]
    of_three = 280_000 * (1 + 2 + 3 + 4 + 5)
    rows = [
        (0, 0, 1, 0, 640_000 - 25_120),
        (0, 0, 2, 0, 640_000 - 30_240),
        (0, 0, 2, 1, 620_000),
        (1, 1, 1, 1, 805_000 - 495_000),
        (2, 0, 3, 0, 4 * 20_480),
        (2, 0, 3, 1, 2 * 20_480),
        (2, 0, 3, 3, of_three - 6 * 20_480),
        (2, 1, 0, 3, 10_480),
        (2, 1, 1, 3, 10_480),
        (2, 1, 2, 3, 10_480),
        (3, 0, 1, 1, 330_000 - 50_000),
    ]
    for column, values in zip(
        ("link", "vc", "job", "blocking_job", "wait_ps"), zip(*rows, strict=True), strict=True
    ):
        same(waits[column], values)


@check("fifos")
def packets_wait_in_memory_behind_others_and_at_the_head(run: Tables) -> None:
    """Three torus FIFOs with room take a packet every 640 ns; the link takes one in that time.

    In ns. The first three reach the router at 100 and cross 25.099 apart (256 B at 10.2 GB/s): the link
    takes the first, its queue of two packets the others. From 740 on the link takes one from the queue
    every 640 and one crosses: of FIFO 0 at 740, then of 1, 2, 0, .. in turn, whose crossed longest ago.
    FIFO 0 takes packets at 0, 640, 1,280, 1,920, which reach the router 100 later and cross at 100, 740,
    2,660, 4,580. FIFO 1 the same; they cross at 125.099, 1,380, 3,300, 5,220. FIFO 2 has no room at
    1,920, since two are at the router: one crosses at 2,020, it knows at 2,120. They cross at 150.198,
    2,020, 3,940, 5,860. A packet is at the head from when the one before has crossed.
    """
    table = run["fifos"]
    same(table["node"], [0, 0, 0, 1, 1, 1])
    same(table["fifo"], [0, 1, 2, 0, 1, 2])
    expected = {
        "bytes": [4 * 256] * 3,
        "packets": [4] * 3,
        "busy_ps": [4 * 640_000] * 3,
        "full_ps": [0, 0, 200_000],
        "memory_fifo_ps": [3_840_000, 3_840_000, 4_040_000],
        "hol_blocked_ps": [640_000, 1_280_000, 640_000 + 1_720_000],
        "head_stall_ps": [
            1_280_000 + 1_920_000,
            25_099 + 640_000 + 2 * 1_920_000,
            50_198 + 1_280_000 + 2 * 1_920_000,
        ],
    }
    for column, values in expected.items():
        same(table[column], [*values, 0, 0, 0])


@check("queued")
def packets_wait_in_the_queue_at_a_cables_end(run: Tables) -> None:
    """They come 20.48 ns apart, and the next cable takes one every 51.2 ns.

    The first goes on at once, the second into its queue. The third waits until the second leaves, 51.2 ns
    after the first came: 10.24 ns; the others 2 * 51.2 - 3 * 20.48 and 3 * 51.2 - 4 * 20.48, together.
    """
    channels = run["channels"]
    used = channels[channels["packets"] > 0]
    same(used["link"], [0, 2])
    same(used["queued_ps"], [10_240 + 40_960 + 71_680, 0])
    same(used["peak_queued_packets"], [2, 1])
    same(channels[channels["packets"] == 0][["queued_ps", "peak_queued_packets"]].sum(), [0, 0])


@check("open")
def creation_times_match_the_injection(run: Tables) -> None:
    """`interval` makes a packet every 25.6 / 0.2 = 128 ns, `bernoulli` one or none in each 25.6 ns.

    In that time the NIC sends 512 B at 20 GB/s, so packets leave when they are made.
    """
    packets = run["packets"]
    same(packets["injected_ps"], packets["created_ps"])
    for job, gap in enumerate((128_000, 25_600)):
        mine = packets[packets["job"] == job]
        assert (mine["created_ps"] % gap).groupby(mine["source"]).nunique().eq(1).all()
    first = packets[packets["job"] == 0].groupby("source")["created_ps"].min()
    assert first.max() < 128_000


@check("paced")
def latency_counts_from_when_there_was_room(run: Tables) -> None:
    """A packet is due a constant gap, 20.48 / 0.5 ns, after the one before of its node was made.

    It is made when it is due or, later, when the last but one begins to leave. All of those made arrive.
    """
    packets, jobs = run["packets"].sort_values("created_ps"), run["jobs"]
    same(jobs["in_flight_packets"], [0])
    nodes = packets.groupby("source")
    due = nodes["created_ps"].shift() + int(20_480 / PACED_LOAD)
    due = due.fillna(packets["created_ps"])
    room = nodes["injected_ps"].shift(ROOM).fillna(0)
    same(packets["created_ps"], np.maximum(due, room))
    assert (packets["created_ps"] > due).mean() > 0.5
    close(jobs["latency_mean_ns"], [(packets["delivered_ps"] - packets["created_ps"]).mean() / 1e3])
    close(jobs["due_latency_mean_ns"], [(packets["delivered_ps"] - due).mean() / 1e3])


Windows = list[tuple[int, int]]

SENT: Windows = [(20_000, 40_480), (640_000, 660_480), (1_260_000, 1_280_480)]
STALLED: Windows = [(50_000, 640_000), (660_480, 1_260_000)]
QUEUED: Windows = [(20_000, 40_480), (50_000, 660_480), (80_000, 1_280_480)]
"""When the cable of `starved` sends, is stalled and has each of the three packets in its queue.

It takes the next packet when the credit of the last one is back, 10 + 300 + 10 + 300 ns later. The packets
reach its queue at 20, 50 and 80 ns, since the NIC waits for its own credit from 20.48 ns to 30 and
again. The first leaves at once, at 20, and 512 B take 20.48 ns.
"""


def within(windows: Windows, start: int) -> int:
    """How much of them is in the interval from `start`."""
    return sum(max(min(end, start + SHORT_PS) - max(begin, start), 0) for begin, end in windows)


@check("starved")
def a_link_without_credit_is_stalled(run: Tables) -> None:
    """So is its channel, and before it the NIC, for 30 - 20.48 ns after each of two packets."""
    links, nodes, channels = run["links"], run["nodes"], run["channels"]
    same(links["stall_ps"], [sum(end - begin for begin, end in STALLED), 0])
    # The third packet joins the second at 80 ns.
    same(links["counted_stall_ps"], [sum(end - max(begin, 80_000) for begin, end in STALLED), 0])
    same(links["busy_ps"], [3 * 20_480, 20_480])
    same(links["peak_bytes"], [2 * PACKET, PACKET])
    same(nodes["stall_ps"], [2 * 9_520, 0])
    close(nodes["injected_bytes"], [3 * PACKET, PACKET])
    used = channels[channels["packets"] > 0]
    same(used["link"], [0, 1])
    for column in ("bytes", "packets", "stall_ps", "peak_bytes"):
        same(used[column], links[column])


@check("starved")
def packets_take_their_time(run: Tables) -> None:
    """From the cable's queue 10 + 300 + 10 ns to the next router's, 20 to the node, and 20.48 for the bytes.

    The packet of the other node does not wait and arrives when the first of the three does.
    """
    packets = run["packets"]
    same(packets["source"], [0, 1, 0, 0])
    same(packets["destination"], [1, 0, 1, 1])
    same(packets["created_ps"], [0] * 4)
    same(packets["injected_ps"], [0, 0, 30_000, 60_000])
    same(packets["delivered_ps"], [begin + 360_480 for begin, _ in (SENT[0], *SENT)])
    same(packets["bytes"], [PACKET] * 4)


@check("starved")
def series_are_cut_at_the_ends_of_intervals(run: Tables) -> None:
    """What begins in an interval, what lasts in it, and the most that waits at a time."""
    starts = range(0, 1_300_000, SHORT_PS)
    began = [sum(start <= begin < start + SHORT_PS for begin, _ in SENT) for start in starts]
    for name in ("link_series", "channel_series"):
        series = run[name]
        same(series["start_ps"], [0, *starts])
        same(series["link"], [0, 1] + [0] * 12)
        series = series[series["link"] == 0]
        same(series["packets"], began)
        same(series["bytes"], np.multiply(began, PACKET))
        same(series["stall_ps"], [within(STALLED, start) for start in starts])
        same(series["peak_bytes"], [PACKET * most_at_a_time(QUEUED, start) for start in starts])
    busy = run["link_series"].set_index("link").loc[0, "busy_ps"]
    same(busy, [within(SENT, start) for start in starts])
    shares = run["link_job_series"]
    same(shares["start_ps"], [0, 0, 600_000, 1_200_000])
    same(shares["link"], [0, 1, 0, 0])
    same(shares["bytes"], [PACKET] * 4)


def most_at_a_time(windows: Windows, start: int) -> int:
    """How many of them there are together at some time in the interval from `start`."""
    times = [start, *(begin for begin, _ in windows if start <= begin < start + SHORT_PS)]
    return max(sum(begin <= time < end for begin, end in windows) for time in times)


ARRIVAL_TO_ARRIVAL = 10 + 10 + 300
IDLE = 300
"""Nanoseconds from one router to the next, 10 in and 10 out of them, and the estimate to begin with."""


def learns(packets: int) -> Iterator[tuple[float, float, float]]:
    """Of each packet that a router sends over an idle cable: when word of it is back, error and estimate.

    The first reaches the router at 10 ns, the others every 20.48 ns, and nothing blocks them. Word of a
    packet comes back 10 ns after it arrived at the next router, and 300 ns of cable. A router takes in what
    has come when it routes a packet, the last time when the last one reaches it.
    """
    estimate = float(IDLE)
    for number in range(packets):
        time = 10 + ARRIVAL_TO_ARRIVAL + 10 + 300 + 20.48 * number
        if time > 10 + 20.48 * (max(LEARNT_PACKETS.values()) - 1):
            return
        error = ARRIVAL_TO_ARRIVAL - estimate
        estimate += LOSS * error
        yield time, error, estimate


@check("learnt")
def learning_follows_its_rule(run: Tables) -> None:
    """Each estimate rises by a share of its error; an interval has how many did, and their mean error."""
    series = run["learning_series"]
    times, errors = np.array(
        [(time, error) for count in LEARNT_PACKETS.values() for time, error, _ in learns(count)]
    ).T
    place = (times * 1e3).astype(int) // SHORT_PS
    same(series["start_ps"], np.arange(place.max() + 1) * SHORT_PS)
    counts = np.bincount(place)
    same(series["updates"], counts)
    means = [errors[place == number].mean() if count else np.nan for number, count in enumerate(counts)]
    # Each error is kept as whole picoseconds.
    np.testing.assert_allclose(series["error_mean_ns"], means, atol=5e-4)


@check("learnt")
def what_was_learnt_stands_in_the_row_of_its_group_and_slot(run: Tables) -> None:
    """From router 0, node 1 sends over link 0 to the first other group, node 0 over link 1 to the second."""
    table = run["q_tables"]
    found = table.set_index(["router", "row", "link"])["estimate_ns"]
    expected = pd.Series(float(IDLE), index=found.index)
    for (source, target), link in {(1, 2): 0, (0, 4): 1}.items():
        *_, (_, _, estimate) = learns(LEARNT_PACKETS[source, target])
        expected[0, (target // 2 - 1) * 2 + source, link] = estimate
    # Estimates are floats of 32 bits.
    close(found, expected, rel=1e-6)


@check("taught")
def routers_without_packets_keep_what_they_were_taught(run: Tables) -> None:
    """Which router, row and link an estimate is of, and the estimate, as in the file."""
    found, taught = run["q_tables"], q_table().to_pandas()
    for column in ("router", "row", "link", "estimate_ns"):
        same(found[column], taught[column])
    sorted_by(found, "router", "row", "link")
    same(run["links"]["source"].to_numpy()[found["link"]], found["router"])
