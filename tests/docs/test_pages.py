"""The commands and programs on the pages for users run as they stand there: see `pages`."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest
import slurm_recordings
from pages import ROOT, follow

from odonata.amg import program
from odonata.errors import OdonataError

PAGES = (
    "docs/tutorial/README.md",
    "docs/tutorial/multigrid.md",
    "docs/tutorial/traces.md",
    "README.md",
    "docs/README.md",
    "docs/coming-from.md",
    "docs/faq.md",
    "docs/how-to.md",
    "docs/idea-to-figure.md",
    "docs/maintenance.md",
    "docs/explain.md",
    "docs/optimize.md",
    "docs/sizing.md",
    "docs/viewer.md",
    "docs/reference/machines.md",
    "docs/reference/workload-files.md",
)
NEEDS_SLURM = ("docs/maintenance.md",)
NEEDS_HYPRE = ("docs/tutorial/multigrid.md",)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page in NEEDS_HYPRE:
        try:
            program.find()
        except OdonataError:
            pytest.skip("the hierarchy program is not built; run `make hypre`")
    if page in NEEDS_SLURM:
        slurm = slurm_recordings.install(tmp_path / "slurm")
        monkeypatch.setenv("PATH", f"{slurm}{os.pathsep}{os.environ['PATH']}")
        tmp_path = tmp_path / "empty"
        tmp_path.mkdir()
    follow(page, tmp_path)


ITEM = re.compile(r"(- |\d+\. )")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def test_lists_stand_behind_an_empty_line() -> None:
    """Else the site shows them as text that runs on, whatever a forge shows."""
    wrong = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        # What stands in blocks of code is no list.
        text = CODE.sub(lambda found: "\n" * found[0].count("\n"), page.read_text())
        before = ""
        for number, line in enumerate(text.splitlines(), start=1):
            inside = ITEM.match(before.lstrip()) or before.startswith((" ", "#"))
            if ITEM.match(line) and before.strip() and not inside:
                wrong.append(f"{page.relative_to(ROOT)}:{number}")
            before = line
    assert wrong == []


TABLE = re.compile(r"\|[-: |]+\|$")
TERM = re.compile(r"- \*\*(.+?)\*\*")


def test_no_part_of_a_page_stands_there_twice() -> None:
    """A merge may keep both versions: a table right below another, or two items of a list on one subject."""
    wrong = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = CODE.sub(lambda found: "\n" * found[0].count("\n"), page.read_text())
        lines = text.splitlines()
        terms = Counter(found[1] for line in lines if (found := TERM.match(line)))
        name = page.relative_to(ROOT)
        wrong += [f"{name}: two items on {term}" for term, count in terms.items() if count > 1]
        for number, (row, _, below) in enumerate(zip(lines, lines[1:], lines[2:], strict=False), start=1):
            if row.startswith("|") and TABLE.match(below):
                wrong.append(f"{name}:{number + 1}: a table begins inside another")
    assert wrong == []
