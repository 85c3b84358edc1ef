"""Reads Boxfish tables.

A table consists of two YAML documents (the key, and the columns with their types), then rows of words.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from odonata.errors import OdonataError
from odonata.files import read_text

TYPES = {
    "int32": np.int64,
    "int64": np.int64,
    "uint32": np.int64,
    "float32": np.float64,
    "float64": np.float64,
}
"""Types of columns; integers are read with 64 bits."""

_COLUMN = re.compile(r"-\s*\[\s*([\w.-]+)\s*,\s*([\w|]+)\s*\]\s*$")


def read_table(path: str | Path) -> pa.Table:
    """Reads a table.

    Returns:
        The columns of the table; its metadata contain the key.

    Raises:
        OdonataError: The file has another format; the message gives the line and the expected text.
    """
    lines = read_text(path, "a table of Boxfish").splitlines()
    key, types, begin = _head(path, lines)
    rows = []
    for number, line in enumerate(lines[begin:], start=begin + 1):
        words = line.split()
        if not words:
            continue
        if len(words) != len(types):
            raise OdonataError(
                f"{path}, line {number}: {len(words)} values; expected {len(types)}, one per column"
            )
        rows.append((number, words))
    columns = {}
    for place, (name, kind) in enumerate(types.items()):
        columns[name] = np.array(
            [_value(path, n, words[place], name, kind) for n, words in rows], TYPES[kind]
        )
    return pa.table(columns).replace_schema_metadata({"key": key})


def _head(path: str | Path, lines: list[str]) -> tuple[str, dict[str, str], int]:
    """The key, the columns with their types, and the number of lines before the rows."""

    def expected(number: int, what: str) -> OdonataError:
        found = f"'{lines[number][:40]}'" if number < len(lines) else "the end"
        return OdonataError(f"{path}, line {number + 1}: {found}; expected {what}")

    at = 0
    if lines[:1] != ["---"]:
        raise expected(0, "'---', the start of a Boxfish table")
    match = re.match(r"key:\s*(\S+)\s*$", lines[1]) if len(lines) > 1 else None
    if match is None:
        raise expected(1, "'key: NAME'")
    if lines[2:3] != ["---"]:
        raise expected(2, "'---'")
    types: dict[str, str] = {}
    at = 3
    while at < len(lines) and lines[at].strip() != "...":
        column = _COLUMN.match(lines[at].strip())
        if column is None:
            raise expected(at, "a column like '- [packets, int32]', or '...'")
        name, kind = column.groups()
        if kind not in TYPES:
            raise expected(at, f"a type: {', '.join(TYPES)}")
        if name in types:
            raise OdonataError(f"{path}, line {at + 1}: there are two columns with the name {name}")
        types[name] = kind
        at += 1
    if at == len(lines) or not types:
        raise expected(at, "'...' after the columns" if types else "a column like '- [packets, int32]'")
    return match.group(1), types, at + 1


def _value(path: str | Path, number: int, word: str, name: str, kind: str) -> int | float:
    try:
        return int(word) if TYPES[kind] is np.int64 else float(word)
    except ValueError:
        raise OdonataError(f"{path}, line {number}: {name} is '{word}', expected {kind}") from None
