"""The ranking of a sweep, worked out by hand."""

from __future__ import annotations

from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.analysis.intervals import t95
from odonata.analysis.ranking import rank, spread


def points(**times: list[float]) -> tuple[list[dict[str, object]], list[dict[str, float | None]]]:
    """A setting `routing` with a time per seed, of the job `fft`."""
    settings: list[dict[str, object]] = []
    values: list[dict[str, float | None]] = []
    for routing, of_seeds in times.items():
        for seed, time in enumerate(of_seeds):
            settings.append({"routing": routing, "seed": seed})
            values.append({"fft": time})
    return settings, values


def test_best_first_with_mean_and_interval() -> None:
    ranked = rank(*points(min=[4.0, 6.0], ugal=[2.0, 3.0]), seeds=["seed"])
    assert ranked is not None
    assert [row.setting["routing"] for row in ranked.rows] == ["ugal", "min"]
    (best,) = ranked.rows[0].jobs
    assert best is not None
    assert best.low is not None
    assert best.high is not None
    # Student's t with one degree of freedom: 12.706 s / sqrt(2), s = 0.7071.
    assert [best.mean, best.low, best.high] == pytest.approx([2.5, 2.5 - 6.353, 2.5 + 6.353])
    assert ranked.rows[0].score == pytest.approx(0.5)
    # Both pairs have the ratio 1/2, so it is no noise, though the intervals overlap.
    assert ranked.headline == "Best: routing=ugal: fft 2 times faster, compared with routing=min, 2 seeds."


def test_more_may_be_better() -> None:
    ranked = rank(*points(min=[4.0], ugal=[2.0]), seeds=["seed"], less_is_better=False)
    assert ranked is not None
    assert ranked.headline == (
        "Best: routing=min. The next of 2, routing=ugal: fft 2 times lower, compared with routing=min."
    )


def test_a_difference_within_the_spread_of_its_pairs_is_noise() -> None:
    ranked = rank(*points(min=[10.0, 11.0, 12.0], ugal=[11.0, 10.0, 12.1]), seeds=["seed"])
    assert ranked is not None
    assert "fft within noise" in ranked.headline


def test_a_sweep_over_seeds_alone() -> None:
    ranked = rank(*points(min=[10.0, 11.0, 9.0]), seeds=["seed"])
    assert ranked is not None
    assert ranked.headline == "Only seeds differ: 3 seeds, values within 20.0 %."
    assert len(ranked.rows) == 1


def test_without_a_value_there_is_no_ranking() -> None:
    assert rank([{"routing": "min"}], [{"fft": None}]) is None
    ranked = rank([{"r": 1}, {"r": 2}], [{"fft": 1.0}, {"fft": None}])
    assert ranked is not None
    assert ranked.rows[1].jobs == (None,)
    assert ranked.rows[1].score is None


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=40))
def test_the_interval_contains_the_mean(values: list[float]) -> None:
    found = spread(values)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.mean <= found.high


def test_quantiles_decrease_to_the_normal_distribution() -> None:
    values = [t95(n) for n in range(1, 200)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(NormalDist().inv_cdf(0.975), abs=0.02)
    # Published: 2.131 for 15 degrees of freedom, 2.042 for 30.
    assert [t95(15), t95(30)] == pytest.approx([2.131, 2.042], abs=0.015)
