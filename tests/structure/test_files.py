"""Files that others may have written are opened in one place, which refuses what cannot be read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "odonata"

READERS = {
    "open",
    "fdopen",
    "read_text",
    "read_bytes",
    "ParquetFile",
    "read_table",
    "read_metadata",
    "read_parquet",
    "read_csv",
    "memmap",
    "fromfile",
}
"""Functions and methods that open a file to read it."""

OWN = {"boxfish", "files", "store", "webbrowser"}
"""Modules whose functions have these names, too, and open no file here."""

ALLOWED = {
    "files.py": "the door",
    "colors.py": "a file of the package",
    "viewer/server.py": "files of the package",
    "studies/page.py": "pictures that the study has just drawn",
    "store/atomic.py": "a directory, to write it to the disk",
    "store/writer.py": "parts that this process has written",
    "sweeps/remote.py": "files that this process has written",
    "amg/boomeramg.py": "what a program of ours has just written into a private folder",
    "amg/hierarchy.py": "what a program of ours has just written into a private folder",
    "amg/matrices.py": "what a program of ours has just written into a private folder",
    "amg/record.py": "what a program of ours has just written into a private folder",
    "cli/group.py": "the null device",
    "cli/commands/import_.py": "a new file, to write it",
    "cli/commands/new.py": "a new file, to write it",
}
"""Files that open others without it, and why they may."""


def openings(tree: ast.AST) -> list[tuple[int, str]]:
    """Line and name of each call that opens a file to read it."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        owner = getattr(called.value, "id", "") if isinstance(called, ast.Attribute) else ""
        # `read_text(path)` without an owner is imported from the door.
        is_own = owner in OWN or (owner == "" and isinstance(called, ast.Name) and name != "open")
        if name in READERS and not is_own:
            found.append((node.lineno, name))
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_are_opened_in_one_place(path: Path) -> None:
    found = openings(ast.parse(path.read_text()))
    if str(path.relative_to(PACKAGE)) in ALLOWED:
        assert found, "nothing is opened here any more: remove the exception"
    else:
        assert not found, f"lines {found}: use odonata.files"


@pytest.mark.parametrize(
    "text", ["open(p)", "p.open()", "p.read_text()", "pq.read_table(p)", "pq.ParquetFile(p)", "os.open(p, 0)"]
)
def test_an_opening_is_noticed(text: str) -> None:
    assert openings(ast.parse(text))
