"""Price lists: TOML files with switches, NICs, cables, the floor and energy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from odonata import toml
from odonata.errors import OdonataError, nearest
from odonata.files import read_text

DEFAULT = "default"
"""The name of the list that comes with the package."""
DEFAULT_FILE = Path(__file__).parent / "list.toml"

_RATES = {"Gb/s": 1e9 / 8, "GB/s": 1e9, "Tb/s": 1e12 / 8, "G": 1e9 / 8}
SLACK = 1.02
"""A port of 200 Gb/s also takes links of 25.5 GB/s: machines give rates with and without coding."""


def rate(text: Any) -> float:
    """Bytes per second of a speed such as `400 Gb/s`.

    Raises:
        ValueError: It is none.
    """
    for unit, factor in _RATES.items():
        if isinstance(text, str) and text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"{text!r} is not a speed like '400 Gb/s'")


@dataclass(frozen=True)
class Switch:
    """A switch with ports of one speed."""

    ports: int
    speed: float
    price: float
    power_w: float = 0.0
    source: str = "assumed"


@dataclass(frozen=True)
class Nic:
    """A NIC with one port."""

    speed: float
    price: float
    power_w: float = 0.0
    source: str = "assumed"


@dataclass(frozen=True)
class Cable:
    """A cable with both ends; its price grows with its length."""

    speed: float
    reach_m: float
    price: float
    price_per_m: float = 0.0
    power_w: float = 0.0
    source: str = "assumed"


@dataclass(frozen=True)
class Floor:
    """Where racks stand and how long cables between them are."""

    nodes_per_rack: int = 64
    switches_per_rack: int = 32
    racks_per_row: int = 16
    rack_width_m: float = 0.6
    row_pitch_m: float = 2.4
    inside_rack_m: float = 1.5
    above_rack_m: float = 3.0
    source: str = "assumed"


@dataclass(frozen=True)
class Energy:
    """What energy costs."""

    price_per_kwh: float = 0.15
    years: float = 5.0
    pue: float = 1.2
    source: str = "assumed"


@dataclass(frozen=True)
class PriceList:
    """All prices.

    Examples:
        >>> prices = odonata.prices.PriceList.load()
        >>> prices.name, prices.currency
        ('public-2026-11', 'USD')
    """

    name: str
    date: str
    currency: str
    switch: tuple[Switch, ...]
    nic: tuple[Nic, ...]
    copper: tuple[Cable, ...]
    optical: tuple[Cable, ...]
    floor: Floor = Floor()
    energy: Energy = Energy()

    @classmethod
    def load(cls, source: str | Path = DEFAULT) -> PriceList:
        """The default list, or the list of a file.

        Raises:
            OdonataError: The file is no price list; the message names the entry.
        """
        path = DEFAULT_FILE if source == DEFAULT else Path(source)
        try:
            content = toml.parse(read_text(path, "a price list"))
        except toml.DecodeError as error:
            raise OdonataError(f"{path} is not valid TOML: {error}") from None
        return _read(path, content)


ROWS: Mapping[str, type[Any]] = {"switch": Switch, "nic": Nic, "copper": Cable, "optical": Cable}
_TABLES: Mapping[str, type[Any]] = {"floor": Floor, "energy": Energy}
_TEXTS = ("name", "date", "currency")

T = TypeVar("T")


def _read(path: Path, content: Mapping[str, Any]) -> PriceList:
    known = [field.name for field in fields(PriceList)]
    _refuse_unknown(path, "the list", content, known)
    found: dict[str, Any] = {name: str(content.get(name, "")) for name in _TEXTS}
    for name, row in ROWS.items():
        entries = content.get(name)
        if not isinstance(entries, list) or not entries:
            raise OdonataError(f"{path} has no [[{name}]]", hint="`odonata prices` prints a whole list.")
        found[name] = tuple(_entry(path, f"[[{name}]] {i + 1}", row, e) for i, e in enumerate(entries))
    for name, table in _TABLES.items():
        found[name] = _entry(path, f"[{name}]", table, content.get(name, {}))
    return PriceList(**found)


def _entry(path: Path, place: str, row: type[T], given: Any) -> T:
    if not isinstance(given, Mapping):
        raise OdonataError(f"{path}, {place}: expected a table")
    known = {field.name: field for field in fields(row)}  # type: ignore[arg-type]
    _refuse_unknown(path, place, given, known)
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key == "source":
            values[key] = str(value)
        elif key == "speed":
            try:
                values[key] = rate(value)
            except ValueError as error:
                raise OdonataError(f"{path}, {place}: {error}") from None
        elif isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise OdonataError(f"{path}, {place}: '{key}' is {value!r}; expected a number from 0 up")
        else:
            values[key] = value
    try:
        return row(**values)
    except TypeError as error:
        missing = str(error).partition("argument")[2].strip("s: ")
        raise OdonataError(f"{path}, {place} lacks {missing}") from None


def _refuse_unknown(path: Path, place: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    names = list(known)
    for key in given:
        if key not in names:
            hint = nearest(key, names, f"Keys: {', '.join(names)}.")
            raise OdonataError(f"{path}, {place}: unknown key '{key}'", hint=hint)
