"""Designs, their front, the value of each choice, the share of the front that searches find, the bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from odonata.optimization.objectives import HOTTEST, PRICE, SLOWEST, price_of, value_of
from odonata.optimization.result import SearchSettings, Trial
from odonata.optimization.search import search
from odonata.plot import style
from odonata.store.sweep import Axis
from odonata.studies import Finding, Results, Study

JOBS = ("stencil", "spread", "neighbours")
PLACEMENTS = tuple(f"job.{job}.placement" for job in JOBS)
CHOICES = ("cabling", *PLACEMENTS, "engine.routing")
SHORT = {"compact": "C", "random-routers": "R", "random-nodes": "N"}

SAMPLERS = {"random": "random", "nsga2": "NSGA-II", "tpe": "TPE"}
BUDGETS = (20, 40, 80, 160)
SEARCHES = 50
"""Seeds of each sampler."""


def edits(_: Study) -> dict[str, dict[str, Any]]:
    """The cablings, each as the edits that make it."""
    names = ("as it is", "-K", "-2K", "-B", "+B", "+B-K", "-B-K")
    return {name: {"machine.edit": [] if name == "as it is" else [name]} for name in names}


def _place(place: dict[str, Any]) -> dict[str, str]:
    """The name of a point: its cabling, a letter for each job's placement, its routing."""
    letters = " ".join(SHORT[place[key]] for key in PLACEMENTS)
    return {"cabling": place["cabling"], "placement": letters, "routing": place["engine.routing"]}


def _prices(results: Results, experiment: str) -> dict[str, float]:
    """The price of each cabling."""
    (part,) = [part for part in results.parts if part.experiment == experiment]
    (axis,) = [axis for axis in part.axes if axis.key == "cabling"]
    return {
        name: price_of(part.sweep.with_overrides(changes))
        for name, changes in zip(axis.values, axis.overrides, strict=True)
    }


def designs(results: Results) -> pd.DataFrame:
    """One row for each combination: the slowest job, mean over the seeds and their spread, and the price."""
    prices = _prices(results, "designs")
    rows = [
        {**_place(place), "s": value_of(SLOWEST, run), "price": prices[place["cabling"]]}
        for place, run in results.runs("designs")
    ]
    found = pd.DataFrame(rows).groupby(["cabling", "placement", "routing", "price"], sort=False)["s"]
    table = found.agg(s="mean", spread=lambda values: values.max() - values.min()).reset_index()
    table["front"] = _on_front(table)
    return table


def _on_front(table: pd.DataFrame) -> list[bool]:
    """The rows that no other row beats: cheaper or faster, and in neither worse."""
    price, time = table["price"].to_numpy(), table["s"].to_numpy()
    return [
        not bool(np.any((price <= p) & (time <= t) & ((price < p) | (time < t))))
        for p, t in zip(price, time, strict=True)
    ]


def front(results: Results) -> pd.DataFrame:
    """The designs on the front, the most expensive first."""
    table = results.frame("designs")
    return table[table["front"]].sort_values("price", ascending=False)


def first_design(table: pd.DataFrame) -> pd.Series:
    """The starting design: the cabling as it is, compact placements, adaptive routing."""
    row = table.iloc[0]
    if (row["cabling"], row["placement"], row["routing"]) != ("as it is", "C C C", "adaptive-hybrid"):
        raise AssertionError("the first values of the axes are not what there is now")
    return row


def cablings(results: Results) -> pd.DataFrame:
    """One row for each cabling: its best design, and the best with all jobs compact."""
    table = results.frame("designs")
    compact = table[table["placement"] == "C C C"]
    rows = []
    for (cabling, price), own in table.groupby(["cabling", "price"], sort=False):
        best = own.loc[own["s"].idxmin()]
        rows.append(
            {
                "cabling": cabling,
                "price": price,
                "compact": compact[compact["cabling"] == cabling]["s"].min(),
                "best": best["s"],
                "spread": best["spread"],
                "placement": best["placement"],
                "routing": best["routing"],
            }
        )
    return pd.DataFrame(rows)


def bounds(results: Results) -> pd.DataFrame:
    """One row for each cabling under the placement of its best design: reached times and the bound."""
    prices, rows = _prices(results, "bound"), []
    for place, run in results.runs("bound"):
        bound = run.summary["bound"]
        rows.append(
            {
                "cabling": place["cabling"],
                "price": prices[place["cabling"]],
                "slowest": value_of(SLOWEST, run),
                "hottest": value_of(HOTTEST, run),
                "reached": bound["link_time_max_reached_s"],
                "lower": bound["link_time_max_bound_s"],
            }
        )
    table = pd.DataFrame(rows)
    table["gap"] = table["hottest"] / table["lower"] - 1.0
    return table


def hypervolume(points: Sequence[tuple[float, float]], reference: tuple[float, float]) -> float:
    """The area dominated by points of (price, time), up to the reference.

    Zitzler and Thiele's measure in two dimensions: rectangles from left to right, each from its time to the
    least before it.
    """
    area, least = 0.0, reference[1]
    for price, time in sorted(set(points)):
        if price < reference[0] and time < least:
            area += (reference[0] - price) * (least - time)
            least = time
    return area


def _reference(table: pd.DataFrame) -> tuple[float, float]:
    """The highest price, and the time of the starting design: worse points do not count."""
    return float(table["price"].max()) * 1.01, float(first_design(table)["s"])


def _settings(table: pd.DataFrame, sampler: str, seed: int) -> SearchSettings:
    """The search that `odonata optimize` would make for these designs."""
    values: dict[str, list[str]] = {"cabling": list(dict.fromkeys(table["cabling"]))}
    letters = [list(dict.fromkeys(column)) for column in zip(*table["placement"].str.split(" "), strict=True)]
    values |= dict(zip(PLACEMENTS, letters, strict=True))
    values["engine.routing"] = list(dict.fromkeys(table["routing"]))
    axes = tuple(Axis(key, tuple(of), tuple(() for _ in of)) for key, of in values.items())
    return SearchSettings(axes, None, (SLOWEST, PRICE), {}, sampler, seed)


def _known(table: pd.DataFrame, settings: SearchSettings) -> dict[tuple[int, ...], tuple[float, float]]:
    """Time and price of every combination, by the numbers of its values."""
    rows = {(r.cabling, r.placement, r.routing): (r.s, r.price) for r in table.itertuples()}
    known = {}
    for place in product(*(range(len(axis.values)) for axis in settings.axes)):
        cabling, *letters, routing = (axis.values[i] for axis, i in zip(settings.axes, place, strict=True))
        known[place] = rows[(cabling, " ".join(letters), routing)]
    return known


def _courses(table: pd.DataFrame, sampler: str) -> np.ndarray:
    """The share of the front's hypervolume after each trial: a row for each seed, a column for each trial."""
    whole = hypervolume(list(zip(table["price"], table["s"], strict=True)), _reference(table))
    courses = np.empty((SEARCHES, max(BUDGETS)))
    for seed in range(SEARCHES):
        settings = _settings(table, sampler, seed)
        known = _known(table, settings)

        def worth(places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Trial]:
            return {place: Trial(0, place, known[place], None, None) for place in places}  # noqa: B023 - called here

        trials = search(settings, max(BUDGETS), worth)
        seen = [(price, time) for time, price in (known[trial.place] for trial in trials)]
        for count in range(courses.shape[1]):
            courses[seed, count] = hypervolume(seen[: count + 1], _reference(table)) / whole
    return courses


@cache
def _all_courses(results: Results) -> dict[str, np.ndarray]:
    """The shares of every sampler, for a table and a figure."""
    return {sampler: _courses(results.frame("designs"), sampler) for sampler in SAMPLERS}


def searches(results: Results) -> pd.DataFrame:
    """One row for each sampler and number of designs: the share of the hypervolume."""
    rows = []
    for sampler, courses in _all_courses(results).items():
        for budget in BUDGETS:
            shares = courses[:, budget - 1]
            rows.append(
                {
                    "sampler": SAMPLERS[sampler],
                    "designs": str(budget),
                    "low": float(np.quantile(shares, 0.1)),
                    "median": float(np.median(shares)),
                    "high": float(np.quantile(shares, 0.9)),
                }
            )
    return pd.DataFrame(rows)


def front_figure(results: Results) -> style.Picture:
    """Every design, the front, and the bound for any routing."""
    table, best, limits = results.frame("designs"), front(results), results.frame("bounds")
    with style.figure_style():
        picture = style.new_picture(7, 4.2)
        panel = picture.subplots()
    for routing, marker, color in (("adaptive-hybrid", "o", "#8a97a5"), ("static-direct", "x", "#c9a227")):
        own = table[table["routing"] == routing]
        panel.scatter(own["price"] / 1e3, own["s"] * 1e3, s=14, marker=marker, color=color, label=routing)
    now = first_design(table)
    panel.scatter(
        [now["price"] / 1e3], [now["s"] * 1e3], s=70, facecolors="none", edgecolors="0.2", label="now"
    )
    panel.step(best["price"] / 1e3, best["s"] * 1e3, where="pre", color="#1f5fa8", label="front")
    panel.scatter(
        limits["price"] / 1e3,
        limits["lower"] * 1e3,
        marker="_",
        s=160,
        color="#b3261e",
        label="bound for any routing",
    )
    for row in best.itertuples():
        panel.annotate(
            row.cabling, (row.price / 1e3, row.s * 1e3), xytext=(4, 5), textcoords="offset points", fontsize=8
        )
    panel.set_xlabel("price of all cables (thousands)")
    panel.set_ylabel("slowest job (ms)")
    panel.set_yscale("log")
    style.plain_numbers(panel.yaxis, minor=True)
    panel.legend(fontsize=8)
    return picture


def search_figure(results: Results) -> style.Picture:
    """Share of the front's hypervolume after a number of designs: median, and nine of ten searches."""
    with style.figure_style():
        picture = style.new_picture(7, 3.6)
        panel = picture.subplots()
    for (sampler, courses), color in zip(
        _all_courses(results).items(), ("#8a97a5", "#1f5fa8", "#c9a227"), strict=True
    ):
        at = np.arange(1, courses.shape[1] + 1)
        low, median, high = (100 * np.quantile(courses, q, axis=0) for q in (0.1, 0.5, 0.9))
        panel.fill_between(at, low, high, color=color, alpha=0.2, linewidth=0)
        panel.plot(at, median, color=color, label=SAMPLERS[sampler])
    panel.set_xlabel("designs that were run")
    panel.set_ylabel("of the front's hypervolume (%)")
    panel.set_ylim(0, 101)
    panel.legend(fontsize=8)
    return picture


def placement_before_cables(results: Results) -> Iterator[Finding]:
    """The saving of the best placement on the existing cables, and of the best cables without it."""
    table = results.frame("cablings").set_index("cabling")
    now = first_design(results.frame("designs"))["s"]
    by_placement = 1 - table.loc["as it is", "best"] / now
    by_cables = 1 - table["compact"].min() / now
    yield Finding(
        "",
        f"{100 * by_placement:.0f} % by placement, {100 * by_cables:.0f} % by cables",
        bool(by_placement > by_cables),
    )


def one_black_cable(results: Results) -> Iterator[Finding]:
    """The best design without one of each three black cables, compared with the best with all."""
    table = results.frame("cablings").set_index("cabling")
    less, all_of_them = table.loc["-K"], table.loc["as it is"]
    slower = less["best"] / all_of_them["best"] - 1
    noise = max(less["spread"], all_of_them["spread"]) / all_of_them["best"]
    cheaper = 1 - less["price"] / all_of_them["price"]
    found = (
        f"{100 * slower:+.1f} %, seeds differ by {100 * noise:.1f} %; cables {100 * cheaper:.1f} % cheaper"
    )
    yield Finding("", found, bool(slower <= noise))


def nothing_below_the_bound(results: Results) -> Iterator[Finding]:
    """By cabling: the slowest job, and the lower bound of the busiest link under any routing."""
    for row in results.frame("bounds").itertuples():
        found = f"{1e3 * row.slowest:.1f} ms, bound {1e3 * row.lower:.1f} ms"
        yield Finding(str(row.cabling), found, bool(min(row.slowest, row.hottest) >= row.lower))


def nsga2_beats_random(results: Results) -> Iterator[Finding]:
    """At each number of designs: the medians, and the values of nine of ten searches."""
    return _first_beats_second(results, "NSGA-II", "random")


def tpe_beats_nsga2(results: Results) -> Iterator[Finding]:
    """The same for these two samplers."""
    return _first_beats_second(results, "TPE", "NSGA-II")


def _first_beats_second(results: Results, first: str, second: str) -> Iterator[Finding]:
    table = results.frame("searches").set_index(["sampler", "designs"])
    for budget in BUDGETS:
        own, other = table.loc[(first, str(budget))], table.loc[(second, str(budget))]
        found = (
            f"{first} {100 * own['median']:.1f} % (nine of ten above {100 * own['low']:.1f} %), "
            f"{second} {100 * other['median']:.1f} % ({100 * other['low']:.1f} %)"
        )
        yield Finding(f"{budget} designs", found, bool(own["median"] > other["median"]))
