"""Which files are checked, and the averages of their doc comments by crate and package."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from words.rules import Finding, Report, check
from words.vocabulary import ROOT, vocabulary

SUFFIXES = {".md", ".ipynb", ".rs", ".py", ".pyi", ".ts", ".tsx", ".toml", ".c", ".h", ".cc"}
NOT_OURS = re.compile(
    r"(^|/)(tests/(\w+/)?data|benches/results|fuzz/seeds)/|\.lock$|(^|/)(Cargo|pyproject|clippy|deny|rustfmt)\.toml$"
    r"|^tests/mutants/|^studies/[\w-]+/results/"
)


def files() -> Iterator[Path]:
    """The files of the project that have names or words of ours."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in sorted(set(listed.stdout.splitlines())):
        path = ROOT / name
        known = (
            path.suffix in SUFFIXES or name == "Makefile" or (name.startswith("scripts/") and not path.suffix)
        )
        if known and not NOT_OURS.search(name) and path.is_file():
            yield path


def group(file: str) -> str | None:
    """The crate or package whose doc comments share an average; none for a page or a test."""
    found = re.match(r"crates/\w+/src|python/odonata|viewer/src|vmpi|fuzz|examples|studies|scripts", file)
    return found[0] if found and not file.endswith(".md") else None


def averages(reports: Iterable[Report]) -> Iterator[Finding]:
    """Crates and packages whose doc comments have long sentences on the average."""
    most = vocabulary().data["limits"]["average_words"]
    lengths: dict[str, list[int]] = {}
    for report in reports:
        if name := group(report.file):
            lengths.setdefault(name, []).extend(report.lengths)
    for name, all_lengths in lengths.items():
        average = sum(all_lengths) / max(len(all_lengths), 1)
        if average > most:
            yield Finding(
                name, 1, "average", f"{average:.1f} words per sentence of its doc comments (at most {most})"
            )


def check_tree() -> list[Report]:
    """The reports on all files, and one more on the averages."""
    with ProcessPoolExecutor(max_workers=min(os.cpu_count() or 1, 4)) as pool:
        reports = list(pool.map(check, files(), chunksize=50))
    return [*reports, Report("doc comments", list(averages(reports)))]
