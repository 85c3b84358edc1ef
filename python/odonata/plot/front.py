"""The trials of an optimization and the best of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from odonata.colors import BLUE
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.quantity import scale
from odonata.store.schema import declarations

WIDE = 20
"""From this ratio of largest to smallest value on, the scale is logarithmic. Larger: more linear scales."""


def plot_front(trials: pa.Table, objectives: Sequence[str]) -> style.Picture:
    """Every trial as a dot and the front as a line, over two objectives or the trial number.

    Args:
        trials: Table `trials` of an optimization.
        objectives: Names of the objectives.

    Raises:
        OdonataError: No trial could run.

    Examples:
        >>> found = odonata.optimize("design.toml", out="runs/best")
        >>> odonata.plot.plot_front(found.trials, found.objectives).savefig("front.png")
    """
    known = trials.filter(trials[objectives[0]].is_valid())
    if not known.num_rows:
        raise OdonataError("no combination could run, so there is nothing to draw")
    declared = declarations(trials.schema)

    def axis(name: str) -> tuple[np.ndarray, str]:
        values = known[name].to_numpy()
        on = scale(values.tolist(), declared[name].unit)
        return values / on.size, on.axis(name)

    y, y_label = axis(objectives[0])
    x, x_label = axis(objectives[1]) if len(objectives) > 1 else (known["trial"].to_numpy(), "trial")
    front, allowed = (
        known["front"].to_numpy(zero_copy_only=False),
        known["allowed"].to_numpy(zero_copy_only=False),
    )
    with style.figure_style():
        picture = style.new_picture(6.4, 4.2)
        panel = picture.subplots()
        panel.scatter(x[allowed], y[allowed], s=16, color="#8a97a5", label="tried")
        if not allowed.all():
            panel.scatter(
                x[~allowed], y[~allowed], s=16, marker="x", color="#c9a227", label="violates a constraint"
            )
        order = np.argsort(x[front], kind="stable")
        several = len(objectives) > 1
        # A point between two trials of the front is at best as good as the cheaper of them.
        style_of = "steps-post" if several else "default"
        panel.plot(
            x[front][order],
            y[front][order],
            "o-" if several else "o",
            color=BLUE,
            label="front" if several else "best",
            drawstyle=style_of,
        )
        first = known["trial"].to_numpy() == 0
        panel.scatter(
            x[first],
            y[first],
            s=70,
            facecolors="none",
            edgecolors="#1c2530",
            label="first values of the file",
        )
        panel.set(xlabel=x_label, ylabel=y_label)
        if y.min() > 0 and y.max() > WIDE * y.min():
            panel.set_yscale("log")
        panel.legend()
    return picture
