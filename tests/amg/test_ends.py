"""Endpoint costs: parts of a cycle by hand, fits, and the packet engine compared with the formulas."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from odonata import amg
from odonata.amg import boomeramg, ends, library, machines, whole
from odonata.amg.hierarchy import LEVEL_FIELDS, Hierarchy
from odonata.amg.machines import Ends
from odonata.amg.ranked import RankModel
from odonata.errors import OdonataError

Command = Callable[..., subprocess.CompletedProcess[str]]
EOS = machines.load("eos")
COSTS = Ends(compute_factor=1.5, overhead_s=0.4e-6, gap_s=0.0, matching_s=0.1e-6)
DIRECTORIES = dict(library.directories())
MIXES = (
    ("1024-50x50x25", 1),
    ("512-50x50x50", 2),
    ("256-100x50x50", 4),
    ("128-100x100x50", 8),
    ("64-100x100x100", 16),
)


def cycles(costs: Ends) -> list[ends.MeasuredCycle]:
    """Cycles as these costs would have them."""
    found = []
    for name, threads in MIXES:
        ranks, points = name.split("-")
        hierarchy = amg.shipped("laplace7", int(ranks), points)
        seconds = ends.total(ends.parts_of_levels(hierarchy, EOS, costs, threads=threads)).seconds
        found.append(ends.MeasuredCycle(name, hierarchy, seconds, threads))
    return found


def test_entries_compared_are_the_mean_over_all_orders() -> None:
    """Posted 0, 1, ..; a message looks at those before its own that are still there, and at its own."""
    for count in range(1, 7):
        compared = []
        for order in permutations(range(count)):
            posted = list(range(count))
            looked = 0
            for message in order:
                looked += posted.index(message) + 1
                posted.remove(message)
            compared.append(looked)
        assert ends.comparisons(np.array([float(count)])) == pytest.approx(np.mean(compared))


def level(**given: float) -> dict[str, float]:
    return {**dict.fromkeys(LEVEL_FIELDS, 0.0), "unknowns": 160.0, "active_ranks": 16.0, **given}


def test_a_level_by_hand() -> None:
    """Three products of a rank with 3 partners and 1,000 values, 16 ranks a node; 5 hops more than the least.

    Work: 6 x 160 x 7 / 16 operations of 1.59 ns. Of 3 messages 3 (3 + 3) / 4 = 4.5 entries. 1,000 values take
    0.858 us at a rank's rate, but 16 ranks' 128 kB 8 us at the node's 16 GB/s.
    """
    one = Hierarchy(16, [level(nonzeros_per_row=7.0, sends=3.0, values_sent=1000.0, messages=48.0)])
    [parts] = ends.parts_of_levels(one, EOS, COSTS)
    assert parts.computation == pytest.approx(1.5 * 6 * 160 * 7 / 16 * 1.59e-9)
    assert parts.overhead == pytest.approx(3 * 3 * 0.4e-6)
    assert parts.matching == pytest.approx(3 * 4.5 * 0.1e-6)
    assert parts.network == pytest.approx(3 * (5 * 0.416e-6 + 8e-6))
    assert parts.gap == 0
    # A NIC that takes 1 us per message: 48 us for its node's, of which hosts need 1.65 themselves.
    [parts] = ends.parts_of_levels(one, EOS, replace(COSTS, gap_s=1e-6))
    assert parts.gap == pytest.approx(3 * (48e-6 - 1.2e-6 - 0.45e-6))


def test_rank_by_rank_by_hand() -> None:
    """Ranks 0 to 15 on a node, 16 on another, to which three send: it receives 3, compares 4.5 entries."""
    one = Hierarchy(17, [level(active_ranks=17.0)])
    columns = {
        "level": [0] * 3,
        "operator": [0] * 3,
        "source": [0, 1, 2],
        "destination": [16] * 3,
        "values": [10] * 3,
    }
    [parts] = ends.parts_of_messages(RankModel(one, pa.table(columns), EOS), COSTS)
    assert parts.overhead == pytest.approx(3 * 3 * 0.2e-6)
    assert parts.matching == pytest.approx(3 * 4.5 * 0.1e-6)
    assert parts.network == pytest.approx(3 * 5 * 0.416e-6)
    # On one node nothing goes over the network.
    [parts] = ends.parts_of_messages(
        RankModel(one, pa.table({**columns, "destination": [3] * 3}), EOS), COSTS
    )
    assert parts.network == 0


@pytest.mark.parametrize(
    "true",
    [
        Ends(1.2, EOS.constants["alpha_s"], 0.0, 90e-9),
        Ends(1.1, 2.5e-6, 0.0, 0.0),
    ],
)
def test_costs_are_found_again(true: Ends) -> None:
    best, other = ends.fit(cycles(true), EOS)
    assert vars(best.ends) == pytest.approx(vars(true), rel=1e-6, abs=1e-15)
    assert best.fitted == ("matching" if true.matching_s else "overhead")
    assert best.worst(cycles(true)) < 1e-6 < other.worst(cycles(true))


def test_what_is_fitted_is_not_negative() -> None:
    """Cycles that take less than their messages do not make messages cheaper than nothing."""
    measured = [replace(one, seconds=one.seconds * 0.9) for one in cycles(Ends(1.0, 0.0, 0.0, 0.0))]
    for one in ends.fit(measured, EOS):
        assert one.ends.compute_factor > 0
        assert min(one.ends.overhead_s, one.ends.matching_s) >= 0


def test_two_cycles_are_too_few() -> None:
    with pytest.raises(OdonataError, match="2 measured cycles"):
        ends.fit(cycles(COSTS)[:2], EOS)


def test_the_shipped_costs_fit_the_measured_cycles() -> None:
    """Table 3 of the paper, all mixes on 1,024 cores."""
    times = (11.3, 16.3, 27.6, 51.8, 104.0)
    measured = [replace(one, seconds=1e-3 * ms) for one, ms in zip(cycles(COSTS), times, strict=True)]
    best = ends.fit(measured, EOS)[0]
    assert EOS.ends is not None
    assert vars(EOS.ends) == pytest.approx(vars(best.ends), rel=1e-3)
    assert best.worst(measured) < 0.07
    assert all(
        parts.seconds == pytest.approx(one.seconds, rel=0.025)
        for parts, one in zip(best.predicted, measured, strict=True)
    )


def test_the_packet_engine_and_the_formulas_agree() -> None:
    """A cycle of 64 ranks: mechanism by mechanism where it is the ranks' own, and in all."""
    name = "elasticity-64-refined-2"
    done = boomeramg.load_executed(DIRECTORIES[name])
    assert EOS.ends is not None
    simulated = whole.simulate(name, 64, EOS, EOS.ends, preset="eos", per_node=16)
    counted = ends.total(
        ends.parts_of_messages(RankModel(done.plain, done.tables["messages"], EOS), EOS.ends)
    )
    assert simulated.seconds == pytest.approx(counted.seconds, rel=0.15)
    assert simulated.matching == pytest.approx(counted.matching, rel=0.25)
    assert simulated.computation == pytest.approx(counted.computation, rel=0.1)
    assert simulated.gap == 0
    assert min(simulated.network, simulated.overhead) > 0


@pytest.mark.slow
def test_the_commands(odonata_command: Command, tmp_path: Path) -> None:
    rows = [f"laplace7-{one.name},{one.threads},{1e3 * one.seconds}" for one in cycles(COSTS)]
    (tmp_path / "t.csv").write_text("\n".join(["hierarchy,threads,time_ms", *rows]) + "\n")
    result = odonata_command("amg", "fit", "t.csv")
    assert result.returncode == 0, result.stderr
    assert "[ends]\ncompute_factor = " in result.stdout
    found = json.loads(odonata_command("amg", "fit", "t.csv", "--json").stdout)
    assert len(found["fits"]) == 2
    assert len(found["fits"][0]["cycles"]) == 5
    directory = str(DIRECTORIES["elasticity-64-refined-2"])
    result = odonata_command("amg", "simulate", directory, "--cycle", "--json", "-q")
    assert result.returncode == 0, result.stderr
    accounts = json.loads(result.stdout)
    assert set(accounts) == {"simulated", "rank by rank", "by the level table"}
    result = odonata_command("amg", "simulate", directory, "--cycle", "--engine", "flow", "--json", "-q")
    assert result.returncode == 0, result.stderr
    flows = json.loads(result.stdout)
    # That engine has the network alone; hosts cost what they do rank by rank.
    assert 0 < flows["simulated"]["network"] < accounts["simulated"]["network"]
    for part in ("computation", "overhead", "gap", "matching"):
        assert flows["simulated"][part] == accounts["rank by rank"][part]
    result = odonata_command("amg", "simulate", directory, "--cycle", "--regrouped")
    assert (result.returncode, "--cycle cannot be combined with" in result.stderr) == (2, True)
    (tmp_path / "few.csv").write_text("hierarchy,threads,time_ms\n" + rows[0] + "\n")
    result = odonata_command("amg", "fit", "few.csv")
    assert (result.returncode, "1 measured cycles" in result.stderr) == (2, True)
