"""What a run assumed: the keys that the file does not give, in the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odonata.cli.output import terminal

if TYPE_CHECKING:
    from rich.console import Console

LINES_MAX = 10
"""Maximum lines; further ones are counted."""

_MEMBER = re.compile(r"(?:(job)|machine\.class)\.([^.]+)\.(.+)")


def print_assumptions(
    screen: Console, assumptions: Sequence[Mapping[str, Any]], jobs: int, more: str
) -> None:
    """Prints what decides results, a line per table of the file; `more` says how to see everything."""
    lines = _lines([known for known in assumptions if known["decides"]], jobs)
    if not lines:
        return
    grid = terminal.pairs(lines[:LINES_MAX])
    screen.print(f"\nAssumed, since the file does not say it ({more}):", highlight=False)
    screen.print(grid)
    if len(lines) > LINES_MAX:
        screen.print(f"and {len(lines) - LINES_MAX} lines more", highlight=False)


def assumption_lines(assumptions: Sequence[Mapping[str, Any]], jobs: int) -> list[str]:
    """What decides results, a line per table of the file."""
    return [f"{label}: {text}" for label, text in _lines([a for a in assumptions if a["decides"]], jobs)]


def print_all(screen: Console, assumptions: Sequence[Mapping[str, Any]]) -> None:
    """Prints every key that was not given, with its value and meaning."""
    rows = terminal.table(["key", "value", "meaning"], left=["key", "value"], wrap=["meaning"])
    for known in assumptions:
        reason = f" ({known['reason']})" if known["reason"] else ""
        rows.add_row(known["key"], known["value"], known["meaning"] + reason)
    terminal.print_table(screen, rows, "Keys that were not given")


def _lines(assumptions: Sequence[Mapping[str, Any]], jobs: int) -> list[tuple[str, str]]:
    """Tables of the file with keys and values. Link classes share a line; so do jobs that assume the same."""
    members: dict[tuple[str, str, str], list[str]] = {}
    for known in assumptions:
        reason = f" ({known['reason']})" if known["reason"] else ""
        if match := _MEMBER.fullmatch(known["key"]):
            kind, member, key = match[1] or "links", match[2], match[3]
        else:
            kind, _, key = known["key"].partition(".")
            member = ""
        members.setdefault((kind, key, known["value"] + reason), []).append(member)
    lines: dict[str, list[str]] = {}
    classes: dict[str, list[str]] = {}
    for (kind, key, value), of in members.items():
        if kind == "links":
            classes.setdefault(key, []).append(f"{value} ({', '.join(of)})")
            texts = lines.setdefault(kind, [])
            texts[:] = [f"{key} = {', '.join(values)}" for key, values in classes.items()]
        else:
            lines.setdefault(_label(kind, of, jobs), []).append(f"{key} = {value}")
    return [(label, ", ".join(texts)) for label, texts in lines.items()]


def _label(kind: str, members: Sequence[str], jobs: int) -> str:
    if kind != "job":
        return kind
    if len(members) == jobs:
        return "job" if jobs == 1 else "every job"
    shown = ", ".join(members[:4]) + (f" and {len(members) - 4} more" if len(members) > 4 else "")
    return f"job {shown}"
