"""A point of a sweep: what is to run, what is known of it before, and whether it has run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import __version__
from odonata.api import Source
from odonata.errors import StoreError
from odonata.store import RunReader
from odonata.store.schema import RESOLVED
from odonata.store.sweep import Point, point_directory

MARK = ".shared"
"""A file in a sweep's directory while it runs on a cluster: workers that see it write there."""


@dataclass(frozen=True)
class Task:
    """A point to run."""

    source: Source
    changes: tuple[str, ...]
    """Overrides that hold for the whole sweep."""
    point: Point
    directory: Path
    """The sweep's."""

    @property
    def target(self) -> Path:
        """The run directory."""
        return point_directory(self.directory, self.point)

    @property
    def overrides(self) -> list[str]:
        """All overrides."""
        return [*self.changes, *self.point.overrides]


@dataclass(frozen=True)
class Checked:
    """A point that can be run."""

    resolved: str
    memory_bytes: int
    """About what its process takes."""
    routing: str
    packets: int | None
    """About how many it sends, where the engine knows."""


def is_finished(directory: Path, resolved: str) -> bool:
    """Whether a point's run is there and would come out the same again."""
    try:
        reader = RunReader(directory)
        return (
            reader.summary["complete"] is True
            and reader.summary["odonata_version"] == __version__
            and reader.text(RESOLVED) == resolved
            and all(_is_as_it_was(entry) for entry in reader.summary.get("inputs", []))
        )
    except StoreError:
        return False


def _is_as_it_was(entry: dict[str, Any]) -> bool:
    """Whether a file that a run has read still has the content that it had then."""
    path = Path(entry["path"])
    try:
        return bool(hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"])
    except OSError:
        return False
