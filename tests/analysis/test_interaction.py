"""Effects that depend on another key: differences of differences, strata and pairs, by hand."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from odonata.analysis import interactions, paired_differences, stratified_differences
from odonata.analysis.intervals import mean_interval, t95
from odonata.analysis.paired import pairs_wanted


def sweep(times: dict[tuple[str, bool], list[float]]) -> pa.Table:
    """Routing by idle by seed, with a time each."""
    rows = [
        {"routing": routing, "idle": idle, "seed": seed, "time_s": time}
        for (routing, idle), values in times.items()
        for seed, time in enumerate(values)
    ]
    return pa.Table.from_pylist(rows)


CROSSING = sweep(
    {
        ("min", True): [1.0, 1.2, 1.1],
        ("ugal", True): [1.5, 1.6, 1.7],
        ("min", False): [4.0, 5.0, 6.0],
        ("ugal", False): [2.0, 2.5, 3.0],
    }
)


def test_a_crossing_by_hand() -> None:
    """Idle: +0.5, +0.4, +0.6; busy: -2, -2.5, -3. The mean of all, -1.0 and lower in 3 of 6, hides both."""
    whole = paired_differences(
        CROSSING, factor="routing", base="min", pair_by=["idle", "seed"], value="time_s"
    ).to_pylist()[0]
    assert (whole["lower"], whole["pairs"]) == (3, 6)
    assert math.isclose(whole["difference"], -1.0)
    (found,) = interactions(
        CROSSING, factor="routing", base="min", level="ugal", by="idle", pair_by=["seed"], value="time_s"
    ).to_pylist()
    assert found["idle"] is False
    assert (found["pairs"], found["crosses"], found["interacts"]) == (3, True, True)
    assert math.isclose(found["at_base"], 0.5)
    assert math.isclose(found["at_level"], -2.5)
    assert math.isclose(found["interaction"], -3.0)
    # -2.5, -2.9 and -3.6 have s = 0.557 and t = 4.303: -3 +- 1.383.
    assert math.isclose(found["low"], -4.383, abs_tol=1e-3)
    assert math.isclose(found["high"], -1.617, abs_tol=1e-3)
    rows = stratified_differences(
        CROSSING, factor="routing", base="min", level="ugal", by=["idle"], pair_by=["seed"], value="time_s"
    ).to_pylist()
    assert [(row["idle"], row["lower"], row["pairs"]) for row in rows] == [(True, 0, 3), (False, 3, 3)]
    assert [row["difference"] for row in rows] == [pytest.approx(0.5), pytest.approx(-2.5)]


def test_a_stratum_without_the_base_is_left_out() -> None:
    part = CROSSING.filter(pc.or_(CROSSING["idle"], pc.equal(CROSSING["routing"], "ugal")))
    (found,) = stratified_differences(
        part, factor="routing", base="min", level="ugal", by=["idle"], pair_by=["seed"], value="time_s"
    ).to_pylist()
    assert (found["idle"], found["pairs"], found["difference"]) == (True, 3, pytest.approx(0.5))


def test_effects_that_only_add_are_no_interaction() -> None:
    """The routing saves 1 s +- noise whether the machine is busy or not, though busy ones take longer."""
    table = sweep(
        {
            ("min", True): [5.0, 5.0, 5.0],
            ("ugal", True): [4.1, 3.9, 4.0],
            ("min", False): [9.0, 9.0, 9.0],
            ("ugal", False): [8.0, 8.1, 7.9],
        }
    )
    (found,) = interactions(
        table, factor="routing", base="min", level="ugal", by="idle", pair_by=["seed"], value="time_s"
    ).to_pylist()
    assert not found["interacts"]
    assert found["low"] <= 0.0 <= found["high"]
    assert math.isclose(found["interaction"], 0.0, abs_tol=1e-12)


def test_one_seed_gives_a_crossing_but_no_interval() -> None:
    one = CROSSING.filter(pc.equal(CROSSING["seed"], 0))
    (found,) = interactions(
        one, factor="routing", base="min", level="ugal", by="idle", pair_by=["seed"], value="time_s"
    ).to_pylist()
    assert (found["low"], found["high"], found["interacts"]) == (None, None, True)


def test_pairs_that_an_interval_takes() -> None:
    """s = 1, base 10, +-0.5: t is 2.12 for 17 pairs, 2.11 for 18; so +-0.514 and +-0.497: 18 pairs."""
    assert pairs_wanted(np.array([-1.0, 0.0, 1.0]), 10.0) == 18
    assert pairs_wanted(np.array([2.0, 2.0]), 10.0) == 2
    assert pairs_wanted(np.array([1.0]), 10.0) is None
    assert pairs_wanted(np.array([1.0, 2.0]), 0.0) is None
    draws = np.random.default_rng(1).normal(0.0, 1.0, (20_000, 18))
    halves = t95(17) * draws.std(axis=1, ddof=1) / math.sqrt(18)
    assert halves.mean() == pytest.approx(0.5, abs=0.015)


@pytest.mark.parametrize("deviation", [0.01, 0.03, 0.05, 0.3, 1.0, 5.0])
def test_the_wanted_pairs_are_the_least_whose_interval_is_narrow(deviation: float) -> None:
    """Pairs of the same deviation: the printed interval is at most +-5 % with so many, and not with fewer."""
    wanted = pairs_wanted(deviation * np.array([-1.0, 0.0, 1.0]), 1.0)
    assert wanted is not None

    def half(pairs: int) -> float:
        values = np.resize([-1.0, 1.0], pairs)
        values *= deviation / values.std(ddof=1)
        low, high = mean_interval(values.tolist())
        assert low is not None
        assert high is not None
        return (high - low) / 2

    assert half(wanted) <= 0.05
    assert wanted == 2 or half(wanted - 1) > 0.05
