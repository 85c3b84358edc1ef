"""The packet engine on the experiments of `studies/packet-routing`, in small form.

Its claims in full are judged by `odonata study run packet-routing` (`make test-long`).

p = 4, a = 8, h = 4: 1,056 nodes. Closed forms: ADV+1 under minimal routing shares one cable of a group among
a p = 32 nodes; a detour crosses two global links, so at most half of the bandwidth is left; a minimal path
between two random nodes has 2.6957 hops (derived in `crates/packet/tests/saturation.rs`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import odonata
from odonata.sweeps import Sweep

STUDY = Path(__file__).parents[2] / "studies" / "packet-routing"

MINIMAL_ADV1 = 1 / 32

CREDIT_BOUND_ADV1 = MINIMAL_ADV1 * (30 * 20.48) / (10 + 300 + 10 + 300)
"""A buffer of 30 packets lasts 614.4 ns of its link; a credit is back 620 ns after its packet started to
leave: output pipeline, cable, input pipeline, cable back."""
UNIFORM_HOPS = 2.6957

SHORT = {
    "engine.warm_up": "10 us",
    "engine.measure": "8 us",
    "engine.drain": "10 us",
    "sweep.engine.seed": [1],
}


def sweep(example: str, folder: Path, loads: list[float] | None = None, **changes: Any) -> Sweep:
    settings = {key.replace("__", "."): value for key, value in changes.items()}
    if loads:
        settings["sweep.job.*.traffic.load"] = loads
    return odonata.sweep(STUDY / example, out=folder / "sweep", set=settings)


def job(of: Sweep, **values: Any) -> dict[str, Any]:
    """The mean over seeds of the one job's numbers, at one value of each other axis."""
    keys = [axis.key.rsplit(".", 1)[-1] for axis in of.axes]
    rows = []
    for point, run in of.runs.items():
        at = dict(zip(keys, point.values, strict=True))
        if all(at[key] == value for key, value in values.items()):
            rows.append(run.jobs.to_pylist()[0])
    assert rows, values
    numbers = [name for name, value in rows[0].items() if isinstance(value, float)]
    return {
        name: float(np.mean([row[name] for row in rows])) for name in numbers if rows[0][name] is not None
    }


@pytest.mark.slow
def test_adversarial_traffic_in_small_form(tmp_path: Path) -> None:
    routings = ["min", "valiant-g", "ugal-g"]
    found = sweep(
        "adversarial.toml",
        tmp_path,
        loads=[0.4],
        sweep__engine__routing=["min", "valiant-g", {"name": "ugal-g", "preset": "study"}],
        **{key.replace(".", "__"): value for key, value in SHORT.items()},
    )
    minimal, valiant, adaptive = (job(found, routing=routing, load=0.4) for routing in routings)
    assert minimal["accepted_load"] == pytest.approx(MINIMAL_ADV1, rel=0.01)
    # 8 us are 390 packets of each global link.
    assert minimal["accepted_load"] == pytest.approx(CREDIT_BOUND_ADV1, rel=0.004)
    for held in (valiant, adaptive):
        assert held["accepted_load"] == pytest.approx(0.4, rel=0.02)
    assert valiant["non_minimal_share"] == 1
    assert adaptive["non_minimal_share"] > 0.8


@pytest.mark.slow
def test_uniform_traffic_in_small_form(tmp_path: Path) -> None:
    found = sweep(
        "uniform.toml",
        tmp_path,
        loads=[0.7],
        sweep__engine__routing=["min", "valiant-n"],
        **{key.replace(".", "__"): value for key, value in SHORT.items()},
    )
    minimal, valiant = (job(found, routing=routing, load=0.7) for routing in ("min", "valiant-n"))
    assert minimal["accepted_load"] == pytest.approx(0.7, rel=0.005)
    assert minimal["packet_hops_mean"] == pytest.approx(UNIFORM_HOPS, abs=0.005)
    assert valiant["accepted_load"] < 0.51, "every non-minimal path crosses two global links"


def test_adaptive_routing_is_minimal_where_nothing_queues(tmp_path: Path) -> None:
    """Two packets that never meet: each of 20 messages of one packet goes alone."""
    for routing in ("ugal-g", "ugal-n", "par"):
        run = odonata.run(
            {
                "machine": {"preset": "dragonfly-1056"},
                "job": [
                    {
                        "name": "ping",
                        "ranks": 2,
                        "ranks_per_node": 1,
                        "pattern": {"name": "bit-complement", "bytes": "512 B"},
                        "placement": {"name": "random-groups"},
                    }
                ],
                "engine": {"kind": "packet", "routing": routing},
            },
            out=tmp_path / routing,
        )
        assert run.summary["packet"]["minimal_share"] == 1.0
        assert run.summary["packet"]["packets"] == 2


def wd_like(folder: Path, **changes: Any) -> odonata.Run:
    settings = {key.replace("__", "."): value for key, value in changes.items()}
    name = "-".join(str(value) for value in changes.values()) or "packet"
    return odonata.run(STUDY / "four-jobs.toml", set=settings, out=folder / name)


@pytest.mark.slow
def test_four_jobs_load_every_link_as_in_the_flow_engine(tmp_path: Path) -> None:
    """Minimal paths of the dragonfly are unique, so both engines have exactly the same bytes on all links."""
    packet, flow = wd_like(tmp_path), wd_like(tmp_path, engine__kind="flow")
    mine, theirs = (np.asarray(run.links["bytes"]) for run in (packet, flow))
    assert mine.sum() > 5e8
    assert (mine == theirs).all()
    assert packet.link_jobs.equals(flow.link_jobs)
    # The busiest link limits the job with the most traffic all the time. The flow engine's time is a lower
    # bound that packets reach within 1 %.
    times = [packet.jobs["completion_time_s"][1].as_py(), flow.jobs["completion_time_s"][1].as_py()]
    assert times[0] == pytest.approx(times[1], rel=0.01)


@pytest.mark.slow
def test_four_jobs_under_adaptive_routing_load_the_same_links(tmp_path: Path) -> None:
    """Two models of adaptive routing: the loads of links correlate, at 0.88 when this was written."""
    packet = wd_like(tmp_path, engine__routing="ugal-g")
    flow = wd_like(tmp_path, engine__kind="flow", engine__routing="adaptive-hybrid")
    loads = [np.asarray(run.links["bytes"]) for run in (packet, flow)]
    assert np.corrcoef(*loads)[0, 1] > 0.85


@pytest.mark.parametrize(
    "pattern",
    [
        {"name": "random-permutation"},
        {"name": "bit-reverse"},
        {"name": "transpose", "iterations": 3},
        {"name": "many-to-many", "bytes": "3000 B"},
        {"name": "spread", "bytes": "5000 B"},
        {"name": "uniform", "messages": 4},
    ],
    ids=lambda pattern: pattern["name"],
)
def test_closed_traffic_loads_links_as_in_the_flow_engine(tmp_path: Path, pattern: dict[str, Any]) -> None:
    links = []
    for kind in ("packet", "flow"):
        run = odonata.run(
            {
                "machine": {"preset": "dragonfly-1056"},
                "job": [{"name": "a", "ranks": 500, "ranks_per_node": 1, "pattern": pattern}],
                "engine": {"kind": kind, "routing": "min"},
            },
            out=tmp_path / kind,
        )
        links.append(np.asarray(run.links["bytes"]))
    assert links[0].sum() > 0
    assert (links[0] == links[1]).all()


def test_the_other_studies_can_be_run() -> None:
    for name in ("q-adaptive", "stability", "learning", "bias"):
        odonata.check(STUDY / f"{name}.toml")
