"""What the site adds to the pages: other versions, and what studies came to."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pages import ROOT

import odonata

pytest.importorskip("mkdocs", reason="the pages' tools are not installed: make site")
sys.path.insert(0, str(ROOT / "scripts"))
import site_hooks


def test_the_newest_version_comes_first(tmp_path: Path) -> None:
    """By numbers, not by letters; what is no site of a version is left out, as a part of one."""
    for name in ("0.9.0", "0.10.0", "1.0.0", "tutorial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("")
    (tmp_path / "empty").mkdir()
    config: Any = SimpleNamespace(site_dir=str(tmp_path / "0.10.0"))
    site_hooks.on_post_build(config)
    text = (tmp_path / "index.html").read_text()
    places = [text.index(f'href="{name}/index.html"') for name in ("1.0.0", "0.10.0", "0.9.0")]
    assert places == sorted(places)
    assert "empty" not in text
    assert "tutorial" not in text
    assert "http" not in text


@pytest.mark.parametrize(
    ("url", "address"), [("index.html", "../index.html"), ("models/routing/min.html", "../../../index.html")]
)
def test_a_page_leads_to_the_list(url: str, address: str) -> None:
    page: Any = SimpleNamespace(url=url)
    foot = f'<a href="{site_hooks.VERSIONS}">other versions</a>'
    assert site_hooks.on_post_page(foot, page=page) == f'<a href="{address}">other versions</a>'


def test_a_study_shows_the_results_that_lie_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the full form before what is kept, and the quick form last; without any, what is expected."""
    study = tmp_path / "studies/one"
    study.mkdir(parents=True)
    (study / "study.toml").write_text(
        'title = "One"\nabout = "Why."\n[[claim]]\nname = "c"\nsays = "It holds"\nsource = "me"\n'
    )
    monkeypatch.setattr(site_hooks, "ROOT", tmp_path)
    bare = site_hooks.of_study("one", "{claims c}")
    assert "It holds (me). *Expected: reproduced*" in bare
    places = ("build/studies/one-quick", "studies/one/results", "runs/studies/one")
    for place, words in zip(places, ("quick", "kept", "full"), strict=True):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "page.md").write_text(words)
        assert site_hooks.of_study("one", "{claims c}") == words


def test_the_home_page_shows_the_viewer_below_the_doors() -> None:
    text = site_hooks.with_viewer((ROOT / "docs/README.md").read_text())
    doors, frame, pages = (text.index(part) for part in ("## Where to start", "<iframe", "## All pages"))
    assert doors < frame < pages
    assert text.count(f'<iframe src="{site_hooks.DEMO}"') == 1


def test_home_and_readme_say_the_same() -> None:
    """What Odonata is, and the lines to install and run."""
    home, readme = ((ROOT / name).read_text() for name in ("docs/README.md", "README.md"))
    sentence = home.split("\n\n")[1]
    assert sentence in readme.replace("\n", " ")
    lines = home.split("```console\n")[1].split("```")[0]
    assert lines in readme


def test_every_public_name_has_a_page() -> None:
    """By the name that one types, and on a page of its own if it is a class."""
    pages = site_hooks.api_pages.pages()
    for name in odonata._HOMES:
        assert f"[`odonata.{name}`]" in pages["api.md"]
    assert "\n::: odonata.runs.Run\n" in pages["api/Run.md"]
    assert pages["api/Run.md"].startswith("# odonata.Run\n")
    assert "heading: odonata.run\n" in pages["api/Functions.md"]
    assert max(text.count("\n::: ") for name, text in pages.items() if name != "api/Functions.md") <= 4
