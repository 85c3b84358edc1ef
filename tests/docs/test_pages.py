"""The commands and programs on the pages for users run as they stand there: see `pages`."""

from __future__ import annotations

import os
import re
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
