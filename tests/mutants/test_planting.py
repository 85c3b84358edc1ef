"""What `make mutants` plants: copies of Rust functions behind switches, and changes of Python's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import python_mutants  # noqa: E402
from switches import Workspace, with_switches  # noqa: E402

RUST = """\
impl Pair {
    // As fn half does not.
    pub fn sum(&self) -> [u8; 1] {
        [self.a + self.b]
    }
}
"""

SWITCHED = """\
impl Pair {
    // As fn half does not.
    pub fn sum(&self) -> [u8; 1] { if crate::is_planted(7) {
        [self.a - self.b]
    }
 else if crate::is_planted(9) {
        [0]
    }
 else{
        [self.a + self.b]
    }}
}
"""


def mutant(replacement: str, column: int, end_column: int) -> dict[str, Any]:
    """As cargo-mutants describes it: lines and columns count from 1, an end is behind the last character."""

    def between(line: int, column: int, end_line: int, end_column: int) -> dict[str, dict[str, int]]:
        return {
            "start": {"line": line, "column": column},
            "end": {"line": end_line, "column": end_column},
        }

    function = {"span": between(3, 5, 5, 6)}
    return {"function": function, "span": between(4, column, 4, end_column), "replacement": replacement}


def test_each_mutant_is_a_copy_of_the_body_behind_a_switch() -> None:
    text, lines = with_switches(RUST, {7: mutant("-", 17, 18), 9: mutant("[0]", 9, 26)})
    assert text == SWITCHED
    assert lines == {7: (3, 5), 9: (6, 8)}


def test_an_error_of_the_compiler_takes_out_the_copies_that_it_mentions() -> None:
    """In a copy; in the original, as an answer to a copy; nowhere near one."""
    workspace = Workspace(Path(), Path(), {}, {"a.rs": {7: (3, 5), 9: (6, 8)}, "b.rs": {11: (2, 4)}})

    def error(*lines: int) -> dict[str, Any]:
        names = [{"file_name": "a.rs", "line_start": line, "is_primary": line == lines[0]} for line in lines]
        return {"spans": names}

    found = [workspace.guilty(error(*lines)) for lines in ((4,), (4, 7), (10, 7), (10,))]
    assert found == [{7}, {7}, {9}, {7, 9}]


FIGURE = """\
def draw(rows):
    height = 0.3 * rows
    shown = rows - 1
    picture = style.new_picture(4.2, height + 0.1 * shown)
    return picture.at(shown)
"""


def test_the_size_of_a_figure_is_no_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`height` is read there alone; `shown` is drawn as well."""
    (tmp_path / "python").mkdir()
    path = tmp_path / "python" / "draw.py"
    path.write_text(FIGURE)
    monkeypatch.setattr(python_mutants, "ROOT", tmp_path)
    found = {one.what.removeprefix("python/draw.py: replace ") for one in python_mutants.mutants_in(path)}
    assert found == {
        "rows - 1 with rows + 1 in draw",
        "1 with 2 in draw",
        "return picture.at(shown) with return None in draw",
    }


PYTHON = '''\
class Run:
    @property
    def share(self) -> float:
        """Of 1."""
        if self.whole < 1 or not self.part:
            raise ValueError(f"{1 + 1} is too much")
        self.count(1)
        return max(self.part / self.whole, 0.5)
'''


def test_mutants_of_python_change_one_place_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").mkdir()
    path = tmp_path / "python" / "run.py"
    path.write_text(PYTHON)
    monkeypatch.setattr(python_mutants, "ROOT", tmp_path)
    found = list(python_mutants.mutants_in(path))
    assert {one.what.removeprefix("python/run.py: replace ") for one in found} == {
        "self.whole < 1 or not self.part with self.whole < 1 and (not self.part) in Run.share",
        "self.whole < 1 with self.whole <= 1 in Run.share",
        "1 with 2 in Run.share",
        "not self.part with self.part in Run.share",
        "self.count(1) with pass in Run.share",
        "return max(self.part / self.whole, 0.5) with return None in Run.share",
        "max(self.part / self.whole, 0.5) with min(self.part / self.whole, 0.5) in Run.share",
        "self.part / self.whole with self.part * self.whole in Run.share",
        "0.5 with 1.5 in Run.share",
    }
    before = PYTHON.splitlines()
    for one in found:
        after = one.text.splitlines()
        assert len(after) == len(before)
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
        assert one.function == "share"
