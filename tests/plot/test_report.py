"""`odonata view --report`: the sentence, figures, table and method of a run, in HTML and PDF."""

from __future__ import annotations

import re
from pathlib import Path

import handmade
import pytest
from click.testing import CliRunner

from odonata.analysis import headline
from odonata.cli import main
from odonata.errors import OdonataError
from odonata.report import FIGURES, figures_of, job_rows, method_of, write_report
from odonata.store.run import RunData


@pytest.fixture
def run() -> RunData:
    return handmade.run()


def test_the_page_has_sentence_figures_table_and_method(run: RunData, tmp_path: Path) -> None:
    write_report(run, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    figures = figures_of(run)
    assert 0 < len(figures) <= FIGURES
    assert page.count("<figure") == len(figures)
    assert str(headline(run)) in page.replace("&gt;", ">")
    for text in (*(title for title, _ in figures), *method_of(run)):
        assert text in page.replace("&gt;", ">")
    heads, rows = job_rows(run)
    assert heads[0] == "job"
    assert [row[0] for row in rows] == run.jobs["name"].to_pylist()
    # It loads nothing.
    assert not re.search(r"(src|href)=\"(?!data:)", page)


def test_the_pdf_has_a_page_for_the_text_and_one_for_each_figure(run: RunData, tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        write_report(run, tmp_path / name)
    content = (tmp_path / "a.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", content)) == 1 + len(figures_of(run))
    # Fonts are embedded as outlines of the original, and the same run gives the same bytes.
    assert b"/Type3" not in content
    assert content == (tmp_path / "b.pdf").read_bytes()


def test_names_are_escaped(run: RunData, tmp_path: Path) -> None:
    named = RunData.from_tables(
        run.summary, {name: run.table(name) for name in run.table_names}, experiment="<script>", resolved=""
    )
    write_report(named, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("report.docx", "cannot write a report as report.docx"),
        ("no/report.pdf", "directory .*no does not exist"),
    ],
)
def test_a_wrong_place_is_refused(run: RunData, tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(OdonataError, match=reason):
        write_report(run, tmp_path / name)


def test_the_command_takes_one_run(run: RunData, tmp_path: Path) -> None:
    stored = str(run.save(tmp_path / "run").path)
    done = CliRunner().invoke(main, ["view", stored, "--report", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report.html").exists()
    two = CliRunner().invoke(main, ["view", stored, stored, "--report", str(tmp_path / "two.html")])
    assert two.exit_code != 0
    assert not (tmp_path / "two.html").exists()
