"""Tables that batch systems print: columns with a separator, below dashes, or between blanks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from odonata.errors import OdonataError

SEPARATORS = "|\t;"
NAMES = ("NAME", "JobName", "JOB_NAME")
"""Columns with the name of a job: anything, blanks and separators too, or nothing."""
FREE = (*NAMES, "COMMENT", "REASON", "COMMAND", "WORK_DIR", "FEATURES", "DEPENDENCY", "INFO")
"""Columns with any text, or none."""
NODES = ("NODELIST", "NodeList", "NODELIST(REASON)", "EXEC_HOST")
NODE_COUNTS = ("NODES", "NNodes", "AllocNodes", "NNODES")
CORES = ("CPUS", "NCPUS", "AllocCPUS", "NCORES", "NTASKS")
STATES = ("ST", "STATE", "State", "STAT")

Row = tuple[int, Mapping[str, str]]


def titles_of(line: str) -> tuple[list[str], str | None]:
    """The titles of a header and its separator; None if blanks separate them."""
    separator = next((character for character in SEPARATORS if character in line), None)
    # `sacct -p` ends each line with the separator.
    text = line.strip().removesuffix(separator) if separator and separator != "\t" else line
    return [title.strip() for title in text.split(separator)], separator


def rows(path: Path, lines: Sequence[str], head: int) -> list[Row]:
    """The rows below the header on line `head` (from 0): number of the line from 1, texts by title.

    A header that comes again is skipped.

    Raises:
        OdonataError: A row does not fit the header; the message gives its line.
    """
    titles, separator = titles_of(lines[head])
    below = [(number, line) for number, line in enumerate(lines[head + 1 :], head + 2) if line.strip()]
    widths = _widths(below[0][1]) if separator is None and below else None
    if widths is not None:
        # `sacct` draws a line under each column, as wide as the column.
        below = below[1:]
        if len(widths) != len(titles):
            raise OdonataError(f"{path}, line {head + 2}: {len(widths)} columns, but {len(titles)} titles")
    pattern = _pattern(titles)
    found: list[Row] = []
    for number, line in below:
        if line.strip() == lines[head].strip() or (widths is not None and _widths(line) is not None):
            continue
        if separator is not None:
            words = _separated(titles, line, separator, ended=lines[head].strip().endswith(separator))
        elif widths is not None:
            words = [line[begin:end].strip() for begin, end in widths]
        else:
            match = pattern.fullmatch(line)
            words = None if match is None else [(word or "").strip() for word in match.groups()]
        if words is None:
            raise OdonataError(
                f"{path}, line {number}: '{line.strip()[:80]}' does not fit the header {' '.join(titles)}",
                hint="Print a separator between the columns: squeue -o '%i|%j|%D|%C|%t|%N'",
            )
        found.append((number, dict(zip(titles, words, strict=True))))
    return found


def _widths(line: str) -> list[tuple[int, int]] | None:
    """Begin and end of each column, if the line consists of dashes; the last one is open."""
    if not re.fullmatch(r"\s*-+(\s+-+)*\s*", line):
        return None
    places = [match.span() for match in re.finditer("-+", line)]
    return [*places[:-1], (places[-1][0], 1 << 20)]


def _separated(titles: Sequence[str], line: str, separator: str, *, ended: bool) -> list[str] | None:
    """The words of a row; those that are too many belong to the name of the job."""
    words = line.split(separator)
    if ended and not words[-1].strip():
        words.pop()
    more = len(words) - len(titles)
    name = next((place for place, title in enumerate(titles) if title in NAMES), None)
    if more > 0 and name is not None:
        words[name : name + more + 1] = [separator.join(words[name : name + more + 1])]
    return [word.strip() for word in words] if len(words) == len(titles) else None


def _pattern(titles: Sequence[str]) -> re.Pattern[str]:
    """An expression for rows between blanks.

    Numbers, states and lists of nodes have a form; the name of a job takes what is between the columns to its
    left and those to its right, which may be nothing.
    """
    parts = []
    for place, title in enumerate(titles):
        gap = r"\s+" if place else ""
        if title in FREE:
            parts.append(rf"(?:{gap}(.*))?")
        elif title in NODES:
            parts.append(rf"(?:{gap}(\([^()]*.*\)|None assigned|[\w.,\[\]*:-]+))?")
        elif title in (*NODE_COUNTS, *CORES):
            parts.append(rf"{gap}(\d+)")
        elif title in STATES:
            parts.append(rf"{gap}([A-Z][A-Z_]*\+?)")
        else:
            parts.append(rf"{gap}(\S+)")
    return re.compile(r"\s*" + "".join(parts) + r"\s*")
