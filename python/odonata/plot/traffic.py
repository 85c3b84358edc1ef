"""Mean and maximum traffic per link as bars, over any axis that several runs differ in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd
from matplotlib.axes import Axes

from odonata.colors import FIGURES
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.plot.bars import Series, draw_mean_max, groups_width, legend_entries, scale_of

Labels: TypeAlias = Mapping[str, str | Mapping[str, str]]
"""Format of the values of each column."""

WIDEST = 10.0
"""Width in inches up to which panels stand side by side. Larger values do not fit a page."""


def plot_traffic_bars(
    rows: pd.DataFrame,
    *,
    groups: str | Sequence[str],
    series: str,
    panels: str | None = None,
    labels: Labels | None = None,
    xlabel: str = "",
    log: bool | None = False,
) -> style.Picture:
    """Bars in full colour up to the mean and lighter up to the maximum; rows of one bar are averaged.

    Args:
        rows: Table with `bytes_mean`, `bytes_max` and the columns named below; values keep their row order.
        groups: Column whose values form the groups of bars. With two columns, values of the second are
            numbered within each value of the first, which stands below its first group.
        series: Column whose values have one colour each.
        panels: Column whose values have one panel each.
        labels: Format of the values by column, such as `{:,} ranks`, or texts for single values.
        xlabel: Label of the groups.
        log: Whether the traffic axis is logarithmic; None selects it if values differ by a large factor.

    Raises:
        OdonataError: A column is missing, or there are no rows.

    Examples:
        >>> rows = odonata.Sweep.load("runs/design").results.to_pandas()
        >>> rows = rows[(rows["job"] == "all jobs") & (rows["class"] != "all")]
        >>> odonata.plot.plot_traffic_bars(rows, groups="machine.edit", series="class").savefig("bars.png")
    """
    by = [groups] if isinstance(groups, str) else list(groups)
    for column in [*by, series, *([panels] if panels else []), "bytes_mean", "bytes_max"]:
        if column not in rows.columns:
            raise OdonataError(
                f"the rows have no column {column}", hint=f"The columns are {', '.join(rows.columns)}."
            )
    if rows.empty:
        raise OdonataError("there are no rows to draw")
    formats = labels or {}
    of_panel: list[tuple[str, pd.DataFrame]]
    if panels:
        chosen = rows[panels].unique()
        of_panel = [(_label(panels, value, formats), rows[rows[panels] == value]) for value in chosen]
    else:
        of_panel = [("", rows)]
    drawn = [_panel(part, by, series, list(rows[series].unique()), formats) for _, part in of_panel]
    return _panels(
        [title for title, _ in of_panel],
        [names for names, _ in drawn],
        [found for _, found in drawn],
        log=log,
        xlabel=xlabel,
    )


def _panel(
    rows: pd.DataFrame, by: list[str], series: str, values: Sequence[Any], formats: Labels
) -> tuple[list[str], list[Series]]:
    """Group labels and series of one panel."""
    keys = list(dict.fromkeys(rows[by].itertuples(index=False, name=None)))
    means = rows.groupby([*by, series], sort=False)[["bytes_mean", "bytes_max"]].mean()
    found = []
    for position, value in enumerate(values):
        places = [(*key, value) for key in keys]
        heights = [means.loc[place] if place in means.index else None for place in places]
        found.append(
            Series(
                _label(series, value, formats),
                FIGURES[position % len(FIGURES)],
                # Zero traffic is no bar.
                [None if height is None else float(height["bytes_mean"]) or None for height in heights],
                [None if height is None else float(height["bytes_max"]) or None for height in heights],
            )
        )
    return _group_labels(keys, by, formats), found


def _group_labels(keys: Sequence[tuple[Any, ...]], by: list[str], formats: Labels) -> list[str]:
    if len(by) == 1:
        return [_label(by[0], key[0], formats) for key in keys]
    names: list[str] = []
    counts: dict[Any, int] = {}
    for first, *_ in keys:
        position = counts.setdefault(first, 0)
        counts[first] += 1
        names.append(f"{position}\n{_label(by[0], first, formats)}" if position == 0 else f"{position}")
    return names


def _label(column: str, value: Any, formats: Labels) -> str:
    form = formats.get(column, "{}")
    if isinstance(form, str):
        return form.format(value)
    return form.get(str(value), str(value))


def _panels(
    titles: Sequence[str],
    groups: Sequence[Sequence[str]],
    series: Sequence[Sequence[Series]],
    *,
    log: bool | None,
    xlabel: str,
) -> style.Picture:
    with style.figure_style():
        width = max(groups_width(names, len(one)) for names, one in zip(groups, series, strict=True))
        # Panels stand side by side if that fits a page, else one below the other.
        columns = len(titles) if width * len(titles) <= WIDEST else 1
        rows = len(titles) // columns
        picture = style.new_picture(columns * width + 2.0, 0.4 + 3.2 * rows)
        on = scale_of(bars for one in series for bars in one)
        all_axes: list[Axes] = list(picture.subplots(rows, columns, sharey=True, squeeze=False).flat)
        for axes, title, names, one in zip(all_axes, titles, groups, series, strict=True):
            draw_mean_max(axes, names, one, on, log=log)
            axes.set_title(title)
        for axes in all_axes[-columns:]:
            axes.set_xlabel(xlabel)
        for axes in all_axes[::columns]:
            axes.set_ylabel(on.axis(style.TRAFFIC))
        picture.legend(handles=legend_entries(series[0]), loc="outside right upper")
    return picture
