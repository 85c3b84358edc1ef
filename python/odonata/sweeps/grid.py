"""The points of a sweep: every combination of the values of its axes."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from odonata import toml

LONGEST_NAME = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9=+.,_-]+")


@dataclass(frozen=True)
class Axis:
    """A key and the values that it takes."""

    key: str
    values: tuple[Any, ...]
    overrides: tuple[str, ...]
    """For each value the text `KEY=VALUE`."""


@dataclass(frozen=True)
class Point:
    """One combination."""

    index: int
    """From 0, the last axis running fastest."""
    values: tuple[Any, ...] = field(hash=False)
    """One for each axis; a list if the key takes one."""
    overrides: tuple[str, ...]
    name: str
    """Of its run directory. It depends on this point alone, so a sweep can grow and keep what is finished."""


def points(axes: Sequence[Axis]) -> list[Point]:
    """All points; one without any change if there is no axis."""
    shorts = short_keys([axis.key for axis in axes])
    choices = [list(zip(axis.values, axis.overrides, strict=True)) for axis in axes]
    result = []
    for index, combination in enumerate(itertools.product(*choices)):
        values = tuple(value for value, _ in combination)
        overrides = tuple(override for _, override in combination)
        result.append(Point(index, values, overrides, _name(shorts, values, overrides)))
    return result


def text(value: Any) -> str:
    """A value as it is shown: strings without quotes, anything else as TOML."""
    return value if isinstance(value, str) else toml.value(value)


def short_keys(keys: list[str]) -> list[str]:
    """The last part of each key where that tells them apart, else the whole key."""
    last = [key.rsplit(".", 1)[-1] for key in keys]
    return [short if last.count(short) == 1 else key for key, short in zip(keys, last, strict=True)]


def _name(shorts: list[str], values: tuple[Any, ...], overrides: tuple[str, ...]) -> str:
    exact = ",".join(f"{key}={text(value)}" for key, value in zip(shorts, values, strict=True)) or "point"
    safe = _UNSAFE.sub("_", exact)[:LONGEST_NAME]
    if safe == exact:
        return safe
    digest = hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:8]
    return f"{safe}-{digest}"
