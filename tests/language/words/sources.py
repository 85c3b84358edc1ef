"""The names, types, comments and texts of a source file, read with a small lexer for each language."""

from __future__ import annotations

import ast
import io
import json
import keyword
import re
import tokenize
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Piece:
    """A part of a file. `kind` is `name`, `type`, `doc`, `comment` or `string`."""

    kind: str
    line: int
    text: str


TEST = re.compile(r"(^|/)(tests?|benches)/|\.test\.tsx?$|(^|/)(test_\w+|conftest)\.py$|(^|/)tests\.rs$")


def pieces(path: Path) -> Iterator[Piece]:
    """The pieces of a file, by its suffix; none of a file that is not known."""
    text = path.read_text(errors="replace")
    suffix = path.suffix
    if suffix in (".rs", ".ts", ".tsx", ".c", ".h", ".cc"):
        yield from _joined(_curly(text, suffix))
    elif suffix in (".py", ".pyi") or text.startswith("#!/usr/bin/env python"):
        yield from _joined(_python(text))
    elif suffix == ".toml":
        yield from _joined(_toml(text))
    elif text.startswith(("#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/sh")):
        yield from _joined(_shell(text))
    elif path.name == "Makefile":
        for number, line in enumerate(text.splitlines(), start=1):
            if found := re.match(r"[\w.-]+:.*## (.*)", line):
                yield Piece("string", number, found[1])


def notebook(text: str) -> Iterator[tuple[int, str]]:
    """The cells of text of a notebook, each with its first line in the file."""
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown" and cell["source"]:
            source = "".join(cell["source"])
            first = json.dumps(source.splitlines(keepends=True)[0], ensure_ascii=False)[1:-1]
            yield text.count("\n", 0, max(text.find(first), 0)) + 1, source


# --------------------------------------------------------------------------------------- Rust, TypeScript, C

_TOKEN = re.compile(
    r"""
      (?P<line>//[^\n]*)
    | (?P<block>/\*.*?\*/)
    | (?P<raw>\bb?r(?P<hashes>\#*)".*?"(?P=hashes))
    | (?P<double>b?"(?:[^"\\]|\\.)*")
    | (?P<char>b?'(?:[^'\\\n]|\\(?:[^u\n]|u\{[0-9a-fA-F]+\}))')
    """,
    re.VERBOSE | re.DOTALL,
)
_TOKEN_TS = re.compile(
    r"""
      (?P<line>//[^\n]*)
    | (?P<block>/\*.*?\*/)
    | (?P<double>"(?:[^"\\\n]|\\.)*")
    | (?P<single>'(?:[^'\\\n]|\\.)*')
    | (?P<template>`(?:[^`\\]|\\.)*`)
    | (?P<regex>(?<=[(,=:\[!&|?{};])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS_OF_CODE = set(
    """
    as async await break case catch class const continue crate default do dyn else enum export
    extends extern false finally fn for from function if impl implements import in interface let
    loop match mod move mut new null number of pub readonly ref return Self self static string
    struct super switch this throw trait true try type typeof undefined unsafe use var void where
    while yield
    """.split()  # noqa: SIM905 - shorter than a list of texts
)


def _curly(text: str, suffix: str) -> Iterator[Piece]:
    script = suffix in (".ts", ".tsx")
    code: list[str] = []
    at, line = 0, 1
    for token in (_TOKEN_TS if script else _TOKEN).finditer(text):
        line += text.count("\n", at, token.start())
        code.append(text[at : token.start()])
        at, found = token.end(), token[0]
        if token["line"]:
            marks = re.match(r"//+!?", found)
            kind = "doc" if not script and marks and marks[0] in ("///", "//!") else "comment"
            yield Piece(kind, line, found.lstrip("/").removeprefix("!").removeprefix(" "))
        elif token["block"]:
            kind = "doc" if script and found.startswith("/**") else "comment"
            body = re.sub(r"^(?:\s*/\*+|\s*\*+/|\s*\*(?= |$))|\*/$", "", found, flags=re.MULTILINE)
            yield Piece(kind, line, body)
        elif found[0] == "`":
            yield from _template(found, line)
        elif not token.groupdict().get("regex"):
            yield Piece("string", line, _plain(found))
        code.append('""' if found[0] != "/" else "")
        code.append("\n" * found.count("\n"))
        line += found.count("\n")
    code.append(text[at:])
    rest = "".join(code)
    if suffix == ".tsx":
        rest = yield from _markup(rest)
    if suffix in (".rs", ".ts", ".tsx"):
        yield from _names(rest)


def _joined(lines: Iterable[Piece]) -> Iterator[Piece]:
    """Doc comments and comments on lines that follow each other as one piece."""
    waiting: Piece | None = None
    for piece in lines:
        if piece.kind not in ("doc", "comment"):
            yield piece
            continue
        if waiting is not None:
            if piece.kind == waiting.kind and piece.line == waiting.line + waiting.text.count("\n") + 1:
                waiting = Piece(waiting.kind, waiting.line, f"{waiting.text}\n{piece.text}")
                continue
            yield waiting
        waiting = piece
    if waiting is not None:
        yield waiting


def _plain(literal: str) -> str:
    """What a literal says: escapes are spaces, places to fill in are one word."""
    body = re.sub(r"^b?r?#*[\"']|[\"']#*$", "", literal)
    body = re.sub(r"\\(\n)|\\[nt]", r"\1 ", body)
    body = re.sub(r"\\(.)", r"\1", body)
    return re.sub(r"(?<!\{)\{[\w.:?$#<>^*+!]*\}(?!\})", "X", body)


def _template(literal: str, line: int) -> Iterator[Piece]:
    inside = r"\$\{((?:[^{}`]|\{[^{}]*\}|`[^`]*`)*)\}"
    yield Piece("string", line, re.sub(inside, "X", literal[1:-1]))
    for part in re.findall(inside, literal):
        for found in re.findall(r"'([^'\n]*)'", part):
            yield Piece("string", line, found)


_MARKUP = re.compile(r"(?<![=-])([>}])([^<>{}]*[a-z]{2}[^<>{}]*)(?=[<{])")
_NO_MARKUP = re.compile(
    r"[;=&|\[\]]|\"\"|\?\.|^\s*[),:?.]|\w\($|\b(?:export|function|const|return|import|interface)\b"
    r"|^\s*(?:else|case|type|if|for|while|let|catch|finally|as|from)\b"
)
"""What code between a brace and a tag has, and a text has not."""


def _markup(code: str) -> Generator[Piece, None, str]:
    """Texts between tags; gives the code without them."""
    rest: list[str] = []
    at = 0
    for found in _MARKUP.finditer(code):
        text = found[2]
        if text.strip() and not _NO_MARKUP.search(text) and text.count("(") == text.count(")"):
            lead = len(text) - len(text.lstrip())
            yield Piece("string", code.count("\n", 0, found.start(2) + lead) + 1, text.strip())
            rest += [code[at : found.start(2)], "\n" * text.count("\n")]
            at = found.end(2)
    return "".join([*rest, code[at:]])


_TYPE = re.compile(
    r"\b(?:(?:struct|enum|trait|union|interface|class)\s+([A-Z]\w*)|type\s+([A-Z]\w*)\s*[=<;:])"
)


def _names(code: str) -> Iterator[Piece]:
    """Every identifier once, where it is first; every type where it is declared."""
    for found in _TYPE.finditer(code):
        yield Piece("type", code.count("\n", 0, found.start()) + 1, found[1] or found[2])
    seen: set[str] = set()
    for number, line in enumerate(code.splitlines(), start=1):
        for name in re.findall(r"\b[A-Za-z_]\w{2,}", line):
            if name not in seen and name not in _WORDS_OF_CODE:
                seen.add(name)
                yield Piece("name", number, name)


# ---------------------------------------------------------------------------------------------------- Python


def _python(text: str) -> Iterator[Piece]:
    docs: set[int] = set()  # strings that are pieces already: docstrings, and parts of f-strings
    for node in ast.walk(ast.parse(text)):  # a parent comes before its children
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else []:
            value = child.value if isinstance(child, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docs.add(id(value))
                yield Piece("doc", value.lineno, value.value)
        if isinstance(node, ast.ClassDef):
            yield Piece("type", node.lineno, node.name)
        elif isinstance(node, ast.JoinedStr):
            docs |= {id(part) for part in node.values}
            parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield Piece("string", node.lineno, "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield Piece("string", node.lineno, node.value)
    seen: set[str] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield Piece("comment", token.start[0], token.string.lstrip("# "))
        elif token.type == tokenize.NAME and not keyword.iskeyword(token.string) and token.string not in seen:
            seen.add(token.string)
            yield Piece("name", token.start[0], token.string)


# ------------------------------------------------------------------------------------------------------ TOML


_TOML = re.compile(r"#([^\n]*)|\"\"\"(.*?)\"\"\"|\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'", re.DOTALL)


def _toml(text: str) -> Iterator[Piece]:
    for found in _TOML.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if found[1] is not None:
            yield Piece("comment", line, found[1])
        elif body := found[2] or found[3] or found[4]:
            yield Piece("string", line, body)


# ------------------------------------------------------------------------------------------------- shell


def _shell(text: str) -> Iterator[Piece]:
    for number, line in enumerate(text.splitlines(), start=1):
        if found := re.match(r"\s*#(?!!)(.*)", line):
            yield Piece("comment", number, found[1])
        else:
            for string in re.findall(r"\"((?:[^\"\\]|\\.)*)\"", line):
                yield Piece("string", number, re.sub(r"\$\{[^}]*\}|\$\w+|\$\([^)]*\)", "X", string))
