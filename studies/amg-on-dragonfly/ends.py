"""Costs at the ends that explain measured cycles: fitted on 1,024 cores, judged on 8,192."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from odonata.amg import ends, model, whole
from odonata.amg.ranked import RankModel
from odonata.studies import Results, Study

from .cases import EOS, MAIN, continued, executed, hierarchy, published, threads_of


@cache
def fits() -> tuple[list[ends.MeasuredCycle], list[ends.EndsFit]]:
    """The five cycles of Table 3 on 1,024 cores, and the fit that explains them."""
    cycles = [
        ends.MeasuredCycle(
            row["mix"],
            hierarchy(row["threads"], row["points"], 1024),
            1e-3 * row["measured_ms"],
            row["threads"],
            row["tasks"],
        )
        for row in published("table-3").query("cores == 1024").to_dict("records")
    ]
    return cycles, ends.fit(cycles, EOS)


def _row(mix: str, cores: int, measured_s: float, parts: ends.Parts, judged_s: float) -> dict[str, Any]:
    named = {f"{name}_ms": 1e3 * seconds for name, seconds in parts.named.items()}
    return {
        "mix": mix,
        "cores": cores,
        "measured_ms": 1e3 * measured_s,
        **named,
        "sum_ms": 1e3 * parts.seconds,
        "predicted_ms": 1e3 * judged_s,
    }


def explained(_: Results) -> list[dict[str, Any]]:
    """Measured cycles by mechanism; a prediction comes from a fit that did not see the cycle."""
    cycles, (best, _other) = fits()
    rows = [
        _row(cycle.name, 1024, cycle.seconds, parts, left_out)
        for cycle, parts, left_out in zip(cycles, best.predicted, best.left_out, strict=True)
    ]
    for row in published("table-3").query("cores == 8192").to_dict("records"):
        found = continued(row["threads"], row["points"], 8192)
        keys = {"threads": row["threads"], "tasks": row["tasks"]}
        parts = ends.total(ends.parts_of_levels(found, EOS, best.ends, **keys))
        rows.append(_row(row["mix"], 8192, 1e-3 * row["measured_ms"], parts, parts.seconds))
    return rows


def explanations(_: Results) -> list[dict[str, Any]]:
    """How well matching and overheads can be distinguished."""
    cycles, both = fits()
    return [
        {
            "fitted": one.fitted,
            "compute factor": one.ends.compute_factor,
            "overhead, us": 1e6 * one.ends.overhead_s,
            "matching, ns": 1e9 * one.ends.matching_s,
            "worst": max(abs(p.seconds / c.seconds - 1) for p, c in zip(one.predicted, cycles, strict=True)),
            "worst predicted": one.worst(cycles),
        }
        for one in both
    ]


def _cycles(*, quick: bool) -> Iterator[str]:
    """The simulated cycles: their messages come with the package, 512 cores in three mixes."""
    for name, done in executed().items():
        if name == MAIN or (not quick and threads_of(done) > 1):
            yield name


def steps(study: Study) -> dict[str, dict[str, Any]]:
    """Every cycle with one mechanism more each time, and the keys that make it."""
    assert EOS.ends is not None
    found = {}
    for name in _cycles(quick=study.quick):
        threads = threads_of(executed()[name])
        for step, (costs, computes) in whole.steps(EOS.ends).items():
            found[f"{name} {step}"] = {
                "job.amg.ranks": executed()[name].plain.ranks,
                "job.amg.ranks_per_node": model.default_tasks(EOS, threads),
                "job.amg.program": whole.program(name, EOS, costs, threads=threads, computes=computes),
                **{f"mpi.{key}": value for key, value in whole.mpi(costs).items()},
            }
    return found


def simulated(results: Results) -> list[dict[str, Any]]:
    """Cycles on the packet engine and rank by rank, by mechanism."""
    assert EOS.ends is not None
    runs = {place["step"]: run for place, run in results.runs("whole-cycle")}
    rows = []
    for name in _cycles(quick=results.study.quick):
        done = executed()[name]
        threads = threads_of(done)
        times = {
            step: float(runs[f"{name} {step}"].jobs["completion_time_s"][0].as_py())
            for step in whole.steps(EOS.ends)
        }
        counted = RankModel(done.plain, done.tables["messages"], EOS, threads)
        accounts = whole.parts(times), ends.total(ends.parts_of_messages(counted, EOS.ends))
        for mechanism in (*whole.STEPS, "cycle"):
            engine, by_ranks = (
                1e3 * (one.seconds if mechanism == "cycle" else one.named[mechanism]) for one in accounts
            )
            rows.append({"problem": name, "part": mechanism, "packet_ms": engine, "ranked_ms": by_ranks})
    return rows
