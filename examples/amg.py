"""Algebraic multigrid on Eos: what the model, the real hypre and the simulators say, with claims.

    python examples/amg.py cycle        # Table 3: a cycle on 1,024 cores, and the bracket at 8,192
    python examples/amg.py exchanges    # each level's messages on the flow and the packet engine
    python examples/amg.py neighbours   # the same beside another job, by an experiment file
    python examples/amg.py gathering    # where to gather coarse grids, predicted, executed, simulated

Each states its claims and exits with 1 if one does not hold. Nothing here needs hypre: the tables and
messages come with the package. Paper: Gahvari, Gropp, Jordan, Schulz and Yang, "Algebraic Multigrid on a
Dragonfly Network" (PMBS 2014).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import odonata
from odonata import amg
from odonata.amg import boomeramg, library, model, paper, simulate
from odonata.amg.store import read_table

HERE = Path(__file__).parent
EOS = amg.load_machine("eos")


class Claims:
    """What is claimed, checked one by one."""

    def __init__(self) -> None:
        self.broken = 0

    def check(self, holds: bool, claim: str) -> None:
        print(f"{'yes' if holds else 'NO '}  {claim}")
        self.broken += not holds


def cycle(claims: Claims) -> None:
    """Table 3 by an experiment file, and 8,192 cores from smaller hierarchies."""
    run = odonata.run(HERE / "amg-cycle-eos.toml")
    cycles = run.table("cycle").to_pandas()
    for row in run.summary["model"]["cycles"]:
        got = 1e3 * row["cycle_s"]["alpha-beta-gamma"]
        published = paper.TABLE_3[1024][row["threads"]][0]
        claims.check(
            abs(got / published - 1) < 0.03, f"{row['name']}: {got:.2f} ms, the paper's model {published}"
        )
        mine = cycles[(cycles["job"] == row["job"]) & (cycles["scenario"] == "alpha-beta-gamma")]
        total = 1e3 * mine["time_s"].sum()
        claims.check(abs(total / got - 1) < 1e-12, f"{row['name']}: the terms of the table sum to it")
    for mix in paper.MIXES:
        known = [amg.shipped("laplace7", n // mix.threads, mix.points) for n in (128, 1024)]
        ends = [
            1e3 * model.cycle(h, EOS, threads=mix.threads, tasks=mix.tasks).seconds
            for h in model.extrapolate(*known)
        ]
        published = paper.TABLE_3[8192][mix.threads][0]
        claims.check(
            ends[0] <= published <= ends[1],
            f"{mix.name} on 8,192 cores: {ends[0]:.1f} to {ends[1]:.1f} ms has the paper's {published}",
        )


def exchanges(claims: Claims) -> None:
    """What the simulators say of each level's messages, and of the model's terms."""
    directory = dict(library.directories())["laplace7-512-30x30x30"]
    hierarchy, messages = amg.load(directory), read_table(directory, "messages")
    for engine in ("flow", "packet"):
        text = simulate.experiment("eos", engine, None, 1)
        found = simulate.simulate(directory, hierarchy, messages, EOS, text, per_node=16)
        for level in found.levels:
            print(
                f"{engine:6s} level {level.level}: network {1e6 * level.network_s:7.2f} us, "
                f"{100 * level.network_share:4.1f} % of the level"
            )
        slowest = min(e.simulated_s / e.interface_s for e in found.exchanges if e.interface_s)
        claims.check(slowest > 0.97, f"{engine}: no exchange beats the busiest interface ({slowest:.2f})")
        print(
            f"{engine}: nearest scenario {found.best_fit}; "
            + "; ".join(map(": ".join, found.verdicts().items()))
        )
        claims.check(
            found.best_fit in ("alpha-beta", "alpha-beta-gamma"),
            f"{engine}: the nearest scenario has no contention penalty, as the paper found on Eos",
        )
        claims.check(
            found.network_share < 0.2,
            f"{engine}: the network is {100 * found.network_share:.1f} % of a cycle, which other things rule",
        )


def neighbours(claims: Claims) -> None:
    """One level's messages beside another job, on both engines, by an experiment file."""

    def seconds(level: int, *changes: tuple[str, object]) -> float:
        changed = {"job.amg.pattern.level": level, **dict(changes)}
        run = odonata.run(HERE / "amg-exchange-eos.toml", set=changed)
        return float(run.jobs["time_s"][0].as_py())

    packet, minimal = ("engine.kind", "packet"), ("engine.routing", "min")
    idle = ("job.other.idle", True)
    for level in (0, 3):
        beside = {"flow": seconds(level), "packet": seconds(level, packet)}
        alone = {"flow": seconds(level, idle), "packet": seconds(level, packet, idle)}
        times = {engine: time / alone[engine] for engine, time in beside.items()}
        claims.check(abs(times["packet"] - 1) < 0.01, f"level {level}: minimal routes meet nobody")
        claims.check(
            times["flow"] > (1.03 if level == 0 else 2),
            f"level {level}: adaptive ones do, and take {times['flow']:.2f} times as long as alone",
        )
        ratio = alone["packet"] / alone["flow"]
        claims.check(3.5 < ratio < 5, f"level {level}: alone, minimal ones take {ratio:.1f} times as long")
        apart = seconds(level, minimal, idle) / alone["packet"] - 1
        claims.check(abs(apart) < 0.05, f"level {level}: the engines agree on it, {100 * apart:+.1f} %")


def gathering(claims: Claims) -> None:
    """The decision, its execution, and the simulation of both."""
    for name, directory in library.directories():
        done = boomeramg.load_executed(directory)
        laplace = done.plain.settings["problem"] == "laplace7"
        threads = 512 // done.plain.ranks if laplace else 1
        decision = model.decide(done.plain, EOS, threads=threads)
        claims.check(
            decision.switch == done.switch, f"{name}: level {done.switch[0]} to {done.switch[1]} ranks"
        )
        before = model.cycle(done.plain, EOS, threads=threads).seconds
        after = model.regrouped_seconds(done.plain, done.regrouped, done.switch[0], EOS, threads=threads)
        claims.check(
            after < before, f"{name}: executed, {1e3 * before:.2f} to {1e3 * after:.2f} ms by formula"
        )
        a, b = done.iterations
        claims.check(abs(a - b) <= 2, f"{name}: {a} and {b} iterations to 1e-8")


STUDIES = {f.__name__: f for f in (cycle, exchanges, neighbours, gathering)}


def known(study: str) -> str:
    """A name as it is. `choices` would refuse an empty list in some versions of Python and not in others."""
    if study not in STUDIES:
        raise argparse.ArgumentTypeError(f"{study!r} is none of {', '.join(STUDIES)}")
    return study


def main(arguments: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("study", type=known, nargs="*", help=f"of {', '.join(STUDIES)}; all by default")
    options = parser.parse_args(arguments)
    claims = Claims()
    for study in options.study or STUDIES:
        print(f"\n== {study}: {STUDIES[study].__doc__}", flush=True)
        STUDIES[study](claims)
    print(f"\n{claims.broken} claims do not hold" if claims.broken else "\nall claims hold")
    return int(claims.broken > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
