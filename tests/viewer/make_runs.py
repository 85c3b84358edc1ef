"""Runs of real engines for the browser tests, and what their tables say: `make_runs.py DIRECTORY`.

The expected figures are computed from the Parquet files with pyarrow and NumPy, by code other than
the viewer's.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import odonata

JOB = '[[job]]\nname = "{name}"\npattern = "{pattern}"\nranks = {ranks}\nplacement = "{placement}"\n'
ENGINE = '[engine]\nkind = "flow"\nrouting = "{routing}"\nseed = 1\n'


def experiment(machine: str, jobs: list[tuple[str, str, int, str]], routing: str = "adaptive-hybrid") -> str:
    parts = [f"[machine]\n{machine}\n"]
    parts += [JOB.format(name=n, pattern=p, ranks=r, placement=where) for n, p, r, where in jobs]
    return "\n".join([*parts, ENGINE.format(routing=routing)])


TWO = [("spread", "spread", 6000, "non-uniform"), ("halo", "stencil-4d", 8192, "compact")]
EXPERIMENTS = {
    "edison": experiment('preset = "edison"', TWO),
    "edison-K": experiment('preset = "edison"\nedit = ["-K"]', TWO),
    "dragonfly": experiment(
        'preset = "dragonfly-1056"',
        [("a", "uniform", 500, "random-nodes"), ("b", "stencil-2d", 400, "compact")],
    ),
    "torus": experiment('preset = "bgp-midplane"', [("halo", "stencil-3d", 512, "compact")], "min"),
    "tree": experiment('topology = "fat-tree"\nk = 8\nlevels = 3', [("a", "uniform", 100, "compact")], "min"),
}


def expected(run: odonata.Run) -> dict[str, Any]:
    links, jobs = run.links, run.jobs
    names = links["class"].to_pylist()
    values = links["bytes"].to_numpy()
    first = np.zeros(len(values))
    shares = run.link_jobs
    mine = shares["job"].to_numpy() == 0
    first[shares["link"].to_numpy()[mine]] = shares["bytes"].to_numpy()[mine]
    routers = run.routers["name"].to_pylist()
    hottest = int(np.argmax(values))
    source, target = (links[end].to_pylist()[hottest] for end in ("source", "target"))
    return {
        "links": len(values),
        "jobs": jobs["name"].to_pylist(),
        "max": float(values.max()),
        "hottest": {"from": routers[source], "to": routers[target], "class": names[hottest]},
        "classes": {
            name: {
                "links": names.count(name),
                "mean": float(np.mean([v for n, v in zip(names, values, strict=True) if n == name])),
                "mean_of_job_0": float(np.mean([v for n, v in zip(names, first, strict=True) if n == name])),
                "above_half": int(
                    sum(v >= values.max() / 2 for n, v in zip(names, values, strict=True) if n == name)
                ),
            }
            for name in dict.fromkeys(names)
        },
    }


def main(target: Path) -> None:
    figures = {}
    for name, text in EXPERIMENTS.items():
        if not (target / name / "summary.json").exists():
            odonata.run(text, out=target / name)
        figures[name] = expected(odonata.load(target / name))
    (target / "expected.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
