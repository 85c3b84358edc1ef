"""Prices of the networks, and times of exchanges relative to the limit of the nodes' NICs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odonata.plot import style
from odonata.runs import Run
from odonata.studies import Finding, Results

PORT, COPPER, OPTICAL = 1.0, 0.3, 1.5
"""Assumed prices of a router port, a copper cable and an optical cable. Only ratios matter."""

GLASS = {
    "fat tree": ["global"],
    "fat tree, 4:1": ["global"],
    "dragonfly": ["global"],
    "Dragonfly+": ["global"],
    "HyperX": ["x0"],
    "Slim Fly": ["global"],
    "PolarFly": ["local"],
    "Jellyfish": ["local"],
    "torus": [],
}
"""Classes whose cables leave a rack."""

DIAMETER_TWO = ("HyperX", "Slim Fly", "PolarFly")


def times(results: Results) -> pd.DataFrame:
    """One row for each run: its time over the time of the busiest NIC."""
    rows = []
    for place, run in results.runs("exchange"):
        (job,) = run.jobs.to_pylist()
        nodes = run.nodes.to_pandas()
        busiest = (
            nodes[["ejected_bytes", "injected_bytes"]].max(axis=1) / nodes["capacity_bytes_per_s"]
        ).max()
        rows.append(
            {
                "network": place["network"],
                "pattern": place["exchange"],
                "routing": run.summary["routing"],
                "slowdown": job["completion_time_s"] / busiest,
            }
        )
    return pd.DataFrame(rows)


def _made_of(network: str, run: Run) -> dict[str, Any]:
    """Counts of a machine, and its price per node."""
    cables = run.links.to_pandas()["class"].value_counts() // 2
    nodes, glass = run.nodes.num_rows, int(sum(cables.get(name, 0) for name in GLASS[network]))
    copper = int(cables.sum()) - glass + nodes
    ports = 2 * int(cables.sum()) + nodes
    price = (PORT * ports + COPPER * copper + OPTICAL * glass) / nodes
    return {
        "network": network,
        "nodes": nodes,
        "routers": run.routers.num_rows,
        "ports": ports,
        "copper": copper,
        "optical": glass,
        "price": price,
    }


def prices(results: Results) -> pd.DataFrame:
    """One row for each network: components, price, and geometric mean of its slowdowns."""
    slow = times(results)
    seen: dict[str, dict[str, Any]] = {}
    for place, run in results.runs("exchange"):
        seen.setdefault(str(place["network"]), _made_of(str(place["network"]), run))
    found = pd.DataFrame(seen.values())
    for routing, column in (("optimal", "optimal"), ("adaptive-hybrid", "adaptive")):
        rows = slow[slow["routing"] == routing].groupby("network")["slowdown"]
        means = rows.agg(lambda values: float(np.exp(np.log(values).mean())))
        found[column] = found["network"].map(means)
    return found


def front(results: Results) -> pd.DataFrame:
    """The networks on the front of price and time, cheapest first, by routing."""
    rows = []
    for column in ("optimal", "adaptive"):
        best = np.inf
        for row in prices(results).sort_values(["price", column]).to_dict("records"):
            if row[column] < best:
                best = row[column]
                rows.append(
                    {"routing": column, "network": row["network"], "price": row["price"], "slowdown": best}
                )
    return pd.DataFrame(rows)


def _label(panel: Axes, found: pd.DataFrame, column: str) -> None:
    """Labels of points: above the highest of close points, below right of the lowest, or below."""
    for row in found.to_dict("records"):
        near = found[(found["price"] - row["price"]).abs() < 0.55][column]
        if row[column] == near.max():
            offset, side = (4, 4), "left"
        elif row[column] == near.min():
            offset, side = (4, -12), "left"
        else:
            offset, side = (0, -14), "center"
        place = (row["price"], row[column])
        panel.annotate(row["network"], place, xytext=offset, textcoords="offset points", fontsize=8, ha=side)


def front_figure(results: Results) -> style.Picture:
    """Price against slowdown, a panel for each routing."""
    found, best = prices(results), front(results)
    figure = style.new_picture(9, 4)
    with style.figure_style():
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for panel, (column, title) in zip(
        panels, (("optimal", "best routing"), ("adaptive", "adaptive-hybrid")), strict=True
    ):
        line = best[best["routing"] == column]
        panel.plot(line["price"], line["slowdown"], color="0.6", zorder=1)
        panel.scatter(found["price"], found[column], s=24, zorder=2)
        _label(panel, found, column)
        panel.set_title(title)
        panel.set_xlabel("price of the network by node (router ports)")
        panel.set_yscale("log")
        style.plain_numbers(panel.yaxis, minor=True)
    panels[0].set_ylabel("time over the time of the NICs")
    return figure


def nobody_beats_the_optimum(results: Results) -> Iterator[Finding]:
    """For each network, the pattern with the smallest distance."""
    table = times(results).pivot(index=["network", "pattern"], columns="routing", values="slowdown")
    ratio = table["adaptive-hybrid"] / table["optimal"]
    for network, values in ratio.groupby("network"):
        # The optimum is found to 5 %.
        yield Finding(
            str(network), f"{values.min():.2f} to {values.max():.2f} of it", bool(values.min() >= 0.95)
        )


def low_diameter_is_cheaper(results: Results) -> Iterator[Finding]:
    """Price times slowdown under the best routing, relative to the fat tree."""
    found = prices(results).set_index("network")
    cost = found["price"] * found["optimal"]
    for network in DIAMETER_TWO:
        share = cost[network] / cost["fat tree"]
        yield Finding(network, f"{share:.2f} of the fat tree's", bool(share < 1))


def random_graph(results: Results) -> Iterator[Finding]:
    """One finding per pattern."""
    table = times(results)
    table = table[table["routing"] == "optimal"].pivot(index="pattern", columns="network", values="slowdown")
    for pattern, row in table.iterrows():
        share = row["Jellyfish"] / row["Slim Fly"]
        yield Finding(str(pattern), f"{share:.2f}", bool(share <= 1.1))
