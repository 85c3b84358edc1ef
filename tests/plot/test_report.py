"""`odonata view --report`: sentence, figures, tables and method of runs, comparisons, sweeps and searches."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.patches import Patch

import odonata
from odonata.analysis import headline
from odonata.cli import main
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.report import (
    FIGURES,
    Report,
    report_of,
    report_of_comparison,
    report_of_run,
    report_of_search,
    report_of_sweep,
    write_report,
)
from odonata.report.content import ROWS_MAX, Table
from odonata.report.pdf import place_title, text_pages
from odonata.store.run import RunData

DRAGONFLY = {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9}
HALO = {
    "name": "halo",
    "pattern": "stencil-3d",
    "ranks": 32,
    "ranks_per_node": 1,
    "placement": "random-nodes",
}
FLOW = {
    "machine": DRAGONFLY,
    "job": [HALO, {"name": "noise", "pattern": "uniform", "ranks": 32, "ranks_per_node": 1}],
    "engine": {"kind": "flow"},
}
MODEL = {"machine": DRAGONFLY, "job": [HALO], "engine": {"kind": "model", "form": "max-rate"}}


@pytest.fixture
def run() -> RunData:
    return handmade.run()


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> odonata.Sweep:
    axes = {"machine.edit": [[], ["-50% local"]], "engine.seed": [1, 2, 3]}
    return odonata.sweep({**FLOW, "sweep": axes}, out=tmp_path_factory.mktemp("report") / "sweep")


def written(report: Report, tmp_path: Path) -> str:
    write_report(report, tmp_path / "report.html")
    return unescape((tmp_path / "report.html").read_text())


def test_the_page_has_sentence_figures_table_and_method(run: RunData, tmp_path: Path) -> None:
    report = report_of_run(run)
    page = written(report, tmp_path)
    assert 0 < len(report.figures) <= FIGURES
    assert page.count("<figure") == len(report.figures)
    assert report.headline == str(headline(run))
    for text in (report.headline, *(title for title, _ in report.figures), *report.method):
        assert text in page
    (jobs,) = report.tables
    assert jobs.heads[0] == "job"
    assert [row[0] for row in jobs.rows] == run.jobs["name"].to_pylist()
    # It loads nothing.
    assert not re.search(r"(src|href)=\"(?!data:)", page)


def test_the_pdf_has_pages_of_text_and_one_for_each_figure(run: RunData, tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        write_report(report_of_run(run), tmp_path / name)
    content = (tmp_path / "a.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", content)) == 1 + len(report_of_run(run).figures)
    # Fonts are embedded as outlines of the original, and the same run gives the same bytes.
    assert b"/Type3" not in content
    assert content == (tmp_path / "b.pdf").read_bytes()


def test_no_text_of_the_pdf_leaves_its_page() -> None:
    """A long table continues on the next page, and a long cell below."""
    rows = tuple((f"job {i}", "a setting of a sweep, " * 6) for i in range(ROWS_MAX))
    report = Report(
        "long", "sentence " * 60, (), (Table("t", ("job", "setting"), rows),), ("method " * 900,), ""
    )
    pages = text_pages(report)
    assert len(pages) > 2
    found = [text for page in pages for text in page.texts]
    assert min(text.get_position()[1] for text in found) > 0.02
    assert sum(text.get_text().startswith("job ") for text in found) == ROWS_MAX
    assert max(len(text.get_text()) for text in found) <= 100


def test_no_title_of_a_figure_runs_into_its_legend_or_over_its_edge() -> None:
    handles = [Patch(label="a run"), Patch(label="another run")]
    for legend in (True, False):
        with style.figure_style():
            picture = style.new_picture(3.4, 3.0)
            picture.subplots().plot([1, 2])
            if legend:
                picture.legend(handles=handles, loc="outside right upper")
            place_title(picture, "Mean and maximum traffic per link by class")
            picture.draw_without_rendering()
            title = picture.suptitle(
                picture.get_suptitle(), x=0.02, ha="left", fontweight="bold"
            ).get_window_extent()
        assert title.x1 <= picture.bbox.x1
        assert not any(title.overlaps(one.get_window_extent()) for one in picture.legends)


def test_a_priced_run_shows_its_costs(tmp_path: Path) -> None:
    report = report_of_run(odonata.run(MODEL))
    assert [title for title, _ in report.figures] == ["Predicted times by term"]
    assert "largest term of its slowest rank" in report.headline
    assert "The model engine predicts times" in written(report, tmp_path)


@pytest.mark.slow
def test_a_comparison_has_the_worst_job_and_its_change(tmp_path: Path) -> None:
    base, other = (odonata.run(FLOW, set={"machine.edit": edit}) for edit in ([], ["-50% local"]))
    report = report_of_comparison([base, other], ["now", "fewer"])
    assert report.name == "now → fewer"
    changes = {row["name"]: row["time_s_change"] for row in odonata.compare(base, other).times.to_pylist()}
    worst = max(changes, key=lambda job: changes[job])
    assert changes[worst] > 0
    assert re.match(rf"{worst.capitalize()} is \d.* % slower \(", report.headline)
    titles = [title for title, _ in report.figures]
    assert titles == [
        "Time of each job by run",
        "Mean and maximum traffic per link by class",
        "Change of traffic between groups: fewer against now",
    ]
    times = report.tables[0]
    assert times.heads == ("job", "now", "fewer", "change")
    assert {row[0]: row[3] for row in times.rows} == {
        job: f"{100 * change:+.1f} %" for job, change in changes.items()
    }
    assert 'fewer differs from now in: - edit = []; + edit = ["-50% local"].' in written(report, tmp_path)


def test_the_drawn_changes_of_groups_are_the_differences_of_means() -> None:
    """By hand: group 0 sends 12 B to group 1 on two links, and 30 B after the change, 9 B more per link."""
    links = handmade.tables()["links"]
    at = links.column_names.index("bytes")
    more = [4.0, 20.0, 10.0, 12.0, 12.0, 0.0, 0.0, 0.0]
    changed = handmade.run(links=links.set_column(at, links.schema.field(at), [more]))
    (image,) = odonata.plot.plot_group_changes(handmade.run(), changed).axes[0].images
    assert np.asarray(image.get_array()).tolist() == [[0.0, 9.0], [0.0, 0.0]]
    assert image.get_clim() == (-9.0, 9.0)


@pytest.mark.slow
def test_runs_that_differ_in_seeds_are_within_noise() -> None:
    runs = [odonata.run(FLOW, set={"engine.seed": seed}) for seed in (1, 2)]
    assert report_of_comparison(runs, ["one", "two"]).headline.startswith(
        "Within noise, since only the seeds differ: "
    )


@pytest.mark.slow
def test_a_sweep_has_its_ranking(sweep: odonata.Sweep, tmp_path: Path) -> None:
    report = report_of_sweep(sweep)
    assert sweep.ranking is not None
    assert report.headline == sweep.ranking.headline
    settings = report.tables[0]
    assert [row[0] for row in settings.rows] == ["edit=[]", 'edit=["-50% local"]']
    assert settings.heads[2:] == sweep.ranking.jobs
    assert re.fullmatch(r"\S+ \S+ \(\S+ \S+ to \S+ \S+\)", settings.rows[0][2])
    assert [title for title, _ in report.figures] == [
        "Time of each job by setting, best first",
        "Mean and maximum traffic per link by setting",
    ]
    page = written(report, tmp_path)
    assert 'Swept: edit = [], ["-50% local"]; seed = 1, 2, 3. 6 of 6 points are complete.' in page


@pytest.mark.slow
def test_an_interference_sweep_has_its_slowdowns(tmp_path: Path) -> None:
    jobs = [{**HALO, "program": {"name": "halo-3d", "iterations": 1, "bytes": "16 KiB"}, "ranks": 27}]
    del jobs[0]["pattern"]
    jobs.append(
        {**jobs[0], "name": "sum", "program": {"name": "allreduce", "iterations": 1, "bytes": "64 KiB"}}
    )
    experiment: dict[str, Any] = {
        "machine": DRAGONFLY,
        "job": jobs,
        "engine": {"kind": "packet", "routing": "min"},
        "interference": {"pairs": "mixed"},
    }
    report = report_of_sweep(odonata.sweep(experiment, out=tmp_path / "pairs"))
    assert re.match(
        r"(Largest slowdown: |No slowdown beyond noise; the largest: )(halo|sum) × ", report.headline
    )
    assert report.figures[0][0] == "Each job alone and with each other job"
    (slowdowns,) = report.tables
    assert {row[:2] for row in slowdowns.rows} == {("halo", "sum"), ("sum", "halo")}


@pytest.mark.slow
def test_a_search_has_its_front(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "sweep": {
            "machine.edit": [[], ["-50% local"]],
            "engine.routing": ["adaptive-hybrid", "static-direct"],
        },
        "optimize": {"objectives": ["slowest job", "price"]},
    }
    prices = {"class": {"local": {"price": 1}, "global": {"price": 10}}}
    settings["machine"] = {**DRAGONFLY, **prices}
    found = odonata.optimize({**FLOW, **settings}, out=tmp_path / "search")
    report = report_of_search(found)
    assert re.match(r"Best slowest job: .+ with .*routing=\S+.*\. Best price: ", report.headline)
    trials = [row[0] for row in report.tables[0].rows]
    assert set(map(str, found.front["trial"].to_pylist())) <= set(trials)
    assert "0" in trials
    assert report.figures[0][0].startswith("All combinations")
    assert f"{found.trials.num_rows} combinations tried" in written(report, tmp_path)
    # The same front by the command; other figures are of runs.
    drawn = CliRunner().invoke(main, ["plot", str(found.path)])
    assert (drawn.exit_code, drawn.output.strip()) == (0, str(found.path / "front.png"))
    assert (found.path / "front.png").stat().st_size > 1000
    refused = CliRunner().invoke(main, ["plot", str(found.path), "-k", "times"])
    assert refused.exit_code == 2
    assert "is a search, not a run" in refused.output


def test_names_are_escaped(run: RunData, tmp_path: Path) -> None:
    named = RunData.from_tables(
        run.summary, {name: run.table(name) for name in run.table_names}, experiment="<script>", resolved=""
    )
    write_report(report_of_run(named), tmp_path / "report.html")
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
        write_report(report_of_run(run), tmp_path / name)


@pytest.mark.slow
def test_the_command_reports_any_directory(sweep: odonata.Sweep, tmp_path: Path) -> None:
    runs = [str(sweep.directory_of(point)) for point in sweep.points]
    for number, directories in enumerate(([runs[0]], runs[:2], [str(sweep.path)])):
        file = tmp_path / f"{number}.html"
        done = CliRunner().invoke(main, ["view", *directories, "--report", str(file)])
        assert done.exit_code == 0, done.output
        assert "<h2>Method</h2>" in file.read_text()
    for directories, reason in (
        (runs[:5], "compares two to 4 runs, not 5"),
        ([runs[0], str(sweep.path)], "is a sweep, not a run"),
        ([str(tmp_path)], "is not a run directory"),
    ):
        with pytest.raises(OdonataError, match=reason):
            report_of([Path(one) for one in directories])
