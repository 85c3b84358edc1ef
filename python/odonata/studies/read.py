"""Reads `study.toml`. Errors have the place, the expected value and the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from odonata import _core, errors, toml
from odonata.errors import OdonataError

_WORDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


UNITS: dict[str, float] = {
    "": 1.0,
    "%": 1e-2,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
}
"""Divisors for display. Tables hold bytes, seconds and shares."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name."""
    known = list(known)
    return errors.nearest(name, known, f"Use one of {', '.join(known)}." if known else "There are no names.")


def document(path: Path) -> Mapping[str, Any]:
    """The content of a TOML file."""
    try:
        return toml.parse(_core.read_experiment(path))
    except toml.DecodeError as error:
        raise OdonataError(f"{path} is not valid TOML: {error}") from None


class TomlTable:
    """A TOML table whose keys are taken one by one; `end` refuses the remaining keys."""

    def __init__(self, content: Mapping[str, Any], place: str) -> None:
        self._content = dict(content)
        self._taken: set[str] = set()
        self.place = place
        """The file and the table in it, for messages."""

    def error(self, message: str, hint: str | None = None) -> OdonataError:
        """An error in this table."""
        return OdonataError(f"{self.place}: {message}", hint=hint)

    def has(self, key: str) -> bool:
        """Whether the key exists."""
        return key in self._content

    def take(self, key: str, *kinds: type) -> Any:
        """The value of a required key."""
        if key not in self._content:
            raise self.error(f"the key {key} is missing")
        self._taken.add(key)
        return self._checked(key, kinds)

    def get(self, key: str, default: Any, *kinds: type) -> Any:
        """The value of a key, or the default. The allowed types are `kinds`, else the type of the default."""
        if key not in self._content:
            self._taken.add(key)
            return default
        self._taken.add(key)
        return self._checked(key, kinds or (type(default),))

    def rest(self) -> dict[str, Any]:
        """All remaining keys."""
        left = {key: value for key, value in self._content.items() if key not in self._taken}
        self._taken |= left.keys()
        return left

    def end(self) -> None:
        """Refuses the remaining keys."""
        for key in self._content:
            if key not in self._taken:
                raise self.error(f"unknown key {key}", nearest(key, sorted(self._taken)))

    def _checked(self, key: str, kinds: tuple[type, ...]) -> Any:
        value = self._content[key]
        # TOML's 1 is a valid 1.0, but true is no number although it is one in Python.
        allowed = (*kinds, int) if float in kinds else kinds
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            expected = " or ".join(_WORDS.get(kind, kind.__name__) for kind in kinds)
            raise self.error(f"{key} is {value!r}, expected {expected}")
        return value


def texts(table: TomlTable, key: str) -> tuple[str, ...]:
    """A list of texts; one text counts as a list of one."""
    given = table.get(key, [], list, str)
    values = [given] if isinstance(given, str) else given
    if not all(isinstance(value, str) for value in values):
        raise table.error(f"{key} is {given!r}, expected a list of texts")
    return tuple(values)
