"""Bars with mean and maximum: the mean in full colour, the maximum lighter behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from odonata.plot import style
from odonata.quantity import Scale


@dataclass(frozen=True)
class Series:
    """One colour of a grouped bar chart: mean and maximum bytes for each group; None means no bar."""

    label: str
    color: str
    means: Sequence[float | None]
    maxima: Sequence[float | None]


LINEAR_UP_TO = 30.0
"""From this ratio of highest bar to lowest mean on, the axis is logarithmic by default.

Larger: more linear axes.
"""


def draw_mean_max(
    axes: Axes, groups: Sequence[str], series: Sequence[Series], on: Scale, *, log: bool | None = None
) -> None:
    """Draws one group of bars for each name in `groups`, with one bar per series.

    `log` selects a logarithmic axis; None selects it if the values differ by a large factor.
    """
    width = 0.82 / max(len(series), 1)
    for i, one in enumerate(series):
        offset = (i - (len(series) - 1) / 2) * width
        for x, (mean, maximum) in enumerate(zip(one.means, one.maxima, strict=True)):
            if mean is None or maximum is None:
                continue
            place, bar = x + offset, 0.9 * width
            light = style.lighter(one.color)
            axes.bar(place, maximum / on.size, bar, color=light, edgecolor=one.color, lw=0.6)
            axes.bar(place, mean / on.size, bar, color=one.color)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.55, len(groups) - 0.45)
    lowest = min((mean for one in series for mean in one.means if mean), default=0.0)
    highest = max((maximum for one in series for maximum in one.maxima if maximum), default=0.0)
    if log is None:
        log = highest > LINEAR_UP_TO * lowest
    if log and lowest:
        axes.set_yscale("log")
        # The lower limit keeps even the lowest bar visible.
        axes.set_ylim(bottom=min(axes.get_ylim()[0], lowest / on.size / 2))
        style.plain_numbers(axes.yaxis)
    style.horizontal_grid(axes)


def scale_of(series: Iterable[Series]) -> Scale:
    """The common scale of all bars."""
    return style.traffic(maximum for one in series for maximum in one.maxima)


def groups_width(groups: Sequence[str], bars: int) -> float:
    """Width in inches that keeps bars distinct and labels apart."""
    longest = max((len(line) for name in groups for line in name.split("\n")), default=0)
    return max(3.0, len(groups) * max(0.16 * bars + 0.12, 0.085 * longest + 0.15))


def legend_entries(series: Sequence[Series]) -> list[Patch | Line2D]:
    """Legend handles: the series, then the meaning of the two shades."""
    entries: list[Patch | Line2D] = [Patch(color=one.color, label=one.label) for one in series]
    shade = "#777777"
    entries.append(Line2D([], [], linestyle="none", label=" "))
    entries.append(Patch(color=shade, label="mean"))
    entries.append(Patch(facecolor=style.lighter(shade), edgecolor=shade, lw=0.6, label="maximum"))
    return entries
