"""What the Rust sources of a crate say about their modules, read from the text as rustfmt leaves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path


def _code(path: Path) -> str:
    """The file without comments and without its test module, which is the last thing in it."""
    text = re.sub(r"//[^\n]*", "", path.read_text())
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]


def _branches(tree: str) -> Iterator[str]:
    """The paths of a `use`: `a::{b, c::{d, e}}` is `a::b`, `a::c::d` and `a::c::e`."""
    before, brace, inside = tree.partition("{")
    if not brace:
        yield re.sub(r"\s+as \w+", "", tree).strip()
        return
    depth, start = 0, 0
    inside = inside[: inside.rindex("}")] + ","
    for i, letter in enumerate(inside):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if branch := inside[start:i].strip():
                yield from _branches(before.strip() + branch)
            start = i + 1


def _mentioned(code: str) -> Iterator[list[str]]:
    """Every path that starts at the crate or at the module above."""
    use = re.compile(r"\buse ((?:crate|super)::[^;]+);")
    for tree in use.findall(code):
        yield from (branch.split("::") for branch in _branches(tree))
    yield from (path.split("::") for path in re.findall(r"\b(?:crate|super)(?:::\w+)+", use.sub("", code)))


def _from_the_top(path: list[str], module: list[str]) -> list[str]:
    """The path, mentioned in `module`, from the crate's root on."""
    above = 0
    while path[above] == "super":
        above += 1
    return path[1:] if above == 0 else module[: len(module) - above] + path[above:]


def uses(src: Path) -> dict[str, set[str]]:
    """Which of its top-level modules each of a crate's top-level modules uses; tests do not count.

    What `lib.rs` re-exports is used from the module that it comes from, and so is an exported macro.
    """
    root = _code(src / "lib.rs")
    tests = set(re.findall(r"#\[cfg\(test\)\]\s*mod (\w+);", root))
    modules = set(re.findall(r"^(?:pub )?mod (\w+);", root, re.MULTILINE)) - tests
    home = {name: name for name in modules}
    for tree in re.findall(r"\bpub(?:\(crate\))? use ([^;]+);", root):
        for path in (branch.split("::") for branch in _branches(tree)):
            home[path[-1]] = path[0]
    files = {
        path: (list(path.relative_to(src).with_suffix("").parts), _code(path))
        for path in sorted(src.rglob("*.rs"))
    }
    for module, code in files.values():
        for macro in re.findall(r"#\[macro_export\]\s*macro_rules! (\w+)", code):
            home[macro] = module[0]
    found: dict[str, set[str]] = {name: set() for name in modules}
    for file, (module, code) in files.items():
        if module[0] not in modules:
            continue
        for path in _mentioned(code):
            name = _from_the_top(path, module)[0]
            if name not in tests and name != module[0]:
                assert name in home, f"{file}: no module and no re-export of lib.rs is called {name!r}"
                found[module[0]].add(home[name])
    return {name: used - {name} for name, used in found.items()}


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Every function of a file with its lines, from `fn` to the brace that rustfmt puts below it."""
    lines = path.read_text().splitlines()
    for first, line in enumerate(lines):
        head = re.match(r"( *)(?:pub(?:\([a-z]+\))? )?(?:const |async |unsafe |extern \"C\" )*fn (\w+)", line)
        if head is None or line.rstrip().endswith(("}", ";")):
            continue
        ends = (f"{head[1]}}}", f"{head[1]}) ")
        last = next(
            i for i in range(first + 1, len(lines)) if lines[i].startswith(ends) and lines[i][-1] in "};"
        )
        yield head[2], last - first + 1
