"""Completion times of the flow engine against the packet engine: random pairs of jobs, and two known mixes.

No constant of the flow engine was chosen on the seeds of the pairs. `summary.json` and the page of the flow
engine state the result, so this test fails if the statement becomes wrong.
"""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

import odonata
from odonata import toml

PAIRS = 30
WITHIN = 0.25
SEEDS = (3, 4, 5)

Family = tuple[dict[str, Any], int, list[tuple[str, str]]]
FAMILIES: list[Family] = [
    (
        {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
        72,
        [("ugal-n", "ugal"), ("min", "min"), ("par", "ugal")],
    ),
    ({"topology": "fat-tree", "k": 8}, 128, [("up-down-adaptive", "min"), ("up-down", "min")]),
    ({"topology": "torus", "dims": [4, 4, 4]}, 64, [("min", "min")]),
]
"""Machine, number of nodes, and pairs of routings: of the packet engine and of the flow engine."""

PATTERNS = [
    "all-to-all",
    "stencil-2d",
    "stencil-3d",
    "uniform",
    "spread",
    "many-to-many",
    "shift",
    "random-permutation",
    "umesh",
    "random-neighbors",
]


def job(draw: random.Random, name: str, ranks: int) -> dict[str, Any]:
    """A random pattern with messages of 4 to 256 KiB, or 32 if all ranks send to all."""
    pattern: dict[str, Any] = {"name": draw.choice(PATTERNS)}
    kib = 2 ** draw.randint(2, 8)
    pattern["bytes"] = f"{min(kib, 32) if pattern['name'] == 'all-to-all' else kib} KiB"
    if pattern["name"] == "shift":
        pattern["offset"] = draw.randint(1, ranks - 1)
    placement = draw.choice(["random-nodes", "random-nodes", "compact", "random-routers"])
    return {"name": name, "ranks": ranks, "ranks_per_node": 1, "placement": placement, "pattern": pattern}


def pair(draw: random.Random, number: int) -> tuple[dict[str, Any], tuple[str, str]]:
    """Machine and two jobs, and the routings of both engines."""
    machine, nodes, routings = FAMILIES[number % len(FAMILIES)]
    jobs = [job(draw, name, nodes // draw.choice([2, 3, 4])) for name in ("a", "b")]
    return {"machine": machine, "job": jobs}, routings[number // len(FAMILIES) % len(routings)]


def errors_of(experiment: dict[str, Any], routings: tuple[str, str], seed: int = 1) -> list[float]:
    """Relative error of the flow engine's time of each job."""
    times = []
    for kind, routing in zip(("packet", "flow"), routings, strict=True):
        run = odonata.run({**experiment, "engine": {"kind": kind, "routing": routing, "seed": seed}})
        times.append(run.jobs["completion_time_s"].to_pylist())
    return [flow / packet - 1 for packet, flow in zip(*times, strict=True)]


def test_times_of_random_pairs_are_as_near_to_packets_as_stated() -> None:
    near = jobs = 0
    for seed in SEEDS:
        draw = random.Random(seed)
        for number in range(PAIRS):
            experiment, routings = pair(draw, number)
            errors = errors_of(experiment, routings)
            near += sum(abs(error) <= WITHIN for error in errors)
            jobs += len(errors)
            patterns = " and ".join(one["pattern"]["name"] for one in experiment["job"])
            print(seed, number, routings[0], patterns, *(f"{error:+.2f}" for error in errors))
    said = odonata.run({**experiment, "engine": {"kind": "flow"}}).summary["completion_times"]["accuracy"]
    stated = re.search(r"within 25 % .* for (\d+) of (\d+) jobs", said)
    assert stated is not None, said
    assert jobs == int(stated[2])
    # A better result than the stated one is to be stated, too.
    assert int(stated[1]) <= near <= int(stated[1]) + 3


OTHERS: list[tuple[str, tuple[str, str]]] = [
    ('topology = "torus"\ndims = [4, 3, 3]\nnodes_per_router = 2', ("min", "min")),
    ('topology = "fat-tree"\nk = 6', ("min", "min")),
    ('topology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 7', ("ugal-n", "ugal")),
]
"""Machines that nothing was chosen on, with the routings of the packet engine and of the flow engine."""

OTHER_PATTERNS: list[str | dict[str, str]] = [
    "random-permutation",
    "stencil-2d",
    {"name": "all-to-all", "bytes": "16 KiB"},
    "random-neighbors",
    {"name": "many-to-many", "bytes": "32 KiB"},
    "transpose",
]


def test_times_on_other_machines_are_as_near_as_stated() -> None:
    draw = random.Random(11)
    ratios = []
    for number in range(24):
        machine, routings = OTHERS[number % len(OTHERS)]
        jobs = [
            {"name": name, "pattern": of, "ranks": 24, "ranks_per_node": 1, "placement": "random-nodes"}
            for name, of in zip(("a", "b"), draw.sample(OTHER_PATTERNS, 2), strict=True)
        ]
        experiment = {"machine": toml.parse(machine), "job": jobs}
        ratios += [1 + error for error in errors_of(experiment, routings, seed=number + 1)]
        print(number, routings, *(f"{ratio:.2f}" for ratio in ratios[-2:]))
    said = odonata.run({**experiment, "engine": {"kind": "flow"}}).summary["completion_times"]["accuracy"]
    near = sum(abs(ratio - 1) < WITHIN for ratio in ratios)
    stated = f"for {near} of {len(ratios)} on other machines ({min(ratios):.2f} to {max(ratios):.2f} times)"
    assert stated in said


FOUR_JOBS = toml.parse((Path(__file__).parents[2] / "studies/packet-routing/four-jobs.toml").read_text())
HEAVY_LIGHT = {
    "machine": {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
    "job": [
        {
            "name": name,
            "pattern": {"name": "all-to-all", "bytes": size},
            "ranks": 36,
            "ranks_per_node": 1,
            "placement": "random-nodes",
        }
        for name, size in (("heavy", "512 KiB"), ("light", "8 KiB"))
    ],
}
MIXES: dict[str, tuple[dict[str, Any], int, tuple[str, str], dict[str, str]]] = {
    "heavy-light": (HEAVY_LIGHT, 2, ("ugal-n", "ugal"), {}),
    "four-jobs": (
        {key: FOUR_JOBS[key] for key in ("machine", "job")},
        1,
        ("min", "min"),
        # Both share input queues with the 4D stencil, so their packets wait for its packets to other outputs
        # (head-of-line blocking). The flow engine has no queues.
        {"spread": "queues", "many-to-many": "queues"},
    ),
}
"""Machine and jobs, seed, routings of the packet and of the flow engine, and jobs outside the tolerance with
the reason."""


@pytest.mark.long
@pytest.mark.parametrize("mix", MIXES)
def test_time_and_slowdown_of_every_job_of_a_mix(mix: str) -> None:
    experiment, seed, routings, known = MIXES[mix]
    names = [job["name"] for job in experiment["job"]]

    def run(kind: str, routing: str, **keys: Any) -> odonata.Run:
        return odonata.run({**experiment, "engine": {"kind": kind, "routing": routing, "seed": seed, **keys}})

    packet = run("packet", routings[0])
    flow = run("flow", routings[1], alone=True)
    outside = {}
    for row, name in enumerate(names):
        away = {f"job.{toml.key(other)}.idle": True for other in names if other != name}
        alone = odonata.run(packet.resolved, set=away).jobs["completion_time_s"][row].as_py()
        of_packets = packet.jobs["completion_time_s"][row].as_py()
        time_ratio = flow.jobs["completion_time_s"][row].as_py() / of_packets
        slowdown_ratio = flow.jobs["slowdown"][row].as_py() / (of_packets / alone)
        print(mix, name, f"time {time_ratio:.2f}, slowdown {slowdown_ratio:.2f}")
        if not (0.85 <= time_ratio <= 1.15 and 0.85 <= slowdown_ratio <= 1.15):
            outside[name] = (time_ratio, slowdown_ratio)
    assert set(outside) == set(known), outside
    # Without queues, a job outside the tolerance is too fast.
    assert all(ratio < 1 for ratios in outside.values() for ratio in ratios), outside


@pytest.mark.long
def test_completion_times_cost_at_most_twice_a_steady_solve_more() -> None:
    experiment, seed, (_, routing), _ = MIXES["four-jobs"]

    def cost(completion_times: bool) -> float:
        engine = {"kind": "flow", "routing": routing, "seed": seed, "completion_times": completion_times}
        start = time.process_time()
        odonata.run({**experiment, "engine": engine}, threads=1)
        return time.process_time() - start

    # Other load only adds time.
    steady, with_times = (min(cost(times) for _ in range(5)) for times in (False, True))
    assert with_times <= 3 * steady, (with_times, steady)
