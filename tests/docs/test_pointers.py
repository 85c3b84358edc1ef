"""Every path of the repository that a page or comment names is there. The index of pages lists them all."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

COMMENT = {
    ".rs": re.compile(r"//(.*)"),
    ".ts": re.compile(r"(?://|^\s*/?\*)(.*)"),
    ".tsx": re.compile(r"(?://|^\s*/?\*)(.*)"),
    ".c": re.compile(r"(?://|^\s*/?\*)(.*)"),
    ".h": re.compile(r"(?://|^\s*/?\*)(.*)"),
    ".toml": re.compile(r"#(.*)"),
    ".yml": re.compile(r"#(.*)"),
    "": re.compile(r"#(.*)"),
}
"""What of a line is a comment, by the ending of the file. The scripts and the Makefile have none."""

INVENTED = {f"crates/routing/src/algorithm/{name}.rs" for name in ("alternate", "hub")}
"""Files that the reader of a page makes."""


def tracked() -> list[str]:
    """The files of the repository that people write, but for data and seeds."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    readable = {".md", ".py", *COMMENT}
    return [
        file
        for file in listed.stdout.split()
        if Path(file).suffix in readable and not re.search(r"/data/|^fuzz/seeds/|^LICENSE", file)
    ]


def prose_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Docstrings and comments with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            for offset, line in enumerate(str(node.value.value).splitlines()):
                yield node.lineno + offset, line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def prose(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text()
    if path.suffix == ".py":
        yield from prose_of_python(text)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if path.suffix == ".md":
            yield number, line
        elif found := COMMENT[path.suffix].search(line):
            yield number, found[1]


def missing(path: Path, text: str, pointer: re.Pattern[str]) -> Iterator[str]:
    """The paths in `text` that lead nowhere: neither from the root nor from a directory above the file."""
    for named in pointer.findall(text):
        named = named.rstrip("./")
        if named in INVENTED or any(any(folder.glob(named)) for folder in (path.parent, *path.parents)):
            continue
        yield named


def is_ignored(named: str) -> bool:
    """Whether git ignores the path: what a build makes may be named, and is not there before."""
    return subprocess.run(["git", "check-ignore", "--quiet", named], cwd=ROOT).returncode == 0


def test_paths_in_pages_and_comments_are_there() -> None:
    files = tracked()
    roots = sorted({file.split("/")[0] for file in files if "/" in file})
    pointer = re.compile(rf"(?<![\w./~$-])((?:{'|'.join(map(re.escape, roots))})/[\w./*-]*[\w*/])")
    wrong = [
        f"{file}:{number}: {named}"
        for file in files
        if (path := ROOT / file).is_file()
        for number, line in prose(path)
        for named in missing(path, line, pointer)
        if not is_ignored(named)
    ]
    assert wrong == []


def linked(page: Path) -> set[Path]:
    """The pages to which a page links."""
    links = re.findall(r"\]\(([^)#]+\.(?:md|ipynb))", page.read_text())
    return {(page.parent / link).resolve() for link in links}


def test_an_index_lists_every_page() -> None:
    """The index of all pages, the README of its directory or the page of the experiment file lists a page."""
    pages = {page for ending in ("md", "ipynb") for page in (ROOT / "docs").rglob(f"*.{ending}")}
    indexes = {page for page in pages if page.name == "README.md"}
    indexes.add(ROOT / "docs/reference/experiment-file.md")
    listed = {ROOT / "docs/README.md"}.union(*(linked(index) for index in indexes))
    assert sorted(str(page.relative_to(ROOT)) for page in pages - listed) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("see `crates/none/src/a.rs`.", ["crates/none/src/a.rs"]),
        ("crates/*/src/lib.rs, tests/pages.py", []),
    ],
)
def test_the_reader_of_pointers_sees_what_leads_nowhere(line: str, found: list[str]) -> None:
    assert list(missing(ROOT / "README.md", line, re.compile(r"((?:crates|tests)/[\w./*-]*[\w*/])"))) == found
