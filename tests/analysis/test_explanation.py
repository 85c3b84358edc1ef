"""Bottlenecks of jobs and costs of competing jobs, compared with hand results and other runs."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import odonata
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


def test_a_job_in_a_traffic_class_is_explained_with_it() -> None:
    classes = """
[[traffic_class]]
name = "bulk"
[[traffic_class]]
name = "fast"
preset = "low-latency"
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "a"
ranks = 8
pattern = { name = "ring", bytes = "8 KiB" }
traffic_class = "fast"
large_class = "bulk"
large_from = "4 KiB"
[[job]]
name = "b"
ranks = 8
pattern = { name = "ring", bytes = "8 KiB" }
[engine]
kind = "packet"
"""
    run = odonata.run(classes)
    found = {job: odonata.explain(run, job, blame=False).traffic_class for job in ("a", "b")}
    assert found == {"a": "fast, bulk", "b": "bulk"}


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
    assert small.bottlenecks is not None
    assert small.bottlenecks["share"][0].as_py() == pytest.approx(1.0, rel=1e-3)
    assert math.isclose(small.time_s or 0.0, 0.2e-3, rel_tol=1e-3)
    assert math.isclose(small.time_alone_s or 0.0, 0.1e-3, rel_tol=2e-3)
    assert small.bottlenecks["name"].to_pylist()[:2] == ["a>b:local.0", "b>a:local.0"]
    assert small.sharers is not None
    shares = {row["name"]: row["share"] for row in small.sharers.to_pylist()}
    assert shares == {"large": pytest.approx(0.5, rel=1e-3), "small": pytest.approx(0.5, rel=1e-3)}
    assert small.blame is not None
    assert math.isclose(small.blame["cost_s"][0].as_py(), 0.1e-3, rel_tol=1e-3)


STREAMS = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "first"
ranks = 2
ranks_per_node = 1
pattern = {{ name = "all-to-all", bytes = "1 MB" }}
placement = {{ name = "list", nodes = [0, 4] }}
[[job]]
name = "second"
ranks = 2
ranks_per_node = 1
pattern = {{ name = "all-to-all", bytes = "1 MB" }}
placement = {{ name = "list", nodes = [1, 5] }}
traffic = {{ name = "closed", start = "{start}" }}
[engine]
kind = "packet"
routing = "min"
"""


@pytest.mark.parametrize(("start", "share"), [("1 ms", 0.0), ("0 us", 0.5)])
def test_jobs_share_only_while_both_run(start: str, share: float) -> None:
    """Both send over one cable. A job that ended before the other began has no part in the busy time."""
    run = odonata.run(STREAMS.format(start=start))
    for job, other in (("first", "second"), ("second", "first")):
        found = odonata.explain(run, job)
        assert found.sharers is not None
        assert found.bottlenecks is not None
        shares = {row["name"]: row["share"] for row in found.sharers.to_pylist()}
        assert shares.get(other, 0.0) == pytest.approx(share, abs=0.01)
        assert found.bottlenecks["share"][0].as_py() == pytest.approx(1.0, abs=0.05)
        assert found.time_s == pytest.approx(40e-6 if share == 0.0 else 80e-6, rel=0.06)


WHAT_IF = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 5
local_cables = 2
[machine.class.local]
bandwidth = "5 GB/s"
ports_per_router = 20
[[job]]
name = "one"
ranks = 40
ranks_per_node = 1
pattern = {{ name = "all-to-all", bytes = "20 kB" }}
[engine]
kind = "{engine}"
"""


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_what_if_is_a_run(engine: str) -> None:
    """Each figure is the time of the experiment with that edit; what cannot be built has a reason."""
    run = odonata.run(WHAT_IF.format(engine=engine))
    found = odonata.explain(run, "one", blame=False, what_if=True)
    assert found.what_if is not None
    rows = {row["change"]: row for row in found.what_if.to_pylist()}
    assert list(rows) == [
        *("global.bandwidth*=0.9", "global.bandwidth*=1.1", "-1 global", "+1 global"),
        *("local.bandwidth*=0.9", "local.bandwidth*=1.1", "-1 local", "+1 local"),
        *("terminal.bandwidth*=0.9", "terminal.bandwidth*=1.1"),
    ]
    assert rows["+1 global"]["reason"] is not None
    assert rows["+1 global"]["time_s"] is None
    assert rows["-1 local"]["difference"] > 0.2
    assert rows["+1 local"]["difference"] < -0.1
    for edit, row in rows.items():
        if row["reason"] is None:
            again = odonata.run(WHAT_IF.format(engine=engine), set={"machine.edit": [edit]})
            assert row["time_s"] == time_of(again, "one")
            assert row["difference"] == pytest.approx(row["time_s"] / found.time_s - 1)
