"""Hops and loads of mappings against values worked out by hand and against the flow engine; the search."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import Command

import odonata
from odonata import mapping
from odonata.errors import OdonataError
from odonata.mapping.search import by_order

ROOT = Path(__file__).parents[2]
RANDOM = {"name": "random-neighbors"}


def experiment(shape: list[int], ranks: int, on_node: int, given: dict[str, Any]) -> dict[str, Any]:
    partition = {"shape": shape, **({"mesh": given["mesh"]} if "mesh" in given else {})}
    job = {
        "name": "app",
        "pattern": given.get("pattern", RANDOM),
        "ranks": ranks,
        "ranks_per_node": on_node,
        "placement": {"name": "mapping", "order": given["order"]},
    }
    machine = {"preset": given.get("preset", "bgp-midplane"), "partition": partition}
    return {"machine": machine, "job": [job], "engine": {"kind": "flow", "routing": "min"}}


@pytest.mark.parametrize(
    ("shape", "ranks", "on_node", "given"),
    [
        ([8, 8, 8], 2048, 4, {"order": "TXYZ"}),
        ([4, 4, 4], 200, 4, {"order": "ZXTY"}),
        ([8, 8, 16], 1024, 1, {"order": "XZYT", "mesh": "Z", "preset": "jugene"}),
        ([4, 3, 5], 240, 4, {"order": "TXYZ"}),
        ([3, 2, 2, 3, 2], 512, 16, {"order": "ABCDET", "preset": "bgq-midplane"}),
        ([4, 4, 4, 4, 2], 512, 1, {"order": "ABCDET", "preset": "bgq-midplane"}),
    ],
)
def test_loads_equal_the_flow_engine(
    shape: list[int], ranks: int, on_node: int, given: dict[str, Any]
) -> None:
    """Link by link in sorted order, rings, meshes, ties and rings of two; hops are the sum of the loads."""
    spec = experiment(shape, ranks, on_node, given)
    (job,) = mapping.jobs(spec)
    assert np.array_equal(by_order(job, given["order"]) // on_node, job.place_of_rank // on_node)
    loads = np.concatenate([axis.ravel() for axis in mapping.link_loads(job, job.place_of_rank)])
    links = odonata.run(spec).links
    engine = np.sort(links["bytes"].to_numpy())
    ours = np.sort(loads)[len(loads) - len(engine) :]
    assert job.links == len(engine)
    assert np.allclose(ours, engine, rtol=1e-12)
    figures = mapping.measure(job)
    assert figures.largest_link_bytes == pytest.approx(engine[-1])
    assert figures.hops_per_byte == pytest.approx(engine.sum() / job.total_bytes)
    assert figures.mean_link_bytes == pytest.approx(engine.mean())
    assert job.hop_bytes_bound <= engine.sum()


@pytest.mark.parametrize(
    ("dims", "node_first", "node_last"),
    [([32, 64], 1.265625, 1.0625), ([8, 16, 16], 47 / 24, 2.5), ([4, 8, 8, 8], 1.6875, 0.75)],
)
def test_hops_of_periodic_grids(dims: list[int], node_first: float, node_last: float) -> None:
    """2,048 ranks on 8 x 8 x 8 with four on a node, every neighbour along every dimension as often.

    By hand for 4 x 8 x 8 x 8 and XYZT: three dimensions are Z, Y and X, one hop each, the first is T: 3 / 4.
    """
    pattern = {"name": f"stencil-{len(dims)}d", "dims": dims, "order": "row-major", "periodic": True}
    (job,) = mapping.jobs(experiment([8, 8, 8], 2048, 4, {"order": "TXYZ", "pattern": pattern}))
    assert mapping.measure(job).hops_per_byte == pytest.approx(node_first, rel=1e-12)
    assert mapping.measure(job, by_order(job, "XYZT")).hops_per_byte == pytest.approx(node_last, rel=1e-12)


def test_a_line_by_hand() -> None:
    """On a ring of 8, two ranks a node, pairs at distance 4: half of the bytes goes in each direction."""
    zeros = np.zeros(1, dtype=np.uint32)
    job = mapping.Job(
        "line", "X", (8,), (True,), 2, True, zeros, zeros + 1, np.array([100]), np.array([0, 8])
    )
    (loads,) = mapping.link_loads(job, job.place_of_rank)
    assert loads[0].tolist() == [50, 50, 50, 50, 0, 0, 0, 0]
    assert loads[1].tolist() == [50, 0, 0, 0, 0, 50, 50, 50]
    assert mapping.measure(job) == mapping.Figures(4.0, 50.0, 25.0)
    # One partner, on the same node.
    assert job.hop_bytes_bound == 0


def test_the_lower_bound_computed_by_hand() -> None:
    """Three partners of 10, 20 and 30 B on a ring of 5 with two ranks a node: 30 stay, 20 and 10 go one hop.

    Each partner alone could stay, so that the sum is half of 1 x 20 + 1 x 10.
    """
    sources, targets = np.zeros(3, dtype=np.uint32), np.array([1, 2, 3], dtype=np.uint32)
    job = mapping.Job(
        "star", "X", (5,), (True,), 2, True, sources, targets, np.array([10, 20, 30]), np.arange(4)
    )
    assert job.hop_bytes_bound == 15


@pytest.mark.slow
def test_the_search_saves_hops_and_the_map_file_has_them(tmp_path: Path, odonata_command: Command) -> None:
    """pF3D on a midplane: better than every order; the file that it writes costs what the search says."""
    text = (ROOT / "examples" / "pf3d-mapping.toml").read_text()
    (tmp_path / "a.toml").write_text(text)
    done = odonata_command("map", "a.toml", "--search", "-o", "best.map", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = [row["mapping"] for row in found["mappings"]]
    assert names[0] == "as in the file"
    assert names[2] == "bisection"
    order, best = found["mappings"][1], found["mappings"][3]
    assert found["saved_share"] == pytest.approx(1 - best["hops_per_byte"] / order["hops_per_byte"])
    assert found["saved_share"] > 0.05
    assert best["hops_per_byte"] >= found["bound_hops_per_byte"] > 0
    again = odonata_command(
        "map", "a.toml", "--json", "--set", 'job.pf3d.placement={name="mapping", file="best.map"}'
    )
    assert again.returncode == 0, again.stderr
    read = json.loads(again.stdout)["mappings"][0]
    assert read["hops_per_byte"] == best["hops_per_byte"]
    assert read["largest_link_bytes"] == best["largest_link_bytes"]
    (job,) = mapping.jobs(tmp_path / "a.toml")
    orders = {order: mapping.measure(job, by_order(job, order)) for order in mapping.orders(job)}
    assert len(orders) == math.factorial(4)
    assert min(each.hops_per_byte for each in orders.values()) == order["hops_per_byte"]


def test_time_is_that_of_a_packet_run_under_the_mapping(tmp_path: Path, odonata_command: Command) -> None:
    """Hops say nothing of time; the packet engine does, as in a run of its own."""
    spec = experiment(
        [4, 3, 2], 24, 1, {"order": "XYZT", "pattern": {"name": "stencil-3d", "bytes": "64 KiB"}}
    )
    (tmp_path / "a.toml").write_text(odonata.toml.document(spec))
    done = odonata_command("map", "a.toml", "--orders", "6", "--time", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["mapping"]: row["time_s"] for row in json.loads(done.stdout)["mappings"]}
    for order in ("XYZT", "ZYXT"):
        placement = {"name": "mapping", "order": order}
        run = odonata.run(spec, set={"engine.kind": "packet", "job.app.placement": placement})
        assert rows[order] == run.table("jobs")["completion_time_s"].to_pylist()[0]
    assert rows["as in the file"] == rows["XYZT"]


def test_mistakes(tmp_path: Path, odonata_command: Command) -> None:
    done = odonata_command("map", "b.toml")
    assert (done.returncode, done.stdout) == (2, "")
    two = experiment([2, 2, 2], 8, 4, {"order": "TXYZ"})
    (tmp_path / "b.toml").write_text(odonata.toml.document(two))
    for arguments, reason in (
        (["--job", "ap"], "Did you mean app?"),
        (["--search", "-o", "no/such.map"], "cannot write such.map: there is no directory no"),
        (["--set", "job.app.idle=true"], "no job of the file sends messages"),
        (["--set", "job.app.placement.order=XYT"], "Z is missing"),
    ):
        done = odonata_command("map", "b.toml", *arguments)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    other = {**two["job"][0], "name": "other", "placement": {"name": "compact"}}
    (tmp_path / "c.toml").write_text(
        odonata.toml.document({**two, "job": [{**two["job"][0], "placement": {"name": "compact"}}, other]})
    )
    done = odonata_command("map", "c.toml")
    assert (done.returncode, "Choose one with --job: app, other." in done.stderr) == (2, True)
    assert odonata_command("map", "c.toml", "--job", "other").returncode == 0
    done = odonata_command("map", "c.toml", "--job", "other", "--search")
    assert (done.returncode, "there are other jobs" in done.stderr) == (2, True)
    two["machine"] = {"preset": "edison"}
    del two["job"][0]["placement"]
    with pytest.raises(OdonataError, match="no torus of one node at each router"):
        mapping.jobs(two)
