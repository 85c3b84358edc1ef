"""The sentence about a run, composed by hand from its tables."""

from __future__ import annotations

from typing import Any

import handmade
import pyarrow as pa
import pytest

from odonata.analysis import headline

TIME = pa.field(
    "completion_time_s",
    pa.float64(),
    metadata={"role": "job-time", "unit": "s", "merge": "max", "label": "Time", "meaning": "Time."},
)


def with_values(name: str, column: str, values: list[Any]) -> dict[str, pa.Table]:
    table = handmade.tables()[name]
    at = table.column_names.index(column)
    field = table.schema.field(at)
    return {name: table.set_column(at, field, pa.array(values, field.type))}


def timed(*times_s: float | None) -> dict[str, pa.Table]:
    return {"jobs": handmade.tables()["jobs"].append_column(TIME, pa.array(times_s, pa.float64()))}


MACHINE = handmade.SUMMARY["machine"]["name"]


def test_without_times_the_hottest_link_and_its_job() -> None:
    # Green links carry 4, 12, 12 and 0 bytes: 12 is 1.71 times their mean.
    said = headline(handmade.run())
    assert str(said) == (
        f"2 jobs on {MACHINE}. Hottest: g0r1>g0r0:green.0 (12 B, 1.71 times the mean of green links), "
        "100 % of it traffic of a."
    )
    assert said.label == "green link, 12 B"
    assert said.links == (3,)
    assert [focus for _, focus in said.parts if focus] == ["link:g0r1>g0r0:green.0", "job:0"]


@pytest.mark.parametrize(("second", "names_both"), [(20.0, True), (19.2, True), (18.0, False)])
def test_cables_with_even_traffic_are_named_together(second: float, *, names_both: bool) -> None:
    bytes_of_links = [4.0, 20.0, second, 12.0, 12.0, 0.0, 0.0, 0.0]
    said = headline(handmade.run(**with_values("links", "bytes", bytes_of_links)))
    assert ("the 2 blue cables from group 0 to group 1 (20 B each" in str(said)) is names_both
    assert said.links == ((1, 2) if names_both else (1,))


def test_the_slowest_job_and_what_limits_it() -> None:
    # Its 9 bytes pass blue.0 in 9 s: 75 % of 12 s. Blue links carry 9, 3, 0 and 0 bytes.
    said = headline(handmade.run(**timed(12.0, 2.0)))
    assert str(said) == (
        f"2 jobs on {MACHINE}. Slowest: a, 12 s, limited by g0r0>g1r0:blue.0 (9 B, 3 times the mean of blue "
        "links), 100 % of it its own traffic."
    )


def test_a_link_that_is_rarely_busy_does_not_limit() -> None:
    said = str(headline(handmade.run(**timed(100.0, None))))
    assert "Slowest: a, 100 s; busiest: g0r0>g1r0:blue.0" in said
    assert "9.0 % busy" in said


def test_without_traffic_it_says_so() -> None:
    said = headline(handmade.run(**with_values("links", "bytes", [0.0] * 8)))
    assert str(said) == f"2 jobs on {MACHINE}. No link has traffic."
    assert said.links == ()


def test_traffic_that_was_not_measured_is_not_said_to_be_none() -> None:
    said = headline(handmade.run(**with_values("links", "bytes", [None] * 8)))
    assert str(said) == f"2 jobs on {MACHINE}. Traffic was not measured."
