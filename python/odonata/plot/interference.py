"""Interference between jobs: each target with every background, as in Figure 4 of Kang et al. 2022."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from odonata.colors import FIGURES
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.quantity import Scale, scale
from odonata.store.schema import JOB_TIME, declarations, job_times

if TYPE_CHECKING:
    import pandas as pd

MEASURES = (
    ("communication_mean_ns", "communication_deviation_ns", "communication time"),
    (JOB_TIME, None, "time"),
    ("latency_mean_ns", None, "mean latency of packets"),
)
"""Choices in order of preference: column or role, column of the spread over ranks, and label."""

PER_ROW = 3


def plot_interference(table: pa.Table, *, across: str | None = None) -> style.Picture:
    """One panel per target: a group of bars for each value of `across`, a bar for each background.

    Bars are means over seeds. The line at a bar is the standard deviation over ranks, half up and half down.
    It is not the error of the mean.

    Args:
        table: Table `interference` of a sweep.
        across: Axis that forms groups; by default `engine.routing` if the table has it.

    Raises:
        OdonataError: The table is empty, or has no column to show.

    Examples:
        >>> pairs = odonata.Sweep.load("runs/pairs")
        >>> odonata.plot.plot_interference(pairs.interference).savefig("slowdowns.png")
    """
    if not table.num_rows:
        raise OdonataError("no target has finished yet, so there is nothing to draw")
    times = job_times(table.schema)
    measures = [
        (name, spread, words)
        for what, spread, words in MEASURES
        for name in (times[:1] if what == JOB_TIME else [what])
    ]
    found = next((m for m in measures if m[0] in table.column_names and table[m[0]].null_count == 0), None)
    if found is None:
        raise OdonataError("the jobs have neither times nor latencies")
    value, spread, words = found
    if across is None:
        across = next((name for name in table.column_names if name.startswith("engine.routing")), "")
    frame = table.to_pandas()
    groups = list(dict.fromkeys(frame[across])) if across else [""]
    targets = list(dict.fromkeys(frame["target"]))
    backgrounds = list(dict.fromkeys(frame["background"]))
    on = scale(frame[value], declarations(table.schema)[value].unit)
    columns = min(PER_ROW, len(targets))
    rows = -(-len(targets) // columns)
    width = max(3.2, 0.5 + len(groups) * (0.14 * len(backgrounds) + 0.35))
    with style.figure_style():
        picture = style.new_picture(columns * width, 0.6 + 2.5 * rows)
        panels = picture.subplots(rows, columns, squeeze=False).flatten()
        for axes, target in zip(panels, targets, strict=False):
            mine = frame[frame["target"] == target]
            by_group = {group: mine[mine[across] == group] if across else mine for group in groups}
            _draw_target(axes, by_group, backgrounds, (value, spread), on)
            axes.set_title(target)
            axes.set_ylabel(on.axis(words))
        for axes in panels[len(targets) :]:
            axes.set_axis_off()
        handles = [Patch(color=_color(i), label=name) for i, name in enumerate(backgrounds)]
        entries = min(len(handles), max(1, int(columns * width / 1.3)))
        picture.legend(handles=handles, loc="outside lower center", ncols=entries, title="background job")
    return picture


def _color(background: int) -> str:
    return FIGURES[background % len(FIGURES)]


def _draw_target(
    axes: Axes,
    by_group: dict[str, pd.DataFrame],
    backgrounds: list[str],
    columns: tuple[str, str | None],
    on: Scale,
) -> None:
    value, spread = columns
    here = [
        name for name in backgrounds if any((part["background"] == name).any() for part in by_group.values())
    ]
    width = 0.84 / len(here)
    for x, part in enumerate(by_group.values()):
        for i, name in enumerate(here):
            rows = part[part["background"] == name]
            if rows.empty:
                continue
            place, mean = x + (i - (len(here) - 1) / 2) * width, rows[value].mean() / on.size
            axes.bar(place, mean, 0.9 * width, color=_color(backgrounds.index(name)))
            if spread is not None:
                half = rows[spread].mean() / 2 / on.size
                axes.plot([place, place], [mean - half, mean + half], color="#222222", lw=1.0)
    axes.set_xticks(range(len(by_group)), list(by_group))
    # A group without runs keeps its place.
    axes.set_xlim(-0.55, len(by_group) - 0.45)
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(bottom=0)
    style.horizontal_grid(axes)
