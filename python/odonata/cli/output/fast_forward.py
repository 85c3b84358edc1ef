"""What a run leaves out for speed, in the terminal: path sets and iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from odonata.cli.output.path_sets import print_path_sets
from odonata.quantity import quantity

if TYPE_CHECKING:
    from rich.console import Console


def print_shortcuts(screen: Console, summary: Mapping[str, Any]) -> None:
    """Prints the number of path sets, and which iterations a run will skip, or has skipped."""
    print_path_sets(screen, summary)
    print_skipped(screen, summary)


def print_skipped(screen: Console, summary: Mapping[str, Any]) -> None:
    """Prints which iterations a run will skip, or has skipped."""
    if (skipped := summary.get("fast_forward")) is None:
        return
    if "rule" in skipped:
        screen.print(f"fast-forward: {skipped['rule']}")
    elif skipped["iterations_skipped"] == 0:
        screen.print("fast-forward: no iteration was skipped")
    else:
        screen.print(_skipped(skipped))


def _skipped(skipped: Mapping[str, Any]) -> str:
    run, others, repeated = (skipped[f"iterations_{kind}"] for kind in ("run", "skipped", "repeated"))
    said = (
        f"fast-forward: {run:,} of {skipped['iterations']:,} iterations run. {repeated:,} of them, in "
        f"{quantity(skipped['period_ps'], 'ps')}, stand for {others:,} others: "
    )
    if (digest := skipped["digest"]) is not None:
        return f"{said}the state after them is the same (digest {digest[:16]})"
    return f"{said}the run ends within {quantity(skipped['end_half_width_ps'], 'ps')} (95 % interval)"
