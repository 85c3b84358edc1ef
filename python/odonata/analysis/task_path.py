"""The critical path of a job whose program is a task graph.

A task that waited for a message continues on the task that sent it. Otherwise the path continues on the task
after which it started: it waited for the end or the start of this task, or for its lane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odonata.analysis.pieces import COMPUTING, IN_CALL, IN_FLIGHT, Piece

if TYPE_CHECKING:
    import pyarrow as pa

    from odonata.analysis.pieces import Window


@dataclass(frozen=True)
class _Wait:
    end: int
    event: str
    peer: int
    cause: int
    cause_at: int


@dataclass
class _Task:
    rank: int
    number: int
    name: str
    start: int
    end: int
    after: int
    waits: list[_Wait] = field(default_factory=list)


_Tasks = dict[int, dict[int, _Task]]


def has_tasks(calls: pa.Table) -> bool:
    """Whether calls of a job are tasks of a graph: others come after no task."""
    return any(after > 0 for after in calls["after"].slice(0, 1).to_pylist())


def graph_pieces(calls: pa.Table, rank_waits: pa.Table, window: Window) -> list[Piece]:
    """The pieces of the path of a job, backwards, without gaps.

    Args:
        calls: The tasks of the job.
        rank_waits: The waits of the job.
        window: Where the path ends and starts.
    """
    tasks = _tasks(calls, rank_waits)
    pieces: list[Piece] = []
    time = window.end_ps
    own = [task for task in tasks.get(window.rank, {}).values() if task.end <= time]
    task = max(own, key=lambda task: (task.end, task.number), default=None)
    seen: set[tuple[int, int, int]] = set()
    while task is not None and time > window.start_ps:
        if task.end < time:
            # The host works on something else, or the lane leaves a call.
            pieces.append(Piece(task.rank, task.rank, 0, task.end, time, IN_CALL, "progress"))
            time = task.end
        step = (task.rank, task.number, time)
        if step in seen:
            break
        seen.add(step)
        wait = next((wait for wait in reversed(task.waits) if task.start < wait.end <= time), None)
        until = max(wait.end if wait else task.start, window.start_ps)
        if until < time:
            pieces.append(_own(task, until, time))
        time = until
        if wait is None:
            task = tasks[task.rank].get(task.after) if task.after != task.number else None
            continue
        since = max(min(wait.cause_at, time), window.start_ps)
        if since < time:
            pieces.append(Piece(task.rank, wait.peer, task.number, since, time, IN_FLIGHT, wait.event))
        time = since
        if wait.event != "data":
            task = _cause(tasks.get(wait.cause, {}), wait, time)
    if time > window.start_ps:
        rank = pieces[-1].rank if pieces else window.rank
        pieces.append(Piece(rank, rank, 0, window.start_ps, time, COMPUTING, ""))
    return pieces


def _own(task: _Task, start: int, end: int) -> Piece:
    """A piece in which the rank works on a task."""
    if task.name == "compute":
        return Piece(task.rank, task.rank, task.number, start, end, COMPUTING, "")
    return Piece(task.rank, task.rank, task.number, start, end, IN_CALL, task.name)


def _cause(of_rank: dict[int, _Task], wait: _Wait, time: int) -> _Task | None:
    """The task that sent a message by a time, or received one and sent the receipt."""
    if wait.event == "message":
        sends = (task for task in of_rank.values() if task.name == "send" and task.start <= time)
        return max(sends, key=lambda task: (task.start, task.number), default=None)
    receives = (task for task in of_rank.values() if task.name == "recv" and task.end <= time)
    return max(receives, key=lambda task: (task.end, task.number), default=None)


def _tasks(calls: pa.Table, rank_waits: pa.Table) -> _Tasks:
    """The tasks of each rank by number, each with its waits in order."""
    tasks: _Tasks = {}
    columns = ("rank", "call", "name", "start_ps", "end_ps", "after")
    for values in zip(*(calls[name].to_pylist() for name in columns), strict=True):
        task = _Task(*values)
        tasks.setdefault(task.rank, {})[task.number] = task
    names = ("rank", "call", "end_ps", "event", "peer", "cause", "cause_ps")
    for rank, number, *rest in zip(*(rank_waits[name].to_pylist() for name in names), strict=True):
        # A task that has not ended by the end of the run has no row.
        if waiting := tasks.get(rank, {}).get(number):
            waiting.waits.append(_Wait(*rest))
    return tasks
