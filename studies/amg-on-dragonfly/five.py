"""Five problems, each gathered where its messages advise it, predicted and executed.

What hypre made of them is kept in `five/` (`scripts/amg-tables five` makes it again), since the study runs
where there is no hypre, too.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from odonata import amg
from odonata.amg import advice, boomeramg, ranked
from odonata.amg.boomeramg import ExecutedRedistribution
from odonata.studies import Results

EOS = amg.load_machine("eos")
NAMES = {
    "laplace7": "Laplace, 7 points",
    "laplace27": "Laplace, 27 points",
    "anisotropic": "anisotropic",
    "random-mesh": "random mesh, METIS",
    "convection": "convection-diffusion, METIS",
}


@cache
def kept() -> dict[tuple[str, int], ExecutedRedistribution]:
    """By problem and ranks."""
    found = {}
    for directory in sorted((Path(__file__).parent / "five").iterdir()):
        name, ranks = directory.name.rsplit("-", 1)
        found[name, int(ranks)] = boomeramg.load_executed(directory)
    return found


def five_problems(_: Results) -> list[dict[str, Any]]:
    """The cycle before and after, ms, rank by rank and by the closed formulas; iterations to 1e-8."""
    rows = []
    for name, words in NAMES.items():
        for ranks in (64, 256):
            done = kept()[name, ranks]
            counted = ranked.RankModel(done.plain, done.tables["messages"], EOS)
            adviser = advice.Adviser(done.plain, EOS, counted)
            advised = adviser.advice("ranked")
            predicted_s = advised.predicted_s(done.switch)
            by_formulas = adviser.advice("paper").predicted_s(done.switch)
            assert predicted_s is not None
            assert by_formulas is not None
            executed_s = adviser.executed_s("ranked", done)
            formulas_s = adviser.executed_s("paper", done)
            before, after = done.iterations
            rows.append(
                {
                    "problem": words,
                    "ranks": str(ranks),
                    "unknowns": float(done.plain.unknowns),
                    "switch": "level {} to {}".format(*done.switch),
                    "advised": "none" if advised.switch is None else "level {} to {}".format(*advised.switch),
                    "before_ms": 1e3 * advised.before_s,
                    "predicted_ms": 1e3 * predicted_s,
                    "executed_ms": 1e3 * executed_s,
                    "off": executed_s / predicted_s - 1,
                    "gain": 1 - executed_s / advised.before_s,
                    "formulas_off": formulas_s / by_formulas - 1,
                    "iterations": f"{before} and {after}",
                    "iterations_more": float(after - before),
                }
            )
    return rows
