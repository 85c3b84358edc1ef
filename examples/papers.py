"""The studies of Bhatele et al. on Edison, run again: what they found, and whether this program finds it too.

    python examples/papers.py individual      # Figure 4: patterns and sizes, one job alone
    python examples/papers.py interference    # Figure 6: jobs alone and in their workload, on the same nodes
    python examples/papers.py cabling         # Figure 9 and section 6: other cables
    python examples/papers.py scattered       # poster: a scattered and a compact 4D stencil
    python examples/papers.py blue            # poster: two, three and five blue links per router pair

Each states its claims, prints the table behind them, draws the figure (`-o DIR`), and exits with 1 if a claim
does not hold. `--full` takes more sizes, workloads and placements; what that gives is in
`docs/models/fidelity.md`.

Papers: "Analyzing Network Health and Congestion in Dragonfly-based Supercomputers" (IPDPS 2016); the poster
"Simulating and Visualizing Traffic on the Dragonfly Network" (2015).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import odonata
from odonata import plot

MIB = float(1 << 20)
PATTERNS = ("stencil-2d", "stencil-4d", "many-to-many", "spread", "umesh")
WORKLOADS = {
    "WD1": ("spread", "stencil-2d", "stencil-4d", "many-to-many"),
    "WD2": ("stencil-2d", "stencil-4d", "umesh", "spread"),
    "WD3": ("umesh", "spread", "many-to-many", "stencil-2d"),
    "WD4": ("stencil-4d", "many-to-many", "spread", "umesh"),
}
CABLINGS: dict[str, list[str]] = {"DEF": [], "-2K": ["-2K"], "-K": ["-K"], "-B": ["-B"], "+B-K": ["+B-K"]}


class Claims:
    """What a study claims, checked one by one."""

    def __init__(self) -> None:
        self.broken = 0

    def check(self, holds: bool, claim: str) -> None:
        print(f"{'yes' if holds else 'NO '}  {claim}")
        self.broken += not holds


def run(experiment: dict[str, Any], seed: int) -> odonata.Run:
    engine = {"kind": "flow", "routing": "adaptive-hybrid", "seed": seed}
    return odonata.run({"machine": {"preset": "edison"}, "engine": engine, **experiment})


def job(pattern: str, ranks: int, **keys: Any) -> dict[str, Any]:
    entry = {
        "name": pattern,
        "pattern": pattern,
        "ranks": ranks,
        "ranks_per_node": 24,
        "placement": "non-uniform",
    }
    return entry | keys


def workload(name: str) -> list[dict[str, Any]]:
    return [job(pattern, 32768) for pattern in WORKLOADS[name]]


def traffic(runs: Iterable[odonata.Run], link_class: str, statistic: str, job: str | None = None) -> float:
    """Mean over runs of the average (`mean`) or maximum (`max`) traffic on the links of a class, MiB."""
    found = []
    for one in runs:
        where = one.summary if job is None else next(j for j in one.summary["jobs"] if j["name"] == job)
        row = next(row for row in where["classes"] if row["class"] == link_class)
        found.append(row[f"bytes_{statistic}"] / MIB)
    return mean(found)


def individual(full: bool, output: Path | None) -> int:
    """Figure 4."""
    sizes = (16384, 32768, 65536, 131072) if full else (16384, 32768)
    seeds = (1, 2, 3) if full else (1,)
    runs = {(p, n): [run({"job": [job(p, n)]}, seed) for seed in seeds] for p in PATTERNS for n in sizes}
    columns = [(c, s) for c in ("green", "black", "blue") for s in ("mean", "max")]
    print("MiB per link          " + " ".join(f"{c:>5s} {s:4s}" for c, s in columns))
    for (pattern, ranks), of in runs.items():
        cells = " ".join(f"{traffic(of, c, s):10.3g}" for c, s in columns)
        print(f"{pattern:13s} {ranks:7,d} {cells}")
    claims = Claims()

    def average(pattern: str, ranks: int) -> float:
        return traffic(runs[pattern, ranks], "all", "mean")

    def maximum(pattern: str, ranks: int, link_class: str) -> float:
        return traffic(runs[pattern, ranks], link_class, "max")

    for a, b in pairwise(sizes):
        grows = all(average(p, b) > average(p, a) for p in PATTERNS)
        claims.check(grows, f"average traffic grows from {a:,} to {b:,} ranks for all patterns")
    for ranks in sizes:
        heavy = min(average(p, ranks) for p in ("stencil-4d", "spread"))
        light = max(average(p, ranks) for p in ("stencil-2d", "many-to-many", "umesh"))
        claims.check(heavy > light, f"{ranks:,} ranks: 4D Stencil and Spread send more than the other three")
        for pattern in ("stencil-2d", "umesh"):
            green, blue = maximum(pattern, ranks, "green"), maximum(pattern, ranks, "blue")
            claims.check(green > blue, f"{ranks:,} ranks: {pattern} has its hot spot on a green link")
        green, blue = maximum("spread", ranks, "green"), maximum("spread", ranks, "blue")
        claims.check(blue > green, f"{ranks:,} ranks: spread has its hot spot on a blue link")
        # The paper finds the blue ones ahead.
        green, blue = maximum("stencil-4d", ranks, "green"), maximum("stencil-4d", ranks, "blue")
        claims.check(0.7 < blue / green < 1.4, f"{ranks:,} ranks: stencil-4d has hot spots on both")
    save(plot.figure_4([one for of in runs.values() for one in of]), output, "figure-4")
    return claims.broken


def interference(full: bool, output: Path | None) -> int:
    """Figure 6: a job that is alone keeps its nodes, the others are idle on theirs."""
    names = ("WD1", "WD2", "WD3", "WD4") if full else ("WD4",)
    seeds = (1, 2, 3) if full else (1,)
    together, alone = {}, {}
    for name in names:
        jobs = workload(name)
        together[name] = [run({"job": jobs}, seed) for seed in seeds]
        for one in jobs:
            quiet = [other | {"idle": other is not one} for other in jobs]
            alone[name, one["name"]] = [run({"job": quiet}, seed) for seed in seeds]
    print("MiB per link             green avg alone, together     green max     blue avg      blue max")
    claims = Claims()
    hotter = dict.fromkeys(("green", "blue"), 0)
    steady = 0
    for (name, which), of in alone.items():
        cells = []
        for c in ("green", "blue"):
            for s in ("mean", "max"):
                a, t = traffic(of, c, s, which), traffic(together[name], c, s, which)
                cells.append(f"{a:6.3g} {t:6.3g}")
                if s == "max":
                    hotter[c] += t > a
                elif c == "green":
                    steady += abs(t / a - 1) < 0.15
        print(f"{name} {which:13s} " + "   ".join(cells))
    of_all = f"of {len(alone)} jobs"
    claims.check(
        steady >= 0.75 * len(alone), f"average green traffic changes by less than 15 % ({steady} {of_all})"
    )
    for c, count in hotter.items():
        claims.check(
            2 * count > len(alone), f"most jobs get a hotter {c} link beside others ({count} {of_all})"
        )
    pictures = {name: (together[name], [alone[name, p] for p in WORKLOADS[name]]) for name in names}
    save(plot.figure_6(pictures), output, "figure-6")
    return claims.broken


def cabling(full: bool, output: Path | None) -> int:
    """Figure 9 and the table of section 6: paired differences on the same placements."""
    names = ("WD1", "WD2", "WD3", "WD4") if full else ("WD4",)
    seeds = (1, 2, 3) if full else (1,)

    def all_seeds(name: str, edit: list[str]) -> list[odonata.Run]:
        machine = {"preset": "edison", "edit": edit}
        return [run({"machine": machine, "job": workload(name)}, seed) for seed in seeds]

    runs = {name: {label: all_seeds(name, edit) for label, edit in CABLINGS.items()} for name in names}
    print("maximum of all links, change against DEF on the same placement (least to greatest)")
    change: dict[tuple[str, str], float] = {}
    for name, machines in runs.items():
        for label in list(CABLINGS)[1:]:
            pairs = zip(machines["DEF"], machines[label], strict=True)
            changes = sorted(traffic([b], "all", "max") / traffic([a], "all", "max") - 1 for a, b in pairs)
            change[name, label] = mean(changes)
            print(f"{name} {label:5s} {mean(changes):+7.1%}  ({changes[0]:+.1%} to {changes[-1]:+.1%})")
    claims = Claims()

    def everywhere(holds: Callable[[str], bool], claim: str) -> None:
        claims.check(all(holds(name) for name in names), claim)

    def hottest_blue(name: str, label: str) -> float:
        return traffic(runs[name][label], "blue", "max")

    everywhere(lambda n: abs(change[n, "-K"]) < 0.2, "one black link less hardly matters: below 20 %")
    everywhere(
        lambda n: change[n, "-B"] > change[n, "-K"], "one blue link less costs more than one black link less"
    )
    everywhere(lambda n: change[n, "-2K"] > change[n, "-K"], "two black links less cost more than one")
    # The paper: 4 % more in WD2, slightly less in WD4.
    everywhere(lambda n: change[n, "+B-K"] < 0.2, "+B-K keeps the hottest link within 20 %, or cooler")
    everywhere(lambda n: hottest_blue(n, "+B-K") < hottest_blue(n, "DEF"), "+B-K cools the hottest blue link")
    shown = {name: runs[name] for name in ("WD2", "WD4") if name in runs}
    save(plot.figure_9(shown), output, "figure-9")
    return claims.broken


def scattered(full: bool, _: Path | None) -> int:
    """Poster: a 4D stencil of 32k ranks on scattered and on compact nodes."""
    seeds = (1, 2, 3, 4, 5) if full else (1, 2)
    average, most = {}, {}
    for placement in ("random-routers", "compact"):
        runs = [run({"job": [job("stencil-4d", 32768, placement=placement)]}, seed) for seed in seeds]
        average[placement], most[placement] = traffic(runs, "all", "mean"), traffic(runs, "all", "max")
        print(f"{placement:14s} average {average[placement]:6.1f} MiB, maximum {most[placement]:6.1f} MiB")
    claims = Claims()
    claims.check(most["random-routers"] < most["compact"], "scattered has the cooler hottest link")
    claims.check(average["random-routers"] > average["compact"], "scattered has the higher average")
    return claims.broken


def blue(full: bool, _: Path | None) -> int:
    """Poster: eight jobs (it does not say which) with two, three and five blue links."""
    seeds = (1, 2, 3) if full else (1,)
    patterns = (*PATTERNS, "stencil-4d", "spread", "umesh")
    jobs = [job(p, 16384, name=f"{p}-{i}") for i, p in enumerate(patterns)]
    runs = {}
    for links in (2, 3, 5):
        edit = [{"class": "blue", "add": links - 2}] if links > 2 else []
        runs[links] = [run({"machine": {"preset": "edison", "edit": edit}, "job": jobs}, s) for s in seeds]
        average, most = traffic(runs[links], "all", "mean"), traffic(runs[links], "all", "max")
        hottest = traffic(runs[links], "blue", "max")
        print(
            f"{links} blue links: MiB average {average:.1f}, maximum {most:.1f}, of blue links {hottest:.1f}"
        )
    claims = Claims()
    for a, b in ((2, 3), (3, 5)):
        cooler = traffic(runs[b], "blue", "max") < traffic(runs[a], "blue", "max")
        claims.check(cooler, f"{b} blue links have cooler hot spots than {a}")
        lower = traffic(runs[b], "all", "mean") < traffic(runs[a], "all", "mean")
        claims.check(lower, f"{b} blue links have a lower average load than {a}")
    return claims.broken


STUDIES = {f.__name__: f for f in (individual, interference, cabling, scattered, blue)}


def save(picture: Any, output: Path | None, name: str) -> None:
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        picture.savefig(output / f"{name}.png", dpi=150)
        print(f"wrote {output / f'{name}.png'}")


def known(study: str) -> str:
    """A name as it is. `choices` would refuse an empty list in some versions of Python and not in others."""
    if study not in STUDIES:
        raise argparse.ArgumentTypeError(f"{study!r} is none of {', '.join(STUDIES)}")
    return study


def main(arguments: Sequence[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("study", type=known, nargs="*", help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--full", action="store_true", help="all sizes, workloads and placements")
    parser.add_argument("-o", "--output", type=Path, help="directory for the figures")
    options = parser.parse_args(arguments)
    broken = 0
    for study in options.study or STUDIES:
        print(f"\n== {study}: {STUDIES[study].__doc__}", flush=True)
        broken += STUDIES[study](options.full, options.output)
    print(f"\n{broken} claims do not hold" if broken else "\nall claims hold")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
