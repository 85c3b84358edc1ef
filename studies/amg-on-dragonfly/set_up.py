"""Set-ups of five problems: counts, model, simulation and where to gather; gains of the paper's Figure 8.

`scripts/amg-tables set-up set-up-large figure-8` makes the tables; the study runs without hypre, too.
"""

from __future__ import annotations

import math
from typing import Any

from odonata.amg.objective import ITERATIONS
from odonata.studies import Results

from .cases import published
from .five import NAMES

OBJECTIVES = {"solve": "solve", "setup": "set-up", "both": "both"}
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
    """One row per problem, ranks and level: model and, on 64 and 512 ranks, simulation."""
    table = published("set-up")
    names = ["messages", "work_ms", "model_ms", "simulated_ms"]
    # Without a simulation there is no sum of it either.
    sums = table.groupby(["problem", "ranks", "level"], sort=False)[names].sum(min_count=1).reset_index()
    return [
        {
            **row,
            "problem": NAMES[row["problem"]],
            "ranks": str(row["ranks"]),
            "level": str(row["level"]),
            "messages": float(row["messages"]),
            "off": row["model_ms"] / row["simulated_ms"] - 1,
        }
        for row in sums.to_dict("records")
    ]


def set_up_agreement(results: Results) -> list[dict[str, Any]]:
    """Share of the levels on which model and simulation agree."""
    levels = [row for row in set_up_levels(results) if not math.isnan(row["simulated_ms"])]
    return [
        {
            "ranks": ranks,
            "levels": float(len(chosen)),
            "share": sum(abs(row["off"]) <= WITHIN for row in chosen) / len(chosen),
            "total": sum(row["model_ms"] for row in chosen) / sum(row["simulated_ms"] for row in chosen) - 1,
        }
        for ranks in ("64", "512", "both")
        if (chosen := [row for row in levels if ranks in (row["ranks"], "both")])
    ]


def set_up_decisions(_: Results) -> list[dict[str, Any]]:
    """One row per problem, ranks and objective: the advised switch, and what it gains."""
    table = published("set-up-decisions")
    rows = []
    for row in table.to_dict("records"):
        name = row["objective"]
        total = row["set_up_ms"] + ITERATIONS * row["cycle_ms"]
        both = table.query("problem == @row['problem'] and ranks == @row['ranks'] and objective == 'both'")
        rows.append(
            {
                "problem": NAMES[row["problem"]],
                "ranks": str(row["ranks"]),
                "objective": OBJECTIVES[name],
                "switch": "level {level} to {groups}".format(**row) if row["groups"] else "none",
                "before_ms": row["before_ms"],
                "after_ms": row["after_ms"],
                "gain": 1 - row["after_ms"] / row["before_ms"],
                # The table's digits can put the best one below itself.
                "longer": max(0.0, total / float(both["after_ms"].iloc[0]) - 1),
            }
        )
    return rows


def figure_8_set_ups(_: Results) -> list[dict[str, Any]]:
    """Gains of the set-up on 512 cores: expected from an eighth of the points, by the model, and measured."""
    table = published("figure-8-set-up").set_index(["mix", "is_small"])
    measured = published("figure-8").query("cores == 512").set_index("mix")["setup"]
    rows = []
    for mix, gain in measured.items():
        small, full = (table.loc[mix, which] for which in (1, 0))
        low, high = _expected(small)
        found = _gain(full, "ranked", full["work_ms"], full["moved_work_ms"])
        rows.append(
            {
                "mix": mix,
                "low": low,
                "high": high,
                "gain": found,
                "in_band": float(low <= found <= high),
                **{
                    name: _gain(full, "ranked", factor * full["work_ms"], factor * full["moved_work_ms"])
                    for name, factor in (("half", 0.5), ("twice", 2.0))
                },
                "formulas": _gain(full, "paper", full["work_ms"], full["moved_work_ms"]),
                "messages": _gain(full, "ranked", 0.0, 0.0),
                "measured": gain,
            }
        )
    return rows


def _gain(row: Any, account: str, work_ms: float, moved_work_ms: float) -> float:
    """Time of the set-up before over after the switch."""
    return float((row[f"{account}_ms"] + work_ms) / (row[f"moved_{account}_ms"] + moved_work_ms))


def _expected(small: Any) -> tuple[float, float]:
    """With the work of the fine levels eight times as long, and without work."""
    more = 7 * small["fine_work_ms"]
    low = _gain(small, "ranked", small["work_ms"] + more, small["moved_work_ms"] + more)
    return low, _gain(small, "ranked", 0.0, 0.0)
