"""Merging of parallel cables, on a hand-solved run."""

from __future__ import annotations

from pathlib import Path

import handmade
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from odonata.analysis.aggregate import aggregate
from odonata.cli.commands import view
from odonata.store import columns
from odonata.viewer.bundles import bundle_count, bundled
from odonata.viewer.runs import MemoryRun


def test_parallel_cables_are_one_row() -> None:
    run = MemoryRun.of(handmade.run())
    assert bundle_count(run) == 6
    joined = bundled(run)
    links = joined.tables["links"].to_pydict()
    # g0r0>g1r0 and back have two blue cables each, of 1 B/s and 9 + 3 bytes.
    assert links["link"] == [0, 1, 2, 3, 4, 5]
    assert [*zip(links["source"], links["target"], links["class"], strict=True)] == [
        (0, 1, "green"),
        (0, 2, "blue"),
        (1, 0, "green"),
        (2, 3, "green"),
        (2, 0, "blue"),
        (3, 2, "green"),
    ]
    assert links["bytes"] == [4.0, 12.0, 12.0, 12.0, 0.0, 0.0]
    assert links["capacity_bytes_per_s"] == [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert links["parallel"] == [0] * 6
    assert links["reverse"] == [2, 4, 0, 5, 1, 3]
    assert joined.tables["link_jobs"].to_pydict() == {
        "link": [0, 1, 2, 3],
        "job": [1, 0, 0, 0],
        "bytes": [4.0, 12.0, 12.0, 12.0],
    }
    # Nothing else changes, and a warning is added.
    assert joined.tables["nodes"] == run.tables["nodes"]
    assert joined.summary["machine"]["links"] == 6
    assert joined.summary["warnings"][-1].endswith("one of 6 bundles of 8 links")
    blue = next(row for row in joined.summary["classes"] if row["class"] == "blue")
    assert (blue["links"], blue["bytes_max"], blue["bytes_mean"], blue["loaded_links"]) == (2, 12.0, 6.0, 1)


def test_peaks_take_the_maximum_and_attribute_tables_are_omitted() -> None:
    axes = handmade.AXES
    channels = {
        "link": [1, 1, 2],
        "vc": [0, 1, 0],
        "bytes": [5, 1, 3],
        "packets": [2, 1, 1],
        "stall_ps": [7, 0, 2],
        "peak_bytes": [5, 1, 9],
        "queued_ps": [1, 1, 1],
        "peak_queued_packets": [4, 2, 3],
    }
    learned = {"router": [0, 0], "row": [0, 0], "link": [1, 2], "estimate_ns": [4.0, 8.0]}
    tables = {
        name: columns.table(name, content, axes, engine="packet")
        for name, content in (("channels", channels), ("q_tables", learned))
    }
    plain = MemoryRun.of(handmade.run())
    joined = bundled(MemoryRun(plain.summary, {**plain.tables, **tables}))
    assert joined.tables["channels"].to_pydict() == {
        "link": [1, 1],
        "vc": [0, 1],
        "bytes": [8, 1],
        "packets": [3, 1],
        "stall_ps": [9, 0],
        "peak_bytes": [9, 1],
        "queued_ps": [2, 1],
        "peak_queued_packets": [4, 2],
    }
    assert "q_tables" not in joined.tables


@given(st.permutations(range(8)))
def test_the_order_of_links_changes_neither_sums_nor_bundles(order: list[int]) -> None:
    run = MemoryRun.of(handmade.run())
    links, shares = run.tables["links"], run.tables["link_jobs"]
    place = {link: i for i, link in enumerate(order)}
    moved = links.take(order).set_column(0, links.schema.field(0), pa.array(range(8), pa.uint32()))
    at = pa.array([place[link] for link in shares["link"].to_pylist()], pa.uint32())
    reverse = [place[link] for link in moved["reverse"].to_pylist()]
    index = moved.schema.get_field_index("reverse")
    moved = moved.set_column(index, links.schema.field("reverse"), pa.array(reverse, pa.uint32()))
    shares = shares.set_column(0, shares.schema.field(0), at).sort_by(
        [("link", "ascending"), ("job", "ascending")]
    )
    joined = bundled(MemoryRun(run.summary, {**run.tables, "links": moved, "link_jobs": shares})).tables[
        "links"
    ]
    assert joined.num_rows == 6
    assert aggregate(joined, "bytes") == aggregate(links, "bytes") == 40.0
    ends = [*zip(*(joined[name].to_pylist() for name in ("source", "target", "class")), strict=True)]
    back = [ends[link] for link in joined["reverse"].to_pylist()]
    assert back == [(target, source, name) for source, target, name in ends]


@pytest.mark.parametrize("merge", ["mean", "last"])
def test_means_are_weighted_and_last_takes_the_last_row(merge: str) -> None:
    plain = MemoryRun.of(handmade.run())
    facts = {"merge": merge, "weight": "bytes"} if merge == "mean" else {"merge": merge}
    field = pa.field("delay", pa.float64(), metadata=facts)
    links = plain.tables["links"].append_column(field, pa.array([1.0, 4.0, 8.0, 1.0, 1.0, 2.0, 4.0, 1.0]))
    joined = bundled(MemoryRun(plain.summary, {**plain.tables, "links": links})).tables["links"]
    # (9 * 4 + 3 * 8) / 12; for two cables without bytes, the unweighted mean.
    expected = [1.0, 5.0, 1.0, 1.0, 3.0, 1.0] if merge == "mean" else [1.0, 8.0, 1.0, 1.0, 4.0, 1.0]
    assert joined["delay"].to_pylist() == expected


@pytest.mark.usefixtures("page_files")
def test_the_size_of_a_large_page_is_reported_first(
    stored_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "LARGE", 0)
    page = tmp_path / "page.html"
    plain = CliRunner().invoke(view.command, [str(stored_run), "--html", str(page)])
    assert plain.exit_code == 0
    before, after = plain.output.splitlines()
    assert before.startswith(f"{page} will have ")
    assert before.endswith(" for 8 links. With --bundle it has 6 bundles of parallel cables instead.")
    assert after.startswith(f"{page}: ")
    joined = CliRunner().invoke(view.command, [str(stored_run), "--bundle", "--html", str(page)])
    assert joined.output.splitlines()[0].endswith(" for 6 links.")
    assert "6 bundles of 8 links" in page.read_text()
