"""Pages for users as programs: files to save, commands and Python, done from top to bottom in a directory.

A TOML block is the file that the text before it names ("Save this as `first.toml`"), also a text block
below "Save .. as `main.cfg`:". A console block is commands after `$`, a Python block is a program. A block
that shows an error must fail with that error and exit code 2; anything else must succeed, and what it shows
must be printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w.-]+\.toml)`[^`]*\Z")
SAVED = re.compile(r"Save [^`]*\sas\s`([\w.-]+)`:\s*\Z")


def follow(page: str, directory: Path) -> Path:
    """Does in a directory what a page says, and returns the directory."""
    for language, content, before in blocks(page):
        if language == "toml":
            name = NAMED.search(before)
            assert name, f"the text before this block names no file:\n{content}"
            (directory / name[1]).write_text(content)
        elif language == "text" and (saved := SAVED.search(before)):
            (directory / saved[1]).write_text(content)
        elif language == "python":
            result = run([sys.executable, "-c", content], directory)
            assert result.returncode == 0, result.stderr
        elif language == "console":
            for command, shown in commands(content):
                if not command.startswith(("odonata", "printf")):
                    continue
                if command.startswith("odonata view ") and " --" not in command:
                    # A server that never ends; a page of the same runs instead.
                    command += " --html view.html"
                result = run([command], directory, shell=True)
                printed = " ".join((result.stdout + result.stderr).split())
                fails = any(line.startswith("error:") for line in shown)
                assert result.returncode == (2 if fails else 0), f"{command}\n{result.stderr}"
                for line in shown:
                    assert " ".join(line.split()) in printed, f"{command} does not print: {line}"
    return directory


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
