"""The CSV of Damselfly, in MiB, written and read."""

from pathlib import Path

import handmade
import pyarrow as pa
import pytest

from odonata.errors import OdonataError
from odonata.export import damselfly
from odonata.store import columns

MIB = 2.0**20
AXES = ["group", "row", "column"]


def cray_links() -> pa.Table:
    """The links made by hand, as if every router were in column 0, with traffic in MiB and one link black."""
    content = {**handmade.LINKS, "source_column": [0] * 8, "target_column": [0] * 8}
    content["class"] = ["green", "blue", "blue", "green", "black", "blue", "blue", "green"]
    content["bytes"] = [amount * MIB for amount in handmade.LINKS["bytes"]]
    return columns.table("links", content, AXES)


def link_jobs() -> pa.Table:
    content = {**handmade.LINK_JOBS, "bytes": [amount * MIB for amount in handmade.LINK_JOBS["bytes"]]}
    return columns.table("link_jobs", content)


def test_the_file_is_as_damselfly_writes_it(tmp_path: Path) -> None:
    damselfly.export(cray_links(), link_jobs(), handmade.tables()["jobs"], tmp_path / "links.csv")
    lines = (tmp_path / "links.csv").read_text().splitlines()
    assert lines[0] == "sg,sr,sc,dg,dr,dc,color,bytes,job0,job1"
    assert lines[1] == "0,0,0,0,1,0,g,4,0,4"
    assert lines[2] == "0,0,0,1,0,0,b,9,9,0"
    assert lines[5] == "1,0,0,1,1,0,k,12,12,0"
    assert len(lines) == 9


def test_what_is_written_is_read_back_in_bytes(tmp_path: Path) -> None:
    links = cray_links()
    damselfly.export(links, link_jobs(), handmade.tables()["jobs"], tmp_path / "links.csv")
    found = damselfly.read(tmp_path / "links.csv")
    for name in found.column_names:
        if name in links.column_names:
            assert found[name].to_pylist() == links[name].to_pylist(), name
    assert found["bytes_job0"].to_pylist() == [0.0, 9 * MIB, 3 * MIB, 12 * MIB, 12 * MIB, 0.0, 0.0, 0.0]


def test_other_machines_have_no_place_in_it(tmp_path: Path) -> None:
    tables = handmade.tables()
    with pytest.raises(OdonataError, match="this machine has no column"):
        damselfly.export(tables["links"], tables["link_jobs"], tables["jobs"], tmp_path / "links.csv")
    links = cray_links()
    position = links.column_names.index("class")
    links = links.set_column(position, "class", pa.array(["local"] * 8))
    with pytest.raises(OdonataError, match="only green, black and blue links, not local"):
        damselfly.export(links, tables["link_jobs"], tables["jobs"], tmp_path / "links.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected traffic of links"),
        ("a,b\n1,2\n", "does not start with the columns sg,sr"),
        (
            "sg,sr,sc,dg,dr,dc,color,bytes\n0,0,0,0,1,0,g,4\n0,0,0,0,1,0,x,4\n",
            "line 3: unknown colour; expected one of g, k, b",
        ),
        (
            "sg,sr,sc,dg,dr,dc,color,bytes\n0,0,0,0,1,0,g,much\n",
            "column bytes has values that are not numbers",
        ),
        ("sg,sr,sc,dg,dr,dc,color,bytes\n0,0.5,0,0,1,0,g,4\n", "column sr has values that are not numbers"),
        ("sg,sr,sc,dg,dr,dc,color,bytes\n0,0\n", "expected traffic of links"),
    ],
)
def test_what_is_no_such_file_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "links.csv"
    path.write_text(text)
    with pytest.raises(OdonataError, match=message):
        damselfly.read(path)
