"""Blocks and sentences of a text in Markdown: of a page, of a doc comment, of a docstring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

CODE_WORD = "C0DE"
"""Stands for a span of code, which counts as one word."""


@dataclass(frozen=True)
class Block:
    """A paragraph, list item, heading or table row, without its markup. A line break is kept as one."""

    line: int
    text: str
    measured: bool
    """Whether its sentences are measured: those of headings and tables are not."""


_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_SECTION = re.compile(r"\s*(?:Args|Returns|Raises|Yields|Attributes|Examples?|Note):\s*$")
_ARGUMENT = re.compile(r"\s{4,}\*{0,2}[\w.]+(?: \([^)]*\))?: \S|\s*@\w+ ")
_PLACEHOLDER = re.compile(r"\{[a-z]+ [^{}]*\}")
"""On the page of a study: where a table, a figure or claims go."""
_HEADING = re.compile(r"\s*#{1,6}\s")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def blocks(text: str, first_line: int = 1) -> Iterator[Block]:
    """The blocks of a text. Code, doctests, HTML comments and the front matter are left out."""
    waiting: list[str] = []
    start, fence, doctest = first_line, "", False

    def ready() -> Iterator[Block]:
        if joined := inline("\n".join(waiting)).strip("\n"):
            yield Block(start, joined, True)
        waiting.clear()

    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), start=first_line):
        opening = _FENCE.match(line)
        if fence or opening:
            yield from ready()
            if fence and opening and opening[1].startswith(fence) and line.strip(" `~") == "":
                fence = ""
            elif not fence and opening:
                fence = opening[1]
        elif line.lstrip().startswith(">>>") or (doctest and line.strip()):
            yield from ready()
            doctest = True
        elif not line.strip() or line.strip() == r"\b" or _PLACEHOLDER.fullmatch(line.strip()):
            yield from ready()
            doctest = line.strip() == r"\b"  # the lines that click leaves as they are
        elif line.lstrip().startswith("|") or _HEADING.match(line):
            yield from ready()
            for cell in re.split(r"(?<!\\)\|", line):
                if cell.strip(" :-#"):
                    yield Block(number, inline(cell), False)
        else:
            if _ITEM.match(line) or _SECTION.match(line) or _ARGUMENT.match(line):
                yield from ready()
            if not waiting:
                start = number
            waiting.append(_ITEM.sub("", line, count=1) if _ITEM.match(line) else line)
            if _SECTION.match(line):
                yield from ready()
    yield from ready()


def inline(text: str) -> str:
    """The text without spans of code, targets of links, emphasis and HTML."""

    def same_lines(word: str, replaced: str) -> str:
        return word + "\n" * replaced.count("\n")

    text = _SPAN.sub(lambda found: same_lines(CODE_WORD, found[0]), text)
    text = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)", r"\1", text)
    text = re.sub(r"\[([^\[\]]+)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"<(?:https?:[^>]*|/?\w+[^<>]*)>", "", text)
    text = re.sub(r"https?://\S+", CODE_WORD, text)
    text = re.sub(r"\$[^$\n]+\$", CODE_WORD, text)
    return re.sub(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)", "", text)


def code_spans(text: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Every span of code outside fenced blocks, with its line."""
    text = re.sub(r"^\s*```.*?^\s*```", lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S)
    for found in _SPAN.finditer(text):
        yield first_line + text.count("\n", 0, found.start()), found[2]


_END = re.compile(r"[.!?][\"')\]]*\s+")
_ABBREVIATIONS = frozenset(
    "e.g. i.e. vs. cf. fig. figs. eq. al. approx. sec. p. pp. resp. st. ch.".split()  # noqa: SIM905
)
_BEFORE_INITIAL = re.compile(r"|.*[.,;&]|and|by|of|see", re.IGNORECASE)
"""What stands before the initial of a name, which ends no sentence; "13 B." does."""


def sentences(block: Block) -> Iterator[tuple[int, str]]:
    """The sentences of a block, each with its line."""
    start = 0
    for end in _END.finditer(block.text):
        before, last = ["", *block.text[start : end.end()].split()][-2:]
        last = last.lower().lstrip("([\"'")
        following = block.text[end.end() : end.end() + 1]
        if last in _ABBREVIATIONS or (re.fullmatch(r"[a-z]\.", last) and _BEFORE_INITIAL.fullmatch(before)):
            continue
        if last.startswith("..") and not (following.isupper() or following.isdigit()):
            continue
        yield from _sentence(block, start, end.end())
        start = end.end()
    yield from _sentence(block, start, len(block.text))


def _sentence(block: Block, start: int, end: int) -> Iterator[tuple[int, str]]:
    text = block.text[start:end]
    if words(text):
        lead = start + len(text) - len(text.lstrip())
        yield block.line + block.text.count("\n", 0, lead), " ".join(text.split())


def words(text: str) -> int:
    """How many words a sentence has: what stands between spaces and has a letter or a digit."""
    return sum(1 for word in text.split() if re.search(r"\w", word))
