"""`make everything` continues after a failure, and separates failures from skipped steps."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

MAKEFILE = """\
everything:
\t@scripts/everything good three bad last
good:
\t@echo '7 passed in 1.00s'
three:
\t@echo 'no database here'; exit 3
bad:
\t@echo 'a | b'; exit 1
last:
\t@echo 'test result: ok'
"""


def test_the_page_of_everything(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/everything", tmp_path / "scripts")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    said = subprocess.run(["make", "everything"], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode != 0
    page = (tmp_path / "build/everything/page.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("| `good`", "passed", "7 passed in 1.00s |"),
        ("| `three`", "left out", " |"),
        ("| `bad`", "FAILED", " |"),
        ("| `last`", "passed", "test result: ok |"),
    ]
    assert page.count("\n## ") == 1
    assert "## bad\n\n```" in page
    assert "\na | b\n" in page
