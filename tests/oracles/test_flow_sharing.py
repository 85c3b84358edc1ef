"""What the flow engine approaches where every message has one path.

Rates are max-min fair, weighted by bytes or messages, by progressive filling. The completion time follows
from a fluid whose max-min fair rates are filled again at every end of a message.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import odonata

Tree = dict[tuple[int, int], int]
"""Capacity in GB/s of the cable between two routers."""


def tree(random: np.random.Generator, routers: int) -> Tree:
    return {(int(random.integers(r)), r): int(random.choice([1, 2, 5, 10])) for r in range(1, routers)}


def path(cables: Tree, source: int, target: int) -> list[tuple[int, int]]:
    """The links from one router to another; parents have lower numbers."""
    parent = {child: parent for parent, child in cables}
    up, down, a, b = [], [], source, target
    while a != b:
        if a > b:
            up.append((a, parent[a]))
            a = parent[a]
        else:
            down.append((parent[b], b))
            b = parent[b]
    return up + down[::-1]


def max_min(
    capacity: dict[tuple[str, int, int], float], paths: list[list[tuple[str, int, int]]], weight: np.ndarray
) -> np.ndarray:
    """Rates by progressive filling: all grow as their weights are until one of their links is full."""
    rate = np.zeros(len(paths))
    grows = np.ones(len(paths), dtype=bool)
    left = dict(capacity)
    while grows.any():
        asked = {
            link: sum(weight[f] for f in range(len(paths)) if grows[f] and link in paths[f]) for link in left
        }
        level = min(left[link] / asked[link] for link in left if asked[link] > 0)
        rate[grows] += level * weight[grows]
        for link in left:
            left[link] -= level * asked[link]
        full = {link for link in left if asked[link] > 0 and left[link] <= 1e-9 * capacity[link]}
        grows &= np.array([not full & set(links) for links in paths])
    return rate


def drained(
    capacity: dict[tuple[str, int, int], float], paths: list[list[tuple[str, int, int]]], sizes: np.ndarray
) -> float:
    """Time until all messages have ended. Each has weight 1, and an end changes the rates at once."""
    left, time = sizes.copy(), 0.0
    while (left > 0).any():
        active = np.flatnonzero(left > 0)
        rate = max_min(capacity, [paths[f] for f in active], np.ones(len(active)))
        step = (left[active] / rate).min()
        left[active] -= rate * step
        left[left < 1e-3] = 0
        time += step
    return time


@pytest.mark.parametrize("demand", ["bytes", "messages"])
@pytest.mark.parametrize("seed", range(5))
def test_one_path_each_is_weighted_max_min(seed: int, demand: str, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    routers = 12
    cables = tree(random, routers)
    rows = [f"r{a:02},r{b:02},{speed} GB/s,100 ns" for (a, b), speed in cables.items()]
    (tmp_path / "cables.csv").write_text("\n".join(["src,dst,bandwidth,latency", *rows]) + "\n")
    sent = {}
    for _ in range(3 * routers):
        a, b = (int(r) for r in random.choice(routers, 2, replace=False))
        sent[a, b] = int(random.integers(1, 50)) * 1_000_000
    messages = [f"{a},{b},{size}" for (a, b), size in sent.items()]
    (tmp_path / "messages.csv").write_text("\n".join(["src,dst,bytes", *messages]) + "\n")
    experiment = {
        "machine": {"file": str(tmp_path / "cables.csv")},
        "job": [
            {
                "pattern": {"name": "file", "path": str(tmp_path / "messages.csv")},
                "ranks": routers,
                "ranks_per_node": 1,
            }
        ],
        "engine": {"kind": "flow", "routing": "min", "demand": demand, "nic_capacity": "20 GB/s"},
    }
    sizes = np.array(list(sent.values()), dtype=float)
    capacity = {("link", a, b): speed * 1e9 for (i, j), speed in cables.items() for a, b in ((i, j), (j, i))}
    capacity |= {(port, node, 0): 20e9 for node in range(routers) for port in ("out", "in")}
    paths = [
        [("out", a, 0), *(("link", *link) for link in path(cables, a, b)), ("in", b, 0)] for a, b in sent
    ]
    rate = max_min(capacity, paths, sizes if demand == "bytes" else np.ones(len(paths)))
    ended = drained(capacity, paths, sizes)
    for settings, within in [({}, 0.01), ({"slices": 400, "max_iterations": 4000, "tolerance": 0}, 1e-3)]:
        job = odonata.run(experiment, set={f"engine.{key}": value for key, value in settings.items()}).jobs
        assert job["bandwidth_bytes_per_s"][0].as_py() == pytest.approx(rate.sum(), rel=within), settings
        # Shares of ends within a step are unused, and few slices leave something: up to 14 % on these trees.
        time = job["completion_time_s"][0].as_py()
        assert 0.99 * ended < time < 1.15 * ended, settings
