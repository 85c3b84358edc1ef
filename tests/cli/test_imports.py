"""Jobs and counters in the files of other programs: CODES, TraceR, LDMS."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from running import Command

import odonata
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
    assert (found.links, found.routers, found.seconds) == (2, 1, 20.0)
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
        ("", LINKS, "is empty"),
        ("a,b\n1,2\n", LINKS, "there is no column aries_rtr_id"),
        (samples(["1,0,n,1,0,c0-0c0s0a0" + ",1" * 9]), LINKS, "only one sample of c0-0c0s0a0"),
        (
            samples([f"{t},0,n,1,0,c9-0c0s0a0" + ",1" * 9 for t in (1, 2)]),
            LINKS,
            "router c9-0c0s0a0 is not in",
        ),
        (samples(["1,0,n,1,0,c0-0c0s0a0,1"]), LINKS, "line 2: 7 columns, but the header has 15"),
        (samples(["1,0,n,1,0,c0-0c0s0a0" + ",x" * 9]), LINKS, "line 2: invalid literal"),
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
