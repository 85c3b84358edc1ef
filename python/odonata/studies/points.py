"""Stored points of a study: the compact form of its runs, in the study's folder.

`points/EXPERIMENT/KEY=VALUE/.../KEY=VALUE.json.xz` holds what the function `keep` of `study.py` made of a
run, and a digest of what the run was made from. Tables and figures of the page read it.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import __version__, files
from odonata.errors import OdonataError
from odonata.store.atomic import atomic_file
from odonata.store.sweep import Point

FOLDER = "points"

ENGINE_VERSION = 1
"""Raise it when results of an engine change: stored points of earlier versions run again.

`tests/studies/test_points.py` fails if results change without it.
"""

LARGEST = 35_000
"""Bytes of a stored point. A thousand points are in the repository, which should stay below 40 MB."""

DIGITS = 7
"""Digits of a stored number; pages show three."""

FORMAT = 1


def digest(resolved: str) -> str:
    """Digest of what decides on the results of a run: resolved experiment and version of the engines."""
    return hashlib.sha256(f"{ENGINE_VERSION}\n{resolved}".encode()).hexdigest()


def plain(value: Any) -> Any:
    """A value as it is stored: numbers with few digits, NaN as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def restored(value: Any) -> Any:
    """A stored value: null is NaN again."""
    if isinstance(value, dict):
        return {key: restored(one) for key, one in value.items()}
    if isinstance(value, list):
        return [restored(one) for one in value]
    return math.nan if value is None else value


@dataclass(frozen=True)
class StoredPoints:
    """The stored points of a study."""

    folder: Path
    """Folder of the study."""

    def path(self, part: str, point: Point) -> Path:
        """The file of a point of a part: a folder for each setting but the last.

        The list of files of a wheel cannot hold the commas of a point's name.
        """
        return self.folder.joinpath(FOLDER, part, *f"{point.name}.json.xz".split(","))

    def has(self, part: str, point: Point) -> bool:
        """Whether there is a file of the point, up to date or not."""
        return self.path(part, point).is_file()

    def is_current(self, part: str, point: Point, resolved: str) -> bool:
        """Whether a point is stored that a new run would make again."""
        return self.has(part, point) and self._content(part, point)["digest"] == digest(resolved)

    def read(self, part: str, point: Point) -> Mapping[str, Any]:
        """What was kept of a point.

        Raises:
            OdonataError: The file is damaged.
        """
        kept: Mapping[str, Any] = restored(self._content(part, point)["kept"])
        return kept

    def write(self, part: str, point: Point, resolved: str, kept: Any) -> Path:
        """Stores a point.

        Raises:
            OdonataError: The point is too large.
        """
        target = self.path(part, point)
        content = {
            "format": FORMAT,
            "digest": digest(resolved),
            "engine_version": ENGINE_VERSION,
            "odonata_version": __version__,
            "kept": plain(kept),
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        packed = lzma.compress(text.encode(), preset=9)
        if len(packed) > LARGEST:
            raise OdonataError(
                f"{target} would have {len(packed):,} bytes, above {LARGEST:,}",
                hint="The function `keep` of study.py keeps too much of a run.",
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(target) as path:
            path.write_bytes(packed)
        return target

    def _content(self, part: str, point: Point) -> Mapping[str, Any]:
        path = self.path(part, point)
        try:
            content = json.loads(lzma.decompress(files.read_bytes(path)))
        except (OSError, ValueError, lzma.LZMAError, EOFError) as error:
            raise OdonataError(
                f"{path} is damaged: {error}", hint="Remove it, and run the point again."
            ) from None
        if not isinstance(content, dict) or not {"format", "digest", "kept"} <= content.keys():
            raise OdonataError(f"{path} is no stored point", hint="Remove it, and run the point again.")
        if content["format"] != FORMAT:
            raise OdonataError(f"{path} has format {content['format']!r}, expected {FORMAT}")
        return content
