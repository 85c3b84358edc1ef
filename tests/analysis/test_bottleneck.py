"""What holds a job up, and what others cost it."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

import odonata
from odonata.analysis import bottleneck, link_names
from odonata.runs import Run
from odonata.sweeps import blame as blaming

MACHINE = {"topology": "dragonfly", "p": 2, "a": 4, "h": 1, "g": 5}
PATTERNS = [
    {"name": "stencil-3d", "bytes": "1 MiB"},
    {"name": "all-to-all", "bytes": "64 KiB"},
    {"name": "random-neighbors", "bytes": "512 KiB"},
    {"name": "random-permutation", "bytes": "2 MiB"},
]


def experiment(jobs: int, routing: str, seed: int) -> dict[str, object]:
    dice = random.Random(seed)
    return {
        "machine": MACHINE,
        "job": [
            {
                "name": f"job{number}",
                "ranks": dice.choice([4, 6]),
                "pattern": dice.choice(PATTERNS),
                "placement": "random-nodes",
            }
            for number in range(jobs)
        ],
        "engine": {"kind": "flow", "routing": routing, "seed": seed, "alone": True},
    }


@pytest.mark.parametrize("routing", ["adaptive-hybrid", "ugal", "min", "adaptive-direct"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_busiest_is_found_and_never_busier_than_full(routing: str, seed: int) -> None:
    run = odonata.run(experiment(3, routing, seed))
    times = run.jobs["time_s"].to_pylist()
    links, parts = run.links.to_pylist(), run.link_jobs.to_pylist()
    names = link_names(run.links, run.routers).to_pylist()
    for job, time in enumerate(times):
        one = bottleneck(run, job)
        assert one is not None
        assert one.busy_share is not None
        # No link can send more than its bandwidth; times are of the slowest messages, so it is less.
        assert one.busy_share <= 1 + 1e-9
        # By hand, link by link.
        busiest = 0.0
        for link, name in zip(links, names, strict=True):
            mine = [part for part in parts if part["link"] == link["link"]]
            if not any(part["job"] == job and part["bytes"] > 0 for part in mine):
                continue
            sent = sum(part["bytes"] * min(1.0, time / times[part["job"]]) for part in mine)
            busiest = max(busiest, sent / link["capacity_bytes_per_s"])
            if one.is_link and name == one.name:
                assert one.bytes == pytest.approx(sent)
                assert one.jobs is not None
                assert sum(one.jobs.values()) == pytest.approx(sent)
        assert one.seconds >= busiest * (1 - 1e-12)
        if one.is_link:
            assert one.seconds == pytest.approx(busiest)


@pytest.mark.parametrize("jobs", [2, 3, 5, 6])
def test_costs_add_up_to_what_is_lost(jobs: int) -> None:
    """Up to four others by all orders, of more by some: together exactly the time that the job loses."""
    run = odonata.run(experiment(jobs, "adaptive-hybrid", 7))
    found = blaming.blame(run, "job0")
    assert found.time_s == run.jobs["time_s"][0].as_py()
    assert found.alone_s == pytest.approx(run.jobs["time_alone_s"][0].as_py(), rel=1e-12)
    assert found.slowdown == pytest.approx(run.jobs["slowdown"][0].as_py(), rel=1e-12)
    assert sum(found.costs_s.values()) == pytest.approx(found.time_s - found.alone_s, rel=1e-12, abs=1e-18)
    assert found.exact == (jobs <= 1 + blaming.EXACT)
    assert found.runs <= blaming.runs_needed(jobs - 1)
    assert set(found.costs_s) == set(found.without_s) == {f"job{n}" for n in range(1, jobs)}
    # The time without one is that of an experiment in which it is idle.
    again = odonata.run(experiment(jobs, "adaptive-hybrid", 7), set={"job.job1.idle": True})
    assert found.without_s["job1"] == again.jobs["time_s"][0].as_py()


def test_by_sets_is_the_mean_over_all_orders() -> None:
    """Shapley's value twice: by the sets, and by every order in which the others could come."""
    dice = np.random.default_rng(4)
    names = ["a", "b", "c", "d"]
    values: dict[frozenset[str], float] = {}

    def value(present: frozenset[str]) -> float:
        return values.setdefault(present, float(dice.random()))

    found = blaming._exact(names, value)
    added: dict[str, list[float]] = {name: [] for name in names}
    for order in permutations(names):
        for place, name in enumerate(order):
            before = frozenset(order[:place])
            added[name].append(value(before | {name}) - value(before))
    for name in names:
        assert found[name] == pytest.approx(np.mean(added[name]))
    assert sum(found.values()) == pytest.approx(value(frozenset(names)) - value(frozenset()))


def test_a_job_that_is_in_nobodys_way_costs_nothing() -> None:
    """Two jobs in groups of their own under minimal routing share no link."""
    jobs = [
        {
            "name": name,
            "ranks": 8,
            "pattern": {"name": "all-to-all", "bytes": "64 KiB"},
            "placement": {"name": "list", "nodes": list(range(first, first + 8))},
        }
        for name, first in (("a", 0), ("b", 8))
    ]
    engine = {"kind": "flow", "routing": "min"}
    run = odonata.run({"machine": MACHINE, "job": jobs, "engine": engine})
    found = blaming.blame(run, "a")
    assert found.costs_s == {"b": 0.0}
    assert found.slowdown == 1.0


def test_a_run_of_memory_or_directory(tmp_path: object) -> None:
    run = odonata.run(experiment(2, "min", 3), out=f"{tmp_path}/r")
    again = Run.from_directory(f"{tmp_path}/r")  # type: ignore[arg-type]
    assert bottleneck(run, 0) == bottleneck(again, 0)
    assert blaming.blame(run, "job1") == blaming.blame(again, "job1")
