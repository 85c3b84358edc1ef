"""Jobs of workload files of CODES and configurations of TraceR."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

import odonata
from odonata import toml
from odonata.errors import OdonataError
from odonata.importers import from_codes, replay
from odonata.importers.jobs import experiment

WORKLOADS = "4 /traces/AMG/df_AMG_n4_dumpi/dumpi-2014.03.03-\n\n2 synthetic\n"
ALLOCATION = "0 3 5 6\n9 8\n"
CONFIGURATION = "global.bin\n2\ntraceJ0 job0 4 1\ntraceJ1 job1 2 1\nS 0 1.0\n"


def files(tmp_path: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


def test_a_workload_file_becomes_jobs_where_they_are_allocated(tmp_path: Path) -> None:
    """Line i of the allocation has the nodes of job i."""
    workloads, allocation = files(tmp_path, workloads=WORKLOADS, allocation=ALLOCATION)
    jobs = replay.codes(workloads, allocation, tmp_path)
    text = experiment(jobs, {"preset": "dragonfly-1056"})
    (tmp_path / "replay.toml").write_text(text)
    run = odonata.run(tmp_path / "replay.toml")
    placed = run.table("placement").to_pandas()
    assert [group["node"].tolist() for _, group in placed.groupby("job")] == [[0, 3, 5, 6], [9, 8]]
    assert run.jobs["name"].to_pylist() == ["df_AMG_n4_dumpi-0", "synthetic-1"]


def test_a_configuration_of_tracer_replays_the_archive_that_it_names(tmp_path: Path) -> None:
    """One trace is there, the other is not."""
    (configuration,) = files(tmp_path, tracer_config="NA\n2\nt/traces.otf2 NA 1 1\nx/traces.otf2 NA 1 1\n")
    archive = Path(__file__).parents[2] / "fuzz"
    (tmp_path / "t" / "traces").mkdir(parents=True)
    for name in ("otf2", "def"):
        shutil.copy(archive / "archives" / "otf2" / f"fuzz.{name}", tmp_path / "t" / f"traces.{name}")
    shutil.copy(archive / "seeds" / "traces" / "otf2-events", tmp_path / "t" / "traces" / "0.evt")
    replayed, replaced = replay.tracer(configuration, tmp_path)
    path = str(tmp_path / "t" / "traces.otf2")
    assert (replayed.program, replayed.replaced) == ({"name": "trace", "path": path}, None)
    assert (replaced.program, replaced.replaced) == (None, "x/traces.otf2")
    text = experiment([replayed], {"preset": "dragonfly-1056"})
    (tmp_path / "replay.toml").write_text(text.replace('kind = "flow"', 'kind = "packet"'))
    odonata.check(tmp_path / "replay.toml")


def test_a_configuration_of_tracer_becomes_jobs_of_its_global_map(tmp_path: Path) -> None:
    """Two jobs, the second one first on the machine."""
    (configuration,) = files(tmp_path, tracer_config=CONFIGURATION)
    records = [(0, 0, 1), (1, 1, 1), *((2 + rank, rank, 0) for rank in range(4))]
    (tmp_path / "global.bin").write_bytes(b"".join(struct.pack("<3i", *record) for record in records))
    jobs = replay.tracer(configuration, tmp_path)
    assert [(job.name, job.ranks) for job in jobs] == [("traceJ0-0", 4), ("traceJ1-1", 2)]
    text = experiment(jobs, {"preset": "dragonfly-1056"})
    (tmp_path / "replay.toml").write_text(text)
    placed = odonata.run(tmp_path / "replay.toml").table("placement").to_pandas()
    assert [group["node"].tolist() for _, group in placed.groupby("job")] == [[2, 3, 4, 5], [0, 1]]


def test_the_milc_of_codes_is_replaced_aloud(shared_data: Path) -> None:
    folder = shared_data / "traces/codes/codes/tests/conf/union-milc-jacobi-workload"
    found = from_codes(
        folder / "jacobi_MILC.workload.conf",
        alloc=folder / "rand_node0-1d-72-jacobi_MILC.alloc.conf",
        machine="dragonfly-1056",
    )
    assert "replaces conceptual-jacobi3d, milc: the file only names them" in " ".join(found.notes)
    assert odonata.run(found.text).jobs["name"].to_pylist() == ["conceptual-jacobi3d-0", "milc-1"]


def test_paths_are_seen_from_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`NA` leaves the placement open."""
    monkeypatch.chdir(tmp_path)
    (configuration,) = files(tmp_path, tracer_config=CONFIGURATION)
    (tmp_path / "deep").mkdir()
    placement = replay.tracer(configuration, tmp_path / "deep")[1].placement
    assert placement == {"name": "file", "path": "../global.bin", "format": "tracer", "job": 1}
    (open_,) = files(tmp_path, open=CONFIGURATION.replace("global.bin", "NA"))
    jobs = replay.tracer(open_, tmp_path, pattern="tornado")
    assert [job.placement for job in jobs] == [{}, {}]
    parsed = toml.parse(experiment(jobs, None))
    assert parsed["job"][1] == {"name": "traceJ1-1", "pattern": "tornado", "ranks": 2}


@pytest.mark.parametrize(
    ("text", "allocation", "said"),
    [
        ("4\n", ALLOCATION, "line 1: '4'; expected ranks and a trace"),
        ("4 a\nfour b\n", ALLOCATION, "line 2: 'four' ranks; expected a positive integer"),
        ("4 a\n3 b\n", ALLOCATION, "allocation, line 2: 2 nodes, but job 1 has 3 ranks"),
        ("4 a\n", ALLOCATION, "has 2 jobs"),
        ("4 a\n2 b\n1 c\n", ALLOCATION, "line 3 of .* is another job"),
        ("", ALLOCATION, "has no jobs"),
    ],
)
def test_mistakes_of_a_workload_file(text: str, allocation: str, said: str, tmp_path: Path) -> None:
    """With the line."""
    paths = files(tmp_path, workloads=text, allocation=allocation)
    with pytest.raises(OdonataError, match=said):
        replay.codes(paths[0], paths[1], tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("global.bin\n", "line 1: expected a global map"),
        ("NA\n2\na b 4 1\n", "line 2: 2 jobs, but 1 lines follow"),
        ("NA\n1\na b\n", "line 3: 2 words"),
        ("NA\n1\na b x 1\n", "line 3: 'x' ranks"),
        ("NA\n1\na b 1 1\nc d 1 1\n", "line 4: 'c' after the 1 jobs of line 2"),
    ],
)
def test_mistakes_of_a_configuration(text: str, said: str, tmp_path: Path) -> None:
    """With the line."""
    (path,) = files(tmp_path, tracer_config=text)
    with pytest.raises(OdonataError, match=said):
        replay.tracer(path, tmp_path)
