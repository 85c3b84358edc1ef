"""The pieces of a critical path."""

from __future__ import annotations

from dataclasses import dataclass

COMPUTING, IN_CALL, IN_FLIGHT = "computing", "in a call", "in flight"
"""Activities of a piece: a rank computes or sleeps, is in a call, or a message to it is in flight."""

EVENTS = ("message", "data", "receipt")
"""Events that end a wait."""


@dataclass(frozen=True)
class Window:
    """The part of a job whose path is followed.

    Examples:
        >>> run = odonata.load("runs/programs")
        >>> from odonata.analysis.critical import of_iteration, whole
        >>> whole(run.table("ranks"), 0)
        Window(rank=17, start_ps=0, end_ps=61215520)
        >>> of_iteration(run, 0, 2).start_ps
        13207840
    """

    rank: int
    """Rank that ends last."""
    start_ps: int
    end_ps: int


@dataclass(frozen=True)
class Piece:
    """A part of a critical path, with a number of its call; 0 outside of calls."""

    rank: int
    peer: int
    call: int
    start_ps: int
    end_ps: int
    activity: str
    name: str
