"""Times that the model engine predicts: by level and term of a multigrid cycle, or by term of each job."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from odonata.analysis.terms import CYCLE, costs_of
from odonata.colors import FIGURES
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.quantity import scale
from odonata.store.run import RunData

JOBS = 4
"""Cycles drawn, the slowest of more: a row of panels each."""
BARS = 20
"""Jobs drawn without a cycle, the slowest of more: a bar each."""


def plot_costs(run: RunData) -> style.Picture:
    """Stacked bars of predicted times.

    A multigrid cycle has a row of panels, one for each scenario on one scale, with a bar for each level and
    a colour for each term. Other jobs have one bar each, the terms of their slowest rank.

    Args:
        run: A run of the model engine.

    Raises:
        OdonataError: The run has no predicted times.

    Examples:
        >>> priced = odonata.load("runs/priced")
        >>> odonata.plot.plot_costs(priced).savefig("costs.png")
    """
    if CYCLE in run.table_names and run.table(CYCLE).num_rows:
        return _cycles(run)
    found = [(name, costs_of(run, number)) for number, name in enumerate(run.jobs["name"].to_pylist())]
    priced = [(name, costs[0].to_pylist()) for name, costs in found if costs is not None]
    if not priced:
        raise OdonataError("the run has no predicted times", hint="Only runs of the model engine have them.")
    return _jobs(priced)


def _cycles(run: RunData) -> style.Picture:
    frame = run.table(CYCLE).select(["job", "scenario", "level", "term", "term_time_s"]).to_pandas()
    names = run.jobs["name"].to_pylist()
    slowest = frame.groupby(["job", "scenario"], observed=True)["term_time_s"].sum().groupby("job").max()
    jobs = sorted(slowest.nlargest(JOBS).index)
    scenarios, terms = (list(dict.fromkeys(frame[key].astype(str))) for key in ("scenario", "term"))
    with style.figure_style():
        narrow = style.is_narrow()
        across = 1 if narrow else len(scenarios)
        down = len(jobs) * (len(scenarios) if narrow else 1)
        picture = style.new_picture(1.4 + 2.6 * across, 0.7 + 2.45 * down, keeps_height=narrow)
        panels = picture.subplots(down, across, squeeze=False, sharey=False).reshape(
            len(jobs), len(scenarios)
        )
        for row, job in zip(panels, jobs, strict=True):
            mine = frame[frame["job"] == job]
            _draw_job(list(row), mine, scenarios, terms, str(names[job]))
        _legend(picture, terms)
        if len(slowest) > JOBS:
            picture.suptitle(f"the {JOBS} slowest of {len(slowest)} jobs")
    return picture


def _draw_job(
    row: list[Axes], frame: pd.DataFrame, scenarios: Sequence[str], terms: Sequence[str], job: str
) -> None:
    """The scenarios of a job, on one scale."""
    levels = list(range(int(frame["level"].max()) + 1))
    sums = [
        frame[frame["scenario"] == scenario]
        .pivot_table(index="level", columns="term", values="term_time_s", aggfunc="sum", observed=True)
        .reindex(index=levels, columns=list(terms), fill_value=0.0)
        .fillna(0.0)
        .to_numpy(np.float64)
        for scenario in scenarios
    ]
    most = max(float(one.sum(axis=1).max()) for one in sums)
    on = scale([most], "s")
    for axes, scenario, one in zip(row, scenarios, sums, strict=True):
        _stack(axes, one / on.size)
        axes.set_title(f"{job}\n{scenario}")
        axes.set_xticks(levels)
        axes.set_xlabel("level")
        axes.set_ylim(0, 1.06 * most / on.size or 1)
        style.horizontal_grid(axes)
    row[0].set_ylabel(on.axis("time"))


def _jobs(priced: list[tuple[str, list[dict[str, object]]]]) -> style.Picture:
    """A bar for each job, of the terms of its slowest rank."""
    terms = sorted({str(row["term"]) for _, rows in priced for row in rows})
    times = np.array(
        [
            [{str(row["term"]): row["term_time_s"] for row in rows}[term] for term in terms]
            for _, rows in priced
        ],
        dtype=np.float64,
    )
    order = np.argsort(-times.sum(axis=1), kind="stable")[:BARS]
    on = scale([float(times.sum(axis=1).max())], "s")
    with style.figure_style():
        picture = style.new_picture(6.4, 1.4 + 0.34 * len(order), keeps_height=True)
        axes = picture.subplots()
        _stack(axes, times[order] / on.size, flat=True)
        axes.set_yticks(range(len(order)), [priced[i][0] for i in order])
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlabel(on.axis("time of the slowest rank"))
        axes.grid(axis="x")
        left_out = len(priced) - len(order)
        axes.set_title(f"the {len(order)} slowest of {len(priced):,} jobs" if left_out else "")
        _legend(picture, terms)
    return picture


def _stack(axes: Axes, times: np.ndarray, *, flat: bool = False) -> None:
    """Bars by row, stacked by column."""
    base = np.zeros(len(times))
    for term, values in enumerate(times.T):
        color = FIGURES[term % len(FIGURES)]
        if flat:
            axes.barh(range(len(times)), values, 0.7, left=base, color=color)
        else:
            axes.bar(range(len(times)), values, 0.8, bottom=base, color=color)
        base += values
    axes.tick_params(axis="y" if flat else "x", length=0)


def _legend(picture: style.Picture, terms: Sequence[str]) -> None:
    handles = [Patch(color=FIGURES[i % len(FIGURES)], label=term) for i, term in enumerate(terms)]
    picture.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), title="term")
