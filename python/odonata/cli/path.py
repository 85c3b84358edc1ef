"""`odonata explain --path`: the critical path of a job or of one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.runs import Run


def found(run: Run, job: int, call: int | None) -> tuple[pa.Table, pa.Table]:
    """The path, and its pieces added up.

    Raises:
        OdonataError: The run has no record of calls, or no such call.
    """
    from odonata.analysis.critical import critical_path, of_call, path_by_doing, whole
    from odonata.errors import OdonataError

    if "calls" not in run.table_names:
        raise OdonataError(
            f"{run.name} has no record of the calls of ranks",
            hint="A critical path needs a job with a program and record_calls = true in [engine].",
        )
    calls = run.table("calls")
    window = whole(run.table("ranks"), job) if call is None else of_call(calls, job, call)
    if window is None:
        raise OdonataError(f"no rank of the job left a call {call}", hint="Calls are numbered from 1 on.")
    path = critical_path(calls, run.table("rank_waits"), job, window)
    return path, path_by_doing(path)


def show(screen: Console, run: Run, job: int, what: str, path: pa.Table, sums: pa.Table, count: int) -> None:
    """Prints what the time was made of, and the longest pieces in the order of time."""
    from odonata.cli import columns, terminal

    nodes = _nodes(run, job)
    times = columns.of_values("time", sums["time_s"].to_pylist(), "s")
    shares = columns.of_values("share", sums["share"].to_pylist(), "share")
    table = terminal.table(["what", times.heading, shares.heading, "pieces"], left=["what"])
    for row, time, share in zip(sums.to_pylist(), times.cells, shares.cells, strict=True):
        table.add_row(_words(row["doing"], row["name"]), time, share, f"{row['pieces']:,}")
    whole = columns.of_values("It took", [sum(sums["time_s"].to_pylist())], "s")
    screen.print(f"Critical path of {what}", style="bold")
    screen.print(f"{whole.heading}: {whole.cells[0]}")
    terminal.print_table(screen, "What the time was made of", table)
    pieces = sorted(path.to_pylist(), key=lambda piece: piece["start_ps"] - piece["end_ps"])[:count]
    pieces.sort(key=lambda piece: piece["start_ps"])
    from_ = columns.of_values("from", [piece["start_ps"] / 1e12 for piece in pieces], "s")
    took = columns.of_values("for", [(piece["end_ps"] - piece["start_ps"]) / 1e12 for piece in pieces], "s")
    longest = terminal.table(
        [from_.heading, took.heading, "what", "rank", "node", "from rank", "its node"],
        left=["what", "node", "its node"],
    )
    for piece, start, time in zip(pieces, from_.cells, took.cells, strict=True):
        other = piece["peer"] if piece["doing"] == "under way" else None
        longest.add_row(
            start,
            time,
            _words(piece["doing"], piece["name"]),
            str(piece["rank"]),
            nodes[piece["rank"]],
            "" if other is None else str(other),
            "" if other is None else nodes[other],
        )
    terminal.print_table(screen, "Its longest pieces, in the order of time", longest)


def _words(doing: str, name: str) -> str:
    return {"computing": "computing", "in a call": f"in {name}", "under way": f"{name} under way"}[doing]


def _nodes(run: Run, job: int) -> dict[int, str]:
    """Name of the node of each rank of the job."""
    frame = run.table("ranks").to_pandas()
    frame = frame[frame["job"] == job]
    names = run.nodes["name"].take(pa.array(frame["node"])).to_pylist()
    return dict(zip(frame["rank"].tolist(), names, strict=True))
