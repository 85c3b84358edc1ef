"""The commands and programs on the pages for users run as they stand there.

A page is read from top to bottom in an empty directory: a TOML block is the file that the text before it
names ("Save this as `first.toml`"), a console block is commands after `$`, a Python block is a program. A
block that shows an error must fail with that error and exit code 2; anything else must succeed, and what it
shows must be printed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from odonata.amg import program
from odonata.errors import OdonataError

ROOT = Path(__file__).parents[2]
PAGES = (
    "docs/tutorial/README.md",
    "docs/tutorial/multigrid.md",
    "README.md",
    "docs/coming-from.md",
    "docs/how-to.md",
)
NEEDS_HYPRE = ("docs/tutorial/multigrid.md",)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w.-]+\.toml)`[^`]*\Z")


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """Language, content, and the text before each block."""
    text = (ROOT / page).read_text()
    for found in BLOCK.finditer(text):
        yield found[1], found[2], text[: found.start()]


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines that are shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        first, *shown = part.splitlines()
        yield first, [line.strip() for line in shown if line.strip() and line.strip() != "..."]


def run(command: list[str], directory: Path, *, shell: bool = False) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command[0] if shell else command,
        shell=shell,
        cwd=directory,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    if page in NEEDS_HYPRE:
        try:
            program.find()
        except OdonataError:
            pytest.skip("the hierarchy program is not built; run `make hypre`")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for language, content, before in blocks(page):
        if language == "toml":
            name = NAMED.search(before)
            assert name, f"the text before this block names no file:\n{content}"
            (tmp_path / name[1]).write_text(content)
        elif language == "python":
            result = run([sys.executable, "-c", content], tmp_path)
            assert result.returncode == 0, result.stderr
        elif language == "console":
            for command, shown in commands(content):
                if not command.startswith(("odonata", "printf")):
                    continue
                result = run([command], tmp_path, shell=True)
                printed = " ".join((result.stdout + result.stderr).split())
                fails = any(line.startswith("error:") for line in shown)
                assert result.returncode == (2 if fails else 0), f"{command}\n{result.stderr}"
                for line in shown:
                    assert " ".join(line.split()) in printed, f"{command} does not print: {line}"


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
