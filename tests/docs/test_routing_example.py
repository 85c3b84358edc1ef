"""The page of the routing algorithms adds one: it compiles in a copy of the crates."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "models" / "routing" / "README.md"


@pytest.mark.slow
def test_the_algorithm_of_the_page_compiles() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not here")
    section = PAGE.read_text().split("## Adding an algorithm\n")[1]
    entry, file = re.findall(r"^```rust,ignore\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[:2]
    # In one place, so that cargo replaces what it compiled the last time. It builds apart from the crates
    # themselves: cargo would take one for the other, since both have the same path in their workspaces.
    place = ROOT / "target" / "page"
    copy = place / "source"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "crates", copy / "crates")
    algorithms = copy / "crates" / "routing" / "src" / "algorithm.rs"
    text, lists = re.subn(r"(?m)^(pub .*\bALGORITHMS\b.* = &?\[)$", rf"\1\n{entry}", algorithms.read_text())
    text, modules = re.subn(r"(?m)^(pub mod adaptive;)$", r"\1\npub mod alternate;", text)
    assert (lists, modules) == (1, 1), "the places that the page names"
    algorithms.write_text(text)
    (algorithms.parent / "algorithm" / "alternate.rs").write_text(file)
    check = ["cargo", "check", "--offline", "--locked", "--quiet", "--package", "odonata-routing"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(place / "build")}
    done = subprocess.run(check, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "alternate.rs" not in done.stderr, "a warning about the file"
