"""Imports of the Python package have one direction, wherever in a file they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "odonata"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("lazy", "records", "sections"),
    ("_core", "command_signals"),
    ("errors",),
    ("colors", "foreign_files", "names", "notebook", "programs", "quantity", "toml"),
    ("experiment", "files"),
    ("shipped", "store"),
    ("analysis",),
    ("plot", "viewer", "export"),
    ("checkpointing", "processes", "runs"),
    ("api",),
    ("trial",),
    ("machines", "sweeps", "explanation"),
    ("characterization", "comparison", "mapping", "counters", "gpcnet", "optimization", "prices"),
    ("importers", "report", "views"),
    ("drafts",),
    ("odonata",),
    ("amg", "studies"),
    ("cli",),
    ("__main__",),
)
"""From below: a part imports parts of earlier lines only. Parts of one line know nothing of each other.

`odonata` is the root, which has the names that users see and imports each when it is used.
"""

LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part(path: Path) -> str:
    """The package or module right below `odonata` that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and part of each import from this package; `odonata` for its root, but for the version there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            # `from odonata import plot` imports the part plot, `from odonata import __version__` the root.
            names = [f"{node.module}.{name.name}" for name in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "odonata" and parts[1:] != ["__version__"]:
                yield node.lineno, parts[1] if parts[1:2] and parts[1] in LEVEL else "odonata"


def test_every_part_has_a_layer() -> None:
    found = {part(path) for path in files()} - {"__init__"}
    assert found <= LEVEL.keys(), "a new part: say in LAYERS which others it may import"


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_have_one_direction(path: Path) -> None:
    mine = part(path)
    if mine == "__init__":
        return
    for line, other in imported(ast.parse(path.read_text())):
        assert other == mine or LEVEL[other] < LEVEL[mine], f"{path.name}:{line}: {mine} imports {other}"
