"""One run by several processes: `make bench-mpi`, or `python benches/processes.py [--write]`.

It measures the cost of 2 and 4 MPI processes over one: the processor time of all, the share of exchanges
(copies, MPI, waiting), their number and size, and memory. With fewer cores than processes this shows
overheads, not speedups. "begins" is the time of a process before the run (machine, tables). "beyond" is the
ratio without it. Each row is the best of three runs, in turns, because other load only adds time.
`--write` saves the results in `benches/results/processes.md`; `docs/models/scaling.md` uses them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import machine, write

JOB = """
[[job]]
name = "one"
pattern = "{pattern}"
ranks = {nodes}
ranks_per_node = 1
{traffic}
"""


def open_traffic(preset: str, nodes: int, routing: str, warm_up: str, measure: str) -> str:
    job = JOB.format(pattern="uniform", nodes=nodes, traffic='traffic = { name = "open", load = 0.3 }')
    engine = f'kind = "packet"\nrouting = "{routing}"\nwarm_up = "{warm_up}"\nmeasure = "{measure}"'
    return f'[machine]\npreset = "{preset}"\n{job}\n[engine]\n{engine}\n'


def ranks(preset: str, nodes: int, program: str) -> str:
    job = f'[[job]]\nname = "one"\nprogram = {{ {program} }}\nranks = {nodes}\nranks_per_node = 1\n'
    return f'[machine]\npreset = "{preset}"\n{job}\n[engine]\nkind = "packet"\nrouting = "par"\n'


def flow(preset: str, nodes: int, pattern: str) -> str:
    job = JOB.format(pattern=pattern, nodes=nodes, traffic="")
    return f'[machine]\npreset = "{preset}"\n{job}\n[engine]\nkind = "flow"\nrouting = "adaptive-hybrid"\n'


HALO = 'name = "halo-3d", bytes = "8 kB", iterations = 10'

CASES = {
    "dragonfly-1056, open, min": open_traffic("dragonfly-1056", 1056, "min", "20 us", "400 us"),
    "dragonfly-1056, open, par": open_traffic("dragonfly-1056", 1056, "par", "20 us", "200 us"),
    "dragonfly-1056, ranks, par": ranks("dragonfly-1056", 1000, HALO),
    "cascade-241, open, par": open_traffic("cascade-241", 92_544, "par", "1 us", "2 us"),
    "edison, flow": flow("edison", 5_000, "stencil-3d"),
    "cascade-241, flow": flow("cascade-241", 92_000, "stencil-3d"),
}

COLUMNS = {
    "case": "run",
    "processes": "processes",
    "cpu_s": "CPU s",
    "ratio": "of one",
    "begins_s": "begins, CPU s each",
    "beyond": "of one, beyond",
    "waiting": "of it in exchanges",
    "exchanges": "exchanges",
    "kb": "kB of a process in an exchange",
    "rss_mb": "largest process, MB",
    "rest_mb": "smallest, MB",
}


def share(file: str) -> None:
    """Work of one process: the run, and its cost as a line of JSON."""
    from odonata import api
    from odonata.processes import join_processes, share_run

    experiment, processes = api.read(Path(file)), join_processes()
    waited = exchanges = begun = 0.0
    if processes is not None:
        exchange = processes.exchange

        def timed(messages: Any) -> Any:
            nonlocal waited, exchanges, begun
            before = time.process_time()
            begun = begun or before
            came = exchange(messages)
            waited += time.process_time() - before
            exchanges += 1
            return came

        processes.exchange = timed  # type: ignore[method-assign]
        processes.announce(experiment.text)
    with share_run(processes):
        if processes is None or processes.number == 0:
            begun_alone: list[float] = []

            def progress(phase: str, _share: float) -> None:
                if phase in ("simulating", "solving") and not begun_alone:
                    begun_alone.append(time.process_time())

            api.run_until_interrupted(experiment, threads=1, progress=progress, processes=processes)
            begun = begun or begun_alone[0]
        else:
            api.assist(experiment, processes, threads=1)
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {
        "cpu_s": used.ru_utime + used.ru_stime,
        "begins_s": begun,
        "waited_s": waited,
        "rss_mb": used.ru_maxrss / 1024,
        "exchanges": exchanges,
        "bytes": processes.message_bytes if processes else 0,
    }
    sys.stdout.write(json.dumps(took) + "\n")
    sys.stdout.flush()


def measured(case: str, text: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.toml"
        file.write_text(text)
        started = [] if count == 1 else [str(Path(sys.executable).with_name("mpiexec")), "-n", str(count)]
        words = [*started, sys.executable, __file__, "--share", str(file)]
        run = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    shares = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert len(shares) == count, run.stdout
    exchanges = max(share["exchanges"] for share in shares)
    return {
        "case": case,
        "processes": count,
        "cpu_s": sum(share["cpu_s"] for share in shares),
        "waited_s": sum(share["waited_s"] for share in shares),
        "begins_s": max(share["begins_s"] for share in shares),
        "exchanges": int(exchanges),
        "kb": max(share["bytes"] for share in shares) / max(exchanges, 1) / 1000,
        "rss_mb": max(share["rss_mb"] for share in shares),
        "rest_mb": min(share["rss_mb"] for share in shares),
    }


def rows(cases: dict[str, str], times: int) -> list[str]:
    lines = ["| " + " | ".join(COLUMNS.values()) + " |", "|" + "---|" * len(COLUMNS)]
    for case, text in cases.items():
        alone = None
        rounds = [[measured(case, text, count) for count in (1, 2, 4)] for _ in range(times)]
        for of_count in zip(*rounds, strict=True):
            row = min(of_count, key=lambda row: row["cpu_s"])
            count = row["processes"]
            beyond = row["cpu_s"] - count * row["begins_s"]
            alone = alone or (row["cpu_s"], beyond)
            row["ratio"] = f"{row['cpu_s'] / alone[0]:.2f}"
            row["beyond"] = f"{beyond / alone[1]:.2f}"
            row["waiting"] = f"{row['waited_s'] / row['cpu_s']:.0%}"
            for name, digits in (("cpu_s", 1), ("begins_s", 1), ("kb", 1), ("rss_mb", 0), ("rest_mb", 0)):
                row[name] = f"{row[name]:.{digits}f}"
            lines.append("| " + " | ".join(str(row[name]) for name in COLUMNS) + " |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--only", default="", help="run only cases whose name contains this text")
    parser.add_argument("--times", type=int, default=3, help="number of repeats; the best one counts")
    parser.add_argument("--write", action="store_true", help="save the results")
    parser.add_argument("--share", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.share:
        share(options.share)
        return
    lines = [f"Machine: {machine()}. MPICH from PyPI, one thread for each process.", ""]
    lines += rows({case: text for case, text in CASES.items() if options.only in case}, options.times)
    if options.write:
        write("processes", "One run by several processes", lines)


if __name__ == "__main__":
    main()
