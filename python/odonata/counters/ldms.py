"""Aries counters from LDMS (`store_csv`): how much each counter grew between the first sample and the last.

The header names the columns: `#Time,Time_usec,ProducerName,component_id,job_id,app_id`, then metrics. Columns
`AR_RTR_r_c_NAME` belong to the router tile in row r and column c. Other metrics (`AR_NIC_..`) have one value
per producer, a node. The nodes of a router all report its tiles; the producer with the longest time counts.

Counters run since the node started. A counter that falls has wrapped at 48 bits or restarted at zero. It has
wrapped if the growth is then possible in this time, otherwise it has restarted, and the growth before the
restart is lost.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from odonata.errors import OdonataError
from odonata.files import read_text

TIMES = ("time", "timestamp")
PRODUCER = "producername"
ROUTERS = ("aries_rtr_id", "ariesrouter")
"""Columns (in lower case) that order rows, identify producers, and merge nodes that share a router."""

OTHERS = ("time_usec", "component_id", "job_id", "app_id", "dt", "flag", "userdata")
"""Further columns that are no metrics."""

TILE = re.compile(r"AR_RTR_(\d)_(\d)_(\w+)(?: \(.*\))?$")

WRAP = float(1 << 48)
"""Aries counters have 48 bits."""

EVENTS_PER_S_MAX = float(1 << 31)
"""No counter of a tile grows faster: it counts once per cycle at most, and no clock is above 2 GHz.

A larger value takes restarts after long pauses for wraps; a smaller one takes real wraps for restarts.
"""


@dataclass(frozen=True)
class Growth:
    """How much the metrics of a producer grew.

    Attributes:
        line: The line of its first row in the file.
        producer: Its name.
        router: The name of its router; None if the table does not have it.
        counts_tiles: Whether the tiles of the router are counted here and not at another producer.
        seconds: Time between the first and the last sample.
        restarts: Number of samples before which counters restarted at zero.
        grown: Growth by title of the column.
    """

    line: int
    producer: str
    router: str | None
    counts_tiles: bool
    seconds: float
    restarts: int
    grown: dict[str, float]


def is_ldms(start: str) -> bool:
    """Whether a text starts like a table of LDMS."""
    names = [name.lower() for name in _titles(start.partition("\n")[0])]
    return names[0] in TIMES and not {PRODUCER, *ROUTERS}.isdisjoint(names)


def read_growth(path: str | Path) -> list[Growth]:
    """The growth of each producer, in the order of the file.

    Raises:
        OdonataError: The file has another format, a row has another width, a value is not a number, or a
            producer has only one sample; the message gives the line.
    """
    lines = read_text(path, "a table of LDMS").splitlines()
    head = lines[0] if lines else ""
    if not is_ldms(head):
        raise OdonataError(
            f"{path}, line 1: '{head[:40]}'; expected the header of LDMS: #Time,Time_usec,ProducerName,.."
        )
    names = _titles(head)
    lower = [name.lower() for name in names]
    router = next((lower.index(name) for name in ROUTERS if name in lower), None)
    known = (*TIMES, PRODUCER, *ROUTERS, *OTHERS)
    metrics = [place for place, name in enumerate(lower) if name not in known and not name.endswith(".rate")]
    samples = _samples(path, names, lower, lines)
    longest: dict[str, tuple[float, str]] = {}
    for producer, rows in samples.items():
        if len(rows) == 1:
            raise OdonataError(
                f"{path}, line {rows[0][1]}: only one sample of {producer}; counters run since the "
                "node started, so expected two or more"
            )
        rows.sort(key=lambda row: row[0])
        seconds = rows[-1][0] - rows[0][0]
        where = producer if router is None else rows[0][2][router].strip().strip('"')
        if where not in longest or seconds > longest[where][0]:
            longest[where] = seconds, producer
    found = []
    for producer, rows in samples.items():
        where = producer if router is None else rows[0][2][router].strip().strip('"')
        times = np.diff([time for time, _, _ in rows])
        restarted = np.zeros(len(times), bool)
        grown = {}
        for place in metrics:
            values = np.array([_number(path, line, row[place], names[place]) for _, line, row in rows])
            wraps = names[place].startswith("AR_")
            steps, fell = _steps(values, times, wraps=wraps)
            restarted |= fell
            grown[names[place]] = float(steps.sum())
        found.append(
            Growth(
                min(line for _, line, _ in rows),
                producer,
                None if router is None else where,
                longest[where][1] == producer,
                rows[-1][0] - rows[0][0],
                int(restarted.sum()),
                grown,
            )
        )
    if not any(growth.grown for growth in found):
        raise OdonataError(f"{path} has no samples of metrics; expected rows after the header")
    return found


def _steps(values: np.ndarray, times: np.ndarray, *, wraps: bool) -> tuple[np.ndarray, np.ndarray]:
    """Growth from sample to sample, and where the counter restarted."""
    steps = np.diff(values)
    wrapped = steps + WRAP
    wraps_here = (steps < 0) & (wrapped <= EVENTS_PER_S_MAX * times) if wraps else np.zeros(len(steps), bool)
    restarted = (steps < 0) & ~wraps_here
    return np.where(wraps_here, wrapped, np.where(restarted, values[1:], steps)), restarted


def read_counters(path: str | Path) -> dict[str, np.ndarray]:
    """The growth of each counter, for every tile of every router or for every producer.

    Raises:
        OdonataError: As `read_growth`.
    """
    counted: dict[str, list[float]] = {}
    for growth in read_growth(path):
        for name, value in growth.grown.items():
            tile = TILE.match(name)
            if tile is None:
                counted.setdefault(name, []).append(value)
            elif growth.counts_tiles:
                counted.setdefault(f"AR_RTR_{tile[3]}", []).append(value)
    return {name: np.array(values) for name, values in counted.items()}


def _titles(head: str) -> list[str]:
    return [name.strip() for name in head.lstrip("\ufeff").lstrip("#").split(",")]


def _samples(
    path: str | Path, names: list[str], lower: list[str], lines: list[str]
) -> dict[str, list[tuple[float, int, list[str]]]]:
    """Time, line and values of the rows of each producer; without producers, of each router."""
    by = next(lower.index(name) for name in (PRODUCER, *ROUTERS) if name in lower)
    found: dict[str, list[tuple[float, int, list[str]]]] = {}
    for number, row in _rows(lines):
        if len(row) != len(names):
            raise OdonataError(
                f"{path}, line {number}: {len(row)} values; expected {len(names)}, as in the header"
            )
        time = _number(path, number, row[0], names[0])
        found.setdefault(row[by].strip().strip('"'), []).append((time, number, row))
    return found


def _rows(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines[1:], start=2):
        # LDMS may write the header again when it rolls its file over.
        if line.strip() and not line.startswith("#"):
            yield number, next(csv.reader([line]))


def _number(path: str | Path, line: int, word: str, name: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise OdonataError(f"{path}, line {line}: {name} is '{word.strip()}'; expected a number") from None
