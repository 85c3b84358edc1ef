"""Recognizes files of other simulators, which users give where an experiment file belongs."""

from __future__ import annotations

import re

_PROGRAMS = (
    ("CAMINOS", "caminos", re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*Configuration\s*\{", re.DOTALL)),
    # A script has comments and other imports before.
    ("SST", "sst", re.compile(r"(?s:.*?)^[ \t]*(?:import|from)[ \t]+sst\b", re.MULTILINE)),
    ("SimGrid", "simgrid", re.compile(r"\s*(?:<[?!][^>]*>\s*)*<platform\b")),
    ("BookSim", "booksim", re.compile(r"(?:\s|//[^\n]*\n)*\w+[ \t]*=[ \t]*[^;\n\"'#]+;")),
)
"""Name, subcommand of `odonata import`, and the beginning of a file."""

_HEAD = 1 << 16
"""Characters to look at. More is slow for a text of blank lines only."""


def import_for(text: str) -> tuple[str, str] | None:
    """The simulator whose file a text is, and its subcommand of `odonata import`; else None."""
    head = text[:_HEAD]
    for name, command, beginning in _PROGRAMS:
        if beginning.match(head):
            return name, command
    return None
