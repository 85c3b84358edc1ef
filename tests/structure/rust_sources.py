"""What the Rust sources of a crate say about their files, read from the text as rustfmt leaves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]
"""Path of a module from the crate's root; the root itself is empty."""

USE = re.compile(r"\b(pub(?:\([a-z ]+\))? )?use ([\w:]+(?:\{[^;]*\})?(?: as \w+)?);")
"""A `use`: whether it re-exports, and its tree."""

TUPLE = re.compile(r"&?\(\w|(?:mut )?\w+: (?:&(?:'\w+ )?(?:mut )?)?\([^)]")
"""A parameter that is a tuple, as pattern or as type."""


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


def _from_the_top(path: Module, module: Module) -> Module:
    """The path, mentioned in `module`, from the crate's root on."""
    if path[0] == "crate":
        return path[1:]
    above = next((i for i, part in enumerate(path) if part != "super"), len(path))
    return module[: len(module) - above] + tuple(part for part in path[above:] if part != "self")


class _Crate:
    """Files of a crate without its tests, and what each name in them stands for."""

    def __init__(self, src: Path) -> None:
        parts = {path: path.relative_to(src).with_suffix("").parts for path in sorted(src.rglob("*.rs"))}
        code = {() if module == ("lib",) else module: _code(path) for path, module in parts.items()}
        tests = {
            (*module, name)
            for module, text in code.items()
            for name in re.findall(r"#\[cfg\(test\)\]\s*mod (\w+);", text)
        }
        self.code = {
            module: text
            for module, text in code.items()
            if not any(module[:depth] in tests for depth in range(1, len(module) + 1))
        }
        self.macros = {
            name: module
            for module, text in self.code.items()
            for name in re.findall(r"#\[macro_export\]\s*macro_rules! (\w+)", text)
        }
        self.named: dict[Module, Module] = {}
        """What a name that a module imports or re-exports stands for."""
        self.reexported: set[Module] = set()
        for module, text in self.code.items():
            for public, tree in USE.findall(text):
                for path in self._paths(tree, module):
                    name = (*module, path[-1] if path else "")
                    if public or name not in self.named:
                        self.named[name] = path
                    if public:
                        self.reexported.add(name)

    def _paths(self, tree: str, module: Module) -> Iterator[Module]:
        """The paths of a `use` that lead to this crate, from its root on."""
        for branch in _branches(tree):
            path = tuple(branch.split("::"))
            if path[0] in ("crate", "super", "self"):
                yield _from_the_top(path, module)
            elif (*module, path[0]) in self.code:
                yield _from_the_top(("self", *path), module)

    def home(self, path: Module) -> Module:
        """The module that defines what stands at a path, behind all re-exports."""
        depth = next(depth for depth in range(len(path), -1, -1) if path[:depth] in self.code)
        module, rest = path[:depth], path[depth:]
        if rest and (found := self.named.get((*module, rest[0]))) and found != path[: depth + 1]:
            return self.home(found + rest[1:])
        if rest and not module:
            return self.macros.get(rest[0], module)
        return module

    def used_by(self, module: Module) -> set[Module]:
        """The modules that the code of a module uses. A re-export alone is no use."""
        text = self.code[module]
        trees = [tree for public, tree in USE.findall(text) if not public]
        paths = [path for tree in trees for path in self._paths(tree, module)]
        text = USE.sub("", text)
        for path in re.findall(r"(?<![\w:])\w+(?:::\w+)+", text):
            paths += self._paths(path, module)
        names = {name[-1] for name in self.reexported if name[:-1] == module}
        paths += [(*module, name) for name in names if re.search(rf"\b{name}\b", text)]
        return {self.home(path) for path in paths} - {module}


def uses(src: Path) -> dict[str, set[str]]:
    """Which other files of its crate each file of a crate uses, by module; tests do not count.

    What a file re-exports is used from the file that it comes from, and so is an exported macro.
    """
    crate = _Crate(src)

    def name(module: Module) -> str:
        return "::".join(module) or "lib"

    return {name(module): {name(used) for used in crate.used_by(module)} for module in crate.code}


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


def _nesting(text: str, i: int) -> int:
    """1 if a bracket opens at `i`, -1 if one closes there. An arrow is no bracket."""
    return (text[i] in "([{<") - (text[i] in ")]}" or (text[i] == ">" and text[i - 1] not in "-="))


def _closing(text: str, start: int) -> int:
    """Place of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += _nesting(text, i)
        if depth == 0:
            return i
    raise AssertionError(f"a bracket is not closed: {text[start : start + 80]}")


def tuple_parameters(path: Path) -> Iterator[tuple[str, str]]:
    """Every parameter of a function that is a tuple, as pattern or as type, with the function's name."""
    text = _code(path)
    for head in re.finditer(r"\bfn (\w+)", text):
        start = head.end()
        if text[start] == "<":
            start = _closing(text, start) + 1
        inside, depth, begin = text[start + 1 : _closing(text, start)] + ",", 0, 0
        for i, letter in enumerate(inside):
            depth += _nesting(inside, i)
            if letter == "," and depth == 0:
                parameter = re.sub(r"\s+", " ", inside[begin:i]).strip()
                if TUPLE.match(parameter):
                    yield head[1], parameter
                begin = i + 1
