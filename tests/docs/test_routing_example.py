"""The page of the routing algorithms adds two: they compile in a copy of the crates."""

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
def test_the_algorithms_of_the_page_compile() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not here")
    section = PAGE.read_text().split("## Adding an algorithm\n")[1]
    entry, *files = re.findall(r"^```rust,ignore\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    names = [re.findall(r'name: "(\w+)"', file)[0] for file in files]
    assert names == ["alternate", "hub"]
    assert entry == "alternate::ALTERNATE,\n"
    entries = "".join(f"{name}::{name.upper()},\n" for name in names)
    modules = "".join(f"pub mod {name};\n" for name in names)
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
    text, lists = re.subn(r"(?m)^(pub .*\bALGORITHMS\b.* = &?\[)$", rf"\1\n{entries}", algorithms.read_text())
    text, places = re.subn(r"(?m)^(pub mod adaptive;)$", rf"\1\n{modules}", text)
    assert (lists, places) == (1, 1), "the places that the page names"
    algorithms.write_text(text)
    for name, file in zip(names, files, strict=True):
        (algorithms.parent / "algorithm" / f"{name}.rs").write_text(file)
    check = ["cargo", "check", "--offline", "--locked", "--quiet", "--package", "odonata-routing"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(place / "build")}
    done = subprocess.run(check, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not any(f"{name}.rs" in done.stderr for name in names), "a warning about a file"
