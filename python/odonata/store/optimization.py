"""The directory of an optimization: its settings, and the runs of each trial.

`optimize.json` has axes, objectives and constraints. `trials.parquet` has a row for each combination that was
tried. `points/<name>/` is the run directory of a combination with one of the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odonata.errors import DamagedRunError, NewerRunError, NotARunError
from odonata.store.sweep import Axis, Point, axes_of, damaged, point_at, read_format, text

FORMAT = "odonata-optimize"
FORMAT_VERSION = 2
DESCRIPTION = "optimize.json"
TRIALS = "trials.parquet"


def read_description(directory: Path) -> dict[str, Any]:
    """Reads `optimize.json`.

    Raises:
        NotARunError: The file does not exist.
        NewerRunError: It was written by a newer version.
        DamagedRunError: It does not match the format.
    """
    description = read_format(directory / DESCRIPTION, FORMAT)
    if description is None:
        raise NotARunError(f"{directory} is not an optimization directory")
    if description.get("format_version") != FORMAT_VERSION:
        writer = description.get("odonata_version", "of an unknown version")
        raise NewerRunError(f"{directory} was written by Odonata {writer}, in another format")
    objectives = description.get("objectives")
    if not (isinstance(objectives, list) and objectives and all(isinstance(one, str) for one in objectives)):
        raise damaged(directory / DESCRIPTION, "objectives is not a list of texts")
    return description


def trial_points(axes: list[Axis], trial: Mapping[str, Any]) -> list[Point]:
    """The points of a trial: its values on the axes that it names, all values on the others (seeds)."""
    places: list[list[int]] = [[]]
    for axis in axes:
        values = [text(value) for value in axis.values]
        given = trial.get(axis.key)
        if given is not None and given not in values:
            raise DamagedRunError(f"{TRIALS} has {given!r} for {axis.key}, which is no value of this axis")
        chosen = range(len(values)) if given is None else [values.index(given)]
        places = [[*place, number] for place in places for number in chosen]
    return [point_at(axes, place) for place in places]


def read_search_axes(directory: Path) -> list[Axis]:
    """The axes that a search varies, and the axis of the seeds.

    Raises:
        DamagedRunError: `optimize.json` does not match the format.
    """
    return axes_of(directory / DESCRIPTION, read_description(directory).get("axes"))
