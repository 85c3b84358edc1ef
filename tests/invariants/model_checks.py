"""What the closed forms must say: the postal model message by message, the formulas of a multigrid cycle."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from checking import Tables, check, close, same
from column_runs import CYCLES, ITERATIONS, POSTAL, RANKS, SCENARIOS, messages

from odonata import amg


@check("priced")
def ranks_cost_what_the_postal_model_says(run: Tables) -> None:
    """A start-up and the bytes of each message, more for each hop, and the search in the receiver's queue."""
    ranks, links = run["rank_costs"], run["links"]
    same(ranks["job"], run["placement"]["job"])
    same(ranks["rank"], run["placement"]["rank"])
    same(ranks["node"], run["placement"]["node"])
    near = defaultdict(list)
    for source, target in zip(links["source"], links["target"], strict=True):
        near[source].append(target)
    router = run["nodes"]["router"].to_numpy()
    first = dict(zip(RANKS, np.cumsum([0, *RANKS.values()]), strict=False))
    node = run["placement"]["node"].to_numpy()
    columns = ("sends", "receives", "bytes", "startup_s", "hops_s", "bandwidth_s", "matching_s")
    expected = {name: np.zeros(len(ranks)) for name in columns}
    byte_hops = dict.fromkeys(RANKS, 0)
    for job in RANKS:
        for source, target, size in messages(job):
            if source == target:
                continue
            here, there = first[job] + source, first[job] + target
            inside = node[here] == node[there]
            expected["sends"][here] += 1
            expected["receives"][there] += 1
            expected["bytes"][here] += size
            expected["startup_s"][here] += POSTAL["on_node_alpha" if inside else "alpha"]
            expected["bandwidth_s"][here] += size / POSTAL["on_node_rate" if inside else "rate"]
            if not inside:
                apart = _hops(router[node[here]], router[node[there]], near)
                expected["hops_s"][here] += apart * POSTAL["hop"]
                byte_hops[job] += apart * size
    expected["matching_s"] = expected["receives"] ** 2 * POSTAL["matching"]
    rounds = np.repeat([ITERATIONS[job] for job in RANKS], list(RANKS.values()))
    for name in columns:
        close(ranks[name], rounds * expected[name])
    terms = ranks[["startup_s", "hops_s", "bandwidth_s", "matching_s"]]
    close(ranks["rank_time_s"], terms.sum(axis=1))
    sent = [sum(size for *_, size in messages(job)) for job in RANKS]
    close(run["jobs"]["byte_hops_mean"], np.divide(list(byte_hops.values()), sent))


def _hops(start: int, end: int, near: dict[int, list[int]]) -> int:
    found, queue = {start: 0}, deque([start])
    while end not in found:
        here = queue.popleft()
        for other in near[here]:
            if other not in found:
                found[other] = found[here] + 1
                queue.append(other)
    return found[end]


@check("priced")
def a_job_takes_as_long_as_its_slowest_rank(run: Tables) -> None:
    ranks, jobs = run["rank_costs"], run["jobs"]
    slowest = ranks.loc[ranks.groupby("job")["rank_time_s"].idxmax()]
    close(jobs["predicted_time_s"], slowest["rank_time_s"])
    for name in ("startup_s", "hops_s", "bandwidth_s", "matching_s"):
        close(jobs[name], slowest[name])
    close(jobs["rank_time_mean_s"], ranks.groupby("job")["rank_time_s"].mean())
    assert not run["links"]["bytes"].any()


ALPHA, BETA, GAMMA = 0.238e-6, 0.858e-9, 0.416e-6
FLOP = (1.59e-9, 0.806e-9, 0.545e-9)
"""Seconds of a floating-point operation on the levels 0, 1, and 2 and beyond."""

THREADS = {1: 11106.0, 2: 5335.5, 4: 2755.0}
"""Bandwidth of each of so many threads in MB/s."""

NODE_RATE = 16e9
LINKS = {"small": 259.0, "large": 265.0}
"""Links of Eos for n nodes, 2 and 8: the mean of n + 170 in one group and n + 2 x 170 + 4 in both."""

EXTRA_HOPS = 7 - 2
"""The diameter of Eos without the two links to the nodes."""


COUNTS = ("messages", "sends", "values_sent")
Level = dict[str, Any]
Phase = tuple[str, float, int, float, float, float]
"""Name, operations, exchanges, and of each exchange all messages, and the most sends and values of a rank."""


def _phases(levels: list[Level], number: int) -> Iterator[Phase]:
    level = levels[number]
    work = 6 * level["unknowns"] * level["nonzeros_per_row"]
    yield ("smooth", work, 3, *(level[name] for name in COUNTS))
    coarser = levels[number + 1]["unknowns"] if number + 1 < len(levels) else 0
    yield ("restrict", *_transfer(level, coarser))
    finer = levels[number - 1] if number > 0 else level
    yield ("interpolate", *_transfer(finer, finer["unknowns"] if number > 0 else 0))


def _transfer(operator: Level, unknowns: int) -> tuple[float, int, float, float, float]:
    """One product with an interpolation or its transpose; nothing where there is no level to go to."""
    if unknowns == 0:
        return 0, 0, 0, 0, 0
    sent, sends, values = (operator[f"interpolation_{name}"] for name in COUNTS)
    return 2 * unknowns * operator["interpolation_nonzeros_per_row"], 1, sent, sends, values


def _cycle(job: str, charged: bool) -> Iterator[tuple[int, str, str, float]]:
    """Level, phase, term and seconds by docs/models/amg.md, all penalties charged or none."""
    ranks, points, tasks, threads = CYCLES[job]
    levels = amg.shipped("laplace7", ranks, points).levels
    logs = np.interp(np.log(threads), np.log(list(THREADS)), np.log(list(THREADS.values())))
    slower = THREADS[1] / np.exp(logs) / threads
    for number, level in enumerate(levels):
        operation = FLOP[min(number, 2)] * slower / ranks
        active = max(math.ceil(tasks * level["active_ranks"] / ranks), 1)
        for phase, work, exchanges, sent, sends, values in _phases(levels, number):
            startup, bandwidth = exchanges * sends * ALPHA, exchanges * values * BETA
            hops = exchanges * sends * EXTRA_HOPS * GAMMA if charged else 0
            limit = NODE_RATE / (8 / BETA) + sent / LINKS[job] if charged else 1
            contention = active if charged else 1
            yield number, phase, "compute", work * operation
            yield number, phase, "startup", startup
            yield number, phase, "hops", hops
            yield number, phase, "bandwidth", bandwidth
            yield number, phase, "bandwidth-penalty", bandwidth * (limit - 1)
            yield number, phase, "startup-penalty", startup * (contention - 1)
            yield number, phase, "hops-penalty", hops * (contention - 1)


@check("cycled")
def cycles_are_the_formulas_term_by_term(run: Tables) -> None:
    """In the order of the requested scenarios; a job's time comes from the first."""
    cycle, jobs = run["cycle"], run["jobs"]
    expected = [
        (number, scenario, *terms)
        for number, job in enumerate(CYCLES)
        for scenario in SCENARIOS
        for terms in _cycle(job, "penalties" in scenario)
    ]
    keys = ["job", "scenario", "level", "phase", "term"]
    same(cycle[keys].itertuples(index=False, name=None), [row[:5] for row in expected])
    close(cycle["term_time_s"], [row[5] for row in expected])
    times = [sum(row[5] for row in expected if row[:2] == (job, SCENARIOS[0])) for job in range(len(CYCLES))]
    close(jobs["predicted_time_s"], times)
    same(jobs["threads"], [threads for *_, threads in CYCLES.values()])
