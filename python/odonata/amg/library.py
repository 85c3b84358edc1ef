"""The data of the package: level tables of hierarchies and parameter sets of machines, by name."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
SUFFIXES = {"hierarchies": ".json", "machines": ".toml"}


def files(kind: str) -> list[tuple[str, Path]]:
    """Names and files of a kind, `hierarchies` or `machines`, sorted by name."""
    suffix = SUFFIXES[kind]
    return sorted((path.stem, path) for path in (DATA / kind).glob(f"*{suffix}"))
