"""The language of CAMINOS: objects `Name { key: value, }`, lists `[..]`, lists of runs `![..]`.

Comments go from `//` to the end of the line, or from `/*` to `*/`. In lists of runs with a name, `name![..]`,
values of the same place belong together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odonata.errors import OdonataError, nearest
from odonata.files import read_text

DEEPEST = 100
"""Most levels of objects and lists inside each other; a text of brackets must not end the interpreter."""

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"'
    r"|(?P<number>-?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<word>[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)"
    r"|(?P<mark>[][{}:,!=])",
    re.DOTALL,
)


@dataclass(frozen=True)
class Scalar:
    """A number, text, or truth value."""

    value: float | str | bool
    line: int


@dataclass(frozen=True)
class Items:
    """A list; with `runs`, each item is one run."""

    items: Sequence[Value]
    line: int
    runs: bool = False
    name: str | None = None


@dataclass(frozen=True)
class Thing:
    """An object: a name with fields."""

    name: str
    line: int
    fields: Mapping[str, Value] = field(default_factory=dict)


Value = Scalar | Items | Thing


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class Reader:
    """Values of a file, with refusals that name their place."""

    path: Path

    def error(self, value: Value, key: str, reason: str, hint: str | None = None) -> OdonataError:
        """The refusal of a value."""
        return OdonataError(f"{self.path}, line {value.line}: {key}: {reason}", hint=hint)

    def number(self, value: Value, key: str, least: float = 0.0) -> float:
        """A number; raises `OdonataError` if the value is none."""
        given = value.value if isinstance(value, Scalar) else None
        if isinstance(given, bool) or not isinstance(given, float) or not least <= given < 1e12:
            raise self.error(value, key, f"expected a number from {least:g}")
        return given

    def whole(self, value: Value, key: str, least: int = 0) -> int:
        """A whole number; raises `OdonataError` if the value is none."""
        given = self.number(value, key, least)
        if given != int(given):
            raise self.error(value, key, f"expected a whole number from {least}")
        return int(given)

    def wholes(self, value: Value, key: str, least: int = 0) -> list[int]:
        """A list of whole numbers; raises `OdonataError` if the value is none."""
        if not isinstance(value, Items) or value.runs:
            raise self.error(value, key, "expected a list of whole numbers")
        return [self.whole(item, key, least) for item in value.items]

    def thing(self, value: Value, key: str) -> Thing:
        """An object; raises `OdonataError` if the value is none."""
        if not isinstance(value, Thing):
            raise self.error(value, key, "expected a name with fields in braces")
        return value

    def need(self, thing: Thing, key: str) -> Value:
        """A field of an object; raises `OdonataError` if it is not there."""
        if key not in thing.fields:
            hint = nearest(key, list(thing.fields), f"Fields there: {', '.join(thing.fields) or 'none'}.")
            raise self.error(thing, thing.name, f"the field {key} is missing", hint)
        return thing.fields[key]


def read(path: Path) -> Thing:
    """The object of a file.

    Raises:
        OdonataError: The file is not in this language; the message gives the line.
    """
    tokens = _tokens(path, read_text(path, "a configuration of CAMINOS"))
    parser = _Parser(path, tokens)
    value = parser.value(0)
    if not isinstance(value, Thing) or not value.fields:
        raise OdonataError(f"{path}, line {value.line}: expected Configuration {{ key: value, .. }}")
    parser.end()
    return value


def _tokens(path: Path, text: str) -> list[_Token]:
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            shown = text[at:].split("\n", 1)[0][:20]
            raise OdonataError(f"{path}, line {line}: '{shown}' is no word, number, text or bracket")
        kind = match.lastgroup or "text"
        if kind != "blank":
            found.append(_Token(kind, match[kind], line))
        line += match[0].count("\n")
        at = match.end()
    return found


class _Parser:
    def __init__(self, path: Path, tokens: Sequence[_Token]) -> None:
        self._path, self._tokens, self._at = path, tokens, 0

    def value(self, depth: int) -> Value:
        if depth > DEEPEST:
            raise OdonataError(
                f"{self._path}, line {self._next().line}: more than {DEEPEST} brackets inside each other"
            )
        token = self._take()
        if token.kind == "text":
            return Scalar(token.text, token.line)
        if token.kind == "number":
            return Scalar(float(token.text), token.line)
        if token.text in ("true", "false"):
            return Scalar(token.text == "true", token.line)
        if token.kind == "word" and self._accept("!"):
            return self._items(depth, token.line, name=token.text)
        if token.kind == "word":
            fields = self._fields(depth) if self._accept("{") else {}
            return Thing(token.text, token.line, fields)
        if token.text == "!":
            return self._items(depth, token.line, name=None)
        if token.text == "[":
            return Items(self._list(depth), token.line)
        raise self._wrong(token, "a value")

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise self._wrong(self._tokens[self._at], "the end of the file")

    def _items(self, depth: int, line: int, name: str | None) -> Items:
        self._expect("[")
        return Items(self._list(depth), line, runs=True, name=name)

    def _list(self, depth: int) -> list[Value]:
        found: list[Value] = []
        while not self._accept("]"):
            found.append(self.value(depth + 1))
            if not self._accept(","):
                self._expect("]")
                break
        return found

    def _fields(self, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while not self._accept("}"):
            key = self._take()
            if key.kind != "word":
                raise self._wrong(key, "a key")
            self._expect(":")
            found[key.text] = self.value(depth + 1)
            if not self._accept(","):
                self._expect("}")
                break
        return found

    def _next(self) -> _Token:
        last = self._tokens[-1].line if self._tokens else 1
        return self._tokens[self._at] if self._at < len(self._tokens) else _Token("end", "", last)

    def _take(self) -> _Token:
        token = self._next()
        self._at += 1
        return token

    def _accept(self, mark: str) -> bool:
        token = self._next()
        found = token.kind == "mark" and token.text == mark
        self._at += found
        return found

    def _expect(self, mark: str) -> None:
        token = self._next()
        if not self._accept(mark):
            raise self._wrong(token, f"'{mark}'")

    def _wrong(self, token: _Token, expected: str) -> OdonataError:
        shown = "the end of the file" if token.kind == "end" else f"'{token.text}'"
        return OdonataError(f"{self._path}, line {token.line}: {shown}, expected {expected}")
