"""Jobs and counters in the files of other programs: CODES, TraceR, LDMS."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata.counters import read_columns
from odonata.errors import OdonataError
from odonata.importers import ldms, replay
from odonata.viewer.counters import read_counters

CABLES = "src,dst,src_nodes,dst_nodes\n" + "".join(f"r{i},r{i + 1},4,4\n" for i in range(3))


def pairs(run: odonata.Run, job: int) -> list[tuple[int, int]]:
    """Who of a job is on which node, by rank."""
    placed = run.placement.to_pandas()
    own = placed[placed["job"] == job].sort_values("rank")
    return list(zip(own["rank"], own["node"], strict=True))


def test_a_workload_of_codes_runs_where_its_allocation_says(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "net.csv").write_text(CABLES)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/workload.conf").write_text(
        "4 synthetic2\n\n4 synthetic6 1\n3 /traces/amg-3.bin 0 5.0\n"
    )
    (tmp_path / "conf/alloc.conf").write_text("3 2 1 0\n4 5 6 7\n8 9 15\n")
    (tmp_path / "out").mkdir()
    words = ["codes", "conf/workload.conf", "--alloc", "conf/alloc.conf", "--machine", "net.csv"]
    more = ["--pattern", "all-to-all", "--bytes", "4 KiB", "-o", "out/jobs.toml"]
    made = odonata_command("import", *words, *more, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "3 jobs" in made.stderr
    run = odonata.run(tmp_path / "out/jobs.toml")
    assert run.jobs["name"].to_pylist() == ["synthetic2-0", "synthetic6-1", "traces-2"]
    assert pairs(run, 0) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    assert pairs(run, 2) == [(0, 8), (1, 9), (2, 15)]
    # Nearest neighbour and bisection: a message of each rank; the trace's job as it was said, to all others.
    assert run.jobs["bytes"].to_pylist() == [4 * 4096, 4 * 4096, 6 * 4096]


@pytest.mark.parametrize("name", ["zzzzzzzz", "stencil3d"])
def test_a_pattern_that_is_none_is_refused_before_anything_is_written(
    odonata_command: Command, tmp_path: Path, name: str
) -> None:
    """The nearest name, or where none is near all of them, as an experiment file's mistake has them."""
    (tmp_path / "queue.txt").write_text("JOBID|NAME|NODES|CPUS|ST|NODELIST\n1|cfd|2|4|R|n[1-2]\n")
    result = odonata_command("import", "slurm", "queue.txt", "--pattern", name, "-o", "x.toml")
    assert result.returncode == 2
    assert f"unknown pattern {name}" in result.stderr
    assert not (tmp_path / "x.toml").exists()
    (tmp_path / "y.toml").write_text(
        f'[machine]\npreset = "edison"\n[[job]]\npattern = "{name}"\nranks = 2\n'
    )
    of_file = odonata_command("check", "y.toml")
    assert of_file.returncode == 2
    if name == "stencil3d":
        assert "stencil-3d?" in result.stderr
        assert "did you mean 'stencil-3d'?" in of_file.stderr
        return
    names = [row["name"] for row in json.loads(odonata_command("list", "patterns", "--json").stdout)]
    assert len(names) > 10
    assert ", ".join(names) in " ".join(result.stderr.split())
    assert ", ".join(names) in of_file.stderr


def test_bisection_is_half_around_the_ring(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("10 synthetic6\n")
    (job,) = replay.codes(tmp_path / "w", None, tmp_path)
    assert job.pattern == {"name": "shift", "offset": 5}


def test_synthetic_workloads_have_numbers(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("4 synthetic9\n")
    with pytest.raises(OdonataError, match="line 1: 'synthetic9'; expected synthetic1 to synthetic6"):
        replay.codes(tmp_path / "w", None, tmp_path)


def test_a_configuration_of_tracer_runs_where_its_map_says(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "net.csv").write_text(CABLES)
    (tmp_path / "tracer").mkdir()
    # Server, rank, job: the first job on the odd cores, the second one on the even ones from the end.
    records = [(1, 0, 0), (3, 1, 0), (14, 0, 1), (12, 1, 1), (10, 2, 1)]
    packed = b"".join(struct.pack("<3i", *record) for record in records)
    (tmp_path / "tracer/global.bin").write_bytes(packed)
    (tmp_path / "tracer/config").write_text("global.bin\n2\ntraceJ0 job0 2 1\nJ1/t NA 3 4\n")
    words = ["tracer", "tracer/config", "--machine", "net.csv", "--pattern", "all-to-all", "-o", "jobs.toml"]
    made = odonata_command("import", *words, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    run = odonata.run(tmp_path / "jobs.toml")
    assert run.jobs["name"].to_pylist() == ["traceJ0-0", "J1-1"]
    assert pairs(run, 0) == [(0, 1), (1, 3)]
    assert pairs(run, 1) == [(0, 14), (1, 12), (2, 10)]
    assert run.jobs["messages"].to_pylist() == [2, 6 * 4], "four iterations"


LINKS = """\
c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)
c0-0c0s1a0l10(0:0:1) green -> c0-0c0s0a0l00(0:0:0)
c0-0c0s0a0l27(0:0:0) blue -> c2-0c0s0a0l27(1:0:0)
c2-0c0s0a0l27(1:0:0) blue -> c0-0c0s0a0l27(0:0:0)
c0-0c0s0a0l50(0:0:0) ptile -> processor
"""
COUNTERS = [
    f"AR_RTR_{tile}_INQ_PRF_{what}"
    for tile in ("0_0", "2_7", "5_0")
    for what in ("INCOMING_FLIT_VC0", "INCOMING_FLIT_VC4", "ROWBUS_STALL_CNT")
]


def samples(rows: list[str]) -> str:
    head = ",".join(
        ["#Time", "Time_usec", "ProducerName", "component_id", "job_id", "aries_rtr_id", *COUNTERS]
    )
    return "\n".join([head, *rows]) + "\n"


def test_counters_of_ldms_are_what_grew_on_the_link_that_leads_there(tmp_path: Path) -> None:
    """By hand: rows out of order, a counter that wraps at 2^48, a processor tile that is no link."""
    rows = [
        "30.5,0,nid1,1,0,c0-0c0s0a0,110,205,37,14,9,1,7,7,7",
        "10.5,0,nid1,1,0,c0-0c0s0a0,100,200,30,281474976710650,9,1,1,1,1",
        "20.5,0,nid1,1,0,c0-0c0s0a0,105,201,31,3,9,1,2,2,2",
    ]
    (tmp_path / "aries.csv").write_text(samples(rows))
    (tmp_path / "links.txt").write_text(LINKS)
    found = ldms.read(tmp_path / "aries.csv", tmp_path / "links.txt")
    assert (found.links, found.routers, found.seconds) == (2, 1, (20.0, 20.0))
    (tmp_path / "counters.csv").write_text(found.text())
    links = read_counters(tmp_path / "counters.csv").table("links").to_pandas()
    green, blue = (links[links["class"] == name].iloc[0] for name in ("green", "blue"))
    assert (green["flits"], green["flits_vc_0"], green["flits_vc_4"], green["stalls"]) == (15, 10, 5, 7)
    assert (blue["flits"], blue["stalls"]) == (14 + 6, 0)
    names = read_counters(tmp_path / "counters.csv").table("routers")["name"].to_pylist()
    assert names[int(green["target"])] == "g0r0c0"
    assert names[int(green["source"])] == "g0r0c1"


@pytest.mark.parametrize(
    ("table", "links", "why"),
    [
        ("", LINKS, "expected the header of LDMS"),
        ("a,b\n1,2\n", LINKS, "expected the header of LDMS"),
        ("#Time,ProducerName,AR_RTR_0_0_X\n1,n,1\n2,n,3\n", LINKS, "there is no column aries_rtr_id"),
        (samples(["1,0,n,1,0,c0-0c0s0a0" + ",1" * 9]), LINKS, "line 2: only one sample of n"),
        (
            samples([f"{t},0,n,1,0,c9-0c0s0a0" + ",1" * 9 for t in (1, 2)]),
            LINKS,
            "router c9-0c0s0a0 is not in",
        ),
        (samples(["1,0,n,1,0,c0-0c0s0a0,1"]), LINKS, "line 2: 7 values; expected 15, as in the header"),
        (
            samples([f"{t},0,n,1,0,c0-0c0s0a0" + ",x" * 9 for t in (1, 2)]),
            LINKS,
            "line 2: AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0 is 'x'",
        ),
        (samples([]), LINKS, "has no samples"),
        (samples([]), "nothing\n", "lists no cable of a Cray XC"),
    ],
)
def test_tables_of_ldms_that_are_none(table: str, links: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "aries.csv").write_text(table)
    (tmp_path / "links.txt").write_text(links)
    with pytest.raises(OdonataError) as caught:
        ldms.read(tmp_path / "aries.csv", tmp_path / "links.txt")
    assert why in str(caught.value)


def growth_of(name: str, shared_data: Path) -> Path:
    """A table of two routers and one cable, as users had it."""
    folder = shared_data / "findings/reports/ldms-counters"
    if not folder.exists():
        pytest.skip("no files of users")
    return folder / name


@pytest.mark.parametrize(
    ("name", "columns", "rows", "note"),
    [
        # 1,000,000 then 50: a restart. A wrap would be 2.8e14 flits in 60 s.
        (
            "restart.csv",
            "seconds,flits,stalls,flits_vc_0",
            ["60,50,3,50", "60,200,20,200"],
            "restarted at zero",
        ),
        ("stalls-only.csv", "seconds,stalls", ["60,20", "60,20"], "no flits: the table has no AR_RTR_"),
        ("packet-counters.csv", "seconds,stalls", ["60,20", "60,20"], "no flits: the table has no AR_RTR_"),
        # Two nodes report the first router, 30 s apart: one of them counts, over its own 60 s.
        (
            "two-producers.csv",
            "seconds,flits,stalls,flits_vc_0",
            ["60,300,20,300", "60,200,20,200"],
            "not counted again: 1 producer with the same routers",
        ),
    ],
)
def test_what_a_table_of_ldms_lacks_is_absent(
    name: str, columns: str, rows: list[str], note: str, shared_data: Path
) -> None:
    """Not 0: a counter that was never sampled is unknown, and said."""
    table = growth_of(name, shared_data)
    found = ldms.read(table, table.parent / "links.txt")
    lines = found.text().splitlines()
    assert lines[0].partition("color,")[2] == columns
    assert [line.partition("g,")[2] for line in lines[1:]] == rows
    assert note in " ".join(found.notes)
    # The other command reads the same growth: its sums are the sums of the links.
    sums = {counter: values.sum() for counter, values in read_columns(table).items()}
    for column, counter in (
        ("flits", "AR_RTR_INQ_PRF_INCOMING_FLIT_VC0"),
        ("stalls", "AR_RTR_INQ_PRF_ROWBUS_STALL_CNT"),
    ):
        if column in columns.split(","):
            place = columns.split(",").index(column)
            assert sums[counter] == sum(float(row.split(",")[place]) for row in rows)


def test_tiles_without_a_cable_are_no_links(shared_data: Path) -> None:
    table = growth_of("other-tile.csv", shared_data)
    with pytest.raises(OdonataError, match="it has counters of tiles 4_7, but needs c0-0c0s0a0 tile 0_0"):
        ldms.read(table, table.parent / "links.txt")


def test_a_link_may_lack_a_counter(tmp_path: Path) -> None:
    """Flits of one tile and stalls of the other: the cells are empty, unknown to the viewer, too."""
    head = f"#Time,ProducerName,aries_rtr_id,{COUNTERS[0]},{COUNTERS[5]}"
    (tmp_path / "aries.csv").write_text(f"{head}\n1,n,c0-0c0s0a0,5,5\n3,n,c0-0c0s0a0,9,8\n")
    (tmp_path / "links.txt").write_text(LINKS)
    found = ldms.read(tmp_path / "aries.csv", tmp_path / "links.txt")
    (tmp_path / "counters.csv").write_text(found.text())
    links = read_counters(tmp_path / "counters.csv").table("links").to_pandas().set_index("class")
    assert links.loc["green", "flits"] == 4
    assert links.loc["blue", "stalls"] == 3
    assert links["flits"].isna().sum() == links["stalls"].isna().sum() == 1


WORKLOADS = ["conceptual-jacobi3d", "milc"]


def test_a_workload_that_is_only_named_is_replaced_aloud(odonata_command: Command, tmp_path: Path) -> None:
    """Union's and SWM's workloads have no messages in the file: the pattern in their place is said."""
    (tmp_path / "work").write_text("".join(f"4 {name} 1 0\n" for name in WORKLOADS) + "2 synthetic2\n")
    (tmp_path / "net.csv").write_text(CABLES)
    done = odonata_command("import", "codes", "work", "--machine", "net.csv", "-o", "jobs.toml")
    assert done.returncode == 0, done.stderr
    assert "work: CODES workload file: 3 jobs, 10 ranks" in done.stderr
    assert "pattern 'uniform' replaces conceptual-jacobi3d, milc: the file only names them" in done.stderr
    assert "synthetic2 is read as pattern 'shift'" in done.stderr
    assert "not read: 1 0" in done.stderr
    assert odonata.run(tmp_path / "jobs.toml").jobs["name"].to_pylist()[:2] == [f"{WORKLOADS[0]}-0", "milc-1"]
    (tmp_path / "config").write_text("NA\n1\ntrace/t NA 4 1\nS 0 1.0\n")
    done = odonata_command("import", "tracer", "config")
    assert "pattern 'uniform' replaces trace/t: the file only names it" in done.stderr
    assert "not read: 1 line after the jobs" in done.stderr
