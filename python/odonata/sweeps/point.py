"""A point of a sweep: its task, the result of its check, and whether it is finished."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import __version__, files
from odonata._core import Experiment
from odonata.errors import StoreError
from odonata.store.reader import RunReader
from odonata.store.schema import INTERRUPTED, RESOLVED, ending_of
from odonata.store.sweep import Point, point_directory

MARK = ".shared"
"""File in a sweep's directory while it runs on a cluster. Workers that see the file write there."""


@dataclass(frozen=True)
class Task:
    """A point to run."""

    sweep: Experiment
    """The experiment of the whole sweep."""
    point: Point
    directory: Path
    """Directory of the sweep."""

    @property
    def target(self) -> Path:
        """The run directory."""
        return point_directory(self.directory, self.point)

    @property
    def experiment(self) -> Experiment:
        """The experiment of the point."""
        return self.sweep.with_overrides(self.point.overrides)


@dataclass(frozen=True)
class CheckedPoint:
    """A point that can run."""

    resolved: str
    memory_bytes: int
    """Estimated memory of its process."""
    routing: str
    packets: int | None
    """Estimated number of packets; None if unknown."""


def is_finished(directory: Path, resolved: str) -> bool:
    """Whether a point's run exists and a new one would give the same results."""
    try:
        reader = RunReader(directory)
        return (
            # Only an interrupt ends a run elsewhere the next time.
            ending_of(reader.summary) != INTERRUPTED
            and reader.summary["odonata_version"] == __version__
            and reader.text(RESOLVED) == resolved
            and all(_is_unchanged(entry) for entry in reader.summary.get("inputs", []))
        )
    except StoreError:
        return False


def _is_unchanged(entry: dict[str, Any]) -> bool:
    try:
        return bool(files.sha256(Path(entry["path"])) == entry["sha256"])
    except (OSError, ValueError):
        return False
