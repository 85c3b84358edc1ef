"""Figures hold the numbers of the tables; how they look is for people to judge."""

from __future__ import annotations

from pathlib import Path

import handmade
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from running import Command

import odonata
from odonata.analysis.ranking import Ranking, rank
from odonata.errors import OdonataError
from odonata.plot import plot_times, plot_traffic_bars, style

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


@pytest.mark.slow
def test_every_figure_is_drawn_and_saved(run: odonata.Run, tmp_path: Path) -> None:
    for kind in ("links", "histogram", "groups", "jobs", "overview"):
        picture = getattr(run.plot, kind)()
        for ending in ("png", "svg"):
            path = tmp_path / f"{kind}.{ending}"
            picture.savefig(path)
            assert path.stat().st_size > 5_000
        assert picture._repr_png_().startswith(b"\x89PNG")


def test_a_file_for_a_figure_needs_an_extension(odonata_command: Command, tmp_path: Path) -> None:
    result = odonata_command("plot", tmp_path, "--output", "figure")
    assert result.returncode == 2
    assert "figure has no extension" in result.stderr
    assert "Write figure.png, .svg or .pdf." in result.stderr


def test_axes_have_units(run: odonata.Run) -> None:
    for picture in (run.plot.links(), run.plot.jobs()):
        assert picture.axes[0].get_ylabel() == "traffic per link (MiB)"
    assert run.plot.histogram().axes[-1].get_xlabel() == "traffic per link (MiB)"
    assert run.plot.groups().axes[1].get_ylabel() == "mean traffic per link (MiB)"


def coordinates(routers: pa.Table) -> list[str]:
    return [name for name in routers.column_names if name not in ("router", "name", "group", "up")]


def test_the_heat_map_shows_means_and_leaves_other_pairs_empty(run: odonata.Run) -> None:
    """Green in group 0: 4 and 12 MiB, mean 8; blue to group 1: 9 and 3, 6; green in group 1: 12 and 0."""
    image = run.plot.groups().axes[0].images[0].get_array()
    assert image is not None
    assert image.tolist() == [[8.0, 6.0], [0.0, 6.0]]
    routers = run.routers.filter(pc.equal(run.routers["group"], 0))
    ungrouped = routers.drop_columns(coordinates(routers))
    with pytest.raises(OdonataError, match="all routers are in one group"):
        odonata.plot.plot_groups(run.links.slice(0, 0), ungrouped)
    inside = run.links.slice(0, 1)
    image = odonata.plot.plot_groups(inside, run.routers).axes[0].images[0].get_array()
    assert image is not None
    assert image.mask.tolist() == [[False, True], [True, True]]


def test_the_heat_map_of_one_job(run: odonata.Run) -> None:
    image = run.plot.groups(job="b").axes[0].images[0].get_array()
    assert image is not None
    assert image.tolist() == [[2.0, 0.0], [0.0, 0.0]]
    with pytest.raises(OdonataError, match="no job c\nUse one of a, b"):
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


def heights(picture: style.Picture, panel: int) -> list[float]:
    """Heights of a panel's bars in their order: maximum, mean, maximum, mean."""
    return [bar.get_height() for bar in picture.axes[panel].patches]


def bars(**columns: list[object]) -> pd.DataFrame:
    """Rows with these columns, traffic in MiB."""
    rows = pd.DataFrame(columns)
    return rows.assign(bytes_mean=rows["bytes_mean"] * MIB, bytes_max=rows["bytes_max"] * MIB)


def test_traffic_bars_are_grouped_and_rows_of_one_bar_averaged() -> None:
    rows = bars(
        pattern=["spread", "umesh", "spread", "umesh"],
        ranks=[64, 64, 128, 64],
        bytes_mean=[8.0, 2.0, 16.0, 4.0],
        bytes_max=[16.0, 4.0, 32.0, 8.0],
    )
    picture = plot_traffic_bars(rows, groups="pattern", series="ranks", labels={"ranks": "{:,} ranks"})
    assert [label.get_text() for label in picture.axes[0].get_xticklabels()] == ["spread", "umesh"]
    assert heights(picture, 0) == [16.0, 8.0, 6.0, 3.0, 32.0, 16.0], (
        "64 ranks of both patterns, then 128 of spread"
    )
    assert [text.get_text() for text in picture.legends[0].texts][:2] == ["64 ranks", "128 ranks"]


def test_traffic_bars_number_the_second_column_of_groups_within_the_first() -> None:
    rows = bars(
        file=["WD1", "WD1", "WD1", "WD2"],
        job=["a", "b", "b", "a"],
        company=["alone", "alone", "together", "alone"],
        bytes_mean=[1.0, 2.0, 3.0, 0.0],
        bytes_max=[2.0, 4.0, 6.0, 0.0],
    )
    picture = plot_traffic_bars(rows, groups=["file", "job"], series="company")
    labels = [label.get_text() for label in picture.axes[0].get_xticklabels()]
    assert labels == ["0\nWD1", "1", "0\nWD2"]
    assert heights(picture, 0) == [2.0, 1.0, 4.0, 2.0, 6.0, 3.0], "zero traffic is no bar"


def test_traffic_bars_have_a_panel_per_value_and_name_an_unknown_column() -> None:
    rows = bars(
        file=["WD2", "WD4"],
        cables=["DEF", "DEF"],
        **{"class": ["all", "all"]},
        bytes_mean=[4.0, 5.0],
        bytes_max=[8.0, 9.0],
    )
    labels = {"class": {"all": "all links"}}
    picture = plot_traffic_bars(rows, panels="file", groups="class", series="cables", labels=labels)
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["WD2", "WD4"]
    assert [heights(picture, panel) for panel in (0, 1)] == [[8.0, 4.0], [9.0, 5.0]]
    assert picture.axes[0].get_xticklabels()[0].get_text() == "all links"
    with pytest.raises(OdonataError, match="no column color"):
        plot_traffic_bars(rows, groups="class", series="color")


@pytest.mark.parametrize(("groups", "layout"), [(3, (1, 2)), (40, (2, 1))])
def test_panels_stand_side_by_side_if_a_page_is_wide_enough(groups: int, layout: tuple[int, int]) -> None:
    """40 groups of one bar need 11 inches; a page has 10."""
    names = [(panel, str(group)) for panel in ("WD2", "WD4") for group in range(groups)]
    rows = bars(
        file=[panel for panel, _ in names],
        group=[group for _, group in names],
        cables=["DEF"] * len(names),
        bytes_mean=[4.0] * len(names),
        bytes_max=[8.0] * len(names),
    )
    picture = plot_traffic_bars(rows, panels="file", groups="group", series="cables")
    (grid,) = {axes.get_subplotspec().get_gridspec().get_geometry() for axes in picture.axes}
    assert grid == layout


def ranked() -> Ranking:
    settings = [
        {"routing": routing, "seed": seed} for routing in ("min", "par", "ugal") for seed in (1, 2, 3)
    ]
    fft = (4e-6, 5e-6, 4.5e-6, 2e-6, 2.5e-6, 2.25e-6, 8e-6, 9e-6, 8.5e-6)
    times = [{"fft": time, "halo": 2 * time} for time in fft]
    found = rank(settings, times, seeds=["seed"])
    assert found is not None
    return found


def test_times_of_a_sweep_are_means_with_intervals_and_the_best_is_first() -> None:
    picture = plot_times(ranked())
    axes = picture.axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["routing=par", "routing=min", "routing=ugal"]
    assert axes.yaxis_inverted()
    assert (axes.get_title(loc="left"), axes.get_xlabel()) == ("fft", "time (µs)")
    drawn = [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in axes.lines]
    points = {float(y[0]): float(x[0]) for x, y in drawn if len(x) == 1}
    assert points == pytest.approx({0.0: 2.25, 1.0: 4.5, 2.0: 8.5})
    half = 4.303 * 0.25 / 3**0.5
    assert any(
        list(y) == [0, 0] and list(x) == pytest.approx([2.25 - half, 2.25 + half], abs=1e-3) for x, y in drawn
    )


@pytest.mark.parametrize(("size", "width"), [("column", 3.5), ("page", 7.16)])
def test_figures_for_papers_have_their_width_and_embed_fonts(
    run: odonata.Run, size: str, width: float, tmp_path: Path
) -> None:
    with odonata.plot.size(size):
        pictures = [
            run.plot.links(),
            run.plot.histogram(),
            run.plot.groups(),
            run.plot.jobs(),
            plot_times(ranked()),
        ]
        pictures += [run.plot.overview()]
    for picture in pictures:
        assert picture.get_figwidth() == width
        picture.savefig(tmp_path / "figure.pdf")
        content = (tmp_path / "figure.pdf").read_bytes()
        assert b"/CIDFontType2" in content
        assert b"/Type3" not in content
    assert run.plot.links().get_figwidth() > width
    with pytest.raises(OdonataError, match="unknown size 'poster'"), odonata.plot.size("poster"):
        pass


PRICED = {
    "machine": {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
    "job": [
        {"name": name, "pattern": "stencil-3d", "ranks": 27, "ranks_per_node": 1, "bytes": amount}
        for name, amount in (("small", "1 KiB"), ("large", "64 KiB"))
    ],
    "engine": {"kind": "model", "form": "max-rate"},
}


def test_costs_of_jobs_are_the_terms_of_their_slowest_rank() -> None:
    priced = odonata.run(PRICED)
    (axes,) = priced.plot.costs().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["large", "small"]
    # Bars of a job are stacked: the last one ends at its time.
    ends = {
        job: max(bar.get_x() + bar.get_width() for bar in axes.patches if round(bar.get_y() + 0.35) == job)
        for job in (0, 1)
    }
    on = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3}[axes.get_xlabel().split("(")[1].rstrip(")")]
    small, large = priced.jobs["predicted_time_s"].to_pylist()
    assert [ends[0] * on, ends[1] * on] == pytest.approx([large, small])


HIERARCHY = "laplace7-64-100x100x100"


def test_costs_of_a_cycle_are_stacked_by_level() -> None:
    cycle = odonata.run(
        {
            "machine": {"preset": "eos"},
            "job": [
                {
                    "name": "amg",
                    "pattern": {"name": "amg", "hierarchy": HIERARCHY},
                    "ranks": 64,
                    "ranks_per_node": 1,
                }
            ],
            "engine": {"kind": "model", "form": "amg", "parameters": "eos"},
        }
    )
    frame = cycle.table("cycle").to_pandas()
    panels = cycle.plot.costs().axes
    scenarios = frame["scenario"].drop_duplicates().tolist()
    assert [axes.get_title(loc="left") for axes in panels] == [f"amg\n{scenario}" for scenario in scenarios]
    on = {"µs": 1e-6, "ms": 1e-3}[panels[0].get_ylabel().split("(")[1].rstrip(")")]
    for axes, scenario in zip(panels, scenarios, strict=True):
        drawn = sum(bar.get_height() for bar in axes.patches) * on
        assert drawn == pytest.approx(frame.loc[frame["scenario"] == scenario, "term_time_s"].sum())
    first = frame[frame["scenario"] == scenarios[0]]
    level = first.groupby("level")["term_time_s"].sum().idxmax()
    assert f"; longest level: {level}, " in str(odonata.analysis.headline(cycle))


def test_costs_of_many_cycles_say_that_only_the_slowest_are_drawn() -> None:
    job = {"pattern": {"name": "amg", "hierarchy": HIERARCHY}, "ranks": 64, "ranks_per_node": 1}
    cycles = odonata.run(
        {
            "machine": {"preset": "eos"},
            "job": [{"name": f"amg {number}", **job} for number in range(5)],
            "engine": {"kind": "model", "form": "amg", "parameters": "eos"},
        }
    )
    assert cycles.plot.costs().get_suptitle() == "the 4 slowest of 5 jobs"


def test_a_run_without_routing_has_costs_and_no_empty_figures(
    odonata_command: Command, tmp_path: Path
) -> None:
    priced = odonata.run(PRICED, out=tmp_path / "priced")
    assert odonata_command("plot", tmp_path / "priced").returncode == 0
    assert (tmp_path / "priced" / "costs.png").exists()
    for kind in ("overview", "links", "histogram", "groups", "jobs"):
        with pytest.raises(OdonataError, match="routes nothing, so its links have no traffic"):
            getattr(priced.plot, kind)()
    assert odonata_command("plot", tmp_path / "priced", "-k", "links").returncode == 2


def test_a_run_without_costs_or_traffic_says_so(run: odonata.Run) -> None:
    with pytest.raises(OdonataError, match="no predicted times"):
        run.plot.costs()
    table = handmade.tables()["links"]
    at = table.column_names.index("bytes")
    quiet = handmade.run(links=table.set_column(at, table.schema.field(at), [[0.0] * table.num_rows]))
    with pytest.raises(OdonataError, match=r"no link of .* has traffic"):
        quiet.plot.overview()
