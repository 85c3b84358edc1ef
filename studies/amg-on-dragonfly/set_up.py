"""The set-ups of the five problems: counted messages, model and simulation.

`scripts/amg-tables set-up` makes `set-up.csv`, since the study runs where there is no hypre, too.
"""

from __future__ import annotations

from typing import Any

from odonata.studies import Results

from .cases import published
from .five import NAMES

WITHIN = 0.15
"""Largest difference of model and simulation that counts as agreement."""


def set_up_kernels(_: Results) -> list[dict[str, Any]]:
    """One row per problem, ranks, level and kernel."""
    table = published("set-up")
    return [
        {**row, "problem": NAMES[row["problem"]], "ranks": str(row["ranks"]), "level": str(row["level"])}
        for row in table.to_dict("records")
    ]


def set_up_levels(_: Results) -> list[dict[str, Any]]:
    """One row per problem, ranks and level: model and simulation."""
    table = published("set-up")
    names = ["messages", "work_ms", "model_ms", "simulated_ms"]
    sums = table.groupby(["problem", "ranks", "level"], sort=False)[names].sum().reset_index()
    rows = []
    for row in sums.to_dict("records"):
        off = row["model_ms"] / row["simulated_ms"] - 1
        rows.append(
            {
                **row,
                "problem": NAMES[row["problem"]],
                "ranks": str(row["ranks"]),
                "level": str(row["level"]),
                "messages": float(row["messages"]),
                "off": off,
                "agrees": float(abs(off) <= WITHIN),
            }
        )
    return rows


def set_up_agreement(results: Results) -> list[dict[str, Any]]:
    """Share of the levels on which model and simulation agree."""
    levels = set_up_levels(results)
    return [
        {
            "ranks": ranks,
            "levels": float(len(chosen)),
            "share": sum(row["agrees"] for row in chosen) / len(chosen),
            "total": sum(row["model_ms"] for row in chosen) / sum(row["simulated_ms"] for row in chosen) - 1,
        }
        for ranks in ("64", "512", "both")
        if (chosen := [row for row in levels if ranks in (row["ranks"], "both")])
    ]
