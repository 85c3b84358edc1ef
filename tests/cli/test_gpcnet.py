"""The command `odonata gpcnet`: its oracles, statistics and tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from gpcnet_files import DRAGONFLY, SMALL
from running import Command

from odonata.errors import OdonataError
from odonata.gpcnet import CONGESTORS, TESTS, experiment, gpcnet, percentile_99

CROSSBAR = {"topology": "hyperx", "dims": [1], "nodes_per_router": 40}


def test_the_split_is_the_benchmarks() -> None:
    """51 of 64 nodes are congestors: 13, 13, 13 and 12."""
    jobs = experiment({**CROSSBAR, "nodes_per_router": 64}).check()["summary"]["jobs"]
    assert [(job["name"], job["nodes"]) for job in jobs] == [
        ("victims", 13),
        *zip(CONGESTORS, (13, 13, 13, 12), strict=True),
    ]


@pytest.mark.slow
def test_without_shared_links_all_factors_are_one() -> None:
    """On one crossbar every node has its own port, and victims talk to victims only."""
    result = gpcnet(CROSSBAR, rings=1, set={"engine.routing": "min"})
    for row in result.rows:
        assert row.isolated == row.congested, row.test
        assert (row.factor_average, row.factor_99) == (1.0, 1.0)


@pytest.mark.slow
def test_idle_congestors_change_nothing() -> None:
    """Congestors that hold their nodes and send nothing change no value, on a machine with shared links."""
    idle = {f"job.{name}.idle": True for name in CONGESTORS}
    for row in gpcnet(DRAGONFLY, rings=1, set=idle).rows:
        assert row.isolated == row.congested, row.test


@pytest.mark.slow
def test_the_printed_tables(odonata_command: Command, tmp_path: Path) -> None:
    """Lines are as wide as the benchmark's; printed factors follow from printed values; `pair` helps."""
    (tmp_path / "small.toml").write_text(SMALL)
    given = ("--set", "engine.control.name=pair", "--congestor", "put-incast", "--rings", "1")
    for options in (given[2:], given):
        done = odonata_command("gpcnet", "small.toml", "-o", "out", "--force", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[:4] == [
            "NetworkLoad Tests v1.3",
            "  Test with 72 MPI ranks (72 nodes)",
            "  15 nodes running Network Tests",
            "  57 nodes running Congestion Tests (min 57 nodes per congestor)",
        ]
        assert {len(line) for line in lines if line[:1] in "+|" and line} == {80}
        values = [
            re.findall(r"[\d.]+(?= \|)", line) for line in lines if any(f"{t.title} |" in line for t in TESTS)
        ]
        isolated, congested = values[:3], values[3:6]
        factors = [re.findall(r"([\d.]+)X", line) for line in lines if "X |" in line]
        for test, before, after, printed in zip(TESTS, isolated, congested, factors, strict=True):
            for old, new, factor in zip(before, after, printed, strict=True):
                over = float(old) / float(new) if test.is_bandwidth else float(new) / float(old)
                assert f"{over:.1f}" == factor
    data = json.loads((tmp_path / "out/gpcnet.json").read_text())
    assert (data["victim_nodes"], data["congestor_nodes"], data["congestors"]) == (15, 57, ["put-incast"])
    assert (tmp_path / "out/isolated/summary.json").exists()
    assert (tmp_path / "out/congested/phase_times.parquet").exists()


def test_the_percentile_of_the_histogram() -> None:
    """1 .. 1000: 990 values are counted in the bin of 990, of bandwidths from above in the bin of 11."""
    values = np.arange(1.0, 1001.0)
    width = 999 / 100_000
    assert percentile_99(values, is_bandwidth=False) == pytest.approx(990, abs=1.01 * width)
    assert percentile_99(values, is_bandwidth=True) == pytest.approx(11, abs=1.01 * width)
    assert percentile_99(np.full(7, 2.5), is_bandwidth=True) == 2.5


def test_mistakes() -> None:
    with pytest.raises(OdonataError, match="at least 10 nodes, and this machine has 4"):
        experiment({**CROSSBAR, "nodes_per_router": 4})
    with pytest.raises(OdonataError, match="2 ranks per node, and a node of this machine has 1 cores"):
        experiment(CROSSBAR, ranks_per_node=2)
    with pytest.raises(OdonataError, match="unknown congestor incasts"):
        experiment(CROSSBAR, congestors=["incasts"])
    with pytest.raises(OdonataError, match="unknown preset, topology or file frontierlike"):
        experiment("frontierlike")
