"""Records of the packet engine, switched on in experiment files one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from packet_files import experiment, job
from running import Command

import odonata

PLACED = 'placement = "random-nodes"\n'
BASE = experiment(
    job("adv", "adversarial", 36, PLACED),
    job("ur", "uniform", 36, PLACED),
    load=[0.2, 0.6],
    warm_up="0 us",
    measure="20 us",
    engine='routing = "par"\n',
)

ALWAYS = {"routers", "links", "link_jobs", "nodes", "jobs", "placement", "latency", "group_traffic"}


@pytest.fixture(scope="module")
def plain() -> odonata.Run:
    return odonata.run(BASE)


@pytest.mark.parametrize(
    ("keys", "tables", "columns"),
    [
        ("record_channels = true", {"channels"}, {"peak_bytes"}),
        ("record_crossbar = true", set(), {"crossbar_stall_ps"}),
        ("record_counted_stall = true", set(), {"counted_stall_ps"}),
        ("record_job_waits = true", {"job_waits"}, set()),
        ("record_packets = true", {"packets"}, set()),
        ('interval = "2 us"', {"series"}, set()),
        ('interval = "2 us"\nseries = ["links"]', {"link_series"}, set()),
        ('interval = "2 us"\nseries = ["channels"]', {"channel_series"}, set()),
        ('interval = "2 us"\nseries = ["link-jobs"]', {"link_job_series"}, set()),
    ],
)
def test_a_record_adds_its_table_and_changes_nothing_else(
    plain: odonata.Run, keys: str, tables: set[str], columns: set[str]
) -> None:
    run = odonata.run(BASE + keys)
    assert set(run.table_names) - set(plain.table_names) == tables
    assert set(run.links.column_names) - set(plain.links.column_names) == columns
    assert set(plain.table_names) >= ALWAYS
    for name in plain.table_names:
        mine = run.table(name)
        assert mine.select(plain.table(name).column_names).equals(plain.table(name)), name


def test_series_of_links_add_up(tmp_path: Path) -> None:
    keys = (
        'interval = "2500 ns"\nseries = ["jobs", "links", "channels", "link-jobs"]\nrecord_channels = true\n'
    )
    run = odonata.run(BASE + keys, out=tmp_path / "run")
    window = 20_000_000
    links = run.links.to_pandas().set_index("link")
    series = run.table("link_series").to_pandas()
    inside = series[series["start_ps"] < window].groupby("link").sum()
    for column in ("bytes", "packets", "busy_ps", "stall_ps"):
        found = inside[column].reindex(links.index, fill_value=0)
        assert (found == links[column]).all(), column
    jobs = run.link_jobs.to_pandas().groupby("link")["bytes"].sum()
    by_job = run.table("link_job_series").to_pandas()
    by_job = by_job[by_job["start_ps"] < window].groupby("link")["bytes"].sum()
    pd.testing.assert_series_equal(by_job.astype(float), jobs, check_names=False, check_index_type=False)
    channels = run.table("channel_series").to_pandas()
    whole = channels[channels["start_ps"] < window].groupby(["link", "vc"])[["bytes", "stall_ps"]].sum()
    total = run.table("channels").to_pandas().set_index(["link", "vc"])[["bytes", "stall_ps"]]
    assert (whole.reindex(total.index, fill_value=0) == total).all().all()


def test_paths_carry_the_traffic_of_the_links(tmp_path: Path) -> None:
    """Nothing is in flight at the start, so all bytes on a link in the window belong to measured packets."""
    run = odonata.run(BASE + "record_packets = true\nrecord_paths = true\n", out=tmp_path / "run")
    packets = run.table("packets").to_pandas()
    assert (packets["links"].map(len) == packets["hops"]).all()
    assert (packets["vcs"].map(len) == packets["hops"]).all()
    carried = packets[["links", "bytes"]].explode("links").groupby("links")["bytes"].sum()
    links = run.links.to_pandas().set_index("link")
    assert (carried.reindex(links.index, fill_value=0) >= links["bytes"]).all()
    assert carried.sum() < 1.1 * links["bytes"].sum()
    nodes = run.nodes.to_pandas().set_index("node")["router"]
    first = packets[packets["hops"] > 0].iloc[:500]
    assert (
        links["source"].loc[first["links"].map(lambda path: path[0])].values == nodes[first["source"]].values
    ).all()
    last = first["links"].map(lambda path: path[-1])
    assert (links["target"].loc[last].values == nodes[first["destination"]].values).all()


def test_packets_are_stored_in_batches_and_in_memory_alike(tmp_path: Path) -> None:
    text = BASE.replace('measure = "20 us"', 'measure = "80 us"') + "record_packets = true\n"
    stored = odonata.run(text, out=tmp_path / "run")
    assert pq.ParquetFile(tmp_path / "run" / "packets.parquet").num_row_groups > 1
    kept = odonata.run(text, threads=1)
    assert stored.table("packets").combine_chunks().equals(kept.table("packets").combine_chunks())
    assert kept.table("packets")["delivered_ps"].to_pandas().is_monotonic_increasing


def test_csv_writes_paths_as_numbers(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(BASE + "record_packets = true\nrecord_paths = true\n")
    assert odonata_command("run", "x.toml", "-q", "-o", "run").returncode == 0
    assert odonata_command("export", "run", "-f", "csv", "-o", "csv").returncode == 0
    rows = pd.read_csv(tmp_path / "csv" / "packets.csv", dtype={"links": str}).fillna("")
    assert (rows["links"].str.split().map(len) == rows["hops"]).all()


def test_no_value_is_shown_as_a_dash(odonata_command: Command, tmp_path: Path) -> None:
    """A job that starts after the measurement has no latency."""
    late = BASE.replace("load = 0.6", 'load = 0.6, start = "1 ms"') + 'drain = "5 us"\n'
    (tmp_path / "x.toml").write_text(late)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0
    shown = [line.split() for line in result.stdout.splitlines() if line.startswith("ur ")][-1]
    assert shown.count("-") >= 2
    for text in (result.stdout, result.stderr, (tmp_path / "run" / "summary.json").read_text()):
        assert "nan" not in text.lower().replace("dominant", "")
    job = odonata.load(tmp_path / "run").jobs.to_pylist()[1]
    assert (job["packets"], job["latency_mean_ns"], job["latency_p99_ns"]) == (0, None, None)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["packet"]["measure_ps"] == 20_000_000
    assert summary["packet"]["drain_ps"] == 5_000_000
