"""The bound on the busiest link against the optimum of its linear program, by HiGHS.

The program: for each source router a flow over all links that brings every target what it is sent; the least
t such that no link carries more than t times its capacity.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import odonata

GAP = 0.01


def write(folder: Path, seed: int) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], int]]:
    """A random connected machine of 6 to 14 routers, speeds a factor of 40 apart, and random messages:
    bytes/s of each pair of routers, bytes that one sends to another."""
    random = np.random.default_rng(seed)
    routers = int(random.integers(6, 15))
    pairs = {tuple(sorted((int(random.integers(r)), r))) for r in range(1, routers)}
    while len(pairs) < routers * 1.7:
        a, b = sorted(random.choice(routers, 2, replace=False).tolist())
        pairs.add((a, b))
    speed = {pair: int(random.choice([1, 2, 5, 10, 40])) for pair in sorted(pairs)}
    rows = [f"r{a},r{b},{gb} GB/s,100 ns" for (a, b), gb in speed.items()]
    (folder / "cables.csv").write_text("\n".join(["src,dst,bandwidth,latency", *rows]) + "\n")
    sent: dict[tuple[int, int], int] = {}
    for _ in range(3 * routers):
        a, b = random.choice(routers, 2, replace=False).tolist()
        sent[a, b] = int(random.integers(1, 50)) * 1_000_000
    messages = [f"{a},{b},{size}" for (a, b), size in sent.items()]
    (folder / "messages.csv").write_text("\n".join(["src,dst,bytes", *messages]) + "\n")
    (folder / "experiment.toml").write_text(f"""
        [machine]
        file = "cables.csv"
        [[job]]
        pattern = {{ name = "file", path = "messages.csv" }}
        ranks = {routers}
        ranks_per_node = 1
        [engine]
        kind = "flow"
        bound_gap = {GAP}
        """)
    capacity = {direction: gb * 1e9 for (a, b), gb in speed.items() for direction in ((a, b), (b, a))}
    return capacity, sent


Entries = tuple[list[float], list[int], list[int]]
"""Of a sparse matrix: values, rows, columns."""


def add(entries: Entries, value: float, row: int, column: int) -> None:
    entries[0].append(value)
    entries[1].append(row)
    entries[2].append(column)


def optimum(capacity: dict[tuple[int, int], float], sent: dict[tuple[int, int], float]) -> float:
    """Seconds that the busiest link needs at least.

    In MB, GB/s and ms: coefficients of 1e10 are beyond the solver's tolerances.
    """
    capacity = {link: rate / 1e9 for link, rate in capacity.items()}
    sent = {pair: size / 1e6 for pair, size in sent.items()}
    links = sorted(capacity)
    routers = 1 + max(a for a, _ in links)
    by_source: dict[int, dict[int, float]] = defaultdict(dict)
    for (a, b), size in sent.items():
        by_source[a][b] = size
    sources = sorted(by_source)
    last = len(sources) * len(links)
    equal: Entries = ([], [], [])
    bound: Entries = ([], [], [])
    balance = np.zeros(len(sources) * routers)
    for s, source in enumerate(sources):
        for router in range(routers):
            balance[s * routers + router] = by_source[source].get(router, 0)
        balance[s * routers + source] = -sum(by_source[source].values())
        for e, (a, b) in enumerate(links):
            for router, sign in ((a, -1.0), (b, 1.0)):
                for column, value in zip(
                    equal, (sign, s * routers + router, s * len(links) + e), strict=True
                ):
                    column.append(value)
            for column, value in zip(bound, (1.0, e, s * len(links) + e), strict=True):
                column.append(value)
    for e, link in enumerate(links):
        for column, value in zip(bound, (-capacity[link], e, last), strict=True):
            column.append(value)
    found = linprog(
        np.eye(1, last + 1, last)[0],
        A_ub=coo_array((bound[0], (bound[1], bound[2])), shape=(len(links), last + 1)),
        b_ub=np.zeros(len(links)),
        A_eq=coo_array((equal[0], (equal[1], equal[2])), shape=(len(balance), last + 1)),
        b_eq=balance,
        method="highs",
    )
    assert found.success, found.message
    return float(found.fun) / 1e3


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_holds_the_optimum_of_the_linear_program(seed: int, tmp_path: Path) -> None:
    capacity, sent = write(tmp_path, seed)
    run = odonata.run(tmp_path / "experiment.toml")
    bound = run.summary["bound"]
    lower, reached = bound["link_time_max_bound_s"], bound["link_time_max_reached_s"]
    # Ranks are numbered as routers are, which is not how the file of the cables calls them.
    router = [int(name[1:]) for name in run.routers.to_pandas().sort_values("router")["name"]]
    best = optimum(capacity, {(router[a], router[b]): size for (a, b), size in sent.items()})
    links = run.links.to_pandas()
    engine = max(links["bytes"] / links["capacity_bytes_per_s"])
    assert lower <= best * (1 + 1e-9)
    assert best <= reached * (1 + 1e-9)
    assert reached <= engine * (1 + 1e-9)
    assert bound["gap"] == pytest.approx(1 - lower / reached)
    assert bound["gap"] <= GAP

    # As a result: no link has more to carry, and the job takes the time of the busiest of them.
    run = odonata.run(tmp_path / "experiment.toml", set={"engine.routing": "optimal"})
    links, jobs = run.links.to_pandas(), run.jobs.to_pandas()
    busiest = max(links["bytes"] / links["capacity_bytes_per_s"])
    assert best * (1 - 1e-9) <= busiest <= best / (1 - GAP)
    assert busiest == pytest.approx(run.summary["bound"]["link_time_max_reached_s"], rel=1e-12)
    assert jobs["completion_time_s"][0] >= busiest
