"""Writes `docs/glossary.md` from the vocabulary."""

from __future__ import annotations

from words.vocabulary import ROOT, vocabulary

PAGE = ROOT / "docs/glossary.md"


def page() -> str:
    """The page as it should be."""
    lines = [
        "# Glossary",
        "",
        "This page is generated from `docs/vocabulary.toml` (`scripts/words --write-glossary`).",
        "",
        "The terms of tables, keys and pages. Each has one meaning everywhere.",
        "",
        "| term | meaning |",
        "|---|---|",
    ]
    for term in sorted(vocabulary().data["term"], key=lambda term: term["term"].lower()):
        lines.append(f"| {term['term']} | {term['meaning']} |")
    lines += [
        "",
        "## Columns",
        "",
        "These names have the same meaning in every table. A column's name ends in its unit.",
        "",
        "| column | meaning |",
        "|---|---|",
    ]
    columns = vocabulary().data["columns"]
    for name, meaning in columns["canonical"].items():
        lines.append(f"| `{name}` | {meaning} |")
    return "\n".join(lines) + "\n"


def write() -> None:
    """Brings the page up to date."""
    PAGE.write_text(page())
