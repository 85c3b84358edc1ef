"""The directory of a sweep: its axes, and one point for every combination of their values.

`sweep.json` has axes and points. `points/<name>/` is the run directory of a point.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata import _core, files, toml
from odonata.errors import DamagedRunError, NewerRunError, NotARunError

FORMAT = "odonata-sweep"
FORMAT_VERSION = 3
DESCRIPTION = "sweep.json"

LONGEST_NAME = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9=+.,_-]+")


@dataclass(frozen=True)
class Axis:
    """A key and its values; or a name for keys that change together, and a name for each choice."""

    key: str
    values: tuple[Any, ...]
    overrides: tuple[tuple[str, ...], ...]
    """For each value the overrides `KEY=VALUE`: one, or several that change together."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Axis:
        """An axis of the experiment's file, or of a sweep's file that was checked."""
        return cls(given["key"], tuple(given["values"]), tuple(map(tuple, given["overrides"])))

    @property
    def is_seed(self) -> bool:
        """Whether the axis varies only seeds."""
        return bool(self._changed) and all(_core.is_seed(key) for key in self._changed)

    @property
    def is_load(self) -> bool:
        """Whether the axis varies only the load of open traffic."""
        return bool(self._changed) and all(map(sets_load, self._changed))

    @property
    def _changed(self) -> set[str]:
        """The keys that the axis changes."""
        return {change.partition("=")[0] for changes in self.overrides for change in changes}


def sets_load(key: str) -> bool:
    """Whether a key of experiments is the load of open traffic."""
    return key.endswith((".traffic", ".traffic.load"))


@dataclass(frozen=True)
class Point:
    """One combination of values."""

    index: int
    """Number from 0; the last axis varies fastest."""
    values: tuple[Any, ...] = field(hash=False)
    """One value per axis; a list if the key takes a list."""
    overrides: tuple[str, ...]
    name: str
    """Name of the run directory.

    It depends only on this point, so a sweep can grow and keep finished runs.
    """


def points(axes: Sequence[Axis]) -> list[Point]:
    """All points; a single unchanged point if there is no axis."""
    places = itertools.product(*(range(len(axis.values)) for axis in axes))
    return [point_at(axes, place, index) for index, place in enumerate(places)]


def point_at(axes: Sequence[Axis], place: Sequence[int], index: int = 0) -> Point:
    """The point with the values at these positions of the axes."""
    shorts = short_keys([axis.key for axis in axes])
    chosen = list(zip(axes, place, strict=True))
    values = tuple(axis.values[i] for axis, i in chosen)
    overrides = tuple(override for axis, i in chosen for override in axis.overrides[i])
    return Point(index, values, overrides, _name(shorts, values, overrides))


def point_directory(directory: Path, point: Point) -> Path:
    """The run directory of a point."""
    return directory / "points" / point.name


def describe(axes: Sequence[Axis], version: str) -> str:
    """The text of `sweep.json`; `version` is the program's."""
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "odonata_version": version,
        "axes": [vars(axis) for axis in axes],
        "points": [{"point": point.index, "directory": f"points/{point.name}"} for point in points(axes)],
    }
    return json.dumps(description, indent=2, ensure_ascii=False) + "\n"


def read_format(file: Path, *formats: str) -> dict[str, Any] | None:
    """The content of a JSON file with one of these formats; None if it is no such file."""
    try:
        content = files.read_json(file)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("format") in formats else None


def read_axes(directory: Path) -> list[Axis]:
    """The axes of the sweep in a directory.

    Raises:
        NotARunError: The directory holds no sweep, or one in an old format without several overrides per
            point.
        NewerRunError: It was written by a newer version.
        DamagedRunError: `sweep.json` does not match the format.
    """
    description = read_format(directory / DESCRIPTION, FORMAT)
    if description is None:
        raise NotARunError(f"{directory} is not a sweep directory")
    version = description.get("format_version")
    if type(version) is not int:
        raise damaged(directory / DESCRIPTION, "format_version is not an integer")
    if version > FORMAT_VERSION:
        writer = description.get("odonata_version", "of an unknown version")
        raise NewerRunError(f"{directory} was written by Odonata {writer}, a newer version")
    if version < FORMAT_VERSION:
        raise NotARunError(
            f"{directory} was written in format {version} of sweeps, which is no longer supported",
            hint="Run the sweep again into another directory.",
        )
    axes = axes_of(directory / DESCRIPTION, description.get("axes"))
    expected = [{"point": point.index, "directory": f"points/{point.name}"} for point in points(axes)]
    if description.get("points") != expected:
        raise damaged(directory / DESCRIPTION, "points are not every combination of the values of its axes")
    return axes


def axes_of(file: Path, given: Any) -> list[Axis]:
    """The axes of a file.

    Raises:
        DamagedRunError: The axes do not match the format.
    """
    if not isinstance(given, list):
        raise damaged(file, "axes is not a list")
    return [_axis(file, number, axis) for number, axis in enumerate(given)]


def _axis(file: Path, number: int, given: Any) -> Axis:
    wrong = f"axes[{number}]"
    if not isinstance(given, dict) or not isinstance(given.get("key"), str):
        raise damaged(file, f"{wrong} has no key")
    values, overrides = given.get("values"), given.get("overrides")
    if not isinstance(values, list) or not values:
        raise damaged(file, f"{wrong} has no values")
    try:
        toml.value(values)
    except TypeError:
        raise damaged(file, f"{wrong} has null, which is no value of a key") from None
    if (
        not isinstance(overrides, list)
        or len(overrides) != len(values)
        or not all(isinstance(each, list) for each in overrides)
        or not all(isinstance(text, str) for each in overrides for text in each)
    ):
        raise damaged(file, f"{wrong} has no list of texts KEY=VALUE for each of its values")
    return Axis.of(given)


def damaged(file: Path, reason: str) -> DamagedRunError:
    """The error for a file of a sweep or a search that does not match its format."""
    return DamagedRunError(
        f"{file} is damaged: {reason}",
        hint="Run it again with the same directory: finished points are not repeated.",
    )


def text(value: Any) -> str:
    """A value for display: strings without quotes, anything else as TOML."""
    return value if isinstance(value, str) else toml.value(value)


def short_keys(keys: list[str]) -> list[str]:
    """The last part of each key if these parts differ, else the whole key.

    The name of a variant stands for the variant: `routing` for `engine.routing.name`.
    """
    last = [key.removesuffix(".name").rsplit(".", 1)[-1] for key in keys]
    return [short if last.count(short) == 1 else key for key, short in zip(keys, last, strict=True)]


def _name(shorts: list[str], values: tuple[Any, ...], overrides: tuple[str, ...]) -> str:
    exact = ",".join(f"{key}={text(value)}" for key, value in zip(shorts, values, strict=True)) or "point"
    safe = _UNSAFE.sub("_", exact)[:LONGEST_NAME]
    if safe == exact:
        return safe
    digest = hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:8]
    return f"{safe}-{digest}"
