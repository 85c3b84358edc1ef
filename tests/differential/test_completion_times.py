"""Completion times of the flow engine against the packet engine, on random pairs of jobs.

No constant of the flow engine was chosen on these seeds. `summary.json` and the page of the flow engine state
the result, so this test fails if the statement becomes wrong.
"""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import odonata

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


def errors_of(experiment: dict[str, Any], routings: tuple[str, str]) -> list[float]:
    """Relative error of the flow engine's time of each job."""
    times = []
    for kind, routing in zip(("packet", "flow"), routings, strict=True):
        run = odonata.run({**experiment, "engine": {"kind": kind, "routing": routing}})
        times.append(run.jobs["completion_time_s"].to_pylist())
    return [flow / packet - 1 for packet, flow in zip(*times, strict=True)]


@pytest.mark.long
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
