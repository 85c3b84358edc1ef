"""Reads Boxfish tables.

A table consists of two YAML documents (the key, and the columns with their types), then rows of words. It
has one row per link or node and code region: the regions of a program, each with its own counts.
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


PLACES = frozenset(
    f"{end}{axis}" for end in ("", "s", "t") for axis in ("x", "y", "z", "a", "b", "c", "d", "e", "t")
)
"""Columns with coordinates of a node, or of the source and target of a link."""
REGION = "code_region"


def read_regions(path: str | Path) -> dict[str, np.ndarray]:
    """The counters of a table by element: over all code regions, then of each region.

    Columns with the numbers and coordinates of elements are no counters. Rows of one element and region, from
    several calls, are summed.

    Raises:
        OdonataError: As `read_table`.

    Examples:
        >>> from pathlib import Path
        >>> head = ["---", "key: A", "---"]
        >>> columns = ["- [linkid, int32]", "- [code_region, int32]", "- [packets, int64]", "..."]
        >>> lines = [*head, *columns, "0 1 5", "1 1 7", "0 2 1", "1 2 0"]
        >>> size = Path("links.yaml").write_text(chr(10).join(lines))
        >>> found = odonata.counters.read_regions("links.yaml")
        >>> {name: values.tolist() for name, values in found.items()}
        {'packets': [6, 7], 'packets, region 1': [5, 7], 'packets, region 2': [1, 0]}
    """
    table = read_table(path)
    names = [name for name in table.column_names if name != REGION and name not in PLACES]
    numbers = [name for name in names if name.endswith("id")]
    counted = [name for name in names if name not in numbers]
    values = {name: table[name].to_numpy() for name in counted}
    if REGION not in table.column_names or not numbers:
        return values
    element = table[numbers[0]].to_numpy()
    region = table[REGION].to_numpy()

    def by_element(of: np.ndarray, rows: np.ndarray) -> np.ndarray:
        _, place = np.unique(element[rows], return_inverse=True)
        return np.bincount(place, weights=of[rows]).astype(of.dtype)

    regions = np.unique(region)
    found = {name: by_element(of, np.full(len(of), True)) for name, of in values.items()}
    if len(regions) > 1:
        for name, of in values.items():
            found |= {f"{name}, region {number}": by_element(of, region == number) for number in regions}
    return found


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
        if TYPES[kind] is not np.int64:
            return float(word)
        # Some writers give whole numbers a decimal point.
        return int(word.removesuffix(".0"))
    except ValueError:
        raise OdonataError(f"{path}, line {number}: {name} is '{word}', expected {kind}") from None
