#!/usr/bin/env python3
"""Writes a new version into every file that has it: scripts/set_version.py 0.2.0 2026-11-29

`Cargo.toml` is the home of the version; all other places follow it, and a test compares them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NUMBER = r"(\d+\.\d+\.\d+)"
OWN = rf'name = "odonata(?:-(?!fuzz")[a-z-]+)?"\nversion = "{NUMBER}"'
HOME = ("Cargo.toml", rf'^version = "{NUMBER}"')
PLACES = (
    HOME,
    ("Cargo.lock", OWN),
    ("fuzz/Cargo.lock", OWN),
    ("uv.lock", OWN),
    ("pyproject.toml", rf'^version = "{NUMBER}"'),
    ("CITATION.cff", rf"^version: {NUMBER}"),
    ("viewer/package.json", rf'^  "version": "{NUMBER}"'),
    ("viewer/package-lock.json", rf'"name": "odonata-viewer",\s+"version": "{NUMBER}"'),
    ("packaging/conda/recipe.yaml", rf'^  version: "{NUMBER}"'),
    ("packaging/spack/package.py", rf"odonata-{NUMBER}\.tar"),
    ("packaging/spack/package.py", rf'version\("{NUMBER}", preferred'),
    ("packaging/README.md", rf"odonata_{NUMBER}_amd64"),
    ("packaging/README.md", rf"tag `v{NUMBER}`"),
    ("crates/experiment/src/directory/summary.md", rf'"odonata_version": "{NUMBER}"'),
    ("docs/reference/run-directory.md", rf'"odonata_version": "{NUMBER}"'),
)
"""Files, and an expression whose group is the version in them."""

NEWEST = ("packaging/debian/changelog", rf"\Aodonata \({NUMBER}\)")
"""The newest entry; older ones stay."""
CHANGELOG = "CHANGELOG.md"


def versions() -> Iterator[tuple[str, str]]:
    """Each place with the version there; a place without one has an empty version."""
    for file, pattern in (*PLACES, NEWEST):
        found = re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE)
        yield from ((file, version) for version in found or [""])


def replaced(text: str, pattern: str, version: str) -> str:
    def one(found: re.Match[str]) -> str:
        start, end = (place - found.start() for place in found.span(1))
        return found[0][:start] + version + found[0][end:]

    return re.sub(pattern, one, text, flags=re.MULTILINE)


def main(version: str, day: date) -> None:
    if not re.fullmatch(NUMBER, version):
        raise SystemExit(f"{version}: expected a version such as 0.2.0")
    for file, pattern in PLACES:
        path = ROOT / file
        path.write_text(replaced(path.read_text(), pattern, version))
    path = ROOT / "CITATION.cff"
    path.write_text(re.sub(r"(?m)^date-released: .*$", f"date-released: {day}", path.read_text()))
    path = ROOT / CHANGELOG
    path.write_text(path.read_text().replace("## Unreleased\n", f"## {version} ({day})\n", 1))
    path = ROOT / NEWEST[0]
    if re.findall(NEWEST[1], path.read_text()) != [version]:
        stamp = f"{day:%a, %d %b %Y} 12:00:00 +0000"
        sign = f" -- The Odonata developers <maintainers@odonata.invalid>  {stamp}"
        entry = f"odonata ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n{sign}\n\n"
        path.write_text(entry + path.read_text())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], date.fromisoformat(sys.argv[2]))
