"""Counters by direction, tables of Boxfish, and what is said of their power to predict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from running import Command
from scipy import stats

import odonata
from odonata import counters
from odonata.counters.against import concordant, held_out_error, spearman
from odonata.errors import OdonataError

TABLE = """---
key: TEST
---
- [linkid, int32]
- [packets, int64]
- [load, float64]
...
0 5 0.5
1 7 1e3

2 0 0
"""


def ping_pong(preset: str, shape: list[int], order: str) -> dict[str, Any]:
    """Two ranks on neighbours along the first axis; ten messages of 64 B in each direction."""
    job = {
        "name": "a",
        "program": {"name": "ping-pong", "bytes": "64 B", "iterations": 10, "final_barrier": False},
        "ranks": 2,
        "ranks_per_node": 1,
        "placement": {"name": "mapping", "order": order},
    }
    machine = {"preset": preset, "partition": {"shape": shape}}
    engine = {"kind": "packet", "routing": "dimension-order", "record_channels": True}
    return {"machine": machine, "job": [job], "engine": engine}


def test_directions_have_the_packets_that_went_there() -> None:
    """Rank 0 at X0 sends ten times over X+, rank 1 at X1 back over X-; nothing goes along Y and Z."""
    run = odonata.run(ping_pong("bgp-midplane", [4, 2, 2], "XYZT"))
    found = {row["counter"]: row for row in counters.hardware_counters(run).to_pylist()}
    assert set(found) == {
        f"BGP_TORUS_{axis}{sign}_{what}"
        for axis in "XYZ"
        for sign in "PM"
        for what in ("PACKETS", "32BCHUNKS")
    }
    assert found["BGP_TORUS_XP_PACKETS"]["sum"] == found["BGP_TORUS_XP_PACKETS"]["max"] == 10
    assert found["BGP_TORUS_XM_PACKETS"]["sum"] == 10
    assert sum(found[f"BGP_TORUS_{direction}_PACKETS"]["sum"] for direction in ("YP", "YM", "ZP", "ZM")) == 0
    links = run.links.to_pandas()
    assert found["BGP_TORUS_XP_32BCHUNKS"]["sum"] == -(-links["bytes"].max() // 32)


def test_injecting_and_intermediate_routers_apart() -> None:
    """Two neighbours send to each other over one cable; nothing leaves the other 14 routers."""
    run = odonata.run(ping_pong("bgp-midplane", [4, 2, 2], "XYZT"))
    found = counters.features(run)
    links = run.links.to_pandas()
    ours = links["source"].isin(
        [links["source"][links["bytes"].idxmax()], links["target"][links["bytes"].idxmax()]]
    )
    assert found["packets mean, injecting"] == pytest.approx(links["packets"][ours].mean())
    assert found["packets max, injecting"] == 10
    assert found["packets max, intermediate"] == 0
    everywhere = counters.features(all_to_all("bgp-midplane", [4, 2, 2], "bgp"))
    assert not any("intermediate" in name for name in everywhere)
    # In a sweep with runs of both kinds, all links of those are such that nodes inject there.
    both, _ = counters.features_and_times([run, all_to_all("bgp-midplane", [4, 2, 2], "bgp")], None)
    assert both["packets max, injecting"][1] == both["packets max"][1] > 0
    assert both["packets max, intermediate"][1] == 0


def test_both_cables_of_a_pair_have_two_directions() -> None:
    """The E axis of Blue Gene/Q: two links leave each node, one of each direction."""
    run = odonata.run(ping_pong("bgq-midplane", [4, 4, 4, 4, 2], "TABCDE"))
    found = {row["counter"]: row for row in counters.hardware_counters(run).to_pylist()}
    assert len(found) == 10
    along_e = found["PEVT_NW_USER_PP_SENT E+"]["sum"] + found["PEVT_NW_USER_PP_SENT E-"]["sum"]
    everywhere = sum(row["sum"] for row in found.values())
    assert along_e == everywhere > 0


def all_to_all(preset: str, shape: list[int], engine: str) -> odonata.Run:
    """From every node of a block to all others, with records of channels."""
    return odonata.run(
        {
            "machine": {"preset": preset, "partition": {"shape": shape}},
            "job": [
                {"name": "a", "pattern": "all-to-all", "ranks": int(np.prod(shape)), "ranks_per_node": 1}
            ],
            "engine": {
                "kind": "packet",
                "preset": engine,
                "routing": "torus-dynamic",
                "record_channels": True,
                "injection": {"preset": "dcmf" if engine == "bgp" else "pami"},
            },
        }
    )


@pytest.mark.slow
def test_channels_and_missing_tokens_of_blue_gene_p() -> None:
    """The channels' chunks are the links'; a cycle without tokens is 1 / 0.85 ns of stall."""
    run = all_to_all("bgp-midplane", [4, 4, 2], "bgp")
    found = {row["counter"]: row for row in counters.hardware_counters(run).to_pylist()}
    for direction in ("XP", "XM", "YP", "YM", "ZP", "ZM"):
        parts = [
            found[f"BGP_TORUS_{direction}_{channel}_32BCHUNKS"]["sum"] for channel in ("VCD0", "VCD1", "VCBN")
        ]
        assert sum(parts) == found[f"BGP_TORUS_{direction}_32BCHUNKS"]["sum"]
        assert all(part > 0 for part in parts[:2])
    links = run.links.to_pandas()
    no_tokens = sum(row["sum"] for name, row in found.items() if name.endswith("_NO_TOKENS"))
    assert no_tokens == np.floor(links["stall_ps"] * 0.00085).sum() > 0
    assert {name for name in found if name.endswith("TOKENS") and "_ZM_" in name} == {
        "BGP_TORUS_ZM_NO_TOKENS",
        "BGP_TORUS_ZM_NO_VCD0_TOKENS",
    }
    injected = found["BGP_DMA_PACKETS_INJECTED"]
    assert injected["sum"] == run.jobs["packets"].to_numpy().sum()
    assert len(found) == 6 * (2 + 3 + 3) - 1 + 1


@pytest.mark.slow
def test_channels_and_queues_of_blue_gene_q() -> None:
    """Queues are sums over cycles of 2 ns: divided by the cycles, the mean number of packets."""
    run = all_to_all("bgq-midplane", [4, 4, 2, 2, 2], "bgq")
    found = {row["counter"]: row for row in counters.hardware_counters(run).to_pylist()}
    directions = [f"{axis}{sign}" for axis in "ABCDE" for sign in "+-"]
    for what in ("SENT", "RECV", "RECV_FIFO"):
        whole, dynamic, escape = (
            [found[f"PEVT_NW_USER_{kind}PP_{what} {direction}"]["sum"] for direction in directions]
            for kind in ("", "DYN_", "ESC_")
        )
        assert np.allclose(np.add(dynamic, escape), whole, atol=200)
        assert sum(dynamic) > 0
    links, channels = run.links.to_pandas(), run.table("channels").to_pandas()
    assert (
        sum(found[f"PEVT_NW_USER_PP_RECV {direction}"]["sum"] for direction in directions)
        == links["packets"].sum()
    )
    queues = channels.groupby("link")["queued_ps"].sum()
    waits = sum(found[f"PEVT_NW_USER_PP_RECV_FIFO {direction}"]["sum"] for direction in directions)
    assert waits == np.floor(queues / 2_000).sum() > 0
    cycles = {found[f"PEVT_NW_CYCLES {direction}"]["max"] for direction in directions}
    assert cycles == {run.summary["packet"]["measured_ps"] // 2_000}


def test_statistics_by_hand() -> None:
    """Of 0 to 19 the two largest are the 10 % worst."""
    found = counters.statistics(np.arange(20))
    assert found == {"sum": 190, "mean": 9.5, "p50": 9, "p90": 17, "p99": 19, "worst": 18.5, "max": 19}


def test_percentiles_are_those_that_the_summary_has() -> None:
    """Of an even number of links, an interpolated median would lie between two of them."""
    jobs = '[[job]]\nname = "a"\npattern = "random-neighbors"\nranks = 30\nranks_per_node = 1\n'
    machine = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
    run = odonata.run(
        f'{machine}{jobs}placement = "random-nodes"\n[engine]\nkind = "flow"\nrouting = "min"\n'
    )
    found = counters.statistics(run.links["bytes"].to_numpy())
    summary = run.summary["classes"][0]
    assert {name: found[name] for name in ("p50", "p90", "p99")} == {
        name: summary[f"bytes_{name}"] for name in ("p50", "p90", "p99")
    }


def test_a_table_of_boxfish(tmp_path: Path) -> None:
    (tmp_path / "links.yaml").write_text(TABLE)
    table = counters.read_table(tmp_path / "links.yaml")
    assert table.to_pydict() == {"linkid": [0, 1, 2], "packets": [5, 7, 0], "load": [0.5, 1000.0, 0.0]}
    assert table.schema.metadata == {b"key": b"TEST"}


REGIONS = """---
key: TEST
---
- [linkid, int32]
- [sx, int32]
- [tx, int32]
- [code_region, int32]
- [packets, int32]
...
0 0 1 -2 5.0
1 1 0 -2 7
0 0 1 3 1
1 1 0 3 0
0 0 1 3 4
"""


def test_regions_of_a_table_are_kept_apart(odonata_command: Command, tmp_path: Path) -> None:
    """Link 0 has 5 packets in region -2 and 1 + 4 in region 3; link 1 has 7 and 0."""
    (tmp_path / "links.yaml").write_text(REGIONS)
    found = counters.read_columns(tmp_path / "links.yaml")
    assert {name: values.tolist() for name, values in found.items()} == {
        "packets": [10, 7],
        "packets, region -2": [5, 7],
        "packets, region 3": [5, 0],
    }
    rows = json.loads(odonata_command("counters", "links.yaml", "--json").stdout)
    assert [(row["counter"], row["sum"], row["max"]) for row in rows] == [
        ("packets", 17, 10),
        ("packets, region -2", 12, 7),
        ("packets, region 3", 5, 5),
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1 7 1e3", "1 7.5 1e3", "line 9: packets is '7.5', expected int64"),
        ("1 7 1e3", "1 7", "line 9: 2 values; expected 3"),
        ("1 7 1e3", "1 7 1e3 4", "line 9: 4 values; expected 3"),
        ("1 7 1e3", "1 x 1e3", "line 9: packets is 'x', expected int64"),
        ("key: TEST", "name: TEST", "line 2: 'name: TEST'; expected 'key: NAME'"),
        ("[load, float64]", "[load, text]", "line 6: '- [load, text]'; expected a type: int32"),
        ("[load, float64]", "[packets, float64]", "line 6: there are two columns with the name packets"),
        ("- [load", "  [load", "expected a column like '- [packets, int32]'"),
        ("...\n", "", "line 7: '0 5 0.5'; expected a column"),
        (TABLE, "", "line 1: the end; expected '---'"),
        (TABLE, "---\nkey: A\n---\n- [a, int32]\n", "line 5: the end; expected '...'"),
    ],
)
def test_mistakes_of_tables(tmp_path: Path, old: str, new: str, reason: str) -> None:
    (tmp_path / "links.yaml").write_text(TABLE.replace(old, new))
    with pytest.raises(OdonataError) as raised:
        counters.read_table(tmp_path / "links.yaml")
    assert reason in str(raised.value)


def test_order_is_that_of_scipy() -> None:
    """Without ties the share of concordant pairs is (tau + 1) / 2; with ties rank correlations agree, too."""
    draws = np.random.default_rng(3)
    times, values = draws.random(30), draws.random(30)
    tau = stats.kendalltau(values, times).statistic
    assert concordant(values, times) == pytest.approx((tau + 1) / 2)
    tied = np.round(values, 1)
    low, middle, high = spearman(tied, times)
    assert middle == pytest.approx(stats.spearmanr(tied, times).statistic)
    assert low < middle < high


def test_order_by_hand() -> None:
    """Times 1 2 3 4 and values 1 1 2 0: of six pairs two rise, one is equal, three fall: 2.5 / 6."""
    assert concordant(np.array([1.0, 1, 2, 0]), np.arange(1.0, 5)) == pytest.approx(2.5 / 6)
    # A counter that falls as the times rise.
    assert spearman(-np.arange(9.0), np.arange(9.0)) == (-1, pytest.approx(-1), -1)


def test_a_line_is_judged_on_what_it_did_not_see() -> None:
    """Three runs at 0, 1, 2 with times 1, 2, 6; each held out, by hand.

    Without 0, the line through (1, 2), (2, 6) says -2 there: error 3. Without 1, through (0, 1), (2, 6) it is
    3.5: 0.75. Without 2, through (0, 1), (1, 2) it is 3: 0.5.
    """
    values, times = np.array([0.0, 1, 2]), np.array([1.0, 2, 6])
    error = held_out_error({"a": values}, times, np.arange(3))
    assert error == pytest.approx((3 + 0.75 + 0.5) / 3)
    # Nothing to predict from: means of the others, 4, 3.5 and 1.5.
    assert held_out_error({}, times, np.arange(3)) == pytest.approx((3 + 0.75 + 0.75) / 3)


def test_all_counters_find_a_sum_that_none_is() -> None:
    """Times are the sum of two counters; a third is noise. Alone none predicts, together they nearly do."""
    draws = np.random.default_rng(1)
    table = pd.DataFrame({name: draws.random(60) for name in ("a", "b", "noise")} | {"constant": np.ones(60)})
    times = (2 + table["a"] + table["b"]).to_numpy()
    found = {one.counter: one for one in counters.predictions(table, times)}
    assert "constant" not in found
    assert found["all counters"].error < 0.001 < 0.05 < min(found[name].error for name in ("a", "b"))
    assert found["noise"].error > 0.9 * found["mean time"].error
    assert found["a"].spearman_low > 0 > found["noise"].spearman_low


def test_groups_are_held_out_whole() -> None:
    """Two groups on lines of other slopes: a model of one misses the other; random parts do not show that."""
    values = np.tile(np.arange(1.0, 11), 2)
    times = np.where(np.arange(20) < 10, values, 5 * values) + 1
    table = pd.DataFrame({"a": values})
    mixed = {one.counter: one.error for one in counters.predictions(table, times)}
    apart = {one.counter: one.error for one in counters.predictions(table, times, ["x"] * 10 + ["y"] * 10)}
    assert apart["a"] > 1.5 * mixed["a"]
    with pytest.raises(OdonataError, match="all runs are in one group"):
        counters.predictions(table, times, ["x"] * 20)
    with pytest.raises(OdonataError, match="4 runs"):
        counters.predictions(table[:4], times[:4])


@pytest.mark.slow
def test_the_command(tmp_path: Path, odonata_command: Command) -> None:
    spec = ping_pong("bgp-midplane", [4, 2, 2], "XYZT")
    spec["sweep"] = {"job.a.program.bytes": ["64 B", "1 KiB", "4 KiB", "8 KiB", "16 KiB"]}
    (tmp_path / "a.toml").write_text(odonata.toml.document(spec))
    (tmp_path / "links.yaml").write_text(TABLE)
    swept = odonata_command("sweep", "a.toml", "-o", "s", "-q")
    assert swept.returncode == 0, swept.stderr
    done = odonata_command("counters", "s", "--against", "time", "--json")
    assert done.returncode == 0, done.stderr
    found = {row["counter"]: row for row in json.loads(done.stdout)}
    assert found["bytes max"]["concordant"] == 1
    assert odonata_command("counters", "s", "--against", "time").returncode == 0
    table = json.loads(odonata_command("counters", "links.yaml", "--json").stdout)
    assert [row["sum"] for row in table] == [12, 1000.5]
    wrong = odonata_command("counters", "s", "--against", "time", "--leave-out", "x")
    assert (wrong.returncode, "axes of the sweep: job.a.program.bytes" in wrong.stderr.lower()) == (2, True)
    wrong = odonata_command("counters", "s", "--against", "time", "--job", "b")
    assert (wrong.returncode, "has no job b" in wrong.stderr) == (2, True)
    assert odonata_command("counters", "links.yaml", "--job", "b").returncode == 2
