"""Runs of nodes with several NICs are read like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

import odonata

DRAGONFLY = {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9, "cores_per_node": 4}


@pytest.mark.parametrize("kind", ["flow", "packet"])
@pytest.mark.parametrize("rails", [{"planes": 2}, {"planes": 2, "rails": 2}])
def test_every_table_is_read(kind: str, rails: dict[str, int], tmp_path: Path) -> None:
    """`nodes` has a row for each NIC; with striping, all NICs of a node send the same except for flits."""
    job = {"name": "a", "ranks": 48, "program": {"name": "all-to-all", "bytes": "64 KiB"}}
    experiment = {
        "machine": {**DRAGONFLY, **rails, "rail_rule": "stripe"},
        "job": [job],
        "mpi": {"eager_overhead": "0 B", "eager_limit": "1 GiB"},
        "engine": {"kind": kind, "routing": "min"},
    }
    odonata.run(experiment).save(tmp_path / "run")
    run = odonata.load(tmp_path / "run")
    for name in run.table_names:
        assert run.table(name) is not None
    nics = rails["planes"] * rails.get("rails", 1)
    nodes = run.nodes.to_pandas()
    assert len(nodes) == 72 * nics
    assert (nodes.groupby("host")["rail"].nunique() == nics).all()
    sent = nodes[nodes["injected_bytes"] > 0].groupby("host")["injected_bytes"].agg(["count", "min", "max"])
    assert len(sent) == 12
    assert (sent["count"] == nics).all()
    assert ((sent["max"] - sent["min"]) <= 128 * 48 * 4).all()
