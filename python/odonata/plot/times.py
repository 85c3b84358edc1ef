"""Times of jobs by setting of a sweep, best setting first."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes

from odonata.analysis.ranking import RankedSetting, Ranking, Spread, text_of
from odonata.colors import BLUE
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.quantity import scale

ROWS = 40
"""Settings shown; of more, the best and the base."""
PER_ROW = 4
"""Panels side by side."""
BASE = "#C05020"


def plot_times(ranking: Ranking, *, headline: bool = True) -> style.Picture:
    """One panel per job, one row per setting, the best first: points, their mean and its 95 % interval.

    Two points have no interval: it would be 13 times as wide as their distance.

    Args:
        ranking: `odonata.Sweep.ranking`.
        headline: Whether the sentence of the ranking stands above.

    Raises:
        OdonataError: There is one setting only.

    Examples:
        >>> odonata.plot.plot_times(odonata.Sweep.load("runs/design").ranking).savefig("times.png")
    """
    if len(ranking.rows) < 2:
        raise OdonataError("the sweep has one setting only, so there is nothing to compare")
    rows = [row for place, row in enumerate(ranking.rows) if place < ROWS or row is ranking.base]
    paper, narrow = style.is_paper(), style.is_narrow()
    names = [textwrap.fill(text_of(row.setting), 24) if narrow else text_of(row.setting) for row in rows]
    columns = min(1 if narrow else 2 if paper else PER_ROW, len(ranking.jobs))
    down = -(-len(ranking.jobs) // columns)
    label = max(1.0, 0.075 * max(len(name) for name in names))
    lines = sum(0.13 * (1 + name.count("\n")) + 0.08 for name in names) * (1.0 if paper else 1.2)
    with style.figure_style():
        picture = style.new_picture(
            label + 2.6 * columns, 0.6 + down * ((0.5 if paper else 0.6) + lines), keeps_height=True
        )
        panels = picture.subplots(down, columns, squeeze=False, sharey=True)
        for place, (axes, job) in enumerate(zip(panels.flat, ranking.jobs, strict=False)):
            _draw(axes, ranking, rows, place)
            axes.set_title(job)
        for axes in list(panels.flat)[len(ranking.jobs) :]:
            axes.set_axis_off()
        for axes in panels[:, 0]:
            axes.set_yticks(range(len(rows)), names)
        # Shared by all panels.
        panels[0, 0].set_ylim(len(rows) - 0.4, -0.6)
        left_out = len(ranking.rows) - len(rows)
        note = f" {left_out} more settings are not shown." if left_out else ""
        said = (ranking.headline if headline else "") + note
        if said:
            wrapped = textwrap.fill(said.strip(), style.characters(picture))
            picture.suptitle(wrapped, x=0.01, ha="left", fontsize="medium")
    return picture


def _draw(axes: Axes, ranking: Ranking, rows: list[RankedSetting], job: int) -> None:
    spreads = [row.jobs[job] for row in rows]
    on = scale((value for one in spreads if one is not None for value in one.values), ranking.unit)
    for y, (row, one) in enumerate(zip(rows, spreads, strict=True)):
        if one is not None:
            _draw_spread(axes, y, one, on.size, BASE if row is ranking.base else BLUE)
    at_base = ranking.base.jobs[job]
    if at_base is not None:
        axes.axvline(at_base.mean / on.size, color=BASE, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    # Values that lie close together would leave half a dot at the edge.
    axes.set_xlim(0, 1.04 * axes.get_xlim()[1])
    axes.set_xlabel(on.axis(ranking.label[0].lower() + ranking.label[1:]))
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)


def _draw_spread(axes: Axes, y: int, one: Spread, size: float, color: str) -> None:
    if one.low is not None and one.high is not None:
        axes.plot([max(0.0, one.low) / size, one.high / size], [y, y], color=color, linewidth=1.2)
    if len(one.values) > 1:
        axes.plot(
            [value / size for value in one.values],
            [y] * len(one.values),
            "o",
            ms=2.5,
            color="#999999",
            zorder=3,
        )
    axes.plot([one.mean / size], [y], "o", markersize=5, color=color, zorder=4)
