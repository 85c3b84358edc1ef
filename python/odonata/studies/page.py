"""The page of a study: text with verdicts, tables and figures, as Markdown and HTML."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from odonata import __version__, files
from odonata.errors import OdonataError
from odonata.studies import figures
from odonata.studies.claim_spec import OPEN
from odonata.studies.judge import Verdict, judge
from odonata.studies.read import nearest
from odonata.studies.results import Results
from odonata.studies.run import count_started
from odonata.studies.select import NoRowsError
from odonata.studies.spec import PAGE, Study
from odonata.studies.tables import Cells, cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Given = TypeVar("Given")
Made = TypeVar("Made")

PAGE_HTML = "page.html"
VERDICTS = "verdicts.json"
DPI = 150

_PLACEHOLDER = re.compile(r"^\{(\w+)((?: [^\s{}]+)*)\}$", re.MULTILINE)

_KIND = {"claims": "claim", "table": "table", "figure": "figure"}
"""For each placeholder, the entry of `study.toml`."""

_STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.7rem } h2 { font-size: 1.25rem; margin-top: 2rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
td, th { padding: .2rem .6rem; font-size: 13px; vertical-align: top }
td[style] { white-space: nowrap }
th { border-bottom: 1px solid #999; text-align: left }
tr:nth-child(even) td { background: #f6f6f6 }
img { max-width: 100%; height: auto }
code { background: #f2f2f2; padding: 0 .2em }
"""


@dataclass(frozen=True)
class Report:
    """The result of a study."""

    verdicts: list[Verdict]
    written: list[Path]

    @property
    def as_expected(self) -> bool:
        """Whether no verdict is worse than expected."""
        return all(verdict.as_expected for verdict in self.verdicts)


def report(results: Results, *, unfinished: bool = False) -> Report:
    """Judges the claims and writes `page.md`, `page.html`, `verdicts.json`, `figures/` and `tables/`.

    Args:
        results: Results of the study.
        unfinished: Whether points may be missing; claims, tables and figures that need them are left open.

    Raises:
        OdonataError: A claim, table or figure needs missing data, or a file cannot be written.
    """
    study, target = results.study, results.directory
    results.unfinished = unfinished
    verdicts = judge(results)
    tables = _made(study.tables, lambda table: cells(table, results), unfinished)
    pictures = _made(study.figures, lambda figure: figures.draw(figure, results), unfinished)
    text = Text(results, verdicts, tables, pictures, unfinished)
    markdown = _filled(_template(study), text)
    try:
        written = [
            *(_write(target / "tables" / f"{name}.csv", table.csv()) for name, table in tables.items()),
            *(_save(picture, target / _image(name)) for name, picture in pictures.items()),
            _write(target / VERDICTS, _as_json(results, verdicts)),
            _write(target / PAGE, markdown),
            _write(target / PAGE_HTML, _html(study, markdown, target)),
        ]
    except OSError as error:
        raise OdonataError(f"{error.filename} cannot be written: {error.strerror}") from None
    return Report(verdicts, written)


@dataclass(frozen=True)
class Text:
    """Content for the placeholders of the page."""

    results: Results
    verdicts: Sequence[Verdict]
    tables: Mapping[str, Cells]
    pictures: Mapping[str, Picture]
    unfinished: bool


def _made(entries: Mapping[str, Given], make: Callable[[Given], Made], unfinished: bool) -> dict[str, Made]:
    """Makes each entry; with missing points, leaves out the entries that need them."""
    results = {}
    for name, one in entries.items():
        try:
            results[name] = make(one)
        except NoRowsError:
            if not unfinished:
                raise
    return results


def _template(study: Study) -> str:
    """The study's own page, or a default page with everything."""
    path = study.folder / PAGE
    if path.is_file():
        return files.read_utf8(path)
    parts = [
        *(f"{{figure {name}}}" for name in study.figures),
        *(f"{{table {name}}}" for name in study.tables),
    ]
    return "\n\n".join(["{verdicts}", *parts, ""])


def _filled(template: str, text: Text) -> str:
    study, tables, pictures = text.results.study, text.tables, text.pictures
    by_name = {verdict.claim.name: verdict for verdict in text.verdicts}

    def fill(found: re.Match[str]) -> str:
        kind, names = found[1], found[2].split()
        known: Mapping[str, Any]
        if kind == "verdicts":
            return _summary(text.verdicts)
        if kind == "claims":
            known = by_name
            filled = [_claim(by_name[name]) for name in names if name in by_name]
        elif kind == "table":
            known = study.tables
            filled = [
                f"{tables[name].caption}:\n\n{tables[name].markdown()}" for name in names if name in tables
            ]
        elif kind == "figure":
            known = study.figures
            filled = [
                f"![{study.figures[name].caption}]({_image(name)})\n\n*{study.figures[name].caption}*"
                for name in names
                if name in pictures
            ]
        else:
            kinds = ("verdicts", "claims", "table", "figure")
            raise OdonataError(f"{PAGE} has {found[0]}", hint=nearest(kind, kinds))
        for name in names:
            if name not in known and (_KIND[kind], name) not in study.left_out:
                raise OdonataError(
                    f"{PAGE} has {found[0]}, but there is no {name}", hint=nearest(name, known)
                )
        # The quick form leaves some out, and an unfinished study does not have them yet.
        missing = all((_KIND[kind], name) in study.left_out for name in names)
        return "\n\n".join(filled) or ("*Not in the quick form.*" if missing else "*Not measured.*")

    form = "Quick form: fewer points than the full study.\n\n" if study.quick else ""
    done, points = count_started(text.results)
    all_points = f"{done} of {points}" if text.unfinished else str(points)
    if text.unfinished:
        form += f"Unfinished: {done} of {points} points have run.\n\n"
    sources = "".join(f"- `{name}`: {words}\n" for name, words in study.sources.items())
    return (
        f"# {study.title}\n\n{study.about}\n\n{form}"
        + _PLACEHOLDER.sub(fill, template).strip()
        + f"\n\n## Sources\n\n{sources}\nMade by Odonata {__version__} from "
        f"{len(text.results.parts)} sweeps of {all_points} points.\n"
    )


def _summary(verdicts: Sequence[Verdict]) -> str:
    """All verdicts in a table."""
    lines = ["| claim | source | verdict | found |", "| --- | --- | --- | --- |"]
    for verdict in verdicts:
        claim = verdict.claim
        published = f"{claim.published}; here " if claim.published else ""
        found = _line(f"{published}{verdict.reason()} {claim.why and f'*{claim.why}*'}".rstrip())
        lines.append(f"| {_line(claim.says)} | {claim.source} | {_word(verdict)} | {found} |")
    return "\n".join(lines)


def _claim(verdict: Verdict) -> str:
    claim = verdict.claim
    if not verdict.findings:
        return f"**{verdict.word.capitalize()}**: {claim.says} ({claim.source})"
    text = f"**{verdict.word.capitalize()}**: {claim.says} ({claim.source}"
    text += f": {claim.published})" if claim.published else ")"
    if claim.why:
        text += f"  \n{claim.why}"
    lines = [
        f"- {'' if finding.holds else 'no: '}{finding.label}{': ' if finding.label else ''}{finding.found}"
        for finding in verdict.findings
    ]
    return "\n".join([text, "", *lines])


def _word(verdict: Verdict) -> str:
    return verdict.word if verdict.word in ("reproduced", OPEN) else f"**{verdict.word}**"


def _line(words: str) -> str:
    """Text for a cell of a Markdown table."""
    return words.replace("|", "\\|").replace("\n", " ")


def _image(name: str) -> str:
    return f"figures/{name}.png"


def _as_json(results: Results, verdicts: Sequence[Verdict]) -> str:
    content = {
        "study": results.study.name,
        "odonata_version": __version__,
        "quick": results.study.quick,
        "claims": [
            {
                "name": verdict.claim.name,
                "says": verdict.claim.says,
                "source": verdict.claim.source,
                "verdict": verdict.word,
                "expected": verdict.claim.expect,
                "why": verdict.claim.why,
                "findings": [
                    {"label": finding.label, "found": finding.found, "holds": bool(finding.holds)}
                    for finding in verdict.findings
                ],
            }
            for verdict in verdicts
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _html(study: Study, markdown: str, target: Path) -> str:
    """The page as one file with its figures inside."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)

    def embedded(found: re.Match[str]) -> str:
        data = base64.b64encode((target / found[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{data}"'

    body = re.sub(r'src="(figures/[^"]+)"', embedded, body)
    head = f"<meta charset=utf-8><title>{escape(study.title)}</title><style>{_STYLE}</style>"
    return f"<!doctype html>\n<html lang=en>{head}\n<body>\n{body}</body></html>\n"


def _write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.writing")
    temporary.write_text(content, encoding="utf-8")
    return temporary.replace(path)


def _save(picture: Picture, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".writing-{path.name}")
    picture.savefig(temporary, dpi=DPI)
    return temporary.replace(path)
