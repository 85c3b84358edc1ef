"""The critical path of a job, followed backwards from the end of its last rank.

At a wait, the path continues on the rank that ended the wait, at the time of that cause. Between waits, it
follows the rank's own activity. So the pieces do not overlap, and they sum up to the job's time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata import toml
from odonata.analysis.links import link_names
from odonata.analysis.pieces import COMPUTING, EVENTS, IN_CALL, IN_FLIGHT, Piece, Window
from odonata.analysis.task_path import graph_pieces, has_tasks
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from odonata.store.run import RunData


class _Rank:
    """The calls and waits of one rank, by time."""

    def __init__(self, calls: dict[str, list[int]], names: list[str], waits: dict[str, list[int]]) -> None:
        self.calls, self.names, self.waits = calls, names, waits

    def wait_before(self, time: int) -> int:
        """Index of the last wait that ended by a time; -1 if there is none."""
        return bisect_right(self.waits["end_ps"], time) - 1

    def own(self, rank: int, start: int, end: int) -> Iterator[Piece]:
        """Pieces of the rank's own activity in an interval, backwards."""
        starts, ends = self.calls["start_ps"], self.calls["end_ps"]
        at = end
        for place in range(bisect_left(starts, end) - 1, -1, -1):
            if ends[place] <= start or at <= start:
                break
            call, since, until = self.calls["call"][place], max(starts[place], start), min(ends[place], at)
            if until < at:
                yield Piece(rank, rank, 0, until, at, COMPUTING, "")
            if since < until:
                yield Piece(rank, rank, call, since, until, IN_CALL, self.names[place])
            at = min(at, since)
        if at > start:
            yield Piece(rank, rank, 0, start, at, COMPUTING, "")


def whole(ranks: pa.Table, job: int) -> Window:
    """The whole job, from its start to the end of its last rank.

    Args:
        ranks: The run's table.
        job: Number of the job.
    """
    own = ranks.filter(pc.equal(ranks["job"], job))
    ends = own["end_ps"].to_numpy()
    last = int(np.argmax(ends))
    return Window(own["rank"][last].as_py(), int(own["start_ps"].to_numpy().min()), int(ends[last]))


def of_call(calls: pa.Table, job: int, call: int) -> Window | None:
    """A call, such as a collective, from its first rank's start to its last rank's end.

    Args:
        calls: The run's table.
        job: Number of the job.
        call: Number of the call, the same for every rank. Returns None if no rank has it.
    """
    own = calls.filter(pc.and_(pc.equal(calls["job"], job), pc.equal(calls["call"], call)))
    if not own.num_rows:
        return None
    ends = own["end_ps"].to_numpy()
    last = int(np.argmax(ends))
    return Window(own["rank"][last].as_py(), int(own["start_ps"].to_numpy().min()), int(ends[last]))


def of_phase(phase_times: pa.Table, job: int, name: str, time: int) -> Window | None:
    """An occurrence of a phase, from its first rank's start to its last rank's end.

    Args:
        phase_times: The run's table.
        job: Number of the job.
        name: The phase.
        time: Occurrence on every rank, from 1. Returns None if no rank has it.
    """
    frame = _phases(phase_times, job)
    own = frame[frame["phase"] == name]
    own = own[own.groupby("rank").cumcount() == time - 1]
    return None if own.empty else _window(own["rank"], own["start_ps"], own["end_ps"])


def of_iteration(run: RunData, job: int, number: int) -> Window | None:
    """An iteration of a job's programs, as their key `iterations` counts them.

    The phases of a rank repeat: `repeat` times all programs in turn, and in each program `iterations` times a
    block. An iteration lasts from the start of its block to the start of the next one, or to the end of its
    last phase.

    Args:
        run: A run of the packet engine, with `record_calls`.
        job: Number of the job.
        number: Iteration on every rank, from 1, over all programs and repetitions. Returns None if there is
            none.

    Raises:
        OdonataError: A program has no iterations, or a rank did not complete them.
    """
    rounds, repeat = _rounds(run, job)
    phases = run.table("phases").to_pandas()
    phases = phases[phases["job"] == job]
    program_of = dict(zip(phases["phase_number"], phases["program"], strict=True))
    frame = _phases(run.table("phase_times"), job).sort_values(["rank", "number"])
    ranks, starts, ends = [], [], []
    for rank, own in frame.groupby("rank"):
        blocks = _blocks(own["phase_number"].to_numpy(), program_of, rounds, repeat)
        if blocks is None:
            raise OdonataError(
                f"the phases of rank {rank} of the job do not repeat as often as its iterations",
                hint="Its run may not be complete. Choose a part with --phase NAME --time N.",
            )
        if number > len(blocks):
            return None
        first, end = blocks[number - 1]
        follows = number < len(blocks) and blocks[number][0] == end
        ranks.append(rank)
        starts.append(own["start_ps"].iloc[first])
        ends.append(own["start_ps"].iloc[end] if follows else own["end_ps"].iloc[end - 1])
    if not ranks:
        return None
    last = int(np.argmax(ends))
    return Window(int(ranks[last]), int(min(starts)), int(ends[last]))


def _rounds(run: RunData, job: int) -> tuple[list[int], int]:
    """The iterations of each program of a job, and how often a rank executes all programs."""
    of_job = toml.parse(run.resolved)["job"][job]
    given = of_job["program"]
    programs = given if isinstance(given, list) else [given]
    for program in programs:
        if "iterations" not in program:
            raise OdonataError(
                f"the program {program['name']} of job {of_job['name']} has no key iterations",
                hint="Choose a part with --phase NAME --time N.",
            )
    repeat = of_job["repeat"]
    if of_job["background"]:
        repeat = max(1, int(run.jobs["repetitions"][job].as_py()))
    return [int(program["iterations"]) for program in programs], int(repeat)


def _blocks(
    phases: NDArray[np.int64], program_of: Mapping[int, int], rounds: Sequence[int], repeat: int
) -> list[tuple[int, int]] | None:
    """First phase and end of each iteration of a rank; None if its phases do not repeat so."""
    found: list[tuple[int, int]] = []
    every = _repeated(phases, repeat)
    if every is None:
        return None
    for turn, end in every:
        programs = np.array([program_of[phase] for phase in phases[turn:end]])
        for program, count in enumerate(rounds):
            places = turn + np.flatnonzero(programs == program)
            blocks = _repeated(phases[places], count)
            if blocks is None:
                return None
            found += [(int(places[first]), int(places[last - 1]) + 1) for first, last in blocks]
    return found


def _repeated(phases: NDArray[np.int64], count: int) -> list[tuple[int, int]] | None:
    """The longest block that is repeated so often in a row: first phase and end of each; None if none is."""
    for length in range(len(phases) // count, 0, -1):
        equal = phases[:-length] == phases[length:]
        needed = (count - 1) * length
        # Number of equal places in a row up to each place.
        breaks = np.flatnonzero(~equal)
        starts = np.concatenate([[0], breaks + 1])
        lengths = np.diff(np.concatenate([starts, [len(equal) + 1]])) - 1
        fits = np.flatnonzero(lengths >= needed)
        if len(fits):
            first = int(starts[fits[0]])
            return [(first + i * length, first + (i + 1) * length) for i in range(count)]
    return None


def _phases(phase_times: pa.Table, job: int) -> pd.DataFrame:
    frame = phase_times.filter(pc.equal(phase_times["job"], job)).to_pandas()
    typed: pd.DataFrame = frame.astype({"phase": str, "start_ps": "int64", "end_ps": "int64"})
    return typed


def _window(ranks: pd.Series, start: pd.Series, end: pd.Series) -> Window:
    last = int(np.argmax(end.to_numpy()))
    return Window(int(ranks.iloc[last]), int(start.min()), int(end.iloc[last]))


def critical_path(calls: pa.Table, rank_waits: pa.Table, job: int, window: Window) -> pa.Table:
    """The critical path of a job or of a part of it.

    In a task graph, the path goes from a task to the task after which it started.

    Args:
        calls: The run's table.
        rank_waits: The run's table.
        job: Number of the job.
        window: Where the path ends and starts.

    Returns:
        One row per piece, in time order, without gaps from the window's start to its end:

        - `rank`: Rank of the piece.
        - `peer`: Rank that sent what is in flight; otherwise the rank itself.
        - `call`: Number of the call or task; 0 outside of calls.
        - `start_ps`, `end_ps`: Its interval.
        - `activity`: `computing`, `in a call` or `in flight`.
        - `name`: Name of the call, or `message`, `data` or `receipt` in flight.
        - `place_kind`, `place`: What counts the places in the file of its program or trace (`line`,
          `record`, `event` or `node`), and the place of the call or task. Null for what is in no file.
        - `program`: Number of its program within the job, from 0. Null for what is in no file.

    Examples:
        >>> from odonata.analysis.critical import whole
        >>> run = odonata.load("runs/programs")
        >>> window = whole(run.table("ranks"), 0)
        >>> path = odonata.analysis.critical_path(run.table("calls"), run.table("rank_waits"), 0, window)
        >>> pieces = [row["end_ps"] - row["start_ps"] for row in path.to_pylist()]
        >>> sum(pieces) == window.end_ps - window.start_ps
        True
    """
    of_job = calls.filter(pc.equal(calls["job"], job))
    if has_tasks(of_job):
        pieces = graph_pieces(of_job, rank_waits.filter(pc.equal(rank_waits["job"], job)), window)
    else:
        pieces = _pieces(_ranks(calls, rank_waits, job), window)
    pieces.reverse()
    columns = ("rank", "peer", "call", "start_ps", "end_ps", "activity", "name")
    kinds = (pa.uint32(), pa.uint32(), pa.uint64(), pa.uint64(), pa.uint64(), pa.string(), pa.string())
    places = _places(of_job)
    found = {
        name: pa.array([getattr(piece, name) for piece in pieces], kind)
        for name, kind in zip(columns, kinds, strict=True)
    }
    of_pieces = [places.get((piece.rank, piece.call), (None, None, None)) for piece in pieces]
    found["place_kind"] = pa.array([kind for kind, _, _ in of_pieces], pa.string())
    found["place"] = pa.array([place for _, place, _ in of_pieces], pa.uint64())
    found["program"] = pa.array([program for _, _, program in of_pieces], pa.uint32())
    return pa.table(found)


def _places(calls: pa.Table) -> dict[tuple[int, int], tuple[str, int, int]]:
    """What is counted, place and program by rank and call, of calls that are in a file."""
    known = calls.filter(pc.not_equal(calls["place_kind"].cast(pa.string()), "none"))
    names = ("rank", "call", "place_kind", "place", "program")
    rows = zip(*(known[name].to_pylist() for name in names), strict=True)
    return {(rank, call): (kind, place, program) for rank, call, kind, place, program in rows}


def _pieces(found: dict[int, _Rank], window: Window) -> list[Piece]:
    """The pieces for ranks with calls one after the other, backwards."""
    pieces: list[Piece] = []
    rank, time = window.rank, window.end_ps
    while time > window.start_ps:
        of = found.get(rank, _NOTHING)
        place = of.wait_before(time)
        until = of.waits["end_ps"][place] if place >= 0 else window.start_ps
        pieces.extend(of.own(rank, max(until, window.start_ps), time))
        if until <= window.start_ps:
            break
        since = max(of.waits["cause_ps"][place], window.start_ps)
        peer, event, call = (of.waits[name][place] for name in ("peer", "event", "call"))
        if since < until:
            pieces.append(Piece(rank, peer, call, since, until, IN_FLIGHT, EVENTS[event]))
        rank, time = of.waits["cause"][place], since
    return pieces


def _ranks(calls: pa.Table, rank_waits: pa.Table, job: int) -> dict[int, _Rank]:
    frame = calls.filter(pc.equal(calls["job"], job)).to_pandas()
    waits = rank_waits.filter(pc.equal(rank_waits["job"], job)).to_pandas()
    waits["event"] = [EVENTS.index(event) for event in waits["event"]]
    of_waits = {int(rank): own for rank, own in waits.groupby("rank")}
    none = waits.iloc[:0]
    found = {}
    for number, own in frame.groupby("rank"):
        rank = int(number)
        found[rank] = _Rank(
            {name: own[name].tolist() for name in ("call", "start_ps", "end_ps")},
            own["name"].astype(str).tolist(),
            {
                name: of_waits.get(rank, none)[name].tolist()
                for name in ("end_ps", "event", "peer", "call", "cause", "cause_ps")
            },
        )
    return found


_NOTHING = _Rank(
    {"call": [], "start_ps": [], "end_ps": []},
    [],
    {name: [] for name in ("end_ps", "event", "peer", "call", "cause", "cause_ps")},
)


def add_links(path: pa.Table, packets: pa.Table, ranks: pa.Table, job: int) -> pa.Table:
    """Adds the links that each message in flight crossed: the path of its last packet.

    Args:
        path: From `critical_path`.
        packets: The run's table, with `links`.
        ranks: The run's table.
        job: Number of the job.

    Returns:
        The path with a column `links`, in path order; null if nothing is in flight, or within one node.

    Examples:
        >>> from odonata.analysis.critical import whole
        >>> run = odonata.load("runs/programs")
        >>> window = whole(run.table("ranks"), 0)
        >>> path = odonata.analysis.critical_path(run.table("calls"), run.table("rank_waits"), 0, window)
        >>> with_links = odonata.analysis.add_links(path, run.table("packets"), run.table("ranks"), 0)
        >>> max(len(row["links"]) for row in with_links.to_pylist() if row["links"])
        3
    """
    own = ranks.filter(pc.equal(ranks["job"], job))
    node = dict(zip(own["rank"].to_pylist(), own["node"].to_pylist(), strict=True))
    sent = packets.filter(pc.equal(packets["job"], job))
    of_pair: dict[tuple[int, int], list[int]] = {}
    pairs = zip(sent["source"].to_pylist(), sent["destination"].to_pylist(), strict=True)
    for row, pair in enumerate(pairs):
        of_pair.setdefault(pair, []).append(row)
    arrivals = sent["delivered_ps"].to_numpy()
    links: list[list[int] | None] = []
    for piece in path.to_pylist():
        rows = of_pair.get((node[piece["peer"]], node[piece["rank"]]), [])
        # Packets are sorted by delivery; the host is notified after the delivery.
        last = bisect_right(rows, piece["end_ps"], key=lambda row: int(arrivals[row])) - 1
        is_delivered = last >= 0 and arrivals[rows[last]] > piece["start_ps"]
        is_in_flight = piece["activity"] == IN_FLIGHT and is_delivered
        links.append(sent["links"][rows[last]].as_py() if is_in_flight else None)
    return path.append_column("links", pa.array(links, pa.list_(pa.uint32())))


def path_by_link(path: pa.Table, links: pa.Table, routers: pa.Table, *, count: int = 10) -> pa.Table:
    """Time of the pieces in flight, by link.

    Args:
        path: From `add_links`.
        links: The run's links.
        routers: The run's routers.
        count: Maximum number of links.

    Returns:
        `link`, `name`, `class`; `path_time_s`, the time of the pieces that crossed the link; `share` of the
        path; `pieces`. Longest time first. A piece counts at every link of its path.

    Examples:
        >>> from odonata.analysis.critical import whole
        >>> run = odonata.load("runs/programs")
        >>> window = whole(run.table("ranks"), 0)
        >>> path = odonata.analysis.critical_path(run.table("calls"), run.table("rank_waits"), 0, window)
        >>> with_links = odonata.analysis.add_links(path, run.table("packets"), run.table("ranks"), 0)
        >>> table = odonata.analysis.path_by_link(with_links, run.links, run.routers, count=1)
        >>> table.select(["name", "pieces"]).to_pylist()
        [{'name': 'g1r2>g1r0:local.0', 'pieces': 12}]
    """
    frame = path.to_pandas()
    frame["time"] = frame["end_ps"].astype("int64") - frame["start_ps"].astype("int64")
    total = float(frame["time"].sum()) or 1.0
    crossings = frame[frame["links"].notna()].explode("links")
    sums = crossings.groupby("links")["time"].agg(["sum", "size"]).reset_index()
    sums = sums.sort_values(["sum", "links"], ascending=[False, True]).head(count)
    rows = links.take(pa.array(sums["links"].astype("int64")))
    return pa.table(
        {
            "link": rows["link"],
            "name": link_names(rows, routers),
            "class": rows["class"].cast(pa.string()),
            "path_time_s": pa.array(sums["sum"] / 1e12, pa.float64()),
            "share": pa.array(sums["sum"] / total, pa.float64()),
            "pieces": pa.array(sums["size"], pa.int64()),
        }
    )


def path_by_activity(path: pa.Table) -> pa.Table:
    """Sums of the pieces of a path: `activity`, `name`, `path_time_s`, `share`, `pieces`, longest first.

    Args:
        path: From `critical_path`.

    Examples:
        >>> from odonata.analysis.critical import whole
        >>> run = odonata.load("runs/programs")
        >>> window = whole(run.table("ranks"), 0)
        >>> path = odonata.analysis.critical_path(run.table("calls"), run.table("rank_waits"), 0, window)
        >>> odonata.analysis.path_by_activity(path).select(["activity", "name"]).to_pylist()[0]
        {'activity': 'in flight', 'name': 'data'}
    """
    frame = path.to_pandas()
    frame["time"] = frame["end_ps"].astype("int64") - frame["start_ps"].astype("int64")
    sums = frame.groupby(["activity", "name"], sort=False)["time"].agg(["sum", "size"]).reset_index()
    sums = sums.sort_values("sum", ascending=False, kind="stable")
    total = float(sums["sum"].sum()) or 1.0
    return pa.table(
        {
            "activity": pa.array(sums["activity"], pa.string()),
            "name": pa.array(sums["name"], pa.string()),
            "path_time_s": pa.array(sums["sum"] / 1e12, pa.float64()),
            "share": pa.array(sums["sum"] / total, pa.float64()),
            "pieces": pa.array(sums["size"], pa.int64()),
        }
    )
