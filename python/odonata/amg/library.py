"""Data of the package: level tables of hierarchies and parameter sets of machines, by name.

Some hierarchies are also directories with their messages, for engines that simulate.
"""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
SUFFIXES = {"hierarchies": ".json", "machines": ".toml"}


def files(kind: str) -> list[tuple[str, Path]]:
    """Names and files of a kind, `hierarchies` or `machines`, sorted by name."""
    suffix = SUFFIXES[kind]
    return sorted((path.stem, path) for path in (DATA / kind).glob(f"*{suffix}"))


def directories() -> list[tuple[str, Path]]:
    """Names and directories of the hierarchies that contain their messages and a redistribution."""
    return sorted((path.name, path) for path in (DATA / "executed").iterdir() if path.is_dir())


def known(kind: str) -> list[tuple[str, Path]]:
    """Names for experiment files: the directory of a hierarchy if there is one, else its file."""
    found = dict(files(kind))
    if kind == "hierarchies":
        found.update(directories())
    return sorted(found.items())
