"""Time per level by scenario (Figures 5, 6) and with the simulated network; messages of ranks (Figure 9)."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from odonata.amg import library, model, record, store
from odonata.plot import style
from odonata.studies import Results

from .cases import ENGINES, EOS, MAIN, executed, findings, hierarchy, published

FIGURE_9_RANKS = 128


def level_times(_: Results, *, mixes: list[str], title: str) -> Figure:
    """Time per level in all six scenarios without the coarsest, which is solved directly, as in the paper."""
    rows = published("table-3").query("cores == 1024").set_index("mix").loc[mixes]
    wide = min(len(rows), 2)
    high = -(-len(rows) // wide)
    size = (4.6 * wide + 2.4, 3.4 * high)
    figure, axes = plt.subplots(high, wide, figsize=size, squeeze=False, layout="constrained")
    for axis, (mix, row) in zip(axes.flat, rows.iterrows(), strict=True):
        threads, tasks = int(row["threads"]), int(row["tasks"])
        levels = hierarchy(threads, row["points"], 1024)
        for name in model.scenarios():
            cycle = model.cycle(levels, EOS, threads=threads, tasks=tasks, scenario=name)
            times = [1e3 * s for s in cycle.level_seconds()[:-1]]
            best = name == EOS.scenario
            axis.plot(times, "-o" if best else ":o", markersize=3, linewidth=2 if best else 1, label=name)
        axis.set(title=mix, xlabel="level", yscale="log")
        axis.grid(alpha=0.3)
        axis.set_ylabel("ms")
    lines, names = axes[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside right upper", fontsize=8)
    figure.suptitle(title)
    plt.close(figure)
    return figure


def simulated_levels(results: Results) -> Figure:
    """Level times with the simulated network among the six scenarios."""
    found = {engine: findings(results)[engine, MAIN, "plain"] for engine in ENGINES}
    figure, axis = plt.subplots(figsize=(8.6, 4.2), layout="constrained")
    first = next(iter(found.values()))
    for name in model.scenarios():
        times = [1e3 * level.scenarios[name] for level in first.levels[:-1]]
        axis.plot(times, ":o", markersize=3, linewidth=1, label=name)
    for engine, line in zip(found, ("k-s", "k--^"), strict=True):
        times = [1e3 * level.seconds for level in found[engine].levels[:-1]]
        axis.plot(times, line, markersize=4, linewidth=1.6, label=f"network by the {engine} engine")
    axis.set(
        xlabel="level", ylabel="ms per cycle", yscale="log", title="512 cores, all MPI, 30^3 points per core"
    )
    axis.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    plt.close(figure)
    return figure


def matrices(_: Results) -> Figure:
    """Messages between ranks in the set-up and the solve, on the two levels with the most messages."""
    table = store.read_parquet(library.DATA / "figure-9.parquet").to_pandas()
    setup = table["phase"].isin(record.KERNELS)
    solve = table["phase"].isin(("smooth", "residual", "restrict", "interpolate"))
    busiest = table[solve].groupby("level")["messages"].sum().nlargest(2).index.sort_values()
    figure, axes = plt.subplots(2, len(busiest), figsize=(4.2 * len(busiest), 7.6), squeeze=False)
    for column, level in enumerate(busiest):
        for row, (name, chosen) in enumerate((("set-up", setup), ("solve", solve))):
            part = table[chosen & (table["level"] == level)]
            title = f"level {level}, {name}"
            _matrix(figure, axes[row][column], part, part["messages"], FIGURE_9_RANKS, title)
    figure.tight_layout()
    plt.close(figure)
    return figure


def levels_matrices(_: Results) -> Figure:
    """Messages between ranks on every level, in a product and in an interpolation."""
    done = executed()[MAIN]
    table = done.tables["messages"].to_pandas()
    levels = sorted(table["level"].unique())
    figure, axes = plt.subplots(2, len(levels), figsize=(2.1 * len(levels), 4.6), squeeze=False)
    for column, level in enumerate(levels):
        for row, name in enumerate(("solve", "interpolation")):
            part = table[(table["level"] == level) & (table["operator"] == row)]
            axis = axes[row][column]
            if part.empty:
                axis.axis("off")
                continue
            _matrix(None, axis, part, part["values"], done.plain.ranks, f"level {level}, {name}")
            axis.tick_params(labelsize=6)
            axis.set(xlabel="", ylabel="")
            axis.title.set_fontsize(7)
    figure.tight_layout()
    plt.close(figure)
    return figure


def _matrix(
    figure: Figure | None, axis: Any, part: pd.DataFrame, weight: pd.Series, ranks: int, title: str
) -> None:
    """One matrix of messages; colour is the logarithm of the amount."""
    image = np.zeros((ranks, ranks))
    np.add.at(image, (part["source"], part["destination"]), weight)
    # Cells cover several ranks, so that single messages stay visible.
    size = -(-ranks // 128)
    cells = -(-ranks // size)
    padded = np.zeros((cells * size, cells * size))
    padded[:ranks, :ranks] = image
    shown = padded.reshape(cells, size, cells, size).sum(axis=(1, 3))
    picture = axis.imshow(
        np.where(shown > 0, shown, np.nan),
        interpolation="nearest",
        cmap="viridis",
        norm=LogNorm(vmin=1, vmax=max(shown.max(), 2)),
        extent=(0, ranks, ranks, 0),
    )
    if figure is not None:
        bar = figure.colorbar(picture, ax=axis, shrink=0.7, label="messages")
        style.plain_numbers(bar.ax.yaxis, minor=bool(shown.max() < 20))
    pairs = 100 * (image > 0).sum() / (ranks * (ranks - 1))
    axis.set(title=f"{title}: {pairs:.0f} % of pairs", xlabel="to rank", ylabel="from rank")
