"""Odonata and CAMINOS: `python benches/peers.py [--rounds 7] [--instructions] [--write]`.

The dragonfly of the packet study has 1,056 nodes. Both programs use uniform traffic, half load,
packets of four flits, minimal routing and one thread. CAMINOS 0.6.3 (from crates.io, some minutes to
build) runs in two setups: its `InputOutput` router with an output queue and a random allocator
(`shipped.cfg`), and its fastest fair setup, the router `Basic` with `WeighedShortest` (`lean.cfg`). The
programs take turns, because the speed of a shared core varies by half over time. The ratio of a round
compares figures measured within seconds of each other.

All rates are marginal: the additional packets of a long run over its additional processor time. So reading
files and building tables do not count. `--instructions` counts instructions with valgrind in the same manner,
which other load does not disturb (some minutes). `--write` saves the figures in `benches/results/peers.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from measuring import ROOT, machine, write

CAMINOS = ROOT / "benches" / "caminos"
# Values of *.cfg: nodes, load, flits of a packet, cycles before the measured ones.
NODES, LOAD, FLITS, WARM_UP = 1056, 0.5, 4, 500


@dataclass(frozen=True)
class Program:
    """A simulator in one setup.

    `command` makes the command line of a run from a length in the program's units. `packets` reads the
    number of packets and the links per packet from its output.
    """

    name: str
    lengths: tuple[int, int]
    command: Callable[[int], list[str]]
    packets: Callable[[str, int], tuple[float, float]]

    def run(self, length: int, *before: str) -> tuple[float, float, str]:
        """Packets, user seconds, and the text on standard error."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        environment = os.environ | {"ODONATA_REPEAT": "1", "ODONATA_ONE_THREAD": "1"}
        run = subprocess.run(
            [*before, *self.command(length)],
            cwd=CAMINOS,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used
        return self.packets(run.stdout, length)[0], seconds, run.stderr

    def rate(self) -> float:
        """Thousand packets per processor second, for the additional packets of a longer run."""
        (some, soon, _), (more, late, _) = (self.run(length) for length in self.lengths)
        return (more - some) / (late - soon) / 1e3

    def instructions(self) -> float:
        """Instructions per additional packet of a longer run."""
        counts = []
        for length in self.lengths:
            with tempfile.TemporaryDirectory() as folder:
                out = f"--callgrind-out-file={folder}/out"
                packets, _, errors = self.run(length, "valgrind", "--tool=callgrind", out)
            counts.append((packets, int(re.findall(r"Collected : (\d+)", errors)[0])))
        (some, few), (more, many) = counts
        return (many - few) / (more - some)

    def hops(self) -> float:
        """Links per packet."""
        run = subprocess.run(
            self.command(self.lengths[0]), cwd=CAMINOS, check=True, capture_output=True, text=True
        )
        return self.packets(run.stdout, self.lengths[0])[1]


def odonata() -> Program:
    build = ["cargo", "bench", "--locked", "-q", "-p", "odonata-packet", "--bench", "throughput", "--no-run"]
    built = subprocess.run(
        [*build, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    programs = [json.loads(line).get("executable") for line in built.stdout.splitlines()]
    (program,) = [p for p in programs if p and "throughput" in p]

    def packets(out: str, _: int) -> tuple[float, float]:
        row = json.loads(out)[0]
        return row["packets"], row["kpacket_hops_per_cpu_s"] / row["kpackets_per_cpu_s"]

    def command(microseconds: int) -> list[str]:
        return [program, "--bench", "min", str(LOAD), str(microseconds), "--json"]

    return Program("Odonata", (60, 240), command, packets)


def caminos(configuration: str, name: str, folder: Path) -> Program:
    subprocess.run(["cargo", "build", "--release", "--locked", "-q"], cwd=CAMINOS, check=True)

    def command(cycles: int) -> list[str]:
        text = (CAMINOS / configuration).read_text()
        file = folder / f"{cycles}-{configuration}"
        file.write_text(re.sub(r"^\tmeasured: \d+", f"\tmeasured: {cycles}", text, flags=re.M))
        return ["target/release/caminos-bench", str(file)]

    def packets(out: str, cycles: int) -> tuple[float, float]:
        found = {key: float(value) for key, value in re.findall(r"^\t(\w+):\s*([\d.]+),$", out, re.M)}
        moved = NODES * found["accepted_load"] * (WARM_UP + cycles) / FLITS
        return moved, found["average_packet_hops"]

    return Program(name, (500, 2500), command, packets)


def spread(values: list[float], digits: int) -> str:
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--instructions", action="store_true", help="also count instructions with valgrind")
    parser.add_argument("--write", action="store_true", help="save the results")
    options = parser.parse_args()
    heading = (
        f"{machine()}. {date.today():%B %Y}, {options.rounds} rounds in turns; median (lowest to highest)."
    )
    with tempfile.TemporaryDirectory() as folder:
        ours = odonata()
        theirs = [
            caminos("shipped.cfg", "CAMINOS 0.6.3, `InputOutput` (shipped.cfg)", Path(folder)),
            caminos("lean.cfg", "CAMINOS 0.6.3, `Basic`, `WeighedShortest` (lean.cfg)", Path(folder)),
        ]
        rounds = [[program.rate() for program in (ours, *theirs)] for _ in range(options.rounds)]
        hops = [program.hops() for program in (ours, *theirs)]
        counted = [program.instructions() for program in (ours, *theirs)] if options.instructions else []
    columns = [
        "program",
        "links of a packet",
        "thousand packets per CPU-s, marginal",
        "rate of Odonata over this rate",
    ]
    columns += ["instructions per packet, marginal"] * bool(counted)
    lines = [f"Machine: {heading}", "", __doc__.split("\n\n")[1], "", "| " + " | ".join(columns) + " |"]
    lines += ["|" + "---|" * len(columns)]
    for i, program in enumerate((ours, *theirs)):
        ratio = "1" if i == 0 else spread([row[0] / row[i] for row in rounds], 0)
        cells = [program.name, f"{hops[i]:.2f}", spread([row[i] for row in rounds], 1), ratio]
        cells += [f"{counted[i]:,.0f}"] if counted else []
        lines.append("| " + " | ".join(cells) + " |")
    print("\n".join(lines))
    if options.write:
        write("peers", "The packet engine and CAMINOS", lines)


if __name__ == "__main__":
    main()
