"""Differences kept apart by another factor, what depends on what, and how many pairs would tell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from odonata.analysis import interactions, paired_differences


def crossed(seeds: int = 6, noise: float = 0.05) -> pa.Table:
    """A routing that costs 1 where it is idle and gains 1 where it is busy: nothing on the mean."""
    dice = np.random.default_rng(2)
    rows = [
        {
            "routing": routing,
            "busy": busy,
            "seed": seed,
            "value": 10.0
            + 5 * busy
            + (routing == "ugal") * (-1.0 if busy else 1.0)
            + noise * float(dice.normal()),
        }
        for routing in ("min", "ugal")
        for busy in (False, True)
        for seed in range(seeds)
    ]
    return pa.Table.from_pylist(rows)


WITH = {"factor": "routing", "base": "min", "pair_by": ["busy", "seed"], "value": "value"}


def test_the_mean_hides_what_is_kept_apart() -> None:
    pooled = paired_differences(crossed(), **WITH).to_pylist()[0]  # type: ignore[arg-type]
    assert abs(pooled["difference"]) < 0.1
    assert pooled["low"] < 0 < pooled["high"]
    idle, busy = paired_differences(crossed(), **WITH, by=["busy"]).to_pylist()  # type: ignore[arg-type]
    assert (idle["busy"], busy["busy"]) == (False, True)
    assert idle["pairs"] == busy["pairs"] == 6
    assert idle["low"] > 0.8
    assert busy["high"] < -0.8
    # The mean of what is kept apart, with as many pairs each, is the pooled difference.
    assert (idle["difference"] + busy["difference"]) / 2 == pytest.approx(pooled["difference"])


def test_an_effect_that_depends_on_another_factor() -> None:
    keys = {**WITH, "other": "busy"}
    [row] = interactions(crossed(), **keys).to_pylist()  # type: ignore[arg-type]
    idle, busy = paired_differences(crossed(), **WITH, by=["busy"]).to_pylist()  # type: ignore[arg-type]
    assert row["difference"] == pytest.approx(busy["difference"] - idle["difference"])
    assert row["high"] < -1.5
    assert row["quadruples"] == 6
    # One that does not: the same values with the effect taken out of the busy half.
    frame = crossed().to_pandas()
    frame.loc[frame["busy"] & (frame["routing"] == "ugal"), "value"] += 2.0
    [row] = interactions(pa.Table.from_pandas(frame), **keys).to_pylist()  # type: ignore[arg-type]
    assert row["low"] < 0 < row["high"]


def test_pairs_that_would_tell() -> None:
    """With so many pairs as are said the interval leaves out zero about as often as not."""
    dice = np.random.default_rng(8)

    def table(pairs: int) -> pa.Table:
        base = dice.normal(10, 1, pairs)
        rows = [{"x": "a", "seed": i, "v": base[i]} for i in range(pairs)]
        rows += [{"x": "b", "seed": i, "v": base[i] + dice.normal(0.5, 1.5)} for i in range(pairs)]
        return pa.Table.from_pylist(rows)

    def found(pairs: int) -> dict[str, float]:
        keys = {"factor": "x", "base": "a", "pair_by": ["seed"], "value": "v"}
        row: dict[str, float] = paired_differences(table(pairs), **keys).to_pylist()[0]  # type: ignore[arg-type]
        return row

    undecided = [row for row in (found(8) for _ in range(60)) if row["pairs_needed"] is not None]
    assert len(undecided) > 30
    assert all(row["pairs_needed"] > 8 and row["low"] <= 0 <= row["high"] for row in undecided)
    # The true number is (1.96 * 1.5 / 0.5)^2 = 35.
    told = [row["pairs_needed"] is None for row in (found(35) for _ in range(60))]
    assert 0.3 < np.mean(told) < 0.8
    assert np.mean([row["pairs_needed"] is None for row in (found(140) for _ in range(30))]) > 0.9


def test_one_pair_tells_nothing() -> None:
    row = paired_differences(crossed(seeds=1), **WITH, by=["busy"]).to_pylist()[0]  # type: ignore[arg-type]
    assert (row["pairs"], row["low"], row["high"], row["pairs_needed"]) == (1, None, None, None)
