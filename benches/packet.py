"""Packets per CPU-second: `make bench`, or `python benches/packet.py [--build] [--write]`.

Cases: the dragonfly of the packet study (1,056 nodes) under uniform traffic, then other machines and jobs on
half of one. Each row is the best of three runs, because other load only adds time. "two threads, events" is
the largest possible gain of two threads, from how the events are divided. `--build` also builds the 92,544
nodes of the full Cascade. `--write` saves the figures in `benches/results/packet.md`. `benches/peers.py`
compares with CAMINOS.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from typing import Any

from measuring import ROOT, machine, write

COLUMNS = {
    "routing": "routing",
    "load": "load",
    "kpackets_per_cpu_s": "thousand packets per CPU-s",
    "kpacket_hops_per_cpu_s": "thousand packet-hops per CPU-s",
    "events_per_packet": "events per packet",
    "bytes_per_packet": "bytes per packet in flight",
    "network_mb": "network, MB",
    "two_threads_wall_ratio": "two threads, wall",
    "two_threads_cpu_ratio": "two threads, CPU",
    "two_threads_event_ratio": "two threads, events",
}
MACHINES = {
    "machine": "machine",
    "nodes that send": "share of nodes that send",
    "routing": "routing",
    "load": "load",
    "kpackets_per_cpu_s": "thousand packets per CPU-s",
    "two_threads_wall_ratio": "two threads, wall",
    "two_threads_cpu_ratio": "two threads, CPU",
    "two_threads_event_ratio": "two threads, events",
}


def rust(*arguments: str) -> list[dict[str, Any]]:
    command = ["cargo", "bench", "--locked", "-q", "-p", "odonata-packet", "--bench", "throughput", "--"]
    run = subprocess.run(
        [*command, *arguments, "--json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    rows: list[dict[str, Any]] = json.loads(run.stdout)
    return rows


def table(rows: list[dict[str, Any]], columns: dict[str, str]) -> list[str]:
    lines = ["| " + " | ".join(columns.values()) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(str(row[name]) for name in columns) + " |" for row in rows]


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--build", action="store_true", help="also build the full Cascade")
    parser.add_argument("--write", action="store_true", help="save the results")
    options = parser.parse_args()
    lines = [f"Machine: {machine()}. Best of three runs.", ""]
    lines += table(rust(), COLUMNS)
    lines += ["", *table(rust("--machines"), MACHINES)]
    print("\n".join(lines), flush=True)
    more = []
    if options.build:
        more += ["", *table(built := rust("--build"), {name: name.replace("_", " ") for name in built[0]})]
    print("\n".join(more), flush=True)
    if options.write:
        write("packet", "The packet engine", lines + more)


if __name__ == "__main__":
    main()
