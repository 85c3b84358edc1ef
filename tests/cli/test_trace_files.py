"""Trace files: the same tables as the original, and the records as a Parquet table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import odonata
from odonata import _core, toml
from odonata.cli import main

SIMGRID = """\
0 init
1 init
2 init
0 comm_split 3 2 0
1 comm_split 3 2 1
2 comm_split 0 0 0
0 compute 150000
1 compute 5e4
0 isend 1 4 100000
1 irecv 0 4 100000
0 waitall 1
1 wait 0 1 4
0 iallreduce 6400
1 iallreduce 6400
2 iallreduce 6400
0 alltoallv 12 1 2 3 12 1 4 7
1 alltoallv 12 4 5 6 12 2 5 8
2 alltoallv 12 7 8 9 12 3 6 9
0 allreduce 800 10 on 3
1 allreduce 800 10 on 3
2 send 1 9 8
1 recv -333 9 0
"""
GOAL = """\
num_ranks 2
rank 0 {
a: calc 1000 cpu 1
b: send 90000b to 1 tag 3
c: calc 500
b requires a
c irequires b
}
rank 1 {
recv 90000b from 0 tag 3
}
"""
ASTRA = """\
DATA
2
fc1 -1 500 NONE 0 600 NONE 0 700 ALLREDUCE 80000 9
fc2 -1 5 NONE 0 6 NONE 0 7 ALLREDUCE 800 9
"""


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def experiment(path: Path, ranks: int, **parameters: Any) -> str:
    program = {"name": "trace", "path": str(path), **parameters}
    job = {"name": "replay", "ranks": ranks, "program": program, "repeat": 1}
    return (
        'format = 3\n[machine]\npreset = "dragonfly-1056"\n\n'
        f'[[job]]\n{toml.document(job)}\n[engine]\nkind = "packet"\nrouting = "ugal-g"\n'
        "record_calls = true\nrecord_messages = true\n"
    )


def traces(folder: Path) -> dict[str, tuple[Path, int, dict[str, Any]]]:
    """A trace, its ranks, and other keys."""
    (folder / "a.trace").write_text(SIMGRID)
    (folder / "a.goal").write_text(GOAL)
    (folder / "a.txt").write_text(ASTRA)
    return {
        "simgrid": (folder / "a.trace", 3, {"flops_per_s": 2e9}),
        "goal": (folder / "a.goal", 2, {}),
        "astra-sim": (folder / "a.txt", 4, {"compute_factor": 0.5}),
    }


def same_tables(original: Path, converted: Path, ranks: int, **parameters: Any) -> None:
    before = odonata.run(experiment(original, ranks, **parameters))
    after = odonata.run(experiment(converted, ranks, **parameters))
    assert before.table_names == after.table_names
    for name in before.table_names:
        assert before.table(name).equals(after.table(name)), name


@pytest.mark.parametrize("name", ["simgrid", "goal", "astra-sim"])
def test_a_converted_trace_gives_the_same_tables(tmp_path: Path, name: str) -> None:
    path, ranks, parameters = traces(tmp_path)[name]
    result = invoke("trace", "convert", path, "-o", tmp_path / "a.odt", "--ranks", ranks)
    assert result.exit_code == 0, result.output
    assert "SHA-256" in result.output
    same_tables(path, tmp_path / "a.odt", ranks, **parameters)
    shown = invoke("trace", "show", tmp_path / "a.odt").output
    assert f"odonata (from {name})" in shown


@pytest.mark.parametrize(
    ("trace", "ranks"),
    [
        ("dumpi/sst-dumpi/tests/traces/testtrace.meta", 4),
        ("chakra/stg-generated/fsdp8/workload.0.et", 8),
        ("goal/generated/allreduce_ring_8_1048576.bin", 8),
    ],
)
def test_shared_traces_give_the_same_tables(
    shared_data: Path, tmp_path: Path, trace: str, ranks: int
) -> None:
    path = shared_data / "traces" / trace
    _core.convert_trace(path, tmp_path / "a.odt")
    same_tables(path, tmp_path / "a.odt", ranks)
    before, after = _core.trace(path), _core.trace(tmp_path / "a.odt")
    assert after.pop("format") == "odonata"
    assert after == {key: value for key, value in before.items() if key != "format"}


def test_records_as_a_table(tmp_path: Path) -> None:
    for name, (path, ranks, _) in traces(tmp_path).items():
        _core.convert_trace(path, tmp_path / "a.odt", None, ranks)
        for source, folder in ((path, "before"), (tmp_path / "a.odt", "after")):
            result = invoke("trace", "export", source, "--parquet", tmp_path / folder, "--ranks", ranks)
            assert result.exit_code == 0, result.output
        before, after = (pq.read_table(tmp_path / part / "records.parquet") for part in ("before", "after"))
        assert before.equals(after), name
        assert before.num_rows > 0
    path, ranks, _ = traces(tmp_path)["simgrid"]
    invoke("trace", "export", path, "--parquet", tmp_path)
    rows = pq.read_table(tmp_path / "records.parquet").to_pylist()
    (sent,) = [row for row in rows if row["operation"] == "isend"]
    assert (sent["rank"], sent["peer"], sent["bytes"], sent["tag"], sent["place"]) == (0, 1, 100_000, 4, 9)
    assert sent["compute_ps"] is None
    (received,) = [row for row in rows if row["operation"] == "recv"]
    assert (received["peer"], received["bytes"], received["place"]) == (-1, -1, 22)
    computed = [row["compute_ps"] for row in rows if row["operation"] == "compute"]
    assert computed == [150_000_000, 10_000, 50_000_000, 10_000]
    vectors = [row["bytes"] for row in rows if row["operation"] == "alltoall"]
    assert vectors == [6, 15, 24]
    path, *_ = traces(tmp_path)["goal"]
    invoke("trace", "export", path, "--parquet", tmp_path)
    tasks = pq.read_table(tmp_path / "records.parquet").to_pylist()
    assert [row["lane"] for row in tasks] == [1, 0, 0, 0]
    assert [(row["after_end_of"], row["after_start_of"]) for row in tasks[:3]] == [
        ([], []),
        ([0], []),
        ([], [1]),
    ]


def test_damaged_files_are_refused_with_the_place(tmp_path: Path) -> None:
    path, *_ = traces(tmp_path)["simgrid"]
    file = tmp_path / "a.odt"
    _core.convert_trace(path, file)
    whole = file.read_bytes()
    for data, expected in (
        (whole[:12] + b"?" + whole[13:], "byte 12: block 0 of rank 0: damaged"),
        (whole[:-9], "without its end mark; it was cut off"),
        (whole[:8] + b"\7" + whole[9:], "a trace file of version 7; expected version 2"),
    ):
        file.write_bytes(data)
        result = invoke("trace", "show", file)
        assert result.exit_code == 2
        assert expected in " ".join(result.output.split())
    (tmp_path / "bad.trace").write_text("0 send 1 4 100\n1 recv 7 4 100\n")
    result = invoke("trace", "convert", tmp_path / "bad.trace", "-o", tmp_path / "bad.odt")
    assert result.exit_code == 2
    assert "line 2: rank 7" in " ".join(result.output.split())
    assert not list(tmp_path.glob("bad.odt*"))


def test_an_experiment_is_no_trace(tmp_path: Path) -> None:
    """Its first line was taken for the name of a file: "can't read [machine]: there is no such file"."""
    (tmp_path / "a.goal").write_text(GOAL)
    job = {"name": "replay", "ranks": "trace", "program": {"name": "trace", "path": "a.goal"}}
    (tmp_path / "x.toml").write_text(f'[machine]\npreset = "dragonfly-1056"\n[[job]]\n{toml.document(job)}')
    for words in (("show",), ("convert", "-o", tmp_path / "a.odt"), ("export", "--parquet", tmp_path / "t")):
        result = invoke("trace", words[0], tmp_path / "x.toml", *words[1:])
        assert result.exit_code == 2
        assert "x.toml is an experiment file, not a trace" in result.stderr
        assert f"Choose its trace: {tmp_path / 'a.goal'}." in result.stderr


def test_times_and_numbers_of_a_trace_are_short(tmp_path: Path) -> None:
    """Rank 0 computes 1 us, the others nothing: a mean of 333.333333 ns."""
    (tmp_path / "a.goal").write_text(
        "num_ranks 3\nrank 0 {\ncalc 1000\nsend 100b to 1\n}\nrank 1 {\nrecv 100b from 0\n}\nrank 2 {\n}\n"
    )
    shown = invoke("trace", "show", tmp_path / "a.goal").output
    assert re.search(r"computation +0 s to 1 us per rank, mean 333 ns", shown), shown
    assert "at most 1 target of a rank" in shown
