"""Groups of unequal size, and nodes on some routers only: both engines, against the same cables as a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import odonata
from odonata.errors import ExperimentError

SLINGSHOT = {
    "topology": "slingshot",
    "groups": [3, 2, 1],
    "switches": [4, 2, 3],
    "nodes": [2, 1, 0],
    "local_cables": [1, 2, 1],
    "global_cables": [2, 1, 2, 1, 1, 0],
    "usable_kinds": 2,
}
DRAGONFLY = {"topology": "dragonfly", "p": 2, "a": 3, "h": 2, "g": 4}
AXES = ["source_group", "source_router_in_group", "target_group", "target_router_in_group"]
CABLE = [*AXES, "class", "parallel"]


def run_on(machine: dict[str, Any], engine: dict[str, Any]) -> odonata.Run:
    job = {"name": "a", "ranks": 28, "ranks_per_node": 1, "pattern": "all-to-all", "bytes": "8 KiB"}
    return odonata.run({"machine": machine, "job": [job], "engine": engine})


def listed(run: odonata.Run, path: Path) -> dict[str, Any]:
    """The machine of a run as a list of cables."""
    links = run.links.to_pandas()
    counts = run.nodes.to_pandas().groupby("router").size()
    table = links[["class", "latency_ps", *AXES]].rename(columns=lambda name: name.replace("source", "src"))
    table = table.rename(columns=lambda name: name.replace("target", "dst"))
    table["bandwidth_bytes_per_s"] = links["capacity_bytes_per_s"].astype("int64")
    for column, end in (("src", "source"), ("dst", "target")):
        table[column] = "r" + links[end].astype(str)
        table[f"{column}_nodes"] = [int(counts.get(router, 0)) for router in links[end]]
    table.to_csv(path, index=False)
    return {"file": str(path), "class": {"terminal": {"latency": "10 ns"}}}


@pytest.mark.parametrize("routing", ["min", "static-direct", "static-indirect"])
def test_traffic_is_that_of_the_same_cables(routing: str, tmp_path: Path) -> None:
    """A list leaves a gap for every switch that a small group lacks: the same machine, numbered otherwise."""
    engine = {"kind": "flow", "routing": routing}
    own = run_on(SLINGSHOT, engine)
    other = run_on(listed(own, tmp_path / "cables.csv"), engine)
    assert own.routers.num_rows == 19
    assert other.routers.num_rows == 24, "gaps"
    loads = [run.links.to_pandas().set_index(CABLE)["bytes"].sort_index() for run in (own, other)]
    assert loads[0].sum() > 0
    pd.testing.assert_series_equal(loads[0], loads[1], check_exact=False, rtol=1e-9, check_index_type=False)


@pytest.mark.parametrize(
    "routing", ["min", "valiant-g", "valiant-n", "ugal-g", "ugal-n", "par", "q-adaptive"]
)
def test_every_packet_arrives(routing: str) -> None:
    run = run_on(SLINGSHOT, {"kind": "packet", "routing": {"name": routing}})
    bytes_sent = 28 * 27 * 8192
    assert run.jobs["bytes"].to_pylist() == [bytes_sent]
    assert run.nodes["injected_bytes"].to_pylist().count(0) == 0


def test_service_nodes_are_nobodys() -> None:
    run = run_on(SLINGSHOT | {"usable_kinds": 1, "nodes": [3, 1, 0]}, {"kind": "flow"})
    nodes = run.nodes.to_pandas()
    assert len(nodes) == 3 * 4 * 3 + 2 * 2
    assert set(run.placement["node"].to_pylist()) <= set(range(36))


def test_counts_of_some_routers() -> None:
    rules = ["group 0: 8", "group 1-2 router_in_group 0: 4", "g3r1: 1 service", "router 2: 0"]
    machine = DRAGONFLY | {"node_counts": rules}
    for engine in ({"kind": "flow"}, {"kind": "packet"}):
        run = run_on(machine, engine)
        names = run.routers["name"].to_pylist()
        counts = {names[r]: n for r, n in run.nodes.to_pandas().groupby("router").size().items()}
        expected = {"g0r0": 8, "g0r1": 8, "g1r0": 4, "g2r0": 4, "g3r1": 1}
        for name in ("g1r1", "g1r2", "g2r1", "g2r2", "g3r0", "g3r2"):
            expected[name] = 2
        assert counts == expected
        used = {names[run.nodes["router"][node].as_py()] for node in run.placement["node"].to_pylist()}
        assert "g3r1" not in used, "jobs do not run on service nodes"
        assert run.jobs["bytes"].to_pylist() == [28 * 27 * 8192]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("group 4: 1", "group 4-4 does not exist; the last is 3"),
        ("grup 1: 1", "did you mean 'group'?"),
        ("group 1: x", "'x' is not a number of nodes"),
        ("g9r9: 1", "unknown router 'g9r9'"),
    ],
)
def test_a_wrong_rule_is_named(rule: str, reason: str) -> None:
    with pytest.raises(ExperimentError, match="node_counts") as caught:
        run_on(DRAGONFLY | {"node_counts": rule}, {"kind": "flow"})
    assert reason in str(caught.value)
    assert f"'{rule}'" in str(caught.value)
