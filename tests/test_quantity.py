"""How numbers with units are written: the table that the viewer's tests read, too, and scales of columns."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.quantity import Scale, counted, quantity, scale

EXAMPLES = json.loads(Path(__file__).with_name("quantities.json").read_text())
UNITS = sorted({unit for _, unit, _ in EXAMPLES})


@pytest.mark.parametrize(("value", "unit", "text"), EXAMPLES)
def test_quantities_are_written_as_in_the_table(value: float | None, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_one_thing_has_a_singular() -> None:
    assert [counted(number, "hop") for number in (0, 1, 2, 1234)] == [
        "0 hops",
        "1 hop",
        "2 hops",
        "1,234 hops",
    ]


def test_a_column_has_one_scale() -> None:
    assert scale([1e6, 2**21, None, math.nan], "bytes") == Scale("MiB", 2.0**20)
    assert scale([3e9, 25e9], "bytes-per-s") == Scale("GB/s", 1e9)
    assert scale([0.2, 0.0004], "s") == Scale("ms", 1e-3)
    assert scale([422.0, 3500.0], "ns") == Scale("us", 1e3)
    assert scale([], "bytes") == Scale("B", 1.0)
    assert scale([0.3], "share").heading("offered load") == "offered load, %"
    assert scale([3.0], "hops").axis("hops") == "hops"


@given(value=st.floats(1e-2, 1e17), unit=st.sampled_from(["bytes", "bytes-per-s", "ps", "ns", "s"]))
def test_what_is_written_is_the_value_within_its_digits(value: float, unit: str) -> None:
    number, symbol = quantity(value, unit).split(" ")
    sizes = {"bytes": "B KiB MiB GiB TiB PiB EiB", "bytes-per-s": "B/s kB/s MB/s GB/s TB/s PB/s EB/s"}
    if unit in sizes:
        base = 1024 if unit == "bytes" else 1000
        factor = float(base ** sizes[unit].split().index(symbol))
    else:
        seconds = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
        factor = seconds[symbol] / seconds[unit]
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=5.1e-3)
