"""What ranks must have done: two jobs on an idle machine, call by call, by hand.

In ns. A head takes 360 over the cable (20 into the first router, 320 for the hop, 20 out of the last), a
flit of 128 B 5.12. Steps and figures: docs/models/mpi.md.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
from checking import Tables, check, close, same, sorted_by

from odonata.analysis.critical import critical_path, whole

HEAD, FLIT = 360, 5.12
ENTER = LEAVE = 30
SEND = 13 + 11
"""Set-up and header of a message."""
OUT, BACK = 5 + 5, 5
"""From the host to the start of a message, from the NIC to the host."""
TAKEN, MATCHED = 10, 15 + 10


def short(flits: int) -> float:
    """From the host that sends to the host that looks at it, a single packet."""
    return OUT + HEAD + flits * FLIT + TAKEN + BACK


def pair() -> pd.DataFrame:
    """The job that starts at 100: an eager message that has been waited for, then a barrier of two."""
    begun = 100 + 2000
    sent = begun + ENTER + SEND + round(0.344 * 100) + LEAVE
    waited = sent + ENTER + LEAVE
    in_barrier = waited + ENTER
    posted = 100 + 500 + ENTER + LEAVE
    received = sent - LEAVE + short(2) + MATCHED
    met = received + LEAVE
    up = met + ENTER + SEND
    notified = up + short(1) + MATCHED
    over = notified + SEND + LEAVE
    down = notified + SEND + short(1) + MATCHED
    return pd.DataFrame(
        {
            "start_ps": [100, 100],
            "end_ps": [over, down + LEAVE],
            "compute_ps": [2000, 500],
            "send_ps": [sent - begun, 0],
            "receive_ps": [0, ENTER + LEAVE],
            "wait_ps": [ENTER + LEAVE, met - posted],
            "collective_ps": [over - waited, down + LEAVE - met],
            "blocked_ps": [notified - in_barrier, received - posted - ENTER + down - up],
            "work": [waited - 100, met - 100],
            "meet": [over - waited, down + LEAVE - met],
        }
    )


def late() -> pd.DataFrame:
    """The job that starts at 100,000: a message of 15,000 B, announced, asked for, sent and acknowledged."""
    memory = 300 + 10 * (15_000 // 4096)
    announced = 100_000 + ENTER + SEND + memory
    asked = announced + short(1) + MATCHED + BACK + HEAD + FLIT
    data = 29 * 4 * FLIT + 2 * FLIT
    come = asked + 200 + 5 + HEAD + data + BACK
    over = come + memory + LEAVE
    acknowledged = come + short(1)
    return pd.DataFrame(
        {
            "start_ps": [100_000, 100_000],
            "end_ps": [acknowledged + LEAVE, over],
            "compute_ps": [0, 0],
            "send_ps": [acknowledged + LEAVE - 100_000, 0],
            "receive_ps": [0, over - 100_000],
            "wait_ps": [0, 0],
            "collective_ps": [0, 0],
            "blocked_ps": [acknowledged - announced, come - 100_000 - ENTER - memory],
            "long": [acknowledged + LEAVE - 100_000, over - 100_000],
        }
    )


def ps(values: pd.Series) -> np.ndarray:
    return np.rint(1000 * values.to_numpy(float)).astype(np.int64)


@check("talking")
def ranks_take_the_time_of_their_calls(run: Tables) -> None:
    ranks, expected = run["ranks"], pd.concat([pair(), late()])
    same(ranks["job"], [0, 0, 1, 1])
    same(ranks["rank"], [0, 1, 0, 1])
    same(ranks["node"], [0, 2, 1, 3])
    assert ranks["finished"].all()
    calls = ["send_ps", "receive_ps", "wait_ps", "collective_ps"]
    for name in ("start_ps", "end_ps", "compute_ps", "blocked_ps", *calls):
        same(ranks[name], ps(expected[name]))
    same(ranks["communication_ps"], ranks[calls].sum(axis=1))
    same(ranks["calls"], [3, 3, 1, 1])


@check("talking")
def ranks_count_their_messages(run: Tables) -> None:
    """100 B and the barrier's empty messages are eager, with 45 B each; 15,000 B come with 86."""
    ranks = run["ranks"]
    same(ranks["messages"], [2, 1, 1, 0])
    same(ranks["bytes"], [100, 0, 15_000, 0])
    same(ranks["wire_bytes"], [100 + 45 + 45, 45, 15_086, 0])
    same(ranks["received_bytes"], [0, 100, 0, 15_000])


@check("talking")
def phases_are_between_marks(run: Tables) -> None:
    phases, first, second = run["phases"], pair(), late()
    same(phases["job"], [0, 0, 0, 0, 1, 1])
    same(phases["rank"], [0, 0, 1, 1, 0, 1])
    same(phases["phase_number"], [0, 1, 0, 1, 0, 0])
    same(phases["phase"], ["work", "meet", "work", "meet", "long", "long"])
    same(phases["count"], [1] * 6)
    times = [first["work"][0], first["meet"][0], first["work"][1], first["meet"][1], *second["long"]]
    same(phases["phase_time_ps"], ps(pd.Series(times)))
    computed = [2000, 0, 500, 0, 0, 0]
    same(phases["communication_ps"], ps(pd.Series(times) - computed))


@check("talking")
def phases_lie_one_after_the_other(run: Tables) -> None:
    """From the start of a rank to its end, each where the one before is over."""
    times, first, second = run["phase_times"], pair(), late()
    same(times["job"], [0, 0, 0, 0, 1, 1])
    same(times["rank"], [0, 0, 1, 1, 0, 1])
    same(times["number"], [0, 1, 0, 1, 0, 0])
    same(times["phase_number"], [0, 1, 0, 1, 0, 0])
    same(times["phase"], ["work", "meet", "work", "meet", "long", "long"])
    met = first["start_ps"] + first["work"]
    began = [100, met[0], 100, met[1], *second["start_ps"]]
    ended = [met[0], first["end_ps"][0], met[1], first["end_ps"][1], *second["end_ps"]]
    same(times["start_ps"], ps(pd.Series(began)))
    same(times["end_ps"], ps(pd.Series(ended)))


@check("talking")
def messages_have_the_times_of_their_steps(run: Tables) -> None:
    """One of 100 B, the barrier's down to rank 1 and up to rank 0, and the long one of the other job."""
    messages, first, second = run["messages"], pair(), late()
    same(messages["job"], [0, 0, 0, 1])
    same(messages["source"], [0, 0, 1, 0])
    same(messages["destination"], [1, 1, 0, 1])
    same(messages["number"], [0, 1, 0, 0])
    same(messages["communicator"], [0] * 4)
    same(messages["collective"], [False, True, True, False])
    same(messages["tag"], [1, 0, 0, 0])
    same(messages["protocol"], ["eager", "eager", "eager", "rendezvous"])
    same(messages["bytes"], [100, 0, 0, 15_000])
    met = first["end_ps"][1] - first["collective_ps"][1]
    up, received = met + ENTER + SEND, first["end_ps"][0] - LEAVE - SEND
    sent = 100 + 2000 + ENTER
    announced = 100_000 + ENTER + SEND + 300 + 10 * (15_000 // 4096)
    posted = [sent, received, met + ENTER, 100_000 + ENTER]
    started = [sent + SEND + round(0.344 * 100) + OUT, received + SEND + OUT, up + OUT, announced + OUT]
    looked_at = np.array(started) - OUT + [short(2), short(1), short(1), short(1)]
    come = second["end_ps"][1] - LEAVE - 300 - 10 * (15_000 // 4096) - BACK
    arrived = [*(looked_at[:3] - TAKEN - BACK), come]
    same(messages["created_ps"], ps(pd.Series(posted)))
    same(messages["injected_ps"], ps(pd.Series(started)))
    same(messages["delivered_ps"], ps(pd.Series(arrived)))
    same(messages["matched_ps"], ps(pd.Series(looked_at + MATCHED - 10)))


@check("talking")
def calls_and_waits_have_the_times_of_their_steps(run: Tables) -> None:
    """Everybody's calls in turn, and of each wait what ended it and when that was caused."""
    calls, waits, first, second = run["calls"], run["rank_waits"], pair(), late()
    same(calls["job"], [0] * 6 + [1] * 2)
    same(calls["rank"], [0, 0, 0, 1, 1, 1, 0, 1])
    same(calls["call"], [3, 4, 6, 3, 4, 6, 2, 2])
    same(calls["name"], ["isend", "waitall", "barrier", "irecv", "waitall", "barrier", "send", "recv"])
    (over, end), (meeting, meets) = first["end_ps"], first["end_ps"] - first["collective_ps"]
    sent = 100 + 2000 + ENTER + SEND + round(0.344 * 100)
    entered = [2100, sent + LEAVE, meeting, 600, 660, meets, 100_000, 100_000]
    same(calls["start_ps"], ps(pd.Series(entered)))
    left = [sent + LEAVE, meeting, over, 660, meets, end, *second["end_ps"]]
    same(calls["end_ps"], ps(pd.Series(left)))
    up, received = meets + ENTER + SEND, over - LEAVE - SEND
    in_barrier = [received - meeting - ENTER, end - LEAVE - up]
    blocked = [0, 0, in_barrier[0], 0, first["blocked_ps"][1] - in_barrier[1], in_barrier[1]]
    same(calls["blocked_ps"], ps(pd.Series([*blocked, *second["blocked_ps"]])))
    assert (calls["after"] == 0).all()
    assert (calls["place_kind"] == "line").all()
    same(calls["place"], [5, 6, 8, 12, 13, 15, 4, 7])
    assert (calls["program"] == 0).all()
    memory = 300 + 10 * (15_000 // 4096)
    announced = 100_000 + ENTER + SEND + memory
    asked = announced + short(1) + MATCHED
    come = second["end_ps"][1] - LEAVE - memory
    same(waits["job"], [0] * 3 + [1] * 3)
    same(waits["rank"], [0, 1, 1, 0, 1, 1])
    same(waits["number"], [0, 0, 1, 0, 0, 1])
    same(waits["call"], [6, 4, 6, 2, 2, 2])
    same(waits["event"], ["message"] * 3 + ["receipt", "message", "data"])
    same(waits["peer"], [1, 0, 0, 1, 0, 0])
    same(waits["cause"], [1, 0, 0, 1, 0, 1])
    since = [up, sent, received + SEND, come, announced, asked]
    same(waits["cause_ps"], ps(pd.Series(since)))
    begun = [meeting + ENTER, 660 + ENTER, up, announced, 100_000 + ENTER + memory, asked]
    same(waits["start_ps"], ps(pd.Series(begun)))
    took = [short(1), short(2), short(1), short(1), short(1), come - asked]
    until = np.add(since, took)
    same(waits["end_ps"], ps(pd.Series(until)))


@check("talking")
def critical_paths_by_hand(run: Tables) -> None:
    """The pair ends with rank 1. It waited for rank 0, rank 0 for rank 1, and rank 1 for rank 0."""
    first = pair()
    path = path_of(run, 0)
    said = list(zip(path["rank"], path["activity"], path["name"], strict=True))
    assert said == [
        (0, "computing", ""),
        (0, "in a call", "isend"),
        (1, "in flight", "message"),
        (1, "in a call", "waitall"),
        (1, "in a call", "barrier"),
        (0, "in flight", "message"),
        (0, "in a call", "barrier"),
        (1, "in flight", "message"),
        (1, "in a call", "barrier"),
    ]
    sending = ENTER + SEND + round(0.344 * 100)
    of_barrier = [ENTER + SEND, short(1), MATCHED + SEND, short(1), MATCHED + LEAVE]
    took = [2000, sending, short(2), MATCHED + LEAVE, *of_barrier]
    same(path["end_ps"] - path["start_ps"], ps(pd.Series(took)))
    assert sum(took) == first["end_ps"].max() - 100


@check("gathered")
def critical_paths_have_no_gaps(run: Tables) -> None:
    """From the start of the job to the end of its last rank."""
    path, ranks = path_of(run, 0), run["ranks"]
    same(path["start_ps"][1:], path["end_ps"][:-1])
    same(
        [path["start_ps"].iloc[0], path["end_ps"].iloc[-1]], [ranks["start_ps"].min(), ranks["end_ps"].max()]
    )


def path_of(run: Tables, job: int) -> pd.DataFrame:
    """The critical path of a job."""
    tables = {name: pa.Table.from_pandas(run[name]) for name in ("calls", "rank_waits", "ranks")}
    found = critical_path(tables["calls"], tables["rank_waits"], job, whole(tables["ranks"], job))
    frame: pd.DataFrame = found.to_pandas()
    return frame


@check("in streams")
def tasks_start_after_others(run: Tables) -> None:
    """The first task waits for none. The fourth waits for its stream, the last for the record in it."""
    calls = run["calls"]
    same(calls["call"], [1, 2, 3, 4, 5] * 2)
    same(calls["after"], [1, 1, 1, 2, 4] * 2)
    assert (calls["place_kind"] == "line").all()
    same(calls["place"], [2, 4, 5, 7, 10] * 2)
    same(calls["start_ps"], [0, 2_000_000, 2_000_000, 7_000_000, 10_000_000] * 2)
    same(calls["end_ps"], [2_000_000, 7_000_000, 3_000_000, 10_000_000, 14_000_000] * 2)


@check("through fifos")
def messages_wait_in_fifos_and_in_the_network(run: Tables) -> None:
    """The last packet of the message is the second, full; the torus FIFO takes it 640 ns after the first.

    It is 100 ns to the router, whose link is free by then. From there 100 ns to the next router, 640 ns for
    its bytes on the link, 100 ns to the node. The message on the node goes through no FIFO.
    """
    messages = run["messages"]
    same(messages["protocol"], ["on-node", "eager"])
    same(messages["memory_fifo_ps"], [0, 640_000])
    same(messages["torus_fifo_ps"], [0, 100_000])
    same(messages["network_ps"], [0, 840_000])


@check("gathered")
def messages_match_the_ranks(run: Tables) -> None:
    """On a 2 x 2 grid each rank sends to the other of its column, both directions, and to the one of its row.

    Communicators: two barriers of all when they are made, two in the iteration, one at the end; each is freed
    by a barrier of its own, of two ranks. The ranks of a column share a node.
    """
    messages, ranks = run["messages"], run["ranks"]
    sorted_by(messages, "job", "source", "destination", "number")
    assert messages["collective"].all()
    same(messages["communicator"].value_counts().sort_index(), [5 * 6, 2 * (4 + 2), 2 * (4 + 2)])
    on_node = messages["source"] // 2 == messages["destination"] // 2
    same(messages["protocol"], np.where(on_node, "on-node", "eager"))
    for number in (1, 2):
        assert (on_node == (number == 1))[messages["communicator"] == number].all()
    same(messages.groupby("source").size(), ranks["messages"])
    same(messages.groupby("source")["bytes"].sum(), ranks["bytes"])
    same(messages.groupby("destination")["bytes"].sum(), ranks["received_bytes"])
    same(messages.groupby(["source", "destination"]).cumcount(), messages["number"])
    # The barriers that make, that part the iteration, the one at the end; alltoalls and the one that frees.
    for number, collectives in ((0, 5), (1, 3), (2, 3)):
        same(np.unique(messages["tag"][messages["communicator"] == number]), range(collectives))
    assert (
        (messages[["created_ps", "injected_ps", "delivered_ps", "matched_ps"]].diff(axis=1).iloc[:, 1:] > 0)
        .all()
        .all()
    )


@check("gathered")
def phases_count_how_often_they_began(run: Tables) -> None:
    """The transform computes six times, calls twice for column, row and barrier, and does the rest once."""
    phases = run["phases"]
    same(phases["rank"], np.repeat(range(4), 7))
    same(phases["phase"], ["setup", "compute", "column", "row", "barrier", "free", "end"] * 4)
    same(phases["count"], [1, 6, 2, 2, 2, 1, 1] * 4)


@check("talking")
def jobs_are_the_figures_of_their_ranks(run: Tables) -> None:
    jobs, ranks = run["jobs"], run["ranks"]
    times = [ranks["communication_ps"][ranks["job"] == job].to_numpy() / 1e3 for job in (0, 1)]
    ends = np.array([ranks["end_ps"][ranks["job"] == job].max() / 1e3 for job in (0, 1)])
    starts = np.array([ranks["start_ps"][ranks["job"] == job].min() / 1e3 for job in (0, 1)])
    close(jobs["start_s"], starts / 1e9)
    close(jobs["completion_time_s"], (ends - starts) / 1e9)
    close(jobs["communication_mean_ns"], [t.mean() for t in times])
    close(jobs["communication_deviation_ns"], [t.std() for t in times])
    close(jobs["communication_min_ns"], [t.min() for t in times])
    close(jobs["communication_p95_ns"], [t.max() for t in times])
    close(jobs["communication_max_ns"], [t.max() for t in times])
    wires = [ranks["wire_bytes"][ranks["job"] == job].sum() for job in (0, 1)]
    close(jobs["injection_bytes_per_s"], 1e9 * np.array(wires) / (ends - starts))


@check("in turn")
def calls_name_their_program(run: Tables) -> None:
    """The barriers are in lines 1 and 2 of their own programs."""
    calls = run["calls"]
    same(calls["program"], [0, 1] * 2)
    same(calls["place"], [1, 2] * 2)


@check("over and over")
def programs_take_turns_while_a_job_continues(run: Tables) -> None:
    """3 (1 + 2) us from 1 us on; concurrent rounds of 2 us until 11 us, a full microsecond later."""
    phases, jobs = run["phases"], run["jobs"]
    same(phases["job"], [0, 0, 1])
    same(phases["phase"], ["a", "b", "c"])
    same(phases["phase_number"], [0, 1, 0])
    same(phases["program"], [0, 1, 0])
    same(phases["count"], [3, 3, 5])
    same(phases["phase_time_ps"], [3_000_000, 6_000_000, 10_000_000])
    same(jobs["repetitions"], [3, 5])
    close(jobs["completion_time_s"][:1], [9e-6])
    assert np.isnan(jobs["completion_time_s"][1])
    same(run["ranks"]["finished"], [True, False])
