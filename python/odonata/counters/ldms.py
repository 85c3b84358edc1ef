"""Aries counters from LDMS (`store_csv`): the difference between the first sample and the last.

The header names the columns: `#Time,Time_usec,ProducerName,component_id,job_id,app_id`, then metrics. Columns
`AR_RTR_r_c_NAME` belong to the router tile in row r and column c; together they are one counter over all
tiles. Other metrics (`AR_NIC_..`) have one value per producer. Counters run since the node started, so values
are differences. A counter that decreases has restarted at zero.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from odonata.errors import OdonataError
from odonata.textfile import read_text

TIME, PRODUCER, ROUTER = "time", "producername", "aries_rtr_id"
"""Columns (in lower case) that order rows, identify producers, and merge nodes that share a router."""

OTHERS = ("time_usec", "component_id", "job_id", "app_id", "dt", "flag", "userdata")
"""Further columns that are no metrics."""

_TILE = re.compile(r"AR_RTR_(\d)_(\d)_(\w+)$")


def is_ldms(start: str) -> bool:
    """Whether a text starts like a table of LDMS."""
    head = start.lstrip("\ufeff").partition("\n")[0].lstrip("#").lower()
    names = [name.strip() for name in head.split(",")]
    return names[0] == TIME and PRODUCER in names


def read_counters(path: str | Path) -> dict[str, np.ndarray]:
    """The increase of each counter, for every tile of every router or for every producer.

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
    names = [name.strip() for name in head.lstrip("#").split(",")]
    lower = [name.lower() for name in names]
    samples = _samples(path, names, lower, lines)
    counted: dict[str, list[float]] = {}
    routers: set[str] = set()
    for producer, rows in samples.items():
        if len(rows) == 1:
            raise OdonataError(
                f"{path}, line {rows[0][1]}: only one sample of {producer}; counters run since the "
                "node started, so expected two or more"
            )
        rows.sort(key=lambda row: row[0])
        router = rows[0][2][lower.index(ROUTER)].strip() if ROUTER in lower else producer
        known = router in routers
        routers.add(router)
        for place, name in enumerate(names):
            if lower[place] in (TIME, PRODUCER, ROUTER, *OTHERS) or name.endswith(".rate"):
                continue
            tile = _TILE.match(name)
            if tile and known:
                continue
            values = [_number(path, line, row[place], name) for _, line, row in rows]
            steps = np.diff(values)
            increase = np.where(steps < 0, np.array(values[1:]), steps)
            counted.setdefault(f"AR_RTR_{tile[3]}" if tile else name, []).append(float(increase.sum()))
    if not counted:
        raise OdonataError(f"{path} has no samples of metrics; expected rows after the header")
    return {name: np.array(values) for name, values in counted.items()}


def _samples(
    path: str | Path, names: list[str], lower: list[str], lines: list[str]
) -> dict[str, list[tuple[float, int, list[str]]]]:
    """Time, line and values of the rows of each producer."""
    found: dict[str, list[tuple[float, int, list[str]]]] = {}
    for number, row in _rows(lines):
        if len(row) != len(names):
            raise OdonataError(
                f"{path}, line {number}: {len(row)} values; expected {len(names)}, as in the header"
            )
        time = _number(path, number, row[lower.index(TIME)], names[lower.index(TIME)])
        found.setdefault(row[lower.index(PRODUCER)].strip(), []).append((time, number, row))
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
