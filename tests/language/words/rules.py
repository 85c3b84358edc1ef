"""The rules: each looks at a file and gives its findings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from words import prose, sources
from words.vocabulary import ROOT, vocabulary


@dataclass(frozen=True)
class Finding:
    """What is wrong at a place."""

    file: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.text}"


@dataclass
class Report:
    """The findings of a file, and the lengths of its sentences (of a source: of its doc comments)."""

    file: str
    findings: list[Finding] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def add(self, line: int, rule: str, text: str) -> None:
        """Adds a finding, unless the vocabulary excepts the file from the rule."""
        if not vocabulary().excepts(self.file, rule):
            self.findings.append(Finding(self.file, line, rule, text))

    @property
    def average(self) -> float:
        """Words per sentence."""
        return sum(self.lengths) / len(self.lengths) if self.lengths else 0.0


GENERATED_LINES = "docs/reference/"
"""Pages written by the program: the lines of its tables and lists are as long as they come."""


def check(path: Path) -> Report:
    """The report on one file."""
    path = path.resolve()
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    report = Report(name)
    if path.suffix == ".md":
        text = path.read_text()
        check_text(report, 1, text, measured=True)
        check_lines(report, text)
        check_spans(report, text)
        if name.startswith(GENERATED_LINES):
            check_declared(report, text)
        check_average(report)
    elif path.suffix == ".ipynb":
        for line, text in sources.notebook(path.read_text()):
            check_text(report, line, text, measured=True)
        check_average(report)
    else:
        check_source(report, path)
    report.findings.sort(key=lambda finding: finding.line)
    return report


def check_source(report: Report, path: Path) -> None:
    """Names, types, comments and texts of a source file."""
    test = bool(sources.TEST.search(report.file))
    for piece in sources.pieces(path):
        if piece.kind == "type":
            check_type(report, piece)
        elif piece.kind == "name":
            check_name(report, piece.line, piece.text)
        elif piece.kind == "doc":
            check_text(report, piece.line, piece.text, measured=not test)
        elif piece.kind == "comment":
            check_words(report, prose.Block(piece.line, prose.inline(piece.text), False))
        elif re.fullmatch(r"[\w.-]+", piece.text):
            check_name(report, piece.line, piece.text)
        else:
            check_string(report, piece, measured=not test)


def check_string(report: Report, piece: sources.Piece, measured: bool) -> None:
    """A text in a source: its words, and no sentence beyond the limit; its average is not taken."""
    lengths = list(report.lengths)
    for block in prose.blocks(piece.text, piece.line):
        check_words(report, block)
        if (
            measured
            and block.measured
            and re.search(r"[a-z]{2} [a-z]{2}", block.text)
            and " = " not in block.text
        ):
            check_sentences(report, block)
    report.lengths = lengths


def check_text(report: Report, line: int, text: str, measured: bool) -> None:
    """A text in Markdown."""
    for block in prose.blocks(text, line):
        check_words(report, block)
        if measured and block.measured:
            check_sentences(report, block)


def check_sentences(report: Report, block: prose.Block) -> None:
    """No sentence above the limit."""
    most = vocabulary().data["limits"]["sentence_words"]
    for line, sentence in prose.sentences(block):
        length = prose.words(sentence)
        report.lengths.append(length)
        if length > most:
            shown = " ".join(sentence.split()[:8]).replace(prose.CODE_WORD, "`...`")
            report.add(line, "long-sentence", f"{length} words (at most {most}): {shown} ...")


def check_average(report: Report) -> None:
    """Short sentences on the average; of two sentences none is taken."""
    most = vocabulary().data["limits"]["average_words"]
    if len(report.lengths) > 2 and report.average > most:
        report.add(1, "average", f"{report.average:.1f} words per sentence (at most {most})")


def check_words(report: Report, block: prose.Block) -> None:
    """No refused word in a text."""
    known = vocabulary()
    if not known.any_prose.search(block.text):
        return
    right = [found.span() for one in known.allow for found in one.finditer(block.text)]
    for one, say in known.prose:
        for found in one.finditer(block.text):
            if not any(start <= found.start() and found.end() <= end for start, end in right):
                line = block.line + block.text.count("\n", 0, found.start())
                around = block.text[max(found.start() - 25, 0) : found.end() + 25]
                shown = " ".join(around.replace(prose.CODE_WORD, "`...`").split())
                report.add(line, "word", f"'{' '.join(found[0].split())}': say {say} ({shown})")


_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def snake(name: str) -> str:
    """A name in snake case: `WayOf` is `way_of`."""
    return "_".join(_TOKEN.findall(name)).lower()


@cache
def refusals(name: str) -> list[tuple[str, str, str]]:
    """What is wrong with a name: the rule, the refused word, and what to say instead."""
    known = vocabulary()
    for part in name.replace("-", "_").split("."):
        if part in known.old_names:
            return [("old-name", part, known.old_names[part])]
    if any(one.fullmatch(name) for one in known.allow):
        return []
    words = f"_{snake(name)}_"
    return [("name", refused, say) for refused, say in known.names.items() if f"_{refused}_" in words]


def check_name(report: Report, line: int, name: str) -> None:
    """No refused word in a name, and no old name of a key or column."""
    for rule, refused, say in refusals(name):
        if not vocabulary().excepts_name(report.file, refused):
            report.add(line, rule, f"{name}: '{refused}', say {say}")
            return


def check_type(report: Report, piece: sources.Piece) -> None:
    """A type is a noun."""
    known = vocabulary()
    name = piece.text.lower()
    last = snake(piece.text).rpartition("_")[2]
    if name.endswith(("error", "warning")):
        return
    participle = re.fullmatch(r"\w+(ed|ing)", last) and last not in known.data["types"]["nouns"]
    if name in known.types or participle:
        report.add(piece.line, "type", f"{piece.text} is no noun")


def check_spans(report: Report, text: str) -> None:
    """Names in spans of code on a page, and old names in its blocks of code."""
    for line, span in prose.code_spans(text):
        for name in re.findall(r"[A-Za-z_][\w.-]*\w", span):
            check_name(report, line, name)


def check_lines(report: Report, text: str) -> None:
    """Lines of a page end before the limit; tables, code, headings and long links do not count."""
    most = vocabulary().data["limits"]["markdown_columns"]
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        short = re.sub(r"\]\([^)]*\)", "]()", line)
        free = fenced or line.lstrip().startswith(("|", "#", "<")) or len(short.split()) <= 3
        if len(line) > most and not free and " " in short.strip()[:most]:
            report.add(number, "line", f"{len(line)} columns (at most {most})")


def check_declared(report: Report, text: str) -> None:
    """Names of columns, or of keys, as the reference pages list them."""
    folder, _, page = report.file.rpartition("/")
    kind = "key" if folder.endswith("reference/keys") else {"run-directory.md": "column"}.get(page)
    heads = {"column": "| column |", "key": "| key |"}
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            inside = False
        elif kind and line.startswith(heads[kind]):
            inside = True
        elif inside and kind and (found := re.match(r"\| `([^`]+)`", line)):
            check_declared_name(report, number, kind, found[1])
            check_description(report, number, found[1], line.rstrip(" |").rpartition(" | ")[2])


def check_declared_name(report: Report, line: int, kind: str, name: str) -> None:
    """One column or key: not a renamed one, and a column ends in a word of the list."""
    known = vocabulary()
    old = known.renamed(kind)
    if name in old:
        report.add(line, kind, f"{name}: now {old[name]}")
    elif kind == "column" and (problem := ending(name)):
        report.add(line, "column", f"{name}: {problem}")


def check_description(report: Report, line: int, name: str, text: str) -> None:
    """What a key or column means is a noun phrase."""
    first = re.match(r"\w+", text)
    if first and first[0].lower() in vocabulary().data["descriptions"]["not_first"]:
        report.add(line, "description", f"{name}: it starts with '{first[0]}', not with a noun phrase")


def ending(name: str) -> str | None:
    """What is wrong with the end of a column's name."""
    columns = vocabulary().data["columns"]
    if name in columns["exceptions"] or name in columns["canonical"]:
        return None
    if name.endswith(">"):
        return None  # an axis of the machine
    allowed = columns["units"] + columns["statistics"] + columns["nouns"]
    if not any(name == word or name.endswith("_" + word) for word in allowed):
        return "its last word is not in the list of endings in docs/vocabulary.toml"
    if re.search(r"_(\w?ps|ns|s|bytes|share)_(mean|min|max|median)$", name):
        return "the statistic stands before the unit"
    return None
