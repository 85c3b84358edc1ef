"""Tables of cycle times by mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.cli.output import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.amg.ends import EndsFit, MeasuredCycle, Parts
    from odonata.amg.machines import Ends

LEGEND = (
    "overhead: o, CPU time per message; gap: time of the NICs; matching: search of queues; "
    "network: distance and bytes"
)
"""Explains the rows."""


def by_mechanism(title: str, columns: dict[str, Parts]) -> Any:
    """One row per mechanism, one column per account of a cycle, in ms."""
    table = terminal.table(title=title, columns=["mechanism", *columns], left=["mechanism"])
    for name in next(iter(columns.values())).named:
        table.add_row(name, *(f"{1e3 * parts.named[name]:.3f}" for parts in columns.values()))
    table.add_row("cycle", *(f"{1e3 * parts.seconds:.3f}" for parts in columns.values()))
    return table


def fitted(cycles: Sequence[MeasuredCycle], fit: EndsFit) -> Any:
    """One row per measured cycle: its parts, and the error of the prediction from the other cycles."""
    names = list(fit.predicted[0].named)
    head = ["cycle", "measured", *names, "sum", "error, %", "error from other cycles, %"]
    table = terminal.table(title="Measured cycles by part, ms", columns=head, left=["cycle"])
    for cycle, parts, left_out in zip(cycles, fit.predicted, fit.left_out, strict=True):
        off = [100 * (seconds / cycle.seconds - 1) for seconds in (parts.seconds, left_out)]
        values = (cycle.seconds, *parts.named.values(), parts.seconds)
        table.add_row(cycle.name, *(f"{1e3 * s:.2f}" for s in values), *(f"{value:+.1f}" for value in off))
    return table


def lines(ends: Ends) -> str:
    """The lines of a machine file."""
    return (
        f"[ends]\ncompute_factor = {ends.compute_factor:.4g}\noverhead_us = {1e6 * ends.overhead_s:.4g}\n"
        f"gap_ns = {1e9 * ends.gap_s:.4g}\nmatching_ns = {1e9 * ends.matching_s:.4g}"
    )
