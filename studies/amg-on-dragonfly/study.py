"""Tables and claims: the model's formulas compared with published, executed and simulated values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from odonata import amg
from odonata.amg import advice, comparison, library, model, ranked, record, speedup, store
from odonata.errors import OdonataError
from odonata.studies import Finding, Results

from .cases import (
    ENGINES,
    EOS,
    MAIN,
    STAGES,
    continued,
    exchanges,
    executed,
    findings,
    hierarchy,
    published,
    threads_of,
)
from .ends import explained, explanations, simulated, steps
from .figures import level_times, levels_matrices, matrices, simulated_levels
from .five import five_problems
from .set_up import figure_8_set_ups, set_up_agreement, set_up_decisions, set_up_kernels, set_up_levels

__all__ = [
    "exchanges",
    "explained",
    "explanations",
    "figure_8_set_ups",
    "five_problems",
    "level_times",
    "levels_matrices",
    "matrices",
    "set_up_agreement",
    "set_up_decisions",
    "set_up_kernels",
    "set_up_levels",
    "simulated",
    "simulated_levels",
    "steps",
]


def simulated_cycle(results: Results) -> list[dict[str, Any]]:
    """The network in the simulated cycle on 512 cores, one row per engine."""
    rows = []
    for engine in ENGINES:
        found = findings(results)[engine, MAIN, "plain"]
        slowest = min(e.simulated_s / e.nic_s for e in found.exchanges if e.nic_s)
        share = found.network_share
        rows.append({"engine": engine, "network_share": share, "least_over_nic": slowest})
    return rows


def levels(results: Results) -> list[dict[str, str]]:
    """The simulated network and the scenarios level by level, ms."""
    rows = []
    for engine in ENGINES:
        found = findings(results)[engine, MAIN, "plain"]
        for level in found.levels:
            parts = {
                "compute": level.compute_s,
                "start-up": level.startup_s,
                "network": level.network_s,
                "with network": level.seconds,
                **level.scenarios,
            }
            row = {name: f"{1e3 * seconds:.4f}" for name, seconds in parts.items()}
            share = f"{100 * level.network_share:.1f} %"
            rows.append({"engine": engine, "level": str(level.level), "share": share, **row})
        sums = {
            name: f"{1e3 * sum(level.scenarios[name] for level in found.levels):.4f}"
            for name in found.levels[0].scenarios
        }
        row = {"compute": "", "start-up": "", "network": "", "with network": f"{1e3 * found.seconds:.4f}"}
        share = f"{100 * found.network_share:.1f} %"
        rows.append({"engine": engine, "level": "all", "share": share, **row, **sums})
    return rows


def verdicts(results: Results) -> list[dict[str, str]]:
    """Verdict of each engine on the model's terms."""
    rows = []
    for engine in ENGINES:
        found = findings(results)[engine, MAIN, "plain"]
        terms = {"nearest scenario": found.best_fit, **found.verdicts()}
        rows += [{"engine": engine, "term": term, "verdict": verdict} for term, verdict in terms.items()]
    return rows


def no_penalty(results: Results) -> Iterator[Finding]:
    """The nearest scenario has no contention penalty."""
    for engine in ENGINES:
        nearest = findings(results)[engine, MAIN, "plain"].best_fit
        yield Finding(engine, nearest, nearest in ("alpha-beta", "alpha-beta-gamma"))


# Cycle times


def _bracket(threads: int, points: str, cores: int) -> list[amg.Hierarchy]:
    """The continuation in ranks: both ends of the bracket from smaller hierarchies."""
    return list(
        model.extrapolate(hierarchy(threads, points, cores // 64), hierarchy(threads, points, cores // 8))
    )


def _cycle_ms(one: amg.Hierarchy, row: dict[str, Any]) -> float:
    return 1e3 * model.cycle(one, EOS, threads=row["threads"], tasks=row["tasks"]).seconds


def table_3(_: Results) -> list[dict[str, Any]]:
    """Cycle times of the validation problem: published, and this model's, continued on 8,192 cores."""
    rows = []
    for row in published("table-3").to_dict("records"):
        place = row["threads"], row["points"], row["cores"]
        ends = [hierarchy(*place)] if row["cores"] <= 1024 else _bracket(*place)
        ms = _cycle_ms(ends[0] if row["cores"] <= 1024 else continued(*place), row)
        low, high = (_cycle_ms(one, row) for one in (ends[0], ends[-1]))
        against = {name: ms / row[f"{name}_ms"] - 1 for name in ("modelled", "measured")}
        rows.append(
            {
                **{key: row[key] for key in ("mix", "cores", "modelled_ms", "measured_ms")},
                "here_ms": ms,
                "low_ms": low,
                "high_ms": high,
                "bracket": "-" if len(ends) == 1 else f"{low:.2f} to {high:.2f}",
                **{f"against_{name}": off for name, off in against.items()},
            }
        )
    return rows


def extrapolation(_: Results) -> list[dict[str, Any]]:
    """The extrapolation where the truth is known: 1,024 cores from 16 and 128."""
    rows = []
    for row in published("table-3").query("cores == 1024").to_dict("records"):
        keys = {"threads": row["threads"], "tasks": row["tasks"]}
        try:
            ends = model.extrapolate(*(hierarchy(row["threads"], row["points"], n) for n in (16, 128)))
        except OdonataError:
            continue  # no table of 16 cores in this mix
        truth = hierarchy(row["threads"], row["points"], 1024)
        low, true, high = (1e3 * model.cycle(h, EOS, **keys).seconds for h in (ends[0], truth, ends[1]))
        rows.append({"mix": row["mix"], "low_ms": low, "true_ms": true, "high_ms": high})
    return rows


def by_file(results: Results) -> pd.DataFrame:
    """The same cycles from an experiment file: the job's time, and the sum of all terms of its table."""
    run = results.run("cycle")
    cycle = run.table("cycle").to_pandas()
    rows = []
    for job in run.jobs.to_pylist():
        mine = cycle[(cycle["job"] == job["job"]) & (cycle["scenario"] == "alpha-beta-gamma")]
        rows.append(
            {
                "mix": job["name"],
                "time_ms": 1e3 * job["predicted_time_s"],
                "terms_ms": 1e3 * mine["term_time_s"].sum(),
            }
        )
    modelled = published("table-3").query("cores == 1024")[["mix", "modelled_ms"]]
    return pd.DataFrame(rows).merge(modelled, on="mix")


# Redistribution


def gathering(_: Results) -> list[dict[str, Any]]:
    """Executed redistributions: the gathered level, the number of ranks, and the decision of the formulas."""
    rows = []
    for name, done in executed().items():
        threads = threads_of(done)
        counted = ranked.RankModel(done.plain, done.tables["messages"], EOS, threads=threads)
        adviser = advice.Adviser(done.plain, EOS, counted, threads=threads)
        formulas, by_ranks = (
            "none" if switch is None else "level {} to {}".format(*switch)
            for switch in (adviser.decision.switch, adviser.advice("ranked").switch)
        )
        before, after = speedup.executed(done, EOS, threads=threads)
        rows.append(
            {
                "problem": name,
                "executed": "level {} to {}".format(*done.switch),
                "by formulas": formulas,
                "rank by rank": by_ranks,
                "before_ms": 1e3 * before,
                "after_ms": 1e3 * after,
                "iterations_more": float(done.iterations[1] - done.iterations[0]),
            }
        )
    return rows


def decided(results: Results) -> Iterator[Finding]:
    """One of the two accounts selects the executed switch."""
    for row in gathering(results):
        both = (row["by formulas"], row["rank by rank"])
        yield Finding(row["problem"], " / ".join(both), row["executed"] in both)


_EXECUTED = ("executed", "rank by rank", "simulated", "iterations", "set-up, ms", "set-up speedup")


def _executed_cells(name: str, results: Results) -> dict[str, str]:
    """Speedups of an executed redistribution; iterations; the set-up's communication."""
    done = executed().get(name)
    if done is None:
        return dict.fromkeys(_EXECUTED, "-")
    threads = threads_of(done)
    before, after = speedup.executed(done, EOS, threads=threads)
    sim = "-"
    if not results.study.quick:
        stages = (findings(results)["flow", name, stage] for stage in STAGES)
        sim = f"{speedup.simulated(done, *stages, EOS, threads=threads):.2f}"
    setups = [
        comparison.setup_seconds(done.tables[f"{prefix}setup"], done.plain.ranks, EOS)
        for prefix in ("", "regrouped_")
    ]
    plain, _, moved = [variant.ranked_s for variant in comparison.variants([done], EOS, threads=threads)][:3]
    assert plain is not None
    assert moved is not None
    cells = (
        f"{before / after:.2f}",
        f"{plain / moved:.2f}",
        sim,
        "{} and {}".format(*done.iterations),
        "{:.1f} to {:.1f}".format(*(1e3 * s for s in setups)),
        f"{setups[0] / setups[1]:.2f}",
    )
    return dict(zip(_EXECUTED, cells, strict=True))


def figure_8(results: Results) -> list[dict[str, Any]]:
    """For each mix: the redistributed level, and predicted, executed and measured speedups."""
    rows = []
    for row in published("figure-8").to_dict("records"):
        threads, points, cores = row["threads"], row["points"], row["cores"]
        one = (hierarchy if cores <= 512 else continued)(threads, points, cores)
        decision = model.decide(one, EOS, threads=threads).switch
        predicted = speedup.predicted(one, EOS, threads=threads)
        cells = _executed_cells(f"laplace7-{cores // threads}-{points}", results)
        found = {
            "cores": f"{row['published_cores']:,}",
            "mix": row["mix"],
            "points": points,
            "decision": "none" if decision is None else "level {} to {}".format(*decision),
            "cycle, ms": f"{1e3 * model.cycle(one, EOS, threads=threads).seconds:.2f}",
            "predicted": f"{predicted:.2f}",
            **cells,
            "measured solve": f"{row['solve']:.2f}",
            "measured set-up": f"{row['setup']:.2f}",
            "predicted_gain": predicted,
            "solve_gain": row["solve"],
            "set_up_gain": row["setup"],
        }
        if cores <= 512:
            found |= {"ranked_gain": float(cells["rank by rank"])}
            found |= {"messages_gain": float(cells["set-up speedup"])}
        rows.append(found)
    for name, done in executed().items():
        if done.plain.ranks < 4096:
            continue
        shown = {
            "cores": f"{done.plain.ranks:,}",
            "mix": "16 x 1",
            "points": name.rsplit("-", 1)[1],
            "decision": "level {} to {}".format(*done.switch),
            "cycle, ms": f"{1e3 * model.cycle(done.plain, EOS).seconds:.2f}",
            "predicted": f"{speedup.predicted(done.plain, EOS):.2f}",
            **_executed_cells(name, results),
        }
        rows.append({**shown, **dict.fromkeys(("measured solve", "measured set-up"), "-")})
    return rows


STENCIL = 500.0
"""Non-zeros per row of the paper's densest coarse grid of elasticity: "just under"."""


def elasticity(hierarchy: amg.Hierarchy) -> dict[str, Any]:
    """Known values of a hierarchy without its redistribution."""
    switch = model.decide(hierarchy, EOS).switch
    return {
        "problem": "here",
        "ranks": f"{hierarchy.ranks:,}",
        "unknowns": f"{hierarchy.unknowns:,.0f}",
        "stencil": max(level["nonzeros_per_row"] for level in hierarchy.levels),
        "paper_stencil": STENCIL,
        "decision": "-" if switch is None else "level {} to {}".format(*switch),
        "cycle, ms": f"{1e3 * model.cycle(hierarchy, EOS).seconds:.2f}",
    }


def table_4(results: Results) -> list[dict[str, Any]]:
    """Redistribution of linear elasticity: sizes that fit into memory, and the paper's measured speedups."""
    rows: list[dict[str, Any]] = []
    for name, done in executed().items():
        if done.plain.settings["problem"] != "elasticity":
            continue
        cells = _executed_cells(name, results)
        rows.append(
            {
                **elasticity(done.plain),
                "decision": "level {} to {}".format(*done.switch),
                **{key: cells[key] for key in _EXECUTED if key != "set-up, ms"},
            }
        )
    of_the_papers_size = [one for one in amg.store.shipped() if one.settings["problem"] == "elasticity"]
    rows += [elasticity(one) for one in of_the_papers_size]
    for row in published("table-4").to_dict("records"):
        measured = {"measured set-up": f"{row['setup']:.2f}", "measured solve": f"{row['solve']:.2f}"}
        paper = {"problem": "paper", "ranks": f"{row['cores']:,.0f}", "stencil": math.nan, **measured}
        rows.append(paper)
    words = [name for name in (*rows[0], "measured set-up", "measured solve") if "stencil" not in name]
    return [dict.fromkeys(words, "-") | row for row in rows]


def variants(_: Results) -> list[dict[str, str]]:
    """All variants with cheaper coarse levels, for one executed redistribution."""
    steps = {"direct": "1", "two-steps": "2", "three-steps": "3"}
    rows = []
    for variant in comparison.variants([executed()[MAIN]], EOS):
        times = (
            "-" if s is None else f"{1e3 * s:.2f}"
            for s in (variant.formula_s, variant.ranked_s, variant.setup_s)
        )
        rows.append(
            {
                "variant": f"{variant.name}, node-aware" if variant.node_aware else variant.name,
                "switch": "-" if variant.switch is None else "level {} to {}".format(*variant.switch),
                "steps per level": " ".join(steps[route] for route in variant.routes) or "-",
                **dict(zip(("by formula", "rank by rank", "set-up, ms"), times, strict=True)),
            }
        )
    return rows


# Messages


def set_up(_: Results) -> list[dict[str, Any]]:
    """Messages and bytes of set-up and one cycle per level, counted on 128 ranks."""
    table = store.read_parquet(library.DATA / "figure-9.parquet").to_pandas()
    in_setup = table["phase"].isin(record.KERNELS)
    in_cycle = ~in_setup & ~table["phase"].isin(("other", "regroup"))
    rows = []
    for level in sorted(table["level"].unique()):
        row: dict[str, Any] = {"level": int(level)}
        for name, chosen in (("set-up", in_setup), ("cycle", in_cycle)):
            part = table[chosen & (table["level"] == level)]
            row[f"{name} messages"] = float(part["messages"].sum())
            row[f"{name} MB"] = float(part["bytes"].sum()) / 1e6
        rows.append(row)
    return rows
