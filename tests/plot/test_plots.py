"""Figures hold the numbers of the tables; how they look is for people to judge."""

from __future__ import annotations

from pathlib import Path

import handmade
import pyarrow as pa
import pytest

import odonata
from odonata.errors import OdonataError
from odonata.plot import figure_4, figure_6, figure_9, style

MIB = 2.0**20


@pytest.fixture
def run() -> odonata.Run:
    """The run by hand, in MiB instead of bytes so that numbers on axes are round."""
    tables = handmade.tables()
    scaled = {}
    for name in ("links", "link_jobs"):
        table = tables[name]
        amounts = pa.array([amount * MIB for amount in table["bytes"].to_pylist()])
        scaled[name] = table.set_column(table.column_names.index("bytes"), "bytes", amounts)
    return handmade.run(**scaled)


def test_every_figure_is_drawn_and_saved(run: odonata.Run, tmp_path: Path) -> None:
    for kind in ("links", "histogram", "groups", "jobs", "overview"):
        picture = getattr(run.plot, kind)()
        for ending in ("png", "svg"):
            path = tmp_path / f"{kind}.{ending}"
            picture.savefig(path)
            assert path.stat().st_size > 5_000
        assert picture._repr_png_().startswith(b"\x89PNG")


def test_axes_have_units(run: odonata.Run) -> None:
    for picture in (run.plot.links(), run.plot.jobs()):
        assert picture.axes[0].get_ylabel() == "traffic of a link (MiB)"
    assert run.plot.histogram().axes[-1].get_xlabel() == "traffic of a link (MiB)"
    assert run.plot.groups().axes[1].get_ylabel() == "mean traffic of a link (MiB)"


def test_the_heat_map_shows_means_and_leaves_other_pairs_empty(run: odonata.Run) -> None:
    """Green in group 0: 4 and 12 MiB, mean 8; blue to group 1: 9 and 3, 6; green in group 1: 12 and 0."""
    image = run.plot.groups().axes[0].images[0].get_array()
    assert image is not None
    assert image.tolist() == [[8.0, 6.0], [0.0, 6.0]]
    inside = run.links.slice(0, 1)
    image = odonata.plot.plot_groups(inside, run.routers).axes[0].images[0].get_array()
    assert image is not None
    assert image.mask.tolist() == [[False, True], [True, True]]


def test_the_heat_map_of_one_job(run: odonata.Run) -> None:
    image = run.plot.groups(job="b").axes[0].images[0].get_array()
    assert image is not None
    assert image.tolist() == [[2.0, 0.0], [0.0, 0.0]]
    with pytest.raises(OdonataError, match="no job c\nIts jobs: a, b"):
        run.plot.groups(job="c")


def test_stacked_links_end_at_the_total(run: odonata.Run) -> None:
    """The uppermost job's curve is the traffic of the links, sorted: green 12, 12, 4, 0 MiB."""
    axes = run.plot.links().axes[0]
    top = axes.patches[-1].get_data()  # type: ignore[attr-defined]
    assert top.values.tolist() == [12.0, 12.0, 4.0, 0.0]
    assert axes.get_title(loc="left") == "green: 4 links"


def test_bars_are_means_and_maxima(run: odonata.Run) -> None:
    """Job a: mean 24 / 4 = 6 on green, 12 / 4 = 3 on blue, 36 / 8 = 4.5 on all; job b: 4 / 4 and 4 / 8."""
    axes = run.plot.jobs().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "green links",
        "blue links",
        "all links",
    ]
    heights = [bar.get_height() for bar in axes.patches]
    assert heights[:10] == [12.0, 6.0, 9.0, 3.0, 12.0, 4.5, 4.0, 1.0, 4.0, 0.5]


def alone(pattern: str, ranks: int, mean: float) -> odonata.Run:
    """A run of one job, with the given mean on green links."""
    made = handmade.run()
    jobs = made.jobs.slice(0, 1)
    for name, value in (("pattern", pattern), ("ranks", ranks)):
        position = jobs.column_names.index(name)
        jobs = jobs.set_column(position, name, pa.array([value], jobs[name].type))
    row = {"bytes_mean": mean * MIB, "bytes_max": 2 * mean * MIB}
    made.summary["classes"] = [{"class": name, **row} for name in ("all", "green", "blue")]
    made.summary["jobs"] = [{"job": 0, "name": "a", "classes": made.summary["classes"]}]
    return odonata.Run.from_tables(
        made.summary, {**handmade.tables(), "jobs": jobs}, experiment="", resolved=""
    )


def heights(picture: style.Picture, panel: int) -> list[float]:
    """Heights of a panel's bars in their order: maximum, mean, maximum, mean."""
    return [bar.get_height() for bar in picture.axes[panel].patches]


def test_figure_4_groups_sizes_by_pattern_and_averages_repetitions() -> None:
    runs = [
        alone("spread", 64, 8.0),
        alone("umesh", 64, 2.0),
        alone("spread", 128, 16.0),
        alone("umesh", 64, 4.0),
    ]
    picture = figure_4(runs, classes=["green"])
    assert [label.get_text() for label in picture.axes[0].get_xticklabels()] == ["spread", "umesh"]
    assert heights(picture, 0) == [16.0, 8.0, 6.0, 3.0, 32.0, 16.0], (
        "64 ranks of both patterns, then 128 of spread"
    )


def test_figure_6_sets_the_job_alone_beside_its_share_of_the_workload() -> None:
    """Alone, job a has mean 5 MiB; in the workload made by hand, its mean on green links is 6 bytes."""
    workload = handmade.run()
    workload.summary["jobs"] = workload.summary["jobs"][:1]
    one_job = odonata.Run.from_tables(
        workload.summary,
        {**handmade.tables(), "jobs": workload.jobs.slice(0, 1)},
        experiment="",
        resolved="",
    )
    picture = figure_6({"WD": (one_job, [alone("spread", 64, 5.0)])}, classes=["green"])
    assert heights(picture, 0) == pytest.approx([10.0, 5.0, 12.0 / MIB, 6.0 / MIB])
    with pytest.raises(OdonataError, match="WD: there is no run of the job b alone"):
        figure_6({"WD": (handmade.run(), [alone("spread", 64, 5.0)])})


def test_figure_9_has_a_panel_per_workload_and_a_colour_per_machine() -> None:
    machines = {
        "default": alone("spread", 64, 4.0),
        "-K": [alone("spread", 64, 5.0), alone("spread", 64, 7.0)],
    }
    picture = figure_9({"WD2": machines, "WD4": machines}, classes=["green", "all"])
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["WD2", "WD4"]
    assert heights(picture, 0) == [8.0, 4.0, 8.0, 4.0, 12.0, 6.0, 12.0, 6.0]
    with pytest.raises(OdonataError, match="no link class black\nIt has: all, green, blue"):
        figure_9({"WD2": machines})
