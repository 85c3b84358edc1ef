"""Terms of a closed form's time, and the effect of other constants, compared with runs that have them."""

from __future__ import annotations

import pytest

import odonata

JOB = {"name": "a", "pattern": "random-neighbors", "ranks": 36, "bytes": "2 KiB", "placement": "random-order"}
EXPERIMENT = {
    "machine": {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
    "job": [JOB, {**JOB, "name": "b", "bytes": "64 KiB"}],
    "engine": {"kind": "model", "form": "max-rate", "alpha": "2 us", "hop": "500 ns"},
}


@pytest.mark.parametrize("job", ["a", "b"])
def test_terms_belong_to_the_slowest_rank(job: str) -> None:
    run = odonata.run(EXPERIMENT)
    found = odonata.explain(run, job)
    assert found.terms is not None
    terms = found.terms.to_pandas().set_index("term")
    assert terms["term_time_s"].sum() == pytest.approx(found.time_s)
    assert terms["share"].sum() == pytest.approx(1.0)
    assert terms["term_time_s"].is_monotonic_decreasing
    ranks = run.table("rank_costs").to_pandas()
    own = ranks[(ranks["job"] == ["a", "b"].index(job)) & (ranks["rank"] == found.slowest_rank)].iloc[0]
    assert own["rank_time_s"] == found.time_s
    assert own["startup_s"] == terms.loc["startup", "term_time_s"]


def test_more_of_a_constant_is_what_a_run_with_it_says() -> None:
    """Hops scale with the time of a hop: 10 % more, and the slowest rank may be another one."""
    base = odonata.run(EXPERIMENT)
    for hop, word in (("550 ns", "more"), ("450 ns", "less")):
        other = odonata.run(EXPERIMENT, set={"engine.hop": hop})
        for number, job in enumerate(("a", "b")):
            terms = odonata.explain(base, job).terms
            assert terms is not None
            said = terms.to_pandas().set_index("term").loc["hops", word]
            before, after = (run.jobs["predicted_time_s"][number].as_py() for run in (base, other))
            assert said == pytest.approx(after / before - 1.0, abs=1e-12)
            assert said != 0.0


def test_other_engines_have_no_terms() -> None:
    run = odonata.run({**EXPERIMENT, "engine": {"kind": "flow"}})
    assert odonata.explain(run, "a", blame=False).terms is None
