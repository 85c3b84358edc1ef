"""Hardware counters: a hand-made table, errors, and real counters of Edison."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from odonata.errors import OdonataError
from odonata.viewer.counters import read_counters

HEADER = "sg,sr,sc,dg,dr,dc,color,flits,stalls,stalls/flit,stalls_vc_0,stalls/flit_3\n"
LINKS = HEADER + "1,0,2,1,0,3,g,10,5,0.5,1,0.25\n" + "1,0,2,0,4,1,b,7,0,0,0,0\n" + "1,0,2,0,4,1,b,9,0,0,0,0\n"
JOBS = "g,r,c,n,jobid\n1,0,2,3,900\n1,0,3,0,800\n1,0,3,1,800\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path / "links.csv", tmp_path / "jobs.csv"


def test_only_measured_routers_are_shown(files: tuple[Path, Path]) -> None:
    run = read_counters(*files)
    assert run.table("routers")["name"].to_pylist() == ["g0r4c1", "g1r0c2", "g1r0c3"]
    assert run.summary["machine"]["groups"] == 2
    assert "only outgoing links of groups 1 were measured (3)" in run.summary["warnings"][0]


def test_counters_are_measures_and_parallel_links_are_numbered(files: tuple[Path, Path]) -> None:
    links = read_counters(*files).table("links")
    assert links["class"].to_pylist() == ["green", "blue", "blue"]
    assert links["parallel"].to_pylist() == [0, 0, 1]
    assert links["flits"].to_pylist() == [10, 7, 9]
    assert links["stalls_per_flit"].to_pylist() == [0.5, 0, 0]
    assert links["stalls_per_flit_vc_3"].to_pylist() == [0.25, 0, 0]
    assert "bytes" not in links.column_names


def test_jobs_are_placed_on_their_nodes_largest_first(files: tuple[Path, Path]) -> None:
    run = read_counters(*files)
    assert run.table("jobs")["name"].to_pylist() == ["800", "900"]
    assert run.table("jobs")["nodes"].to_pylist() == [2, 1]
    # Four slots on each of three routers: g0r4c1, g1r0c2, g1r0c3.
    assert run.table("nodes")["job"].to_pylist() == [-1, -1, -1, -1, -1, -1, -1, 1, 0, 0, -1, -1]


def test_without_jobs_all_nodes_are_idle(files: tuple[Path, Path]) -> None:
    run = read_counters(files[0])
    assert run.table("jobs").num_rows == 0
    assert set(run.table("nodes")["job"].to_pylist()) == {-1}


def test_an_empty_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(HEADER + "")
    with pytest.raises(OdonataError):
        read_counters(tmp_path / "links.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sg,sr,sc,dg,dr,color\n", "has no column dc"),
        (HEADER + "1,0,2,1,0,3,x,10,5,0.5,1,1\n", "line 2: unknown colour 'x'; expected g, k or b"),
        (
            HEADER + "1,0,,1,0,3,g,7,5,0.5,1,1\n1,0,2,1,0,3,g,7,5,0.5,1,1\n",
            "line 2: column sc is empty",
        ),
        (HEADER + "1,0,2,1,0,3,g,many,5,0.5,1,1\n", "column flits has values that are not numbers"),
        (HEADER + "1,0,2,1,0,3,g,1\n", "expected a table of counters"),
        (HEADER + "-1,0,2,1,0,3,g,1,2,3,4,5\n", "line 2: sg = -1 is not a coordinate"),
        ("", "expected a table of counters"),
    ],
)
def test_errors_name_their_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "links.csv").write_text(text)
    with pytest.raises(OdonataError, match=message.replace("(", r"\(")):
        read_counters(tmp_path / "links.csv")


def test_a_binary_header_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_bytes(b"\xff\xfe" + HEADER.encode())
    with pytest.raises(OdonataError, match="is not UTF-8 text"):
        read_counters(tmp_path / "links.csv")


def test_the_real_counters_of_edison(shared_data: Path) -> None:
    links, jobs = shared_data / "edison-counters-links.csv.gz", shared_data / "edison-counters-jobs.csv.gz"
    run = read_counters(links, jobs)
    with gzip.open(links, "rt") as text:
        rows = list(csv.DictReader(text))
    assert run.table("links").num_rows == len(rows) == 4694
    assert sum(run.table("links")["flits"].to_pylist()) == sum(int(row["flits"]) for row in rows)
    assert sum(run.table("links")["stalls_vc_5"].to_pylist()) == sum(int(row["stalls_vc_5"]) for row in rows)
    assert run.table("jobs").num_rows == 10
    assert sum(run.table("jobs")["nodes"].to_pylist()) == 2682
