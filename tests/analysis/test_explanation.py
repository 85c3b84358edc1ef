"""Bottlenecks of jobs and costs of competing jobs, compared with hand results and other runs."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import odonata
from odonata import toml
from odonata.analysis import shapley
from odonata.analysis.blame import subsets
from odonata.explanation import time_of

THREE_JOBS = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "heavy"
ranks = 36
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "64 kB" }
placement = { name = "random-order", skip = 0 }
[[job]]
name = "light"
ranks = 18
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "16 kB" }
placement = { name = "random-order", skip = 36 }
[[job]]
name = "halo"
ranks = 18
ranks_per_node = 1
pattern = { name = "stencil-2d", dims = [6, 3], bytes = "1 MB" }
placement = { name = "random-order", skip = 54 }
[engine]
kind = "flow"
routing = "min"
alone = true
"""


@pytest.fixture(scope="module")
def three_jobs() -> odonata.Run:
    return odonata.run(THREE_JOBS)


def test_two_causes_by_hand() -> None:
    """a alone costs 1, b alone 3, both 10: a is 1 if it comes first and 7 if last, so 4; b 3 or 9, so 6."""
    times = {(): 2.0, ("a",): 3.0, ("b",): 5.0, ("a", "b"): 12.0}
    table = shapley(["a", "b"], lambda there: times[tuple(sorted(there))])
    assert table.to_pylist() == [
        {"cause": "b", "cost_s": 6.0, "share": 0.6, "first_s": 3.0, "last_s": 9.0},
        {"cause": "a", "cost_s": 4.0, "share": 0.4, "first_s": 1.0, "last_s": 7.0},
    ]


@given(st.lists(st.floats(0, 1e3), min_size=16, max_size=16))
def test_blame_is_the_mean_over_orders_and_adds_up(values: list[float]) -> None:
    """The twin lets four causes come in all 24 orders and takes the mean of what each adds."""
    causes = ["a", "b", "c", "d"]
    times = dict(zip(subsets(causes), values, strict=True))
    found = {row["cause"]: row["cost_s"] for row in shapley(causes, times.__getitem__).to_pylist()}
    for cause in causes:
        orders = [order[: order.index(cause)] for order in permutations(causes)]
        added = [times[frozenset({*before, cause})] - times[frozenset(before)] for before in orders]
        assert math.isclose(found[cause], math.fsum(added) / 24, abs_tol=1e-9)
    assert math.isclose(math.fsum(found.values()), values[-1] - values[0], abs_tol=1e-9)


@pytest.mark.parametrize("job", ["heavy", "light", "halo"])
def test_blame_adds_up_to_the_slowdown(three_jobs: odonata.Run, job: str) -> None:
    """Against the engine's own `time_alone_s`, and each cost alone and last against a run without a job."""
    found = odonata.explain(three_jobs, job)
    row = next(row for row in three_jobs.jobs.to_pylist() if row["name"] == job)
    assert found.blame is not None
    assert math.isclose(found.time_alone_s or 0.0, row["completion_time_alone_s"], rel_tol=1e-9)
    costs = math.fsum(found.blame["cost_s"].to_pylist())
    assert math.isclose(costs, row["completion_time_s"] - row["completion_time_alone_s"], rel_tol=1e-9)
    for cause in found.blame.to_pylist():
        without = odonata.run(THREE_JOBS, set={f"job.{cause['cause']}.idle": True})
        saved = row["completion_time_s"] - (time_of(without, job) or 0.0)
        assert math.isclose(cause["last_s"], saved, rel_tol=1e-9, abs_tol=1e-15)


def test_many_jobs_are_blamed_together() -> None:
    """Of six others, the three with most bytes on the bottleneck are separate causes; the sum is the same."""
    job = '[[job]]\nname = "j{0}"\nranks = 8\nranks_per_node = 1\n'
    job += 'placement = {{ name = "random-order", skip = {1} }}\n'
    job += 'pattern = {{ name = "all-to-all", bytes = "{2} kB" }}\n'
    jobs = "".join(job.format(k, 8 * k, 100 * (k + 1)) for k in range(7))
    run = odonata.run('[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n' + jobs + ENGINE)
    made: list[tuple[int, int]] = []
    found = odonata.explain(run, "j0", progress=lambda done, needed: made.append((done, needed)))
    assert found.blame is not None
    assert found.time_s is not None
    assert found.time_alone_s is not None
    assert "the others" in found.blame["cause"].to_pylist()
    assert found.blame.num_rows == 4
    assert math.isclose(math.fsum(found.blame["cost_s"].to_pylist()), found.time_s - found.time_alone_s)
    assert made == [(k, 15) for k in range(1, 16)]


ENGINE = '[engine]\nkind = "flow"\nrouting = "min"\nalone = true\n'


def test_one_link_by_hand(tmp_path: Path) -> None:
    """One cable of 10 GB/s, two jobs of two ranks on its two ends that send each other 3 and 1 MB.

    Both have half of the cable until small ends after 0.2 ms, alone 0.1 ms; so large costs small 0.1 ms. Of
    large's 3 MB in 0.4 ms, half pass in 0.2 ms if sent evenly, but only 1 MB fits with small's own.
    """
    (tmp_path / "cables.csv").write_text("src,dst,bandwidth,src_nodes,dst_nodes\na,b,10 GB/s,2,2\n")
    jobs = "".join(
        f'[[job]]\nname = "{name}"\nranks = 2\nranks_per_node = 1\n'
        f'pattern = {{ name = "all-to-all", bytes = "{size} MB" }}\n'
        f'placement = {{ name = "list", nodes = [{nodes}] }}\n'
        for name, size, nodes in (("large", 3, "0, 2"), ("small", 1, "1, 3"))
    )
    machine = f'[machine]\nfile = "{tmp_path}/cables.csv"\n[machine.class.terminal]\nbandwidth = "100 GB/s"\n'
    small = odonata.explain(odonata.run(machine + jobs + ENGINE), "small")
    assert small.decides
    assert math.isclose(small.time_s or 0.0, 0.2e-3, rel_tol=1e-3)
    assert math.isclose(small.time_alone_s or 0.0, 0.1e-3, rel_tol=2e-3)
    assert small.bottlenecks is not None
    assert small.bottlenecks["name"].to_pylist()[:2] == ["a>b:local.0", "b>a:local.0"]
    assert small.sharers is not None
    shares = {row["name"]: row["share"] for row in small.sharers.to_pylist()}
    assert shares == {"large": pytest.approx(0.5, rel=1e-3), "small": pytest.approx(0.5, rel=1e-3)}
    assert small.blame is not None
    assert math.isclose(small.blame["cost_s"][0].as_py(), 0.1e-3, rel_tol=1e-3)


TORUS = """
[machine]
topology = "torus"
dims = [4, 4]
nodes_per_router = 2
[machine.class.terminal]
bandwidth = "{terminal}"
[[job]]
name = "one"
ranks = 32
ranks_per_node = 1
pattern = {{ name = "all-to-all", bytes = "100 kB" }}
[engine]
kind = "flow"
routing = "min"
"""
ADVERSARIAL = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 5
local_cables = 2
[[job]]
name = "one"
ranks = 40
ranks_per_node = 1
pattern = { name = "adversarial", offset = 1, group_ranks = 8, bytes = "1 MB" }
[engine]
kind = "flow"
routing = "min"
"""
LOCAL = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 5
local_cables = 2
[machine.class.local]
bandwidth = "5 GB/s"
[[job]]
name = "one"
ranks = 40
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "1 MB" }
[engine]
kind = "flow"
routing = "min"
"""
CASES = {
    "jobs": (THREE_JOBS, "heavy", [], []),
    "local": (LOCAL, "one", ["local", "global"], ["local"]),
    "global": (ADVERSARIAL, "one", ["local", "global"], ["local"]),
    "torus": (TORUS.format(terminal="100 GB/s"), "one", [], []),
    "NIC": (TORUS.format(terminal="0.5 GB/s"), "one", [], []),
}
"""By bottleneck: an experiment, its job, classes that get a cable more, and classes that lose one."""


@pytest.mark.parametrize("case", CASES)
def test_sensitivities_match_other_runs(case: str) -> None:
    """Finite differences: 10 % less and more bandwidth of each class, and a cable more or less of it.

    The time is within 5 %. If the link is busy all the time, so is the change of the time (except for the two
    parallel cables of `local`, whose random draws are not quite even).
    """
    experiment, job, more, less = CASES[case]
    run = odonata.run(experiment)
    found = odonata.explain(run, job, blame=False)
    assert found.decides
    assert found.sensitivity is not None
    assert found.bottlenecks is not None
    assert found.time_s is not None
    always = found.bottlenecks["share"][0].as_py() > 0.99
    rows = {row["class"]: row for row in found.sensitivity.to_pylist()}
    resolved = toml.parse(run.resolved)["machine"]["class"]
    changes: list[tuple[str, str, dict[str, Any]]] = []
    for name in rows:
        key = "terminal" if name == "NIC" else name
        number, unit = resolved[key]["bandwidth"].split()
        for side, factor in (("slower", 0.9), ("faster", 1.1)):
            value = f"{float(number) * factor:.6f} {unit}"
            changes.append((name, side, {f"machine.class.{key}.bandwidth": value}))
    for name, side, sign in [(n, "cable_more", "+") for n in more] + [(n, "cable_less", "-") for n in less]:
        edit = {"machine.edit": [f"{sign}1 {name}"], f"machine.class.{name}.ports_per_router": 20}
        changes.append((name, side, edit))
    for name, side, change in changes:
        time = time_of(odonata.run(experiment, set=change), job)
        assert time is not None
        expected = found.time_s * (1.0 + rows[name][side])
        assert math.isclose(time, expected, rel_tol=0.05), (name, side, time, expected)
        if always and abs(rows[name][side]) > 0.01:
            assert math.isclose(time - found.time_s, expected - found.time_s, rel_tol=0.05), (name, side)
