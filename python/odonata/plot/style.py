"""Style of all figures: units, and colours that stay distinct for colour-blind readers and in print."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from odonata.colors import BLUE, FIGURES, GREEN, PURPLE, RAMPS
from odonata.errors import OdonataError
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
    # Journals refuse the Type 3 fonts that matplotlib writes otherwise.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}

_WHEN_SAVED = ("svg.fonttype", "pdf.fonttype", "ps.fonttype")

SIZES = {"screen": None, "column": 3.5, "page": 7.16}
"""Width of a figure in inches: as drawn, of one column, or of both columns of a page (IEEE, ACM)."""

_PAPER_FONT = 7.5
"""Points, a bit smaller than the text of a paper."""
_PAPER_SETTINGS: dict[str, Any] = {
    **{f"{part}size": _PAPER_FONT for part in ("font.", "axes.label", "axes.title", "legend.font")},
    "xtick.labelsize": _PAPER_FONT - 0.5,
    "ytick.labelsize": _PAPER_FONT - 0.5,
    "lines.linewidth": 1.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
}
_SHORTEST = 0.62
"""Least height of a narrow figure as a share of its width."""

_size: ContextVar[str] = ContextVar("size", default="screen")


@contextmanager
def size(name: str) -> Iterator[None]:
    """Draws the figures inside for a column or a page of a paper, with text of 7.5 points.

    Args:
        name: `screen`, `column` (3.5 inches) or `page` (7.16 inches).

    Raises:
        OdonataError: The name is unknown.

    Examples:
        >>> with odonata.plot.size("column"):
        ...     picture = odonata.load("runs/packets").plot.latency()
        >>> picture.savefig("latency.pdf")
    """
    if name not in SIZES:
        raise OdonataError(f"unknown size {name!r}", hint=f"Use one of {', '.join(SIZES)}.")
    before = _size.set(name)
    try:
        yield
    finally:
        _size.reset(before)


def is_paper() -> bool:
    """Whether figures are for a column or a page of a paper."""
    return SIZES[_size.get()] is not None


def is_narrow() -> bool:
    """Whether figures are as wide as one column, so that panels stand below one another."""
    return _size.get() == "column"


class Picture(Figure):
    """A matplotlib figure that notebooks show directly, without pyplot or a display.

    Save it with `savefig`, or draw more on its `axes`.

    Examples:
        >>> picture = odonata.load("runs/both").plot.links()
        >>> title = picture.axes[0].set_title("A title of one's own")
        >>> picture.savefig("links.png")
    """

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """As matplotlib's, with texts as texts in PDF and SVG files."""
        # matplotlib reads the type of fonts only here.
        settings: Any = {key: _SETTINGS[key] for key in _WHEN_SAVED}
        with mpl.rc_context(settings):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=self.dpi)
        return data.getvalue()


def new_picture(width: float, height: float, *, keeps_height: bool = False) -> Picture:
    """An empty figure to draw on inside `figure_style()`.

    Width and height in inches are those on a screen. For paper, the height shrinks with the width unless
    `keeps_height`.
    """
    wanted = SIZES[_size.get()]
    if wanted is not None:
        shrunk = max(height * min(1.0, wanted / width), _SHORTEST * min(wanted, 4.0))
        width, height = wanted, height if keeps_height else shrunk
    return Picture(figsize=(width, height), layout="constrained", facecolor="white")


def characters(picture: Picture) -> int:
    """About how many characters fit a line of the figure."""
    return int(picture.get_figwidth() * (16 if is_paper() else 12.5))


def figure_style() -> Any:
    """A context in which new axes have Odonata's style."""
    settings: Any = _SETTINGS if SIZES[_size.get()] is None else _SETTINGS | _PAPER_SETTINGS
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
