"""Files of at most 500 lines, functions of at most 80: both still fit a head and a screen.

The viewer's TypeScript is checked by its linter (`viewer/.oxlintrc.json`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rust_sources

ROOT = Path(__file__).parents[2]

LONGEST_STYLE = 400
LONGEST_FILE = 500
LONGEST_FUNCTION = 80

LONG_FILES: dict[str, int] = {}
"""Files that are still too long, and how long they may be. This only gets shorter, its numbers smaller."""

LONG_FUNCTIONS: dict[tuple[str, str], int] = {}
"""The same for functions."""

FOLDERS = [
    "benches",
    "crates",
    "docs",
    "examples",
    "fuzz",
    "python",
    "studies",
    "tests",
    "viewer/src",
    "vmpi",
]
BUILT = {"build", "target"}


def sources(*suffixes: str) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT)
            if path.suffix in suffixes and not BUILT & set(name.parts):
                yield name.as_posix(), path


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def check(lengths: dict[object, int], most: int, known: dict[object, int]) -> None:
    long = {name: lines for name, lines in lengths.items() if lines > most}
    grown = {name: lines for name, lines in long.items() if lines > known.get(name, most)}
    assert not grown, f"split what has more than {most} lines, or has grown beyond what was allowed"
    assert known.keys() <= long.keys(), "short now, well done: take it off the list"


def test_files_are_short() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in sources(".rs", ".py", ".c", ".h")}
    assert len(lengths) > 300, "the sources were found"
    check(lengths, LONGEST_FILE, LONG_FILES)
    styles = {name: len(path.read_text().splitlines()) for name, path in sources(".css")}
    assert styles, "the style sheets were found"
    check(styles, LONGEST_STYLE, {})


def test_functions_are_short() -> None:
    lengths: dict[object, int] = {}
    readers = {".rs": rust_sources.functions, ".py": python_functions}
    for name, path in sources(*readers):
        for function, lines in readers[path.suffix](path):
            lengths[name, function] = max(lines, lengths.get((name, function), 0))
    assert len(lengths) > 2000, "the functions were found"
    check(lengths, LONGEST_FUNCTION, LONG_FUNCTIONS)


def test_rust_functions_are_measured(tmp_path: Path) -> None:
    """Oracle for the reader: a signature over several lines, one without a body, one inside another."""
    text = """
impl A {
    pub(crate) const fn long(
        &self,
    ) -> u32 {
        fn inner() {
            1;
        }
        2
    }
    fn short() {}
}
trait T {
    fn none(
        &self,
    ) -> u32;
}
"""
    (tmp_path / "a.rs").write_text(text)
    assert dict(rust_sources.functions(tmp_path / "a.rs")) == {"long": 8, "inner": 3, "none": 3}
