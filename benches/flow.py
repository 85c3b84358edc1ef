"""Times of the flow engine on whole machines: `make bench`, or `python benches/flow.py [CASE...] [--write]`.

Every case runs in a separate process, from the experiment file to the finished run directory, several times.
The result is the minimum, because other load only adds time. `--write` saves the results and the description
of the machine in `benches/results/flow.md`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measuring import ROOT, machine, write

WD1 = ROOT / "examples" / "wd1-edison.toml"
CASCADE = """
[machine]
preset = "cascade-241"
[[job]]
name = "stencil"
pattern = "stencil-4d"
ranks = 2221008
ranks_per_node = 24
[engine]
kind = "flow"
"""
IRREGULAR = """
[machine]
topology = "dragonfly"
p = 8
a = 32
h = 16
g = 513
[[job]]
name = "spread"
pattern = "spread"
ranks = 10000
ranks_per_node = 1
placement = "random-nodes"
[engine]
kind = "flow"
routing = "adaptive-hybrid"
completion_times = false
"""


@dataclass(frozen=True)
class Case:
    what: str
    experiment: str | Path
    changes: tuple[str, ...] = ()
    repeats: int = 3


CASES = {
    "wd1": Case("WD1: 131,072 ranks on Edison, adaptive-hybrid", WD1),
    "wd1-1-thread": Case("the same with one thread", WD1, ("--threads", "1"), 2),
    "wd1-damselfly": Case("the same as the original does it", WD1, ("--set", "engine.preset=damselfly"), 1),
    "wd1-min": Case(
        "the same with minimal routing (expected loads)", WD1, ("--set", "engine.routing=min"), 2
    ),
    "irregular": Case("Spread of 10,000 ranks on a dragonfly of 131,328 nodes", IRREGULAR, (), 1),
    "cascade": Case("4D stencil of 2.2 million ranks on 241 groups, 92,544 nodes", CASCADE, (), 1),
}


@dataclass(frozen=True)
class Figures:
    wall_s: float
    cpu_s: float
    memory_mb: float
    iterations: int


def measure(case: Case, directory: Path) -> Figures:
    path = case.experiment
    if isinstance(path, str):
        path = directory / "experiment.toml"
        path.write_text(str(case.experiment))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    command = [sys.executable, "-m", "odonata", "run", str(path), "-o", str(directory / "run"), "--quiet"]
    subprocess.run([*command, *case.changes], check=True)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads((directory / "run" / "summary.json").read_text())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = summary["peak_rss_bytes"] / 1e6
    return Figures(wall, cpu, memory, summary["convergence"]["iterations"])


def known(case: str) -> str:
    """The name unchanged. `choices` would refuse an empty list only in some versions of Python."""
    if case not in CASES:
        raise argparse.ArgumentTypeError(f"{case!r} is unknown; expected one of {', '.join(CASES)}")
    return case


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", type=known, nargs="*", help=f"one of {', '.join(CASES)}; all by default")
    parser.add_argument("--write", action="store_true", help="save the results")
    options = parser.parse_args()
    lines = [
        f"Machine: {machine()}. Lowest of the repeats, from the command to the finished run directory.",
        "",
        "| case | what | wall, s | CPU, s | memory, MB | iterations |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for name in options.case or CASES:
        case = CASES[name]
        found = []
        for _ in range(case.repeats):
            with tempfile.TemporaryDirectory() as directory:
                found.append(measure(case, Path(directory)))
        wall, cpu = min(f.wall_s for f in found), min(f.cpu_s for f in found)
        last = found[-1]
        lines.append(
            f"| {name} | {case.what} | {wall:.1f} | {cpu:.1f} | {last.memory_mb:.0f} | {last.iterations} |"
        )
        print(lines[-1], flush=True)
    if options.write:
        write("flow", "The flow engine", lines)


if __name__ == "__main__":
    main()
