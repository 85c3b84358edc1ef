"""The priced and simulated cases: hierarchies, redistributions, published numbers, single exchanges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from odonata import amg
from odonata.amg import boomeramg, larger, library, model, simulate
from odonata.amg.boomeramg import ExecutedRedistribution
from odonata.analysis.job_bottleneck import times_of
from odonata.studies import Results, Study

HERE = Path(__file__).parent
EOS = amg.load_machine("eos")

MAIN = "laplace7-512-30x30x30"
"""The redistribution shown in full: the paper's all-MPI case."""

STAGES = ("plain", "regrouped")
"""Before and after the redistribution."""

ENGINES = ("flow", "packet")


def published(name: str) -> pd.DataFrame:
    """The paper's numbers."""
    return pd.read_csv(HERE / f"{name}.csv")


@cache
def executed() -> dict[str, ExecutedRedistribution]:
    """The redistributions that come with the package, by name."""
    return {name: boomeramg.load_executed(path) for name, path in library.directories()}


def threads_of(done: ExecutedRedistribution) -> int:
    """Threads per rank of the paper's 512 cores; 1 for other problems."""
    ranks = done.plain.ranks
    return 512 // ranks if done.plain.settings["problem"] == "laplace7" and ranks in (128, 256) else 1


def hierarchy(threads: int, points: str, cores: int) -> amg.Hierarchy:
    return amg.shipped("laplace7", cores // threads, points)


_CONTINUED = {
    8192: ("10x10x10", "20x20x10"),
    4096: ("20x20x20", "24x24x24"),
    2048: ("15x15x15", "20x20x20"),
    1024: ("30x30x30", "50x50x25"),
    512: ("60x30x30", "50x50x50"),
}
"""By ranks: the points of the two tables that are continued to more points per rank."""


def continued(threads: int, points: str, cores: int) -> amg.Hierarchy:
    """A hierarchy too large for memory, on its true number of ranks, from two with fewer points."""
    ranks = cores // threads
    small, large = (amg.shipped("laplace7", ranks, known) for known in _CONTINUED[ranks])
    return larger.more_points(small, large, math.prod(amg.parse_points(points)))


def _stage(done: ExecutedRedistribution, stage: str) -> tuple[amg.Hierarchy, Any, tuple[int, int] | None]:
    """Hierarchy, messages, and for the redistributed one (first level, ranks of the whole job)."""
    if stage == "plain":
        return done.plain, done.tables["messages"], None
    return done.regrouped, done.tables["regrouped_messages"], (done.switch[0], done.plain.ranks)


def _cases(*, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Engine, redistribution and stage of every simulated cycle."""
    for engine in ENGINES:
        for name in executed():
            if name == MAIN or (engine == "flow" and not quick):
                yield from ((engine, name, stage) for stage in STAGES if not quick or stage == "plain")


def exchanges(study: Study) -> dict[str, dict[str, Any]]:
    """Every exchange of every cycle, and the keys that make its job."""
    found = {}
    for engine, name, stage in _cases(quick=study.quick):
        done = executed()[name]
        levels, messages, regrouped = _stage(done, stage)
        for level, phase in simulate.exchanges(levels, messages, first=regrouped[0] if regrouped else 0):
            pattern = {"name": "amg", "hierarchy": name, "level": level, "phase": phase}
            found[f"{engine} {name} {stage} {level} {phase}"] = {
                "engine.kind": engine,
                "job.amg.ranks": done.plain.ranks,
                "job.amg.ranks_per_node": model.default_tasks(EOS, threads_of(done)),
                "job.amg.pattern": {**pattern, "regrouped": True} if regrouped else pattern,
            }
    return found


@cache
def findings(results: Results) -> dict[tuple[str, str, str], simulate.Findings]:
    """The simulated exchanges compared with the model, by engine, redistribution and stage."""
    runs = {place["exchange"]: run for place, run in results.runs("exchanges")}
    found = {}
    for engine, name, stage in _cases(quick=results.study.quick):
        done = executed()[name]
        levels, messages, regrouped = _stage(done, stage)
        first = regrouped[0] if regrouped else 0
        mine = {
            (level, phase): runs[f"{engine} {name} {stage} {level} {phase}"]
            for level, phase in simulate.exchanges(levels, messages, first=first)
        }
        threads = threads_of(done)
        found[engine, name, stage] = simulate.findings(
            levels,
            messages,
            EOS,
            {place: times_of(run)[0] for place, run in mine.items()},
            sees_latency=all("latency_mean_ns" in run.jobs.column_names for run in mine.values()),
            per_node=model.default_tasks(EOS, threads),
            threads=threads,
            regrouped=regrouped,
        )
    return found
