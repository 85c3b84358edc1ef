"""Output of `odonata explain --path`: the critical path of a job, an iteration, a phase or a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.critical import (
    add_links,
    critical_path,
    of_call,
    of_iteration,
    of_phase,
    path_by_activity,
    path_by_link,
    whole,
)
from odonata.analysis.task_path import has_tasks
from odonata.cli.output import columns, terminal
from odonata.errors import OdonataError, nearest

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.analysis.pieces import Window
    from odonata.runs import Run


@dataclass(frozen=True)
class Part:
    """The requested part of a job; by default all of it."""

    call: int | None = None
    iteration: int | None = None
    phase: str | None = None
    time: int = 1
    """Which occurrence of the phase, from 1."""

    def __str__(self) -> str:
        """The part as a title shows it, before the job's name."""
        if self.call is not None:
            return f"call {self.call} of job"
        if self.iteration is not None:
            return f"iteration {self.iteration} of job"
        return "job" if self.phase is None else f"phase {self.phase}, occurrence {self.time}, of job"


@dataclass(frozen=True)
class Path:
    """The pieces of a critical path, their sums by activity, and by link if packet paths are recorded."""

    pieces: pa.Table
    sums: pa.Table
    links: pa.Table | None


def found(run: Run, job: int, part: Part, count: int) -> Path:
    """The critical path of a part of a job.

    Raises:
        OdonataError: The run has no record of calls, or no such part.
    """
    if "calls" not in run.table_names:
        raise OdonataError(
            f"{run.name} has no record of calls",
            hint="Set record_calls = true in [engine], for a job with a program or a task graph (GOAL, "
            "Chakra), and run it again.",
        )
    ranks = run.table("ranks")
    if not pc.any(pc.equal(ranks["job"], job)).as_py():
        raise OdonataError(
            f"job {run.jobs['name'][job].as_py()} of {run.name} has no program or task graph, so it has no "
            "critical path"
        )
    path = critical_path(run.table("calls"), run.table("rank_waits"), job, _window(run, job, part))
    packets = run.table("packets") if "packets" in run.table_names else None
    links = None
    if packets is not None and "links" in packets.column_names:
        path = add_links(path, packets, ranks, job)
        links = path_by_link(path, run.links, run.routers, count=count)
    return Path(path, path_by_activity(path), links)


def _window(run: Run, job: int, part: Part) -> Window:
    if part.call is not None:
        window = of_call(run.table("calls"), job, part.call)
        if window is None:
            what = f"no rank of the job completed a call {part.call}"
            raise OdonataError(what, hint="Calls are numbered from 1.")
        return window
    if part.iteration is None and part.phase is None:
        return whole(run.table("ranks"), job)
    if "phase_times" not in run.table_names:
        raise OdonataError(f"{run.name} has no completed phases", hint="Mark phases in the program.")
    times = run.table("phase_times")
    if part.iteration is not None:
        window = of_iteration(run, job, part.iteration)
        if window is None:
            what = f"no rank of the job has an iteration {part.iteration}"
            raise OdonataError(what, hint="Iterations are numbered from 1.")
        return window
    window = of_phase(times, job, str(part.phase), part.time)
    if window is None:
        frame = times.to_pandas()
        counts = frame[frame["job"] == job].groupby("phase", observed=True).size()
        names = [str(name) for name in counts.index]
        if part.phase in names:
            what = f"no rank of the job has an occurrence {part.time} of phase {part.phase}"
            raise OdonataError(what, hint="Occurrences are numbered from 1.")
        hint = nearest(str(part.phase), names, f"Phases of the job: {', '.join(names)}.")
        raise OdonataError(f"unknown phase {part.phase}", hint=hint)
    return window


def show(screen: Console, run: Run, job: int, what: str, found: Path, count: int) -> None:
    """Prints the time by activity and the longest pieces in time order."""
    path, sums = found.pieces, found.sums
    nodes = _nodes(run, job)
    labels = map(_activity_label, sums["activity"].to_pylist(), sums["name"].to_pylist())
    parts = [
        columns.texts("activity", labels),
        *columns.of_arrow(sums, {"path_time_s": "time", "share": "share"}),
    ]
    table = columns.joined([*parts, _counts(sums)])
    whole = columns.of_values("time", [sum(sums["path_time_s"].to_pylist())], "s")
    screen.print(f"Critical path of {what}", style="bold")
    screen.print(f"{whole.heading}: {whole.cells[0]}")
    terminal.print_table(screen, table, "Time by activity")
    pieces = sorted(path.to_pylist(), key=lambda piece: piece["start_ps"] - piece["end_ps"])[:count]
    pieces.sort(key=lambda piece: piece["start_ps"])
    others = [piece["peer"] if piece["activity"] == "in flight" else None for piece in pieces]
    longest = columns.joined(
        [
            columns.of_values("start", [piece["start_ps"] / 1e12 for piece in pieces], "s"),
            columns.of_values(
                "time", [(piece["end_ps"] - piece["start_ps"]) / 1e12 for piece in pieces], "s"
            ),
            columns.texts(
                "activity", (_activity_label(piece["activity"], piece["name"]) for piece in pieces)
            ),
            columns.ShownColumn("rank", [str(piece["rank"]) for piece in pieces]),
            columns.ShownColumn(_unit(run, job), [str(piece["call"] or "") for piece in pieces]),
            *_places(pieces),
            columns.texts("node", (nodes[piece["rank"]] for piece in pieces)),
            columns.ShownColumn("from rank", ["" if other is None else str(other) for other in others]),
            columns.texts("from node", ("" if other is None else nodes[other] for other in others)),
        ]
    )
    terminal.print_table(screen, longest, "Longest pieces, in time order")
    if found.links is not None and found.links.num_rows:
        title = "Links on the critical path (a piece counts at every link of its path)"
        headings = {"name": "link", "class": "class", "path_time_s": "in flight", "share": "share of path"}
        on_path = [*columns.of_arrow(found.links, headings), _counts(found.links)]
        terminal.print_table(screen, columns.joined(on_path), title)


def _places(pieces: list[dict[str, Any]]) -> list[columns.ShownColumn]:
    """Where the calls are in the files of the programs or the trace, if they are in one."""
    kinds = {piece["place_kind"] for piece in pieces} - {None}
    if not kinds:
        return []
    heading = kinds.pop() if len(kinds) == 1 else "place"
    places = [_place(piece, heading) for piece in pieces]
    found = [columns.ShownColumn(heading, places)]
    programs = [piece["program"] for piece in pieces]
    if any(programs):
        found.append(
            columns.ShownColumn("program", ["" if number is None else str(number + 1) for number in programs])
        )
    return found


def _place(piece: dict[str, Any], heading: str) -> str:
    if piece["place_kind"] is None:
        return ""
    return (
        str(piece["place"]) if heading == piece["place_kind"] else f"{piece['place_kind']} {piece['place']}"
    )


def _unit(run: Run, job: int) -> str:
    """What numbers of calls count."""
    calls = run.table("calls")
    return "task" if has_tasks(calls.filter(pc.equal(calls["job"], job))) else "call"


def _counts(table: pa.Table) -> columns.ShownColumn:
    return columns.of_values("pieces", table["pieces"].to_pylist(), "count")


def _activity_label(activity: str, name: str) -> str:
    return {"computing": "computing", "in a call": f"in {name}", "in flight": f"{name} in flight"}[activity]


def _nodes(run: Run, job: int) -> dict[int, str]:
    frame = run.table("ranks").to_pandas()
    frame = frame[frame["job"] == job]
    names = run.nodes["name"].take(pa.array(frame["node"])).to_pylist()
    return dict(zip(frame["rank"].tolist(), names, strict=True))
