"""The numbers that figures draw, read from their artists and compared with numbers by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import handmade
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes

import odonata
from odonata.analysis.ranking import rank
from odonata.plot import (
    plot_class_changes,
    plot_costs,
    plot_front,
    plot_group_changes,
    plot_histogram,
    plot_interference,
    plot_jobs,
    plot_latency,
    plot_load_curve,
    plot_times,
    style,
)
from odonata.store import columns, schema

MIB = 2.0**20


def packet_run(summary: dict[str, Any] | None = None, **tables: dict[str, list[Any]]) -> odonata.Run:
    """The run by hand as a run of the packet engine, with other tables or columns of jobs."""
    own = {name: value for name, value in handmade.JOBS.items() if name != "slowdown"}
    own |= tables.pop("jobs", {})
    made = handmade.tables()
    made["jobs"] = columns.table("jobs", own, handmade.AXES, engine="packet", partial=True)
    for name, content in tables.items():
        made[name] = columns.table(name, content, handmade.AXES, engine="packet", partial=True)
    packet = {"end_ps": 10_000_000, "warm_up_ps": 0, "measured_ps": 10_000_000}
    changed = {**handmade.SUMMARY, "engine": "packet", "packet": packet, **(summary or {})}
    return odonata.Run.from_tables(changed, made, experiment="", resolved="")


def data(line: Any) -> tuple[list[float], list[float]]:
    return list(np.asarray(line.get_xdata())), list(np.asarray(line.get_ydata()))


def assert_whole(axes: Axes) -> None:
    """All bars and points are within the axes."""
    drawn = [(bar.get_x(), bar.get_y()) for bar in axes.patches]
    drawn += [(bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    for line in axes.lines:
        if line.get_transform() == axes.transData:
            drawn += zip(*data(line), strict=True)
    for values, limits in zip(np.transpose(drawn), (axes.get_xlim(), axes.get_ylim()), strict=True):
        assert min(limits) <= min(values) * (1 + 1e-9)
        assert max(values) <= max(limits)


def test_a_step_of_the_latency_begins_at_the_upper_edge_of_its_cell() -> None:
    """40 of 100 packets below 1 us, 50 below 3 us, 10 below 7 us: above 1 us are 60 %, above 3 us 10 %.

    Between two edges it is the share at the lower edge. The last step would be 0, which a logarithmic axis
    does not show.
    """
    cells = {
        "job": [0, 0, 0],
        "part": ["total"] * 3,
        "latency_lower_ps": [0, 2_000_000, 6_000_000],
        "latency_upper_ps": [1_000_000, 3_000_000, 7_000_000],
        "packets": [40, 50, 10],
    }
    (line,) = plot_latency(packet_run(latency=cells)).axes[0].lines
    times, shares = data(line)
    assert times == pytest.approx([1.0, 3.0])
    assert shares == pytest.approx([0.6, 0.1])
    assert line.get_drawstyle() == "steps-post"
    assert line.axes is not None
    assert line.axes.get_xlabel() == "latency (µs)"


def links_with(amounts: Sequence[float]) -> pa.Table:
    """The links of the run by hand over and over, all of one class, with these bytes in MiB."""
    repeated = {
        name: [values[i % len(values)] for i in range(len(amounts))]
        for name, values in handmade.LINKS.items()
    }
    repeated |= {"bytes": [MIB * amount for amount in amounts], "class": ["green"] * len(amounts)}
    return columns.table("links", repeated, handmade.AXES, engine="flow")


def test_the_marks_of_a_histogram_are_its_quantiles() -> None:
    """100 links with 0, 1, ..., 99 MiB and one with 200 MiB: half below 50, 99 of 100 gaps below 99 MiB.

    The 90th percentile would be 90 MiB.
    """
    axes = plot_histogram(links_with([*range(100), 200])).axes[0]
    marks = next(line for line in axes.lines if line.get_marker() == "v")
    assert data(marks) == (pytest.approx([50, 99, 200]), [1.0, 1.0, 1.0]), "at the upper edge"
    assert axes.get_title(loc="right") == "median 50   99 % 99   maximum 200 MiB"
    counts = [bar.get_height() for bar in axes.patches]
    assert_whole(axes)
    assert (sum(counts), counts[0]) == (101, 5), "40 bins of 5 MiB: 0 to 4 MiB are in the first"
    assert axes.get_title(loc="left") == "green: 101 links, 1 without traffic"


def test_a_logarithmic_histogram_begins_at_the_least_traffic_or_a_decade_below_the_most() -> None:
    """2 to 50 MiB: from 2 to 50. Ten links with 4 MiB, or none: the axis has a decade all the same."""
    for amounts, ends in (([2, 9, 50, 0], (2, 50)), ([4] * 10, (0.4, 4)), ([0] * 4, (0.1, 1))):
        axes = plot_histogram(links_with(amounts), log=True).axes[0]
        assert_whole(axes)
        bars = axes.patches
        last = bars[-1]
        assert (bars[0].get_x(), last.get_x() + last.get_width()) == pytest.approx(ends)


def test_the_steps_of_sorted_links_begin_at_zero_and_have_one_link_each() -> None:
    """3, 8, 0 and 5 MiB on four links: each takes a quarter of the axis, the largest first."""
    run = handmade.run(links=links_with([3, 8, 0, 5]), link_jobs=handmade.tables()["link_jobs"].slice(0, 0))
    axes = run.plot.links().axes[0]
    values, edges, _ = axes.patches[-1].get_data()  # type: ignore[attr-defined]
    assert (list(values), list(edges)) == ([8.0, 5.0, 3.0, 0.0], [0.0, 25.0, 50.0, 75.0, 100.0])
    mean, largest = axes.lines
    assert set(data(mean)[1]) == {4.0}, "the idle link counts"
    assert data(largest) == ([0], [8.0])


def test_more_links_than_steps_are_drawn_as_means() -> None:
    """240 links with 1, 2, .., 240 MiB in 120 steps: 239.5 is the mean of the two largest."""
    run = handmade.run(links=links_with(range(1, 241)), link_jobs=handmade.tables()["link_jobs"].slice(0, 0))
    values, edges, _ = run.plot.links().axes[0].patches[-1].get_data()  # type: ignore[attr-defined]
    assert list(values) == [239.5 - 2 * step for step in range(120)]
    assert list(edges) == pytest.approx([100 * step / 120 for step in range(121)])


def test_one_class_of_links_has_no_bars_of_all_links() -> None:
    """A maximum and a mean of job a, of job b and of both."""
    given = handmade.tables()
    links = links_with([1.0] * 8)
    axes = plot_jobs(links, given["link_jobs"], given["jobs"]).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["green links"]
    assert len(axes.patches) == 6


def test_changes_by_class_and_group() -> None:
    """In MiB. Of the green links 12 at most and 7 on average, of the blue ones 9 and 3; then twice as much.

    From group 0 to itself 8 per link, to group 1 6, from there to itself 6. Run 2 has no blue links.
    """

    def run(times: float, classes: set[str]) -> odonata.Run:
        links = handmade.tables()["links"]
        amounts = pa.array([times * MIB * amount for amount in handmade.LINKS["bytes"]], pa.float64())
        links = links.set_column(links.column_names.index("bytes"), "bytes", amounts)
        return handmade.run(links=links.filter(pa.array([c in classes for c in handmade.LINKS["class"]])))

    both = {"green", "blue"}
    axes = plot_class_changes([run(1, both), run(2, {"green"})], ["before", "after"]).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [12, 7, 9, 3, 24, 14]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["green", "blue"]
    image = plot_group_changes(run(1, both), run(2, both)).axes[0].images[0]
    assert np.ma.filled(image.get_array(), np.nan).tolist() == [[8, 6], [0, 6]]
    assert image.get_clim() == (-8, 8), "white is no change"


def test_the_mean_of_a_class_over_time_counts_links_without_a_row() -> None:
    """Of the four green links one is busy for half of the first interval and all of the second, 1 us each.

    Another is busy for half of the second. Means over four: 12.5 % and 37.5 %, maxima 50 and 100 %.
    """
    series = {
        "link": [0, 0, 3],
        "start_ps": [0, 1_000_000, 1_000_000],
        "busy_ps": [500_000, 1_000_000, 500_000],
    }
    lines = {
        line.get_label(): data(line)
        for line in packet_run(link_series=series).plot.series("load").axes[0].lines
    }
    assert lines["green, mean"] == ([0.0, 1.0], pytest.approx([12.5, 37.5]))
    assert lines["green, maximum"] == ([0.0, 1.0], pytest.approx([50.0, 100.0]))
    assert lines["blue, mean"][1] == [0.0, 0.0]


def interference(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows of the table `interference`, with the declarations of jobs."""
    known = schema.TABLES["jobs"].expand([], "packet")
    names = ("communication_mean_ns", "communication_deviation_ns")
    plain = [schema.Column(name, "str", merge="key") for name in ("target", "background")]
    return schema.declared([*plain, *(known[name] for name in names)], pa.Table.from_pylist(rows))


@pytest.mark.parametrize("size", ["screen", "column"])
def test_a_multigrid_cycle_has_a_panel_for_each_scenario(size: str) -> None:
    """Level 0 takes 1 + 2 ms at once and 4 ms in turn; level 1 takes 3 ms at once. One scale for both."""
    rows = {
        "job": [0] * 4,
        "scenario": ["at once", "at once", "at once", "in turn"],
        "level": [0, 0, 1, 0],
        "phase": ["down"] * 4,
        "term": ["latency", "bandwidth", "latency", "latency"],
        "term_time_s": [1e-3, 2e-3, 3e-3, 4e-3],
    }
    tables = handmade.tables()
    tables["cycle"] = columns.table("cycle", rows, handmade.AXES, engine="model", partial=True)
    run = odonata.Run.from_tables(handmade.SUMMARY, tables, experiment="", resolved="")
    with style.size(size):
        panels = plot_costs(run).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["a\nat once", "a\nin turn"]
    bars = [
        [(bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_height()) for bar in axes.patches]
        for axes in panels
    ]
    # In ms: place, bottom and height of the two levels, first of the latency, then of the bandwidth.
    assert np.allclose(bars[0], [(0, 0, 1), (1, 0, 3), (0, 1, 2), (1, 3, 0)])
    assert np.allclose(bars[1], [(0, 0, 4), (1, 0, 0), (0, 4, 0), (1, 0, 0)])
    assert len({axes.get_ylim() for axes in panels}) == 1
    for axes in panels:
        assert_whole(axes)


def test_deviation_lines_are_one_deviation_long() -> None:
    """Means of two seeds: 20 us with a deviation of 4 us alone, 30 us with 8 us next to b.

    The lines reach from 18 to 22 and from 26 to 34 us.
    """
    rows = [
        {"target": "a", "background": background, "communication_mean_ns": m, "communication_deviation_ns": d}
        for background, m, d in (
            ("none", 19e3, 3e3),
            ("none", 21e3, 5e3),
            ("b", 28e3, 8e3),
            ("b", 32e3, 8e3),
        )
    ]
    axes = plot_interference(interference(rows)).axes[0]
    assert axes.get_ylabel() == "communication time (µs)"
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([20, 30])
    assert [data(line)[1] for line in axes.lines] == [pytest.approx([18, 22]), pytest.approx([26, 34])]


def load_run(load: float, *, converged: bool = True, balanced: bool = True) -> odonata.Run:
    """Both jobs at this load; they accept nine tenths of it, with a latency of 1 us per tenth."""
    jobs = {
        "packets": [100, 100],
        "offered_load": [load] * 2,
        "accepted_load": [0.9 * load] * 2,
        "latency_mean_ns": [1e4 * load] * 2,
    }
    return packet_run({"convergence": {"converged": converged, "balanced": balanced}}, jobs=jobs)


def marks(axes: Axes, *, is_open: bool) -> list[float]:
    """Loads of the open or filled marks."""
    return [
        float(x)
        for line in axes.lines
        if line.get_marker() == "o" and (line.get_markerfacecolor() == "white") == is_open
        for x in data(line)[0]
    ]


@pytest.mark.parametrize("unsteady", [{"balanced": False}, {"converged": False}])
def test_a_saturated_load_has_an_open_mark_and_no_latency(unsteady: dict[str, bool]) -> None:
    """Loads of 20 % and of 50 %. With 50 %, one of two seeds is not steady."""
    runs = [load_run(0.2), load_run(0.5), load_run(0.5, **unsteady)]
    left, right = plot_load_curve(runs).axes[:2]
    curve = next(line for line in left.lines if line.get_label() == "min")
    assert data(curve) == (pytest.approx([20, 50]), pytest.approx([18, 45]))
    assert marks(left, is_open=False) == pytest.approx([20])
    assert marks(left, is_open=True) == pytest.approx([50])
    (latency,) = (line for line in right.lines if line.get_label() == "min")
    assert data(latency) == (pytest.approx([20]), pytest.approx([2])), "us"
    assert marks(right, is_open=True) == []


def trials(**changes: list[Any]) -> pa.Table:
    """Four trials with a time in us and a cost each. The first and the third are the front."""
    known = {
        "trial": [0, 1, 2, 3],
        "time": [8e-6, 9e-6, 4e-6, 6e-6],
        "cost": [1.0, 2.0, 3.0, 4.0],
        "front": [True, False, True, False],
        "allowed": [True, True, True, False],
    }
    kinds = {"trial": "u32", "time": "f64", "cost": "f64", "front": "bool", "allowed": "bool"}
    units = {"time": "s", "cost": "ratio"}
    declared = [
        schema.Column(name, kind, unit=units.get(name, "none"), merge="key", label=name)
        for name, kind in kinds.items()
    ]
    return schema.declared(declared, pa.table(known | changes))


def test_a_front_of_two_objectives_is_a_line_of_steps() -> None:
    (axes,) = plot_front(trials(), ["time", "cost"]).axes
    (front,) = axes.lines
    assert data(front) == (pytest.approx([1, 3]), pytest.approx([8, 4])), "cost and us, by cost"
    assert (front.get_linestyle(), front.get_drawstyle()) == ("-", "steps-post")
    tried, wrong, first = (np.asarray(dots.get_offsets()).tolist() for dots in axes.collections)
    assert (len(tried), wrong, first) == (3, [pytest.approx([4, 6])], [pytest.approx([1, 8])])


def test_the_best_of_one_objective_is_no_line() -> None:
    (axes,) = plot_front(trials(front=[False, False, True, False]), ["time"]).axes
    (best,) = axes.lines
    assert data(best) == ([2], pytest.approx([4])), "trial and us"
    assert (best.get_linestyle(), best.get_marker()) == ("None", "o")


def test_each_seed_of_a_setting_is_a_dot() -> None:
    """Three seeds of two settings, in us; the faster setting is in the upper row."""
    times = {"min": (4e-6, 5e-6, 4.5e-6), "par": (2e-6, 2.5e-6, 2.25e-6)}
    settings = [{"routing": name, "seed": seed} for name in times for seed in range(3)]
    ranking = rank(settings, [{"fft": time} for each in times.values() for time in each], seeds=["seed"])
    assert ranking is not None
    picture = plot_times(ranking)
    assert " ".join(picture.get_suptitle().split()) == ranking.headline
    assert plot_times(ranking, headline=False).get_suptitle() == ""
    (axes,) = picture.axes
    assert_whole(axes)
    dots = [data(line) for line in axes.lines if line.get_marker() == "o" and len(data(line)[0]) == 3]
    assert dots == [
        (pytest.approx([2, 2.5, 2.25]), [0, 0, 0]),
        (pytest.approx([4, 5, 4.5]), [1, 1, 1]),
    ]
