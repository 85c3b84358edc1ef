"""The ranking of a sweep, worked out by hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.analysis import paired_differences
from odonata.analysis.intervals import mean_interval, t95
from odonata.analysis.ranking import Evidence, change_of, loads_in, rank, spread


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
    ranked = rank(*points(min=[4.0, 5.0, 6.0], ugal=[2.0, 2.5, 3.0]), seeds=["seed"])
    assert ranked is not None
    assert [row.setting["routing"] for row in ranked.rows] == ["ugal", "min"]
    (best,) = ranked.rows[0].jobs
    assert best is not None
    assert best.low is not None
    assert best.high is not None
    # Student's t with two degrees of freedom: 4.303 s / sqrt(3), s = 0.5.
    assert [best.mean, best.low, best.high] == pytest.approx([2.5, 2.5 - 1.242, 2.5 + 1.242], abs=1e-3)
    assert ranked.rows[0].score == pytest.approx(0.5)
    # All pairs have the ratio 1/2, so it is no noise, though the intervals overlap.
    assert ranked.headline == "Best: routing=ugal: fft 2 times faster, compared with routing=min, 3 seeds."


def test_a_large_change_of_two_seeds_is_said_with_its_range() -> None:
    """Student's interval of two ratios contains 1, but both seeds are more than twice as fast."""
    ranked = rank(*points(min=[242.0, 242.0], ugal=[76.8, 92.5]), seeds=["seed"])
    assert ranked is not None
    assert ranked.headline == (
        "Best: routing=ugal: fft 2.62 to 3.15 times faster (range of 2 seeds), compared with routing=min, "
        "2 seeds."
    )
    slower = rank(*points(min=[10.0, 10.0], ugal=[11.0, 11.5]), seeds=["seed"])
    assert slower is not None
    assert "routing=ugal: fft 10.0 % to 15.0 % slower (range of 2 seeds)" in slower.headline
    # No interval is shown: it would be 13 times as wide as the distance of the two values.
    assert [(one.low, one.high) for row in ranked.rows for one in row.jobs if one] == [(None, None)] * 2


def test_two_seeds_that_disagree_are_noise() -> None:
    for ugal in ([9.0, 11.0], [9.9, 9.0]):  # Another sign; a difference above the mean change.
        ranked = rank(*points(min=[10.0, 10.0], ugal=ugal), seeds=["seed"])
        assert ranked is not None
        assert ranked.headline.startswith("No clear best of 2: ")
        assert ranked.headline.endswith(" are within noise of each other, 2 seeds.")


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=12))
def test_evidence_of_a_change_follows_its_sign(ratios: list[float]) -> None:
    """Slowing down by the inverse ratios has the same evidence, and only few seeds are without interval."""
    ones = [1.0] * len(ratios)
    change, inverse = change_of(ones, ratios), change_of(ratios, ones)
    assert change.evidence is inverse.evidence
    assert change.low <= change.ratio * (1 + 1e-12)
    assert change.ratio <= change.high * (1 + 1e-12)
    if change.evidence is Evidence.BY_SEED:
        assert len(ratios) in (2, 3)
        assert change.low > 1 or change.high < 1
    if change.evidence is Evidence.CERTAIN and len(ratios) > 1:
        low, high = mean_interval([math.log(ratio) for ratio in ratios])
        assert low is not None
        assert high is not None
        assert low > 0 or high < 0


def test_the_headline_has_the_change_of_the_tables() -> None:
    """The sums of times are 18 and 16.1. The geometric mean of the ratios of the seeds is 0.843."""
    settings, values = points(min=[2.0, 10.0, 6.0], ugal=[1.5, 9.6, 5.0])
    ranked = rank(settings, values, seeds=["seed"])
    assert ranked is not None
    results = pa.Table.from_pylist([{**s, **v} for s, v in zip(settings, values, strict=True)])
    (row,) = paired_differences(
        results, factor="routing", base="min", pair_by=["seed"], value="fft"
    ).to_pylist()
    assert row["change"] == pytest.approx(16.1 / 18 - 1)
    assert ranked.rows[0].score == pytest.approx(1 + row["change"])
    change = change_of([2.0, 10.0, 6.0], [1.5, 9.6, 5.0])
    assert change.ratio == pytest.approx(1 + row["change"])
    certain = rank(*points(min=[4.0, 5.0, 9.0], ugal=[2.0, 2.4, 4.6]), seeds=["seed"])
    assert certain is not None
    # 9 / 18; the geometric mean of the ratios of the seeds is 0.497, which would be 2.01 times.
    assert "routing=ugal: fft 2 times faster" in certain.headline
    assert certain.rows[0].score == pytest.approx(0.5)


def test_a_seed_without_the_base_counts_for_nothing() -> None:
    """Seed 2 has no time at the base. The score compares seeds 0 and 1, as the headline does."""
    settings, values = points(min=[4.0, 5.0, 6.0], ugal=[2.0, 2.5, 100.0])
    values[2]["fft"] = None
    ranked = rank(settings, values, seeds=["seed"])
    assert ranked is not None
    assert ranked.rows[0].setting["routing"] == "ugal"
    assert ranked.rows[0].score == pytest.approx(0.5)
    assert "fft 2 times faster" in ranked.headline


def test_a_mean_against_most_seeds_is_noise() -> None:
    """Nineteen short seeds are 10 % faster, the long one is slower by more than they gain."""
    change = change_of([1.0] * 19 + [1000.0], [0.9] * 19 + [1003.0])
    assert change.ratio > 1
    assert change.evidence is Evidence.NOISE


def test_more_may_be_better() -> None:
    ranked = rank(*points(min=[4.0], ugal=[2.0]), seeds=["seed"], less_is_better=False)
    assert ranked is not None
    assert ranked.headline == (
        "Best: routing=min. The next of 2, routing=ugal: fft 2 times lower, compared with routing=min."
    )


def test_a_difference_within_the_spread_of_its_pairs_is_noise() -> None:
    ranked = rank(*points(min=[10.0, 11.0, 12.0], ugal=[11.0, 10.0, 12.1]), seeds=["seed"])
    assert ranked is not None
    assert ranked.headline == (
        "No clear best of 2: routing=min and routing=ugal are within noise of each other, 3 seeds."
    )


def test_settings_are_ranked_at_one_load() -> None:
    """`min` is best at the least load, `ugal` at the highest. As a text, 10 would be less than 0.9."""
    settings = [{"load": load, "routing": r} for load in ("10", "0.9") for r in ("min", "ugal")]
    latencies = [{"job": value} for value in (8.0, 4.0, 1.0, 2.0)]
    assert loads_in(settings, ["load"]) == [{"load": "0.9"}, {"load": "10"}]
    low, high = (rank(settings, latencies, at=at) for at in loads_in(settings, ["load"]))
    assert low is not None
    assert high is not None
    assert high.headline == "At load=10, best: routing=ugal: job 2 times faster, compared with routing=min."
    assert [(row.setting["routing"], row.points) for row in low.rows] == [("min", (2,)), ("ugal", (3,))]
    # Load is no choice.
    assert rank([{"load": "1"}, {"load": "2"}], latencies[:2], at={"load": "2"}) is None
    assert loads_in([{"load": "full"}, {"load": "empty"}], ["load"]) == [{"load": "full"}, {"load": "empty"}]


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


@given(st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=40))
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


def test_a_setting_that_ends_jobs_is_not_the_best() -> None:
    """What a failed switch's jobs leave makes the others faster, but is no gain."""
    settings = [{"edit": "[]"}, {"edit": "leaf1"}, {"edit": "spine"}]
    ranked = rank(settings, [{"a": 4.0, "b": 4.0}, {"a": 2.0, "b": None}, {"a": 5.0, "b": 5.0}])
    assert ranked is not None
    assert [row.setting["edit"] for row in ranked.rows] == ["[]", "spine", "leaf1"]
    two = rank(settings[:2], [{"a": 4.0, "b": 4.0}, {"a": 2.0, "b": None}])
    assert two is not None
    assert two.headline == (
        "Best: edit=[]. The next of 2, edit=leaf1: a 2 times faster, without b, compared with edit=[]."
    )
