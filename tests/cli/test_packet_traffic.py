"""What the packet engine's sources send, read back from the packets of runs of experiment files.

One rank on each of the 72 nodes of a dragonfly of 9 groups, placed compactly, so that ranks are nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from packet_files import NODES, NODES_PER_GROUP, experiment, job

import odonata

COMPACT = 'placement = "compact"\n'
RECORDED = "record_packets = true\n"


def run_file(folder: Path, text: str) -> odonata.Run:
    path = folder / "experiment.toml"
    path.write_text(text)
    return odonata.run(path, out=folder / "run", force=True)


def run(folder: Path, pattern: str, engine: str = "", traffic: str = "") -> odonata.Run:
    one = job(pattern=None, more=f"{COMPACT}{pattern}\n")
    text = experiment(
        one, load=0.2, warm_up="0 us", measure="20 us", traffic=traffic, engine=f"{RECORDED}{engine}\n"
    )
    return run_file(folder, text)


def packets(run: odonata.Run) -> pd.DataFrame:
    frame: pd.DataFrame = run.table("packets").to_pandas().astype({"source": int, "destination": int})
    assert len(frame) > 5_000
    assert (frame["source"] != frame["destination"]).all()
    return frame


def group(nodes: pd.Series[int]) -> pd.Series[int]:
    return nodes // NODES_PER_GROUP


def reversed_bits(rank: int) -> int:
    """Of the six bits of the first 64 ranks; the 8 after them are mirrored."""
    return int(f"{rank:06b}"[::-1], 2) if rank < 64 else 64 + 71 - rank


def transposed(rank: int) -> int:
    """The first 64 ranks are an 8 x 8 matrix; the 8 after them are mirrored."""
    return rank % 8 * 8 + rank // 8 if rank < 64 else 64 + 71 - rank


@pytest.mark.parametrize(
    ("pattern", "rule"),
    [
        ("bit-complement", lambda rank: 71 - rank),
        ("bit-reverse", reversed_bits),
        ("transpose", transposed),
    ],
)
def test_permutations(tmp_path: Path, pattern: str, rule: Callable[[int], int]) -> None:
    found = packets(run(tmp_path, f'pattern = "{pattern}"'))
    assert (found["destination"] == found["source"].map(rule)).all()
    assert set(found["source"]) == {rank for rank in range(NODES) if rule(rank) != rank}


def test_a_random_permutation(tmp_path: Path) -> None:
    found = packets(run(tmp_path, 'pattern = "random-permutation"'))
    pairs = found[["source", "destination"]].drop_duplicates()
    assert pairs["source"].is_unique
    assert pairs["destination"].is_unique
    assert set(pairs["source"]) == set(pairs["destination"])
    assert len(pairs) > 60
    other = packets(run(tmp_path, 'pattern = "random-permutation"', "seed = 2"))
    assert not pairs.equals(other[["source", "destination"]].drop_duplicates())


@pytest.mark.parametrize("offset", [1, 4])
def test_adversarial(tmp_path: Path, offset: int) -> None:
    engine = 'routing = "valiant-n"'
    found = packets(run(tmp_path, f'pattern = {{ name = "adversarial", offset = {offset} }}', engine))
    assert ((group(found["source"]) + offset) % 9 == group(found["destination"])).all()
    # 72 x 8 pairs, each as likely as any other.
    assert len(found[["source", "destination"]].drop_duplicates()) == NODES * NODES_PER_GROUP


def test_tornado_goes_just_less_than_half_around_the_groups(tmp_path: Path) -> None:
    found = packets(run(tmp_path, 'pattern = "tornado"', 'routing = "valiant-n"'))
    assert ((found["destination"] - found["source"]) % NODES == 4 * NODES_PER_GROUP).all(), (
        "ceil(9 / 2) - 1 = 4 groups"
    )


def test_a_stencil_goes_to_its_neighbours(tmp_path: Path) -> None:
    found = packets(run(tmp_path, 'pattern = { name = "stencil-3d", dims = [4, 3, 6] }'))
    pairs = found[["source", "destination"]].drop_duplicates()
    here, there = (np.array(np.unravel_index(pairs[name], (4, 3, 6))) for name in ("source", "destination"))
    assert (np.abs(here - there).sum(axis=0) == 1).all()
    # Open grid: both directions along each of the 3*3*6, 4*2*6 and 4*3*5 edges.
    assert len(pairs) == 2 * (3 * 3 * 6 + 4 * 2 * 6 + 4 * 3 * 5)


def test_uniform_and_hotspot(tmp_path: Path) -> None:
    found = packets(run(tmp_path, 'pattern = "uniform"'))
    # 14,000 draws of 5,112 pairs leave exp(-14,000 / 5,112) = 6.5 % of them out.
    assert len(found[["source", "destination"]].drop_duplicates()) > 0.9 * NODES * (NODES - 1)
    counts = found["destination"].value_counts()
    # Some 195 packets each; five standard deviations are 70.
    assert (counts - counts.mean()).abs().max() < 5 * counts.mean() ** 0.5
    hot = packets(run(tmp_path, 'pattern = { name = "hotspot", share = 0.04 }'))
    share = (hot["destination"] == hot["destination"].mode()[0]).mean()
    # 0.04 for the hot rank and the 71st part of the rest.
    assert share == pytest.approx(0.04 + 0.96 / 71, rel=0.1)


def test_random_neighbours(tmp_path: Path) -> None:
    found = packets(run(tmp_path, 'pattern = "random-neighbors"'))
    pairs = set(map(tuple, found[["source", "destination"]].drop_duplicates().to_numpy()))
    degrees = pd.Series([source for source, _ in pairs]).value_counts()
    assert degrees.min() >= 6
    assert degrees.max() <= 20
    assert all((b, a) in pairs for a, b in pairs), "the default is symmetric"


def test_bursts_are_made_at_once_for_one_destination(tmp_path: Path) -> None:
    found = packets(run(tmp_path, 'pattern = "uniform"', traffic="burst = 8"))
    bursts = found.groupby(["source", "created_ps"])
    sizes = bursts.size()
    # A packet time in which two bursts of one node begin has 16 packets; Bernoulli sources make none.
    assert (sizes == 8).mean() > 0.95, "all but those that the end of the run cut"
    assert (bursts["destination"].nunique() == 1).all()
    assert len(found) / (NODES * 20e3 / 20.48) == pytest.approx(0.2, rel=0.1)


@pytest.mark.parametrize(("injection", "spread"), [("interval", 0.0), ("poisson", 1.0), ("bernoulli", 0.894)])
def test_injection_processes(tmp_path: Path, injection: str, spread: float) -> None:
    """Gaps at load 0.2 have the mean of 5 packet times; their standard deviation over the mean is 0 for
    intervals, 1 for exponential gaps and sqrt(1 - 0.2) for geometric ones."""
    found = packets(run(tmp_path, 'pattern = "bit-complement"', traffic=f'injection = "{injection}"'))
    gaps = found.sort_values(["source", "created_ps"]).groupby("source")["created_ps"].diff().dropna()
    assert gaps.mean() == pytest.approx(5 * 20_480, rel=0.03)
    assert gaps.std() / gaps.mean() == pytest.approx(spread, abs=0.03)


def test_the_load_steps_in_time(tmp_path: Path) -> None:
    steps = 'step_times = ["10 us", "15 us"], step_loads = [0.6, 0.1]'
    found = packets(run(tmp_path, 'pattern = "uniform"', traffic=steps))
    made = found["created_ps"].groupby(found["created_ps"] // 5_000_000).size() / (NODES * 5e6 / 20_480)
    assert list(made.index) == [0, 1, 2, 3]
    # 17,578 packet times: at load 0.6 the standard deviation is 0.0037, at the others less.
    assert made.to_list() == pytest.approx([0.2, 0.2, 0.6, 0.1], abs=0.016)


def test_jobs_have_their_own_pattern_load_placement_and_start(tmp_path: Path) -> None:
    text = experiment(
        job("near", "bit-complement", 24, COMPACT),
        job("far", "uniform", 30, 'placement = "random-nodes"\n'),
        load=[0.1, 0.4],
        warm_up="0 us",
        measure="20 us",
        engine=RECORDED,
    ).replace("load = 0.4", 'load = 0.4, start = "12 us"')
    made = run_file(tmp_path, text)
    found = packets(made)
    nodes = made.placement.to_pandas().set_index(["job", "rank"])["node"]
    near, far = (found[found["job"] == job] for job in (0, 1))
    assert (near["destination"] == 23 - near["source"]).all()
    assert set(far["source"]) == set(nodes[1]) >= set(far["destination"])
    assert far["created_ps"].min() >= 12_000_000
    for sent, share in ((near, 0.1 * 24 * 20e6), (far, 0.4 * 30 * 8e6)):
        assert len(sent) == pytest.approx(share / 20_480, rel=0.06)
    offered = made.jobs["offered_load"].to_pylist()
    assert offered == pytest.approx([0.1, 0.4 * 8 / 20])


def test_open_and_closed_jobs_run_together(tmp_path: Path) -> None:
    """The run ends with the closed job; columns of one kind of traffic are missing for the other."""
    open_traffic = 'traffic = { name = "open", load = 0.3, start = "4 us" }'
    stencil = 'pattern = { name = "stencil-3d", dims = [4, 2, 4], bytes = "200 kB" }'
    closed_traffic = 'traffic = { name = "closed", start = "2 us" }'
    noise = job("noise", ranks=40, more=f"{COMPACT}{open_traffic}\n")
    late = job("late", pattern=None, ranks=32, more=f"{COMPACT}{stencil}\n{closed_traffic}\n")
    made = run_file(tmp_path, experiment(noise, late, load=None, measure=None, engine=RECORDED))
    assert made.summary["convergence"]["converged"] is True
    rows = {row["name"]: row for row in made.jobs.to_pylist()}
    found = made.table("packets").to_pandas()
    arrivals = found.groupby("job")["delivered_ps"].max()
    end_ps = made.summary["packet"]["end_ps"]
    assert arrivals[1] <= end_ps < arrivals[1] + 1_000_000
    assert rows["late"]["completion_time_s"] == pytest.approx((arrivals[1] - 2e6) / 1e12, rel=1e-9)
    assert rows["noise"]["completion_time_s"] is None
    assert rows["noise"]["offered_load"] == pytest.approx(0.3 * (1 - 4e6 / end_ps))
    # Binomial: some 12,000 packets.
    assert rows["noise"]["accepted_load"] == pytest.approx(rows["noise"]["offered_load"], rel=0.05)
    assert rows["late"]["offered_load"] is None
    assert rows["late"]["accepted_load"] is None
    assert rows["late"]["bytes"] == 200_000 * 2 * (3 * 2 * 4 + 4 * 1 * 4 + 4 * 2 * 3)
    assert rows["late"]["in_flight_packets"] == 0


@pytest.mark.parametrize("iterations", [1, 3])
def test_closed_traffic_is_sent_as_often_as_asked(tmp_path: Path, iterations: int) -> None:
    sizes = f'dims = [4, 3, 6], bytes = "9000 B", iterations = {iterations}'
    one = job(pattern=None, more=f'{COMPACT}pattern = {{ name = "stencil-3d", {sizes} }}\n')
    made = run_file(tmp_path, experiment(one, load=None, measure=None, engine=RECORDED))
    messages = 2 * (3 * 3 * 6 + 4 * 2 * 6 + 4 * 3 * 5)
    row = made.jobs.to_pylist()[0]
    assert row["bytes"] == messages * 9000 * iterations
    assert row["messages"] == messages * iterations
    found = made.table("packets")["bytes"].to_pandas().value_counts()
    # 9,000 B are 17 full packets and one of 296 B.
    assert found.to_dict() == {512: 17 * messages * iterations, 296: messages * iterations}
