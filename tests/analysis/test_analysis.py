"""Table to table functions, against numbers worked out by hand from the run in `handmade`."""

from __future__ import annotations

import handmade
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import analysis
from odonata.analysis.intervals import mean_interval
from odonata.store import columns


@pytest.fixture
def tables() -> dict[str, pa.Table]:
    return handmade.tables()


def test_links_have_the_names_of_their_ends(tables: dict[str, pa.Table]) -> None:
    names = analysis.link_names(tables["links"], tables["routers"]).to_pylist()
    assert names[:3] == ["g0r0>g0r1:green.0", "g0r0>g1r0:blue.0", "g0r0>g1r0:blue.1"]


def test_statistics_of_a_class(tables: dict[str, pa.Table]) -> None:
    """Green carries 4, 12, 12 and 0 bytes: mean 7, median (rank 2 of 4) 4, the rest at rank 4: 12."""
    rows = {row["class"]: row for row in analysis.class_statistics(tables["links"]).to_pylist()}
    assert list(rows) == ["all", "green", "blue"]
    assert rows["green"] == {
        "class": "green",
        "links": 4,
        "bytes_sum": 28.0,
        "bytes_mean": 7.0,
        "bytes_max": 12.0,
        "bytes_p50": 4.0,
        "bytes_p90": 12.0,
        "bytes_p99": 12.0,
        "loaded_links": 3,
    }
    assert rows["all"]["bytes_sum"] == 40.0
    assert rows["blue"]["bytes_mean"] == 3.0


def test_statistics_of_the_jobs_add_up(tables: dict[str, pa.Table]) -> None:
    """Each byte on a link belongs to one job, so the jobs' sums are the links' sums, in every class."""
    per_job = analysis.job_class_statistics(tables["links"], tables["link_jobs"], tables["jobs"]).to_pandas()
    together = analysis.class_statistics(tables["links"]).to_pandas().set_index("class")["bytes_sum"]
    assert per_job.groupby("class")["bytes_sum"].sum().to_dict() == together.to_dict()
    mine = per_job[(per_job["name"] == "b") & (per_job["class"] == "green")].iloc[0]
    assert (mine["bytes_max"], mine["loaded_links"], mine["links"]) == (4.0, 1, 4)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=200))
def test_percentiles_by_their_definition(values: list[float]) -> None:
    """At least p % of the values are at most the percentile, and no smaller value has that property."""
    links = pa.table({"class": ["green"] * len(values), "bytes": values})
    statistics = analysis.class_statistics(links).to_pylist()[1]
    for p in (50, 90, 99):
        found = statistics[f"bytes_p{p}"]
        need = p * len(values) / 100
        assert sum(value <= found for value in values) >= need
        smaller = [value for value in values if value < found]
        assert len(smaller) < need
        assert found in values


def test_hottest_links_by_bytes_and_by_time(tables: dict[str, pa.Table]) -> None:
    """Links 3 and 4 carry 12 bytes at 2 bytes/s: 6 s; link 1 carries 9 at 1 byte/s: 9 s."""
    arguments = (tables["links"], tables["routers"], tables["link_jobs"], tables["jobs"])
    assert analysis.hottest_links(*arguments, count=3)["link"].to_pylist() == [3, 4, 1]
    by_time = analysis.hottest_links(*arguments, by="time")
    assert by_time["link"].to_pylist() == [1, 3, 4, 2, 0], "links without traffic are not hot"
    assert by_time["link_time_s"].to_pylist() == [9.0, 6.0, 6.0, 3.0, 2.0]
    assert analysis.hottest_links(*arguments, link_class="blue")["link"].to_pylist() == [1, 2]
    assert analysis.hottest_links(*arguments, count=0).num_rows == 0


def test_hottest_links_name_their_jobs(tables: dict[str, pa.Table]) -> None:
    """With 36 bytes of job a and 12 bytes of job b, b has a quarter of link 0."""
    link_jobs = pa.table(
        {"link": [0, 0], "job": [0, 1], "bytes": [36.0, 12.0]}, schema=tables["link_jobs"].schema
    )
    links = tables["links"]
    links = links.set_column(links.column_names.index("bytes"), "bytes", pa.array([48.0] + [0.0] * 7))
    row = analysis.hottest_links(links, tables["routers"], link_jobs, tables["jobs"]).to_pylist()[0]
    assert [(job["name"], job["share"]) for job in row["jobs"]] == [("a", 0.75), ("b", 0.25)]


def test_traffic_between_groups(tables: dict[str, pa.Table]) -> None:
    matrix = analysis.group_matrix(tables["links"], tables["routers"])
    assert matrix.tolist() == [[4.0 + 12.0, 9.0 + 3.0], [0.0, 12.0]]


def test_links_are_paired_by_name_not_by_number(tables: dict[str, pa.Table]) -> None:
    """Without the second blue cable, links 2 and 6, those behind it have other numbers and the same names."""
    keep = [0, 1, 3, 4, 5, 7]
    fewer = tables["links"].take(keep)
    fewer = fewer.set_column(0, "link", pa.array(range(6), pa.uint32()))
    traffic = pa.array([5.0, 12.0, 12.0, 12.0, 0.0, 0.0])
    fewer = fewer.set_column(fewer.column_names.index("bytes"), "bytes", traffic)
    found = analysis.pair_links(tables["links"], tables["routers"], fewer, tables["routers"])
    assert found.pairs["link_base"].to_pylist() == keep
    assert found.pairs["link_other"].to_pylist() == [0, 1, 2, 3, 4, 5]
    assert found.pairs["difference"].to_pylist() == [1.0, 3.0, 0.0, 0.0, 0.0, 0.0]
    assert found.only_base["name"].to_pylist() == ["g0r0>g1r0:blue.1", "g1r0>g0r0:blue.1"]
    assert found.only_other.num_rows == 0


def test_changes_of_statistics() -> None:
    def statistics(classes: list[str], means: list[float]) -> pa.Table:
        return pa.table({"class": classes, "bytes_mean": means, "bytes_p99": means, "bytes_max": means})

    found = analysis.statistics_changes(
        statistics(["all", "green", "blue"], [10.0, 0.0, 8.0]),
        statistics(["all", "green", "global"], [15.0, 2.0, 1.0]),
        ["class"],
    )
    assert found["class"].to_pylist() == ["all", "green", "blue", "global"]
    assert found["bytes_mean_base"].to_pylist() == [10.0, 0.0, 8.0, None]
    assert found["bytes_mean_other"].to_pylist() == [15.0, 2.0, None, 1.0]
    assert found["bytes_mean_change"].to_pylist() == [0.5, None, None, None], (
        "no change relative to zero or nothing"
    )


def sweep_results() -> pa.Table:
    """Two machines on three seeds: the second 1, 2 and 3 lower, while the seeds vary a hundredfold."""
    return pa.table(
        {
            "edit": ["none"] * 3 + ["+B"] * 3,
            "seed": [1, 2, 3, 1, 2, 3],
            "bytes_max": [10.0, 100.0, 1000.0, 9.0, 98.0, 997.0],
        }
    )


def test_pairing_removes_what_the_seeds_have_in_common() -> None:
    """The mean of -1, -2, -3 is -2; s = 1 and t = 4.303 give +-2.484, whatever the values spread."""
    row = analysis.paired_differences(
        sweep_results(), factor="edit", base="none", pair_by=["seed"], value="bytes_max"
    ).to_pylist()[0]
    assert (row["edit"], row["pairs"], row["difference"], row["lower"]) == ("+B", 3, -2.0, 3)
    assert row["change"] == pytest.approx(-2.0 / 370.0)
    assert [row["low"], row["high"]] == pytest.approx([-4.484, 0.484], abs=1e-3)


def test_only_shared_conditions_are_pairs() -> None:
    row = analysis.paired_differences(
        sweep_results().slice(0, 5), factor="edit", base="none", pair_by=["seed"], value="bytes_max"
    ).to_pylist()[0]
    assert (row["pairs"], row["difference"]) == (2, -1.5)


def test_one_pair_has_no_interval() -> None:
    table = sweep_results().take([0, 3])
    row = analysis.paired_differences(
        table, factor="edit", base="none", pair_by=["seed"], value="bytes_max"
    ).to_pylist()[0]
    assert (row["pairs"], row["difference"], row["low"], row["high"]) == (1, -1.0, None, None)


def test_ambiguous_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="several points have the same edit"):
        analysis.paired_differences(
            sweep_results(), factor="edit", base="none", pair_by=[], value="bytes_max"
        )
    with pytest.raises(ValueError, match="no point has edit = other"):
        analysis.paired_differences(
            sweep_results(), factor="edit", base="other", pair_by=["seed"], value="bytes_max"
        )


@pytest.mark.parametrize("seeds", [2, 3, 5, 30])
def test_the_interval_covers_the_mean_as_often_as_it_says(seeds: int) -> None:
    """Of 2,000 samples of normal values, the interval holds the true mean in 95 %, within four standard
    errors of 0.5 % each. Percentiles of a bootstrap hold it in 51 % (two values) to 94 % (30)."""
    draws = np.random.default_rng(seeds).normal(5.0, 2.0, (2_000, seeds))
    intervals = np.array([mean_interval(values) for values in draws.tolist()])
    hits = np.mean((intervals[:, 0] <= 5.0) & (intervals[:, 1] >= 5.0))
    assert hits == pytest.approx(0.95, abs=0.02)


def test_waits_by_job_link_and_class(tables: dict[str, pa.Table]) -> None:
    """Job 0 waited 10 ps: 1 and 3 at links 1 and 2 (blue), 6 at link 3 (green); 2 of them behind job 1."""
    waits = columns.table(
        "job_waits",
        {
            "link": [1, 2, 2, 3, 3, 0],
            "vc": [0, 0, 1, 0, 0, 0],
            "job": [0, 0, 0, 0, 1, 0],
            "blocking_job": [0, 0, 1, 0, 0, 1],
            "wait_ps": [1, 1, 2, 6, 50, 0],
        },
        handmade.AXES,
        engine="packet",
    )
    links, routers, jobs = tables["links"], tables["routers"], tables["jobs"]

    def rows(table: pa.Table) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in table.to_pylist()]

    of_jobs = rows(analysis.waits_by_blocking_job(waits, jobs, 0))
    assert of_jobs == [("a", 8e-12, 0.8), ("b", 2e-12, 0.2)]
    of_classes = rows(analysis.waits_by_class(waits, links, jobs, 0))
    assert of_classes == [("blue", "a", 2e-12, 0.2), ("blue", "b", 2e-12, 0.2), ("green", "a", 6e-12, 0.6)]
    of_links = rows(analysis.waits_by_link(waits, links, routers, jobs, 0, count=2))
    assert of_links == [
        (3, "g0r1>g0r0:green.0", "green", 6e-12, 0.6, "a", 1.0),
        (2, "g0r0>g1r0:blue.1", "blue", 3e-12, 0.3, "b", 2 / 3),
    ]
    assert rows(analysis.waits_by_class(waits, links, jobs, 2)) == []
