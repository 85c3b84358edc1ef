"""Coverage of the intervals of fast-forward: `python benches/fast_forward.py [--seeds 100]`.

For each seed it makes the full run of 400 iterations, and the run that skips most of them. It counts how
often the full run is inside the intervals: its end, its mean latency, and the bytes of its links. It also
shows by how much the ends differ in the mean. 100 seeds take about 8 minutes of a processor.
`benches/results/fast-forward.md` has the figures.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from measuring import machine

import odonata

PROGRAM = """\
repeat 400:
    irecv (rank + 5) % ranks  60 kB  tag 1
    irecv (rank + ranks - 7) % ranks  60 kB  tag 2
    isend (rank + ranks - 5) % ranks  60 kB  tag 1
    isend (rank + 7) % ranks  60 kB  tag 2
    waitall
    compute 12 us
    barrier
"""


class Comparison(NamedTuple):
    """How much later the short run of a seed ends, and what is inside its intervals."""

    delay: float
    half_width: float
    end: bool
    latency: bool
    links: float


def experiment(path: Path, seed: int, fast_forward: dict[str, float] | None) -> dict[str, Any]:
    engine = {"kind": "packet", "routing": "par", "seed": seed}
    job = {
        "name": "exchange",
        "program": {"name": "file", "path": str(path)},
        "ranks": 24,
        "ranks_per_node": 1,
        "placement": {"name": "list", "nodes": [rank * 7 % 72 for rank in range(24)]},
    }
    return {
        "machine": {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
        "job": [job],
        "mpi": {"preset": "study"},
        "engine": engine if fast_forward is None else engine | {"fast_forward": fast_forward},
    }


def compare(path: Path, seed: int, error: float) -> Comparison:
    full = odonata.run(experiment(path, seed, None), threads=1)
    short = odonata.run(experiment(path, seed, {"error": error}), threads=1)
    certificate = short.summary["fast_forward"]
    if not certificate["iterations_skipped"]:
        raise SystemExit(f"seed {seed}: no iteration was skipped: {certificate['reason']}")
    ends = [run.summary["packet"]["end_ps"] for run in (short, full)]
    latencies = [1e3 * run.summary["packet"]["latency_mean_ns"] for run in (short, full)]
    links = zip(
        *(run.links["bytes"].to_pylist() for run in (short, full)),
        short.links["half_width_bytes"].to_pylist(),
        strict=True,
    )
    return Comparison(
        delay=(ends[0] - ends[1]) / ends[1],
        half_width=certificate["end_half_width_ps"] / ends[1],
        end=abs(ends[0] - ends[1]) <= certificate["end_half_width_ps"],
        latency=abs(latencies[0] - latencies[1]) <= certificate["latency_half_width_ps"],
        links=statistics.mean(abs(bytes_ - of_full) <= half for bytes_, of_full, half in links),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--error", type=float, default=0.02)
    options = parser.parse_args()
    print(f"Machine: {machine()}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "exchange.program"
        path.write_text(PROGRAM)
        found = []
        for seed in range(options.first, options.first + options.seeds):
            found.append(compare(path, seed, options.error))
            print(f"seed {seed}: {found[-1]}", flush=True)
    of = {field: statistics.mean(getattr(one, field) for one in found) for field in Comparison._fields}
    print(
        f"inside: {of['end']:.0%} of ends, {of['latency']:.0%} of latencies, {of['links']:.1%} of links; "
        f"ends later by {of['delay']:.3%} in the mean, half width {of['half_width']:.3%}"
    )


if __name__ == "__main__":
    main()
