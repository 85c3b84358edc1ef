"""The checker finds what it should, and nothing else: texts planted in files of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from words import prose, rules
from words.vocabulary import vocabulary

LONG = "The router " + "always " * 33 + "waits."
"""36 words."""


def findings(directory: Path, name: str, text: str) -> list[tuple[int, str]]:
    path = directory / name
    path.write_text(text)
    return [(found.line, found.rule) for found in rules.check(path).findings]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", "# A page\n\nA packet takes a\nway to it.\n", [(4, "word")]),
        ("a.md", "The one-way latency, a gateway, `code`: fine.\n", []),
        ("a.md", "It waits for\never.\n", [(1, "word")]),
        ("a.md", "| a | b |\n|---|---|\n| x | for ever |\n", [(3, "word")]),
        ("a.md", "```\nthe way\n```\n", []),
        ("a.md", "See `jobs.mean_hops`.\n", [(1, "old-name")]),
        ("a.md", "See `best_way`.\n", [(1, "name")]),
        ("a.md", "Short.\n\n" + LONG.replace(" ", "\n") + "\n", [(3, "long-sentence")]),
        ("a.md", f"| {LONG} |\n", []),
        ("a.md", "A table:\n\n{table ways}\n", []),
        ("a.md", "A short line.\n" + "word " * 20 + "and again.\n", [(2, "line")]),
        ("a.md", f"[{'x' * 60}](https://example.org/{'y' * 60})\n", []),
        ("a.rs", "/// Takes its way.\npub fn a() {}\n", [(1, "word")]),
        ("a.rs", "//! Fine.\n\npub struct Told;\npub struct Routing;\n", [(3, "name"), (3, "type")]),
        ("a.rs", "fn best_way() -> u8 {\n    'w'\n}\n", [(1, "name")]),
        ("a.rs", 'const A: &str = "no way {X} \\\n    out";\n', [(1, "word")]),
        ("a.rs", f"/// {LONG}\nstruct A<'a>(&'a str);\n", [(1, "long-sentence")]),
        ("a.rs", 'const A: &str = r#"the "way""#; // a gate\n', [(1, "word"), (1, "word")]),
        (
            "a.py",
            '"""Tells the way."""\n\nclass Told:\n    pass\n',
            [(1, "word")] * 2 + [(3, "type"), (3, "name")],
        ),
        (
            "a.rs",
            "fn a() {\n    // It waits for\n    // ever.\n    b();\n    // for\n}\n// ever\n",
            [(2, "word")],
        ),
        ("a.py", 'x = f"no {1} way"  # told\n', [(1, "word"), (1, "word")]),
        ("a.py", '"""A.\n\n>>> way()\nthe way\n"""\n', []),
        ("a.ts", "// don't\nconst text = `a ${b} way`\n", [(2, "word")]),
        ("a.tsx", "const a = (\n  <p>\n    The only way\n  </p>\n)\n", [(3, "word")]),
        ("a.tsx", "const a = <p>Use it for the\n way as it is</p>\n", [(2, "word")]),
        ("a.tsx", "const a = b > 1 && way(c) < 2\n", [(1, "name")]),
        ("a.toml", "# the way\na = 'the way'\n", [(1, "word"), (2, "word")]),
    ],
)
def test_what_is_planted_is_found(
    name: str, text: str, expected: list[tuple[int, str]], tmp_path: Path
) -> None:
    assert sorted(findings(tmp_path, name, text)) == sorted(expected)


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = "Two ports, e.g. of a NIC, wait. `x` ends. See [A. Author et al. (2020)](x.md) for it! "
    text += "Or `x`, ... or 1.5 s? It has 13 B. It is short."
    (block,) = prose.blocks(text)
    assert [prose.words(sentence) for _, sentence in prose.sentences(block)] == [7, 2, 8, 5, 4, 3]


def test_an_average_is_taken_of_a_page(tmp_path: Path) -> None:
    sentence = "The router " + "often " * 18 + "waits. "
    path = tmp_path / "a.md"
    path.write_text("\n".join([sentence[:60], sentence[60:]]) * 3)
    assert "average" in {found.rule for found in rules.check(path).findings}
    path.write_text("The router waits.\n" * 3)
    assert rules.check(path).findings == []


@pytest.mark.parametrize(
    "name",
    ["start_ps", "latency_mean_ns", "bytes_per_s", "source_<axis>", "blocking_job", "completion_time_s"],
)
def test_a_good_column_passes(name: str) -> None:
    assert rules.ending(name) is None


@pytest.mark.parametrize("name", ["mean_of_it", "latency_ns_mean", "bytes_in"])
def test_a_bad_column_is_refused(name: str) -> None:
    assert rules.ending(name) is not None


@pytest.mark.parametrize(("kind", "name"), [("column", "time_s"), ("key", "patience"), ("key", "room")])
def test_a_renamed_column_or_key_is_refused(kind: str, name: str) -> None:
    report = rules.Report("docs/reference/some.md")
    rules.check_declared_name(report, 1, kind, name)
    assert [found.rule for found in report.findings] == [kind]


def test_a_description_is_a_noun_phrase() -> None:
    report = rules.Report("docs/reference/some.md")
    rules.check_description(report, 1, "a", "What it is.")
    rules.check_description(report, 2, "b", "Time of a packet.")
    assert [(found.line, found.rule) for found in report.findings] == [(1, "description")]


def test_every_exception_has_a_reason() -> None:
    for entry in vocabulary().data["exception"]:
        assert entry["reason"]
        assert entry.get("rules") or entry.get("names")
