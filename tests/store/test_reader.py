"""What is wrong with a run directory is said so that one knows what to do."""

import json
from collections.abc import Callable
from pathlib import Path

import handmade
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odonata
from odonata.errors import DamagedRunError, NewerRunError, NotARunError
from odonata.store import schema


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = handmade.run().save(tmp_path / "run").path
    assert path is not None
    return path


def edit_summary(run: Path, **changes: object) -> None:
    path = run / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(NotARunError, match="there is no directory"):
        odonata.load(tmp_path / "nowhere")


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("")
    with pytest.raises(NotARunError, match="is a file, not a run directory"):
        odonata.load(tmp_path / "notes")


def test_some_other_directory(tmp_path: Path) -> None:
    with pytest.raises(NotARunError, match=r"is not a run directory\nA run directory holds summary\.json"):
        odonata.load(tmp_path)


def test_some_other_summary(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"format": "recipes"}')
    with pytest.raises(NotARunError, match='does not contain "format": "odonata-run"'):
        odonata.load(tmp_path)


def test_tables_without_a_summary(stored: Path) -> None:
    (stored / "summary.json").unlink()
    with pytest.raises(NotARunError, match="the run or a copy is not complete"):
        odonata.load(stored)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("sweep.json", "sweep"), ("optimize.json", "search"), ("gpcnet.json", "GPCNeT measurement")],
)
def test_a_directory_of_several_runs(stored: Path, tmp_path: Path, name: str, kind: str) -> None:
    several = tmp_path / "several"
    (several / "points").mkdir(parents=True)
    (several / name).write_text("{}")
    # A sweep has a table of its jobs, too, but is no copy of a run.
    pq.write_table(pa.table({"point": [0]}), several / "jobs.parquet")
    with pytest.raises(NotARunError, match=f"several is a {kind}, not a run\nNone of"):
        odonata.Run.from_directory(several)
    stored.rename(several / "points" / "seed=1")
    with pytest.raises(NotARunError, match=r"such as .*several/points/seed=1\.$"):
        odonata.Run.from_directory(several)
    with pytest.raises(NotARunError, match=r"It holds run directories. Choose one, such as .*seed=1\.$"):
        odonata.Run.from_directory(several / "points")


@pytest.mark.parametrize("name", ["summary.json", "links.parquet", "experiment.toml"])
def test_a_file_that_links_out_of_the_run_is_not_opened(stored: Path, tmp_path: Path, name: str) -> None:
    """`show` of a directory from somebody else must not print a file from elsewhere."""
    (stored / name).rename(tmp_path / "outside")
    (stored / name).symlink_to(tmp_path / "outside")

    def read() -> object:
        run = odonata.load(stored)
        return run.table("links"), run.experiment

    with pytest.raises(NotARunError, match="is a link to a place outside the run directory"):
        read()


def test_a_link_to_itself_is_not_followed(stored: Path) -> None:
    (stored / "links.parquet").unlink()
    (stored / "links.parquet").symlink_to("links.parquet")
    with pytest.raises(DamagedRunError):
        odonata.load(stored).table("links")


def test_a_newer_format(stored: Path) -> None:
    known = schema.FORMAT_VERSION
    edit_summary(stored, format_version=known + 1, odonata_version="9.1")
    said = rf"Odonata 9\.1 in format {known + 1}; this version reads format {known}"
    with pytest.raises(NewerRunError, match=said):
        odonata.load(stored)


def test_a_format_that_is_no_longer_read(stored: Path) -> None:
    edit_summary(stored, format_version=3)
    with pytest.raises(NotARunError, match=r"has format 3 .* no longer supported\n.*odonata run .*--force"):
        odonata.load(stored)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"format": "odonata-run"}', "\x00"])
def test_a_broken_summary(stored: Path, text: str) -> None:
    (stored / "summary.json").write_text(text)
    with pytest.raises((DamagedRunError, NotARunError)):
        odonata.load(stored)


PACKET = {
    **dict.fromkeys(("packets", "measured_ps", "end_ps"), 1),
    "minimal_share": None,
    "non_minimal_share": None,
    "virtual_channels": 2,
    "virtual_channels_used": [0],
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("classes", [1]),
        ("classes", [{"class": "all", "bytes_mean": "x"}]),
        ("jobs", None),
        ("jobs", [{"name": None, "classes": []}]),
        ("machine", {"name": "m", "axes": "group"}),
        ("convergence", {"converged": True}),
        ("packet", True),
        ("packet", {**PACKET, "virtual_channel_kinds": 3}),
        ("packet", {**PACKET, "virtual_channel_kinds": ["dynamic"]}),
        ("wall_s", 10**30),
        ("warnings", [3]),
    ],
)
def test_a_summary_with_values_of_another_kind(stored: Path, key: str, value: object) -> None:
    edit_summary(stored, **{key: value})
    with pytest.raises(DamagedRunError, match=rf"does not match the format at .*{key}|convergence"):
        odonata.load(stored)


def change(run: Path, name: str, edit: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(edit(pq.read_table(run / f"{name}.parquet")), run / f"{name}.parquet")


def replaced(column: str, values: list[int | None]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(
        table.column_names.index(column), column, pa.array(values, table[column].type)
    )


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("links", lambda table: table.slice(0, 5), "it has 5 rows, but the run has 8 links"),
        ("jobs", lambda table: table.slice(0, 0), "it has 0 rows, but the run has 2 jobs"),
        ("links", replaced("target", [9] * 8), "its column target has 9, but the run has 4 routers"),
        ("link_jobs", replaced("job", [7] * 5), "its column job has 7, but the run has 2 jobs"),
        (
            "routers",
            replaced("group", [0, 0, 1, 2 * 10**9]),
            "its column group has 2000000000, expected below 4096",
        ),
        ("nodes", replaced("slot", [0, None, 0, 0]), "its column slot has missing values"),
    ],
)
def test_a_table_that_does_not_fit_the_others(
    stored: Path, name: str, edit: Callable[[pa.Table], pa.Table], message: str
) -> None:
    change(stored, name, edit)
    with pytest.raises(DamagedRunError, match=message):
        odonata.load(stored).table(name)


def test_a_missing_table(stored: Path) -> None:
    (stored / "link_jobs.parquet").unlink()
    with pytest.raises(DamagedRunError, match=r"link_jobs\.parquet is missing"):
        odonata.load(stored)


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_table_cut_short(stored: Path, keep: int) -> None:
    path = stored / "links.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    run = odonata.load(stored)
    with pytest.raises(
        DamagedRunError, match=r"links\.parquet cannot be read.*\n.*odonata run .*experiment\.toml"
    ):
        _ = run.links


def test_a_table_with_other_columns(stored: Path) -> None:
    links = handmade.tables()["links"]
    links = links.set_column(links.column_names.index("bytes"), "bytes", links["bytes"].cast(pa.float32()))
    pq.write_table(links.drop_columns(["port"]), stored / "links.parquet")
    message = "it has no column port; its column bytes has type float, expected f64"
    with pytest.raises(DamagedRunError, match=message):
        _ = odonata.load(stored).links


def test_a_table_that_is_not_there(stored: Path) -> None:
    with pytest.raises(NotARunError, match="no table series\nIt has: routers, links"):
        odonata.load(stored).table("series")


def test_a_later_column_is_welcome(stored: Path) -> None:
    """Columns may be added within a version."""
    jobs = handmade.tables()["jobs"].append_column("energy_j", pa.array([1.0, 2.0]))
    pq.write_table(jobs, stored / "jobs.parquet")
    assert odonata.load(stored).jobs["energy_j"].to_pylist() == [1.0, 2.0]


def test_a_run_says_what_it_is(stored: Path) -> None:
    assert repr(odonata.load(stored)) == f"<odonata.Run of a, b on handmade, flow engine, {stored}>"
    assert repr(handmade.run()) == "<odonata.Run of a, b on handmade, flow engine, in memory>"


def test_tables_convert_without_loss(stored: Path) -> None:
    polars = pytest.importorskip("polars")
    links = odonata.load(stored).links
    assert links.to_pandas()["bytes"].tolist() == handmade.LINKS["bytes"]
    frame = polars.from_arrow(links)
    assert frame["bytes"].to_list() == handmade.LINKS["bytes"]
    assert frame["class"].cast(str).to_list() == handmade.LINKS["class"]
