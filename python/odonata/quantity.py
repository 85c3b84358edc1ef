"""Numbers with units for people: the only place in Python that knows prefixes and factors.

Units are declared with the columns (`odonata.store.schema`). Amounts of data have binary prefixes (MiB),
rates decimal ones (GB/s), times use ps to s. The viewer formats numbers alike in
`viewer/src/base/format.ts`; tests of both read `tests/quantities.json`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_RATES = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s")
_COUNTS = ("", "k", "M", "G", "T", "P", "E")
_TIMES = ("ps", "ns", "us", "ms", "s")
_PICOSECONDS = {"ps": 1.0, "ns": 1e3, "s": 1e12}

_SMALLEST = ("B", "B/s", "ps")
LEAST = 0.001
"""Less of the smallest unit of an amount, a rate or a time is rounding, such as 3.3e-07 B of two runs."""

PLAIN_COUNTS_BELOW = 1e7
"""Whole numbers from this one on have a prefix; smaller ones are shown in full."""


def picoseconds(text: str) -> float:
    """A time as in experiments, such as `20 us`."""
    number, unit = text.split()
    return float(number) * (1e12 if unit == "s" else 1000.0 ** _TIMES.index(unit))


@dataclass(frozen=True)
class Scale:
    """The common unit in which all values of a column or an axis are shown."""

    symbol: str
    """Symbol, such as `MiB`; may be empty."""
    size: float
    """Size in the column's own unit."""

    def of(self, value: float | None) -> float | None:
        """A value on this scale."""
        return None if value is None else value / self.size

    def heading(self, label: str) -> str:
        """The heading of a column of a table."""
        return f"{label}, {self.symbol}" if self.symbol else label

    def axis(self, label: str) -> str:
        """The label of an axis of a figure, where `us` is written `µs`."""
        symbol = "µs" if self.symbol == "us" else self.symbol
        return f"{label} ({symbol})" if symbol else label


def scale(values: Iterable[float | None], unit: str) -> Scale:
    """The scale on which the largest of the values has one to three digits before the point."""
    known = (abs(value) for value in values if value is not None and math.isfinite(value))
    return _scale(max(known, default=0.0), unit)


def _scale(size: float, unit: str) -> Scale:
    if unit == "bytes":
        step = _step(size, 1024, len(_BINARY))
        return Scale(_BINARY[step], 1024.0**step)
    if unit == "bytes-per-s":
        step = _step(size, 1000, len(_RATES))
        return Scale(_RATES[step], 1000.0**step)
    if unit in _PICOSECONDS:
        own = _PICOSECONDS[unit]
        step = _step(size * own, 1000, len(_TIMES)) if size else len(_TIMES) - 1
        return Scale(_TIMES[step], 1000.0**step / own)
    return Scale("%", 0.01) if unit == "share" else Scale("", 1.0)


def _step(size: float, base: int, steps: int) -> int:
    step = 0
    # Rounding first: 1023.7 KiB would be shown as 1,024 KiB.
    while step < steps - 1 and round(size / base**step) >= base:
        step += 1
    return step


def quantity(value: float | None, unit: str, significant: int = 3) -> str:
    """The value with its unit, such as `12.3 MiB`; `-` for no value."""
    if value is None or not math.isfinite(value):
        return digits(value, significant)
    if unit == "share":
        return percent(value)
    if unit == "count":
        return _count(value, significant)
    shown = _scale(abs(value), unit)
    if shown.symbol in _SMALLEST and 0 < abs(value / shown.size) < LEAST:
        return f"{'<' if value > 0 else '>-'}{LEAST} {shown.symbol}"
    return f"{digits(value / shown.size, significant)} {shown.symbol}".rstrip()


def digits(value: float | None, significant: int = 3) -> str:
    """Three significant digits, with an exponent only if needed; `-` for no value."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e6 or size < 1e-4:
        lead, power = f"{value:.{significant - 1}e}".split("e")
        return f"{_trimmed(lead)}e{int(power)}"
    if size >= 10 ** (significant - 1):
        return f"{_rounded(value):,}"
    return _trimmed(f"{value:.{significant - 1 - math.floor(math.log10(size))}f}")


def percent(share: float) -> str:
    """A share in percent."""
    if not math.isfinite(share):
        return "-"
    value = 100 * share
    if value and abs(value) < 0.05:
        return "<0.1 %" if value > 0 else ">-0.1 %"
    return f"{digits(_rounded(value))} %" if abs(value) >= 99.95 else f"{value:.1f} %"


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 hop` and `2 hops`.

    Args:
        number: The number.
        noun: Its singular, whose plural has an `s`.
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _count(value: float, significant: int) -> str:
    size = abs(value)
    if float(value).is_integer() and size < PLAIN_COUNTS_BELOW:
        return f"{int(value):,}"
    if size < 1e6 or size >= 1e18:
        return digits(value, significant)
    step = _step(size, 1000, len(_COUNTS))
    return f"{digits(value / 1000.0**step, significant)} {_COUNTS[step]}"


def _rounded(value: float) -> int:
    """The nearest whole number, halves away from zero, as the viewer's page rounds."""
    return int(math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1))


def _trimmed(text: str) -> str:
    """Removes trailing zeros, which would suggest a precision: 1.00 is shown as 1."""
    return text.rstrip("0").rstrip(".") if "." in text else text
