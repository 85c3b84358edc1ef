"""Figures of a study, drawn by a function of this package or of the study."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError
from odonata.studies.read import nearest
from odonata.studies.results import Results
from odonata.studies.select import NoRowsError, Selection, select, with_place
from odonata.studies.spec import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


def traffic_bars(
    results: Results,
    *,
    table: str,
    groups: str | list[str],
    series: str,
    where: Mapping[str, Any] | None = None,
    panels: str | None = None,
    labels: Mapping[str, str | Mapping[str, str]] | None = None,
    xlabel: str = "",
    log: bool = False,
) -> Picture:
    """Mean and maximum traffic per link; see `odonata.plot.plot_traffic_bars`."""
    from odonata.plot import plot_traffic_bars

    rows = select(results.table(table), Selection(table, where or {}, {}), "bytes_max")
    return plot_traffic_bars(
        rows, groups=groups, series=series, panels=panels, labels=labels, xlabel=xlabel, log=log
    )


def load_curve(
    results: Results, *, experiments: Sequence[str], where: Mapping[str, Any] | None = None
) -> Picture:
    """Accepted load and latency against offered load, for the points with these values on their axes."""
    from odonata.plot import plot_load_curve

    conditions = (where or {}).items()
    runs = [
        run
        for name in experiments
        if ("experiment", name) not in results.study.left_out
        for place, run in results.runs(name)
        if all(place.get(key, value) == value for key, value in conditions)
    ]
    if not runs:
        raise NoRowsError(f"no point of {', '.join(experiments)} has {dict(conditions)}")
    return plot_load_curve(runs)


DRAW: Mapping[str, Callable[..., Any]] = {"traffic-bars": traffic_bars, "load-curve": load_curve}
"""Functions that `draw` may name in addition to functions of `study.py`."""


def draw(figure: Figure, results: Results) -> Picture:
    """Draws a figure.

    Raises:
        OdonataError: There is no such function, or it has no such key.
    """
    place = f"figure {figure.name}"
    if figure.draw in DRAW:
        function = DRAW[figure.draw]
    else:
        try:
            function = results.functions.get(figure.draw, place)
        except OdonataError as error:
            raise OdonataError(
                error.message, hint=f"{error.hint or ''} Built in: {', '.join(DRAW)}."
            ) from None
    parameters = list(inspect.signature(function).parameters.values())[1:]
    names = [parameter.name for parameter in parameters]
    for key in figure.keys:
        if key not in names:
            raise OdonataError(f"{place}: {figure.draw} has no key {key}", hint=nearest(key, names))
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.name not in figure.keys:
            raise OdonataError(f"{place}: {figure.draw} needs the key {parameter.name}")
    try:
        picture: Picture = function(results, **figure.keys)
    except OdonataError as error:
        raise with_place(error, place) from None
    return picture
