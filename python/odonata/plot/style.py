"""Style of all figures: units, and colours that stay distinct for colour-blind readers and in print."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from odonata.colors import BLUE, FIGURES, GREEN, PURPLE, RAMPS
from odonata.quantity import Scale, scale

CLASS_COLORS = {
    "all": "#999999",
    "green": GREEN,
    "black": "#333333",
    "blue": BLUE,
    "local": GREEN,
    "global": BLUE,
    "terminal": PURPLE,
}
"""Cray's cable colours, matched to the colours above; on other machines links inside and between groups."""

SEQUENTIAL = LinearSegmentedColormap.from_list("fire", RAMPS["fire"]["light"])
"""The viewer's default colours on white: large values are dark."""

_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.labelcolor": "#333333",
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "svg.fonttype": "none",
}


class Picture(Figure):
    """A matplotlib figure that notebooks show directly, without pyplot or a display.

    Save it with `savefig`, or draw more on its `axes`.

    Examples:
        >>> picture = odonata.load("runs/both").plot.links()
        >>> title = picture.axes[0].set_title("A title of one's own")
        >>> picture.savefig("links.png")
    """

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=self.dpi)
        return data.getvalue()


def new_picture(width: float, height: float) -> Picture:
    """An empty figure; width and height are in inches. Draw on it inside `figure_style()`."""
    return Picture(figsize=(width, height), layout="constrained", facecolor="white")


def figure_style() -> Any:
    """A context in which new axes have Odonata's style."""
    settings: Any = _SETTINGS
    return mpl.rc_context(settings)


def class_color(name: str, position: int) -> str:
    """The colour of a link class; `position` selects one if the class has no fixed colour."""
    return CLASS_COLORS.get(name, FIGURES[position % len(FIGURES)])


def job_colors(colors: Sequence[str | None]) -> list[str]:
    """The colours of jobs from the run, or from the palette if the run has none."""
    return [color or FIGURES[i % len(FIGURES)] for i, color in enumerate(colors)]


def lighter(color: str, share: float = 0.6) -> tuple[float, float, float]:
    """The colour mixed with a share of white."""
    red, green, blue = (channel + (1 - channel) * share for channel in to_rgb(color))
    return red, green, blue


def plain_numbers(axis: Any, *, minor: bool = False) -> None:
    """Labels a log axis with 0.1, 20 and 3,000 instead of powers of ten; `minor` adds 2 and 5 times those."""
    axis.set_major_formatter(FuncFormatter(lambda value, _position: number(value)))
    axis.set_minor_formatter(NullFormatter())
    if minor:
        axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        axis.set_minor_formatter(FuncFormatter(lambda value, _position: number(value)))


def number(value: float) -> str:
    """A number with three significant digits and a thousands separator."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


TRAFFIC = "traffic per link"
"""Axis label of `traffic`."""


def traffic(amounts: Iterable[float | None]) -> Scale:
    """The scale of bytes on links."""
    return scale(amounts, "bytes")


def horizontal_grid(axes: Axes) -> None:
    """Draws light horizontal lines."""
    axes.grid(axis="y")
    axes.tick_params(length=0, axis="y")
