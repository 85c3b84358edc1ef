"""Traces of other programs: what `odonata trace show` says of them, and how they run.

The shared files are decoded here a second time, by rules of their own.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import struct
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import odonata
from odonata import _core, toml
from odonata.analysis.critical import critical_path, whole
from odonata.cli import main
from odonata.errors import OdonataError
from odonata.importers import from_atlahs, from_codes, from_ember

ROUTINGS = ("min", "ugal-g", "par")
GOAL = "num_ranks 2\nrank 0 {\nsend 100b to 1\n}\nrank 1 {\nrecv 100b from 0\n}\n"


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def experiment(path: Path, engine: dict[str, Any], ranks: int | str = "trace", **parameters: Any) -> str:
    """A job that replays a trace on 1,056 nodes."""
    program = {"name": "trace", "path": str(path), **parameters}
    job = {"name": "replay", "ranks": ranks, "program": program, "placement": "random-nodes"}
    return (
        'format = 3\n[machine]\npreset = "dragonfly-1056"\n\n'
        f"[[job]]\n{toml.document(job)}\n[engine]\n{toml.document(engine)}"
    )


def dumpi_records(path: Path, layout: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The records of a file whose masks are 0x4F: statuses, both clocks, a thread."""
    data, at = path.read_bytes(), 16
    widths = {"u8": ">B", "u16": ">H", "i32": ">i", "u64": ">Q"}

    def take(form: str) -> Any:
        nonlocal at
        (value,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    records = []
    while (kind := take(">H")) != 293:
        assert take(">B") == 0x4F
        at += 2 + 12
        start = take(">H") * 10**9 + take(">I")
        end = take(">H") * 10**9 + take(">I")
        name, arguments = layout["names"][kind], {"start": start, "end": end}
        for key, form in layout["layout"][name]:
            if form == "status":
                count = take(">i")
                arguments[key] = [
                    tuple(take(form) for form in (">i", ">i", ">B", ">B", ">i")) for _ in range(count)
                ]
            elif form == "argv":
                for _ in range(arguments["argc"]):
                    length = take(">i")
                    at += length
            else:
                arguments[key] = take(widths[form])
        records.append((name, arguments))
    return records


def test_a_dumpi_set_is_what_a_second_decoder_finds(shared_data: Path) -> None:
    folder = shared_data / "traces/dumpi/sst-dumpi/tests/traces"
    layout = json.loads((shared_data / "traces/tools/dumpi_layout.json").read_text())
    sizes = {9: 4}
    kinds, messages, compute = Counter[str](), Counter[tuple[int, ...]](), []
    for rank in range(4):
        records = dumpi_records(folder / f"testtrace-{rank:04}.bin", layout)
        kinds.update(f"MPI_{name}" for name, _ in records)
        for name, of in records:
            if name in ("Send", "Isend"):
                messages[rank, of["dest"], of["tag"], of["count"] * sizes[of["datatype"]]] += 1
        gaps = [b["start"] - a["end"] for (_, a), (_, b) in pairwise(records)]
        compute.append(sum(gaps) / 1e9)
    found = _core.trace(folder / "testtrace.meta")
    assert (found["format"], found["ranks"]) == ("dumpi", 4)
    assert {row["kind"]: row["seen"] for row in found["kinds"]} == kinds
    assert found["messages_by_pair"] == [
        [s, t, tag, count, size] for (s, t, tag, size), count in sorted(messages.items())
    ]
    assert found["compute_s"] == pytest.approx(compute, abs=1e-12)
    assert {(row["name"], row["calls"], row["bytes"]) for row in found["collectives"]} == {
        ("barrier", 4, 0),
        ("allreduce", 4, 16),
    }


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_dumpi_set_runs(shared_data: Path, routing: str) -> None:
    meta = shared_data / "traces/dumpi/sst-dumpi/tests/traces/testtrace.meta"
    run = odonata.run(experiment(meta, {"kind": "packet", "routing": routing}))
    (job,) = run.jobs.to_pylist()
    # Computation of the slowest rank alone takes 92 us.
    assert job["ranks"] == 4
    assert job["completion_time_s"] > 92e-6


def test_an_incomplete_set_names_the_file(shared_data: Path, tmp_path: Path) -> None:
    for path in (shared_data / "traces/dumpi/sst-macro-incomplete").iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    # A file of macOS in the same folder is not part of the set.
    (tmp_path / "._testtrace-0000.bin").write_bytes(b"\x00\x05\x16\x07")
    assert invoke("trace", "show", tmp_path / "testtrace.meta").exit_code == 0
    (tmp_path / "testtrace-0002.bin").unlink()
    result = invoke("trace", "show", tmp_path / "testtrace.meta")
    assert result.exit_code == 2
    assert "the set has 4 ranks, but the file of rank 2 is missing" in result.output
    assert "testtrace-0002.bin" in result.output


def test_binary_data_never_reaches_the_terminal(shared_data: Path, tmp_path: Path) -> None:
    data = (shared_data / "traces/dumpi/sst-dumpi/tests/traces/testtrace-0000.bin").read_bytes()
    (tmp_path / "a.meta").write_text("numprocs=1\n")
    for at in range(8, 370, 7):
        damaged = bytearray(data)
        damaged[at] ^= 0x9B
        (tmp_path / "a-0000.bin").write_bytes(damaged)
        result = invoke("trace", "show", tmp_path / "a.meta")
        assert result.exit_code in (0, 2)
        assert all(char.isprintable() or char == "\n" for char in result.output)


def test_strict_refuses_what_a_replay_lacks(shared_data: Path) -> None:
    meta = shared_data / "traces/dumpi/sst-dumpi/tests/traces/testtrace.meta"
    # Queries of rank and size send nothing.
    assert invoke("trace", "show", meta, "--strict").exit_code == 0
    dense = shared_data / "traces/chakra/stg-generated/dense8/workload.0.et"
    result = invoke("trace", "show", dense, "--strict")
    assert result.exit_code == 2
    assert "2032 computations without a duration" in result.output
    result = invoke("trace", "show", dense, "--format", "chakr")
    assert "unknown format 'chakr'; did you mean 'chakra'?" in result.output


def test_the_table_of_records(shared_data: Path) -> None:
    meta = shared_data / "traces/dumpi/sst-dumpi/tests/traces/testtrace.meta"
    text = invoke("trace", "show", meta).output
    assert "MPI_Comm_rank     4     0        4             0  sends and receives nothing" in text
    assert "4 of 16 B, without messages of collectives" in text


def test_gzip_is_the_same(shared_data: Path, tmp_path: Path) -> None:
    for folder, pattern, first in (
        ("chakra/stg-generated/fsdp8", "workload.*", "workload.0.et"),
        ("dumpi/sst-dumpi/tests/traces", "testtrace*", "testtrace.meta"),
    ):
        source = shared_data / "traces" / folder
        for path in source.glob(pattern):
            (tmp_path / path.name).write_bytes(gzip.compress(path.read_bytes()))
        assert _core.trace(tmp_path / first) == _core.trace(source / first)


CHAKRA = (
    "astra-sim/examples/system/custom_collectives/custom_ring_allreduce_8npus_1MB/custom_allreduce.0.et",
    "astra-sim/examples/workload/microbenchmarks/all_gather/16npus_1MB/all_gather.0.et",
    "astra-sim/examples/workload/microbenchmarks/all_reduce/8npus_1MB/all_reduce.0.et",
    "astra-sim/examples/workload/microbenchmarks/all_to_all/4npus_1MB/all_to_all.0.et",
    "astra-sim/examples/workload/microbenchmarks/reduce_scatter/16npus_1MB/reduce_scatter.0.et",
    "astra-sim-tutorials/micro2024/astra-sim-demo/demo1/allreduce/allreduce.0.et",
    "stg-generated/dense8/workload.0.et",
    "stg-generated/fsdp8/workload.0.et",
)


@pytest.mark.parametrize("name", CHAKRA)
def test_chakra_traces_run(shared_data: Path, name: str) -> None:
    path = shared_data / "traces/chakra" / name
    run = odonata.run(experiment(path, {"kind": "loggops"}, flops_per_s=1e14))
    (job,) = run.jobs.to_pylist()
    assert run.summary["ending"] == "complete"
    assert job["completion_time_s"] > 0
    flow = odonata.run(experiment(path, {"kind": "flow"}))
    assert flow.jobs["bytes"].to_pylist() == [job["bytes"]]


LARGE = {"stg-generated/dense8/workload.0.et", "stg-generated/fsdp8/workload.0.et"}


def packet_run(path: Path, routing: str, ranks: int | str, limit_s: float) -> odonata.Run:
    engine = {"kind": "packet", "routing": routing, "time_limit": f"{limit_s} s"}
    return odonata.run(experiment(path, engine, ranks, flops_per_s=1e14))


@pytest.mark.slow
@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("name", sorted(set(CHAKRA) - LARGE))
def test_chakra_traces_run_on_the_packet_engine(shared_data: Path, name: str, routing: str) -> None:
    """All messages arrive, and the flow engine counts the same bytes."""
    path = shared_data / "traces/chakra" / name
    run = packet_run(path, routing, "trace", 1.0)
    assert run.summary["ending"] == "complete"
    (job,) = run.jobs.to_pylist()
    assert odonata.run(experiment(path, {"kind": "flow"})).jobs["bytes"].to_pylist() == [job["bytes"]]
    assert run.table("ranks").to_pandas()["received_bytes"].sum() == job["bytes"]


def test_the_ring_of_astra_sim_in_closed_form(shared_data: Path) -> None:
    """Each of 8 ranks sends 14 messages of 131,072 B, one after the other, and computes 7 times 7 us.

    A step of the ring takes 2 o + L + (m - 1) G with LogGOPSim's defaults o = 1,500, L = 2,500, G = 6 ns.
    """
    run = odonata.run(experiment(shared_data / "traces/chakra" / CHAKRA[0], {"kind": "loggops"}))
    assert run.jobs["bytes"].to_pylist() == [14_680_064]
    step_ns = 2 * 1_500 + 2_500 + (131_072 - 1) * 6
    assert run.jobs["completion_time_s"].to_pylist() == [
        pytest.approx((14 * step_ns + 7 * 7_000) / 1e9, rel=1e-12)
    ]


def test_a_liballprof_trace_ends_as_in_loggopsim(shared_data: Path) -> None:
    """Schedgen makes 15 messages of five broadcasts of 12 B among 4 ranks; LogGOPSim's default end times."""
    path = shared_data / "traces/liballprof/llamp/Schedgen/liballprof-samples/bcast/trace_bcast-0.dat"
    text = experiment(path, {"kind": "loggops"}, final_barrier=False)
    run = odonata.run(text + '\n[mpi]\nbcast = "binary-tree"\n')
    ends = run.table("rank_times").to_pandas()["end_ps"]
    assert ends.tolist() == [22_000_000, 26_330_000, 26_066_000, 30_396_000]
    assert run.jobs["messages"].to_pylist() == [15]


LANES = """num_ranks 2
rank 0 {
a: calc 1000 cpu 0
b: calc 3000 cpu 1
c: calc 2500 cpu 0
s: send 100b to 1 cpu 1
s requires a
s requires b
}
rank 1 {
r: recv 100b from 0
e: calc 500
e requires r
f: calc 700
}
"""


def test_the_critical_path_of_a_graph_names_its_tasks(tmp_path: Path) -> None:
    """b ends after a, so it lets the send start. Rank 1 computes f, 0.7 us, while the message comes.

    Hosts and NICs take no time, so computations and the message are the whole path.
    """
    (tmp_path / "a.goal").write_text(LANES)
    engine = {"kind": "packet", "record_calls": True}
    text = experiment(tmp_path / "a.goal", engine, final_barrier=False) + '\n[mpi]\nhost = "ideal"\n'
    run = odonata.run(text)
    calls = run.table("calls")
    after = {(row["rank"], row["call"]): row["after"] for row in calls.to_pylist()}
    # c waits for its lane, which a uses. A task that waits for none comes after itself.
    assert after == {(0, 1): 1, (0, 2): 2, (0, 3): 1, (0, 4): 2, (1, 1): 1, (1, 2): 1, (1, 3): 3}
    window = whole(run.table("ranks"), 0)
    path = critical_path(calls, run.table("rank_waits"), 0, window).to_pylist()
    found = [(piece["rank"], piece["call"], piece["activity"], piece["name"]) for piece in path]
    assert found == [(0, 2, "computing", ""), (1, 1, "in flight", "message"), (1, 2, "computing", "")]
    times = [piece["end_ps"] - piece["start_ps"] for piece in path]
    assert (times[0], times[2], sum(times)) == (3_000_000, 500_000, window.end_ps)
    run.save(tmp_path / "run")
    shown = invoke("explain", tmp_path / "run", "--path", "--job", "replay").output
    assert "message in flight     1  " in shown
    # b, r and e are in lines 4, 11 and 12 of the text.
    assert [(piece["place_kind"], piece["place"]) for piece in path] == [
        ("line", 4),
        ("line", 11),
        ("line", 12),
    ]
    assert re.search(r"task +line +node", shown), shown


def test_the_critical_path_names_the_program_among_several(tmp_path: Path) -> None:
    """The send of each of two programs is in its own line 1 or 3."""
    (tmp_path / "first.txt").write_text(
        "if rank == 0:\n    send 1 5 kB tag 1\nelse:\n    recv 0 5 kB tag 1\n"
    )
    (tmp_path / "second.txt").write_text("# second\n\n" + (tmp_path / "first.txt").read_text())
    programs = [{"name": "file", "path": str(tmp_path / f"{name}.txt")} for name in ("first", "second")]
    job = {"name": "two", "ranks": 2, "program": programs, "placement": "random-nodes"}
    engine = {"kind": "packet", "record_calls": True}
    run = odonata.run(
        'format = 3\n[machine]\npreset = "dragonfly-1056"\n\n'
        f"[[job]]\n{toml.document(job)}\n[engine]\n{toml.document(engine)}"
    )
    calls = run.table("calls").to_pylist()
    sends = [(call["program"], call["place"]) for call in calls if call["name"] == "send"]
    assert sends == [(0, 2), (1, 4)]
    run.save(tmp_path / "run")
    shown = invoke("explain", tmp_path / "run", "--path", "--job", "two").output
    assert re.search(r"line +program +node", shown), shown


LINES = """# Line 1 is a comment.
0 init
1 init
0 compute 1000000
0 send 1 5 1000 2
1 recv 0 5 1000 2
1 compute 2000000

1 barrier
0 barrier
0 finalize
1 finalize
"""


def test_the_critical_path_of_a_trace_names_its_lines(tmp_path: Path) -> None:
    """Rank 1 waits in line 6 for the send of line 5, and comes last to the barrier of lines 9 and 10."""
    (tmp_path / "a.trace").write_text(LINES)
    engine = {"kind": "packet", "record_calls": True}
    run = odonata.run(experiment(tmp_path / "a.trace", engine, final_barrier=False))
    calls = {(row["rank"], row["name"]): row["place"] for row in run.table("calls").to_pylist()}
    assert calls == {(0, "send"): 5, (1, "recv"): 6, (1, "barrier"): 9, (0, "barrier"): 10}
    path = critical_path(
        run.table("calls"), run.table("rank_waits"), 0, whole(run.table("ranks"), 0)
    ).to_pylist()
    inside = [piece for piece in path if piece["activity"] == "in a call"]
    lines = {(piece["rank"], piece["name"], piece["place"]) for piece in inside}
    # Rank 0 answers in the barrier, after rank 1 has come.
    assert lines == {(0, "send", 5), (1, "recv", 6), (1, "barrier", 9), (0, "barrier", 10)}
    assert {piece["place_kind"] for piece in inside} == {"line"}
    assert all(piece["place"] is None for piece in path if piece["activity"] == "computing")
    run.save(tmp_path / "run")
    shown = invoke("explain", tmp_path / "run", "--path", "--job", "replay").output
    assert re.search(r"call +line +node", shown), shown


@pytest.mark.parametrize(
    ("name", "kind"),
    [("goal/generated/allreduce_ring_8_1048576.goal", "line"), (f"chakra/{CHAKRA[0]}", "node")],
)
def test_critical_paths_of_graphs_are_whole(tmp_path: Path, shared_data: Path, name: str, kind: str) -> None:
    """Rendezvous, several lanes: the pieces follow each other from the start to the end of the job.

    Each task of the text is in the line that is named. A trace file keeps the lines.
    """
    engine = {"kind": "packet", "record_calls": True}
    run = odonata.run(experiment(shared_data / "traces" / name, engine))
    window = whole(run.table("ranks"), 0)
    path = critical_path(run.table("calls"), run.table("rank_waits"), 0, window).to_pylist()
    assert [path[0]["start_ps"], path[-1]["end_ps"]] == [window.start_ps, window.end_ps]
    assert all(a["end_ps"] == b["start_ps"] for a, b in pairwise(path))
    # A ring of 8 sends 14 times one after the other.
    assert sum(piece["activity"] == "in flight" and piece["name"] == "data" for piece in path) == 14
    calls = run.table("calls").to_pylist()
    assert {call["place_kind"] for call in calls} == {kind}
    if kind == "line":
        lines = (shared_data / "traces" / name).read_text().splitlines()
        words = {"send": "send", "recv": "recv", "compute": "calc"}
        assert all(f" {words[call['name']]} " in lines[call["place"] - 1] for call in calls)
    converted = invoke("trace", "convert", shared_data / "traces" / name, "-o", tmp_path / "a.odt")
    assert converted.exit_code == 0, converted.output
    assert odonata.run(experiment(tmp_path / "a.odt", engine)).table("calls").to_pylist() == calls


@pytest.mark.parametrize(
    "name",
    [
        "asplos2022/exercise_3/inputs/gpt3.txt",
        "asplos2022/exercise_3/inputs/vgg16.txt",
        "hoti2024/demo2/workload_text.txt",
    ],
)
def test_workloads_of_astra_sim_run(shared_data: Path, name: str) -> None:
    path = shared_data / "traces/chakra/astra-sim-tutorials" / name
    run = odonata.run(experiment(path, {"kind": "loggops"}, ranks=16))
    assert run.summary["ending"] == "complete"
    with pytest.raises(OdonataError, match="has no number of ranks in its file"):
        odonata.run(experiment(path, {"kind": "loggops"}))


def test_ranks_of_a_trace_need_a_trace(tmp_path: Path) -> None:
    text = experiment(tmp_path, {"kind": "flow"}).replace(
        'program = {name = "trace"', 'program = {name = "file"'
    )
    with pytest.raises(OdonataError, match="program 'file' has no number of ranks in its file"):
        odonata.run(text)


def test_ember_load_files_become_jobs(shared_data: Path, tmp_path: Path) -> None:
    """Job 10 on nodes 0 to 13 runs Halo2D with parameters on the next line; job 1 PingPong on 14 and 15."""
    folder = shared_data / "traces/ember/sst-elements/src/sst/elements/ember"
    found = from_ember(folder / "test/loadfile", machine="dragonfly-1056")
    run = odonata.run(found.text)
    jobs = run.jobs.select(["name", "ranks"]).to_pylist()
    assert jobs == [{"name": "ember-10", "ranks": 14}, {"name": "ember-1", "ranks": 2}]
    assert 'bytes = "128 B", iterations = 10' in found.text
    placed = run.table("placement").to_pandas()
    assert placed["node"].tolist() == list(range(16))
    assert (
        from_ember(folder / "run/configurations/loadfile").text == from_ember(folder / "test/loadfile").text
    )
    qos = from_ember(folder / "tests/qos.load", machine="dragonfly-1056")
    assert odonata.run(qos.text).jobs["ranks"].to_pylist() == [128] * 4
    assert any("[PARAM] merlin" in note for note in qos.notes)
    (tmp_path / "twice").write_text("[JOB_ID] 1\n[NID_LIST] 0-3\n[MOTIF] Init\n[JOB_ID] 2\n[NID_LIST] 3\n")
    with pytest.raises(OdonataError, match="line 4: node 3 is in jobs 1 and 2"):
        from_ember(tmp_path / "twice")
    (tmp_path / "wrong").write_text("[JOB_ID] 1\n[NID_LIST] 0-\n")
    with pytest.raises(OdonataError, match="line 1: job 1: nodes '0-'; expected a list such as 0-13,20"):
        from_ember(tmp_path / "wrong")


@pytest.mark.parametrize(
    ("motif", "program"),
    [
        (
            "Halo2D iterations=3 messagesize=64 sizex=4 sizey=2",
            {"name": "halo-2d", "bytes": "64 B", "iterations": 3, "dims": [4, 2]},
        ),
        # By default 128 B, ten times; one side alone is no grid.
        ("Halo2D sizex=4", {"name": "halo-2d", "bytes": "128 B", "iterations": 10}),
        # A face of 2 planes of 30 points, 4 fields of 8 B each: 1,920 B.
        (
            "Sweep3D nx=30 ny=20 nz=10 kba=2 fields_per_cell=4 pex=2 pey=4",
            {
                "name": "sweep-3d",
                "bytes": "1920 B",
                "planes": 10,
                "planes_per_block": 2,
                "iterations": 1,
                "dims": [2, 4],
            },
        ),
        # Three doubles.
        (
            "Allreduce count=3 iterations=5 compute=7",
            {"name": "allreduce", "bytes": "24 B", "iterations": 5, "compute": "7 ns"},
        ),
    ],
)
def test_a_motif_of_ember_is_a_program(motif: str, program: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "load").write_text(f"[JOB_ID] 1\n[NID_LIST] 0-7\n[MOTIF] {motif}\n")
    [job] = toml.parse(from_ember(tmp_path / "load").text)["job"]
    assert job["program"] == [program]


def test_atlahs_merge_files_become_jobs(tmp_path: Path) -> None:
    (tmp_path / "a.goal").write_text(GOAL)
    merge = tmp_path / "merge.json"
    merge.write_text(json.dumps({"goal_files": ["a.goal", "a.goal"], "pattern": [[5, 3], [0, 1]]}))
    found = from_atlahs(merge, machine="dragonfly-1056", directory=tmp_path)
    (tmp_path / "jobs.toml").write_text(found.text)
    run = odonata.run(tmp_path / "jobs.toml")
    assert run.table("placement").to_pandas()["node"].tolist() == [5, 3, 0, 1]
    assert run.jobs["bytes"].to_pylist() == [100, 100]
    merge.write_text(json.dumps({"goal_files": ["a.goal"], "pattern": [[5]]}))
    with pytest.raises(
        OdonataError, match="'pattern' has 1 nodes for file 0; expected one for each of 2 ranks"
    ):
        from_atlahs(merge)


@pytest.mark.parametrize("files", [None, [], "a.goal", ["a.goal", 3]])
def test_a_merge_file_needs_a_list_of_names(files: object, tmp_path: Path) -> None:
    (tmp_path / "a.goal").write_text(GOAL)
    (tmp_path / "merge.json").write_text(json.dumps({"goal_files": files}))
    with pytest.raises(OdonataError, match=r"merge\.json: no list 'goal_files'; expected"):
        from_atlahs(tmp_path / "merge.json")


def test_codes_replays_a_dumpi_set_that_is_there(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "traces/dumpi/sst-dumpi/tests/traces"
    for path in source.glob("testtrace*"):
        shutil.copyfile(path, tmp_path / path.name)
    (tmp_path / "workloads.conf").write_text("4 testtrace- 0 0\n2 synthetic1 0 0\n")
    found = from_codes(tmp_path / "workloads.conf", machine="dragonfly-1056", directory=tmp_path)
    (tmp_path / "jobs.toml").write_text(found.text)
    assert odonata.run(tmp_path / "jobs.toml").jobs["pattern"].to_pylist() == ["trace", "uniform"]
    assert not any("replaces" in note for note in found.notes)


def test_a_matrix_of_bytes_is_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("# bytes of a profiler\n0 1000 0\n0 0 250\n0 0 0\n")
    job = {"ranks": 3, "pattern": {"name": "file", "path": str(tmp_path / "m.txt")}}
    machine = 'format = 3\n[machine]\npreset = "dragonfly-1056"\n\n'
    text = f'{machine}[[job]]\n{toml.document(job)}\n[engine]\nkind = "flow"\n'
    assert odonata.run(text).jobs["bytes"].to_pylist() == [1250]
