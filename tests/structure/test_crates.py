"""Crates, and the files inside each, use each other in one direction only, as in ARCHITECTURE.md."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import rust_sources

ROOT = Path(__file__).parents[2]

CRATES: list[set[str]] = [
    {"checkpoint"},
    {"processes", "units"},
    {"declare", "memory"},
    {"expression", "trace"},
    {"document", "loggops", "machine", "programs"},
    {"import"},
    {"routing", "workload"},
    {"flow", "packet", "model"},
    {"amg", "transport"},
    {"engines"},
    {"experiment"},
    {"py"},
]
"""From the bottom: a crate uses crates below its own line only. So no engine imports another."""


def crate_dependencies() -> dict[str, set[str]]:
    """Which crates of this workspace each of them needs; what only its tests need does not count."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = {package["name"]: package["dependencies"] for package in json.loads(shown)["packages"]}
    return {
        name.removeprefix("odonata-"): {
            needed["name"].removeprefix("odonata-")
            for needed in dependencies
            if needed["name"] in packages and needed["kind"] != "dev"
        }
        for name, dependencies in packages.items()
    }


def circles(uses: dict[str, set[str]]) -> set[str]:
    """What reaches itself again."""

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        ahead = [name]
        while ahead:
            new = uses[ahead.pop()] - seen
            seen |= new
            ahead += new
        return seen

    return {name for name in uses if name in reached(name)}


def test_crates_use_the_layers_below() -> None:
    level = {name: i for i, layer in enumerate(CRATES) for name in layer}
    found = crate_dependencies()
    assert set(found) == set(level), "say in CRATES which others a new crate may use"
    for crate, needs in found.items():
        assert [used for used in needs if level[used] >= level[crate]] == [], f"{crate} reaches up"


@pytest.mark.parametrize("crate", sorted(set().union(*CRATES)))
def test_files_of_a_crate_use_each_other_in_no_circle(crate: str) -> None:
    uses = rust_sources.uses(ROOT / "crates" / crate / "src")
    found = circles(uses)
    circle = {name: sorted(uses[name] & found) for name in sorted(found)}
    assert not circle, "let the root of a folder list its files; what they share has a file of its own"


@pytest.mark.parametrize("crate", sorted(set().union(*CRATES)))
def test_every_file_of_tests_is_run(crate: str) -> None:
    """Tests of a crate are one program, since each program costs seconds of linking and 50 MB.

    A file that nobody names there would never run.
    """
    folder = ROOT / "crates" / crate / "tests"
    files = {path.stem for path in folder.glob("*.rs")}
    if (folder / "all.rs").exists():
        named = set(re.findall(r"^mod (\w+);", (folder / "all.rs").read_text(), flags=re.MULTILINE))
        assert files - {"all"} - named == set(), "name it in all.rs"
        assert "autotests = false" in (folder.parent / "Cargo.toml").read_text()
    else:
        assert len(files) <= 1, "make all.rs the one program of these tests"


@pytest.mark.parametrize("crate", sorted(set().union(*CRATES)))
def test_no_parameter_of_a_function_is_a_tuple(crate: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {function}({parameter})"
        for path in (ROOT / "crates" / crate / "src").rglob("*.rs")
        for function, parameter in rust_sources.tuple_parameters(path)
    }
    assert not found, "pass arguments, or a struct named by a noun"


def test_the_reader_of_rust_files_sees_every_form_of_a_path(tmp_path: Path) -> None:
    """Oracle for the reader itself: a crate of twelve files, whose uses are known."""
    sources = {
        "lib.rs": (
            "mod a;\nmod b;\nmod c;\npub mod d;\nmod e;\n#[cfg(test)]\nmod f;\n"
            "pub(crate) use c::{Deep, x::Deeper};\n"
        ),
        "a.rs": "use crate::{b::{self, inner::I}, c::{y, z}};\n// crate::d\nfn f() { crate::e::g() }\n",
        "b.rs": (
            "mod inner;\nmod other;\nuse crate::Deep;\npub(crate) use inner::I;\n"
            "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"
        ),
        "b/inner.rs": "use super::super::d::T;\nuse super::Deep;\n",
        "b/other.rs": "use super::{I, own};\nuse self::here::There;\n",
        "c.rs": "mod x;\nuse std::fmt;\npub(crate) use self::x::Deeper as D;\nfn f() -> D { x::new() }\n",
        "c/x.rs": "fn f() { super::super::e::g() }\n",
        "d.rs": "use crate::m;\n",
        "e.rs": "use crate::Deeper;\n#[macro_export]\nmacro_rules! m {}\n",
        "f.rs": "mod g;\nuse crate::a;\n",
        "f/g.rs": "use crate::a;\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    uses = rust_sources.uses(tmp_path)
    assert uses == {
        "lib": set(),
        "a": {"b", "b::inner", "c", "e"},
        "b": {"c"},
        "b::inner": {"c", "d"},
        "b::other": {"b", "b::inner"},
        "c": {"c::x"},
        "c::x": {"e"},
        "d": {"e"},
        "e": {"c::x"},
    }
    assert circles(uses) == {"c::x", "e"}


def test_the_reader_of_parameters_sees_every_form_of_a_tuple(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text(
        "fn a<F: Fn((u8, u8)) -> (u8, u8)>(f: F, (b, c): (u8, u8), d: &[(u8, u8)]) {}\n"
        "fn b(&self, at: (u8, u8), mut to: &mut (u8, u8), (): ()) -> (u8, u8) {}\n"
        "fn c(of: impl Fn(u8) -> (u8, u8), &(d, e): &(u8, u8), own: Option<(u8, u8)>) {}\n"
        "fn d(S { f, g }: S, i: (), j: Vec<u8>) { let k: (u8, u8) = (f, g); }\n"
    )
    assert list(rust_sources.tuple_parameters(tmp_path / "a.rs")) == [
        ("a", "(b, c): (u8, u8)"),
        ("b", "at: (u8, u8)"),
        ("b", "mut to: &mut (u8, u8)"),
        ("c", "&(d, e): &(u8, u8)"),
    ]
