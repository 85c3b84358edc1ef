"""Queues of batch systems: whatever wrote them, `import`, `check` and `run` need no edit between them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queue_files import ALIGNED, DEFAULT, FORMATS, HEAD, PARSABLE, PIPES, SQUEUE_JSON, TREE, number
from running import Command

import odonata
from odonata.errors import OdonataError
from odonata.importers import from_slurm, queues, slurm, tables


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a machine of 16 nodes, n01 to n16."""
    (tmp_path / "cluster.conf").write_text(TREE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(hall: Path, text: str) -> odonata.importers.ImportResult:
    """What a file becomes on the machine of `hall`."""
    (hall / "queue.txt").write_text(text)
    return from_slurm("queue.txt", machine="cluster.conf")


def ranks_on(run: odonata.Run) -> dict[str, dict[str, int]]:
    """Ranks of each job on each node, by names."""
    names = run.nodes["name"].to_pylist()
    found: dict[str, dict[str, int]] = {}
    jobs = run.jobs["name"].to_pylist()
    for row in run.placement.to_pylist():
        on = found.setdefault(jobs[row["job"]], {})
        on[names[row["node"]]] = on.get(names[row["node"]], 0) + 1
    return found


def queue_of(text: str, tmp_path: Path, **given: Any) -> queues.Queue:
    """The running jobs of a file."""
    (tmp_path / "queue.txt").write_text(text)
    path = tmp_path / "queue.txt"
    return queues.running(path, slurm.read(path), given.get("at"), given.get("ranks_per_node"))


@pytest.mark.parametrize("program", FORMATS)
def test_every_format_gives_the_same_jobs(program: str, hall: Path) -> None:
    """Five programs, tables and JSON: the same ranks on the same nodes, and it runs as it stands."""
    found = imported(hall, FORMATS[program])
    run = odonata.run(found.text)
    assert ranks_on(run) == {"climate-7": {"n01": 4, "n02": 4}, "my run-8_2": {"n05": 4}}
    assert (found.jobs, found.left_out) == (2, 1)
    assert found.notes[0].startswith(program.partition(" -")[0].strip())
    assert "cores_per_node = 4, the most that the jobs use on one node" in " ".join(found.notes)


def test_the_default_print_has_no_cpus(hall: Path) -> None:
    """What is not in the file is said, and not taken for a number of the file."""
    found = imported(hall, DEFAULT)
    assert ranks_on(odonata.run(found.text)) == {"climate-7": {"n01": 1, "n02": 1}, "my run-8_2": {"n05": 1}}
    assert "1 PENDING" in found.notes[0]
    assert "one rank per node: the file gives no CPUs" in found.notes[1]


NAMES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=300)
@given(names=st.lists(NAMES, min_size=1, max_size=3))
def test_a_name_may_be_anything(names: list[str]) -> None:
    """Blanks, separators or nothing: each row is one job with its number and its nodes."""
    default = [DEFAULT.splitlines()[0]]
    pipes = [HEAD.strip()]
    blanks = ["JOBID NAME USER ST TIME NODES CPUS NODELIST(REASON)"]
    for i, name in enumerate(names):
        default.append(f"{i:>18} {'batch':>9} {name[:8]:>8} {'ann':>8} {'R':>2} {'1:00':>10} {2:>6} n[1-2]")
        pipes.append(f"{i}|{name}|2|96|R|n[1-2]")
        blanks.append(f"{i} {name} ann R 1:00 2 96 n[1-2]")
    for lines, width in ((default, 8), (pipes, 99), (blanks, 99)):
        titles = tables.titles_of(lines[0])[0]
        rows = [row for _, row in tables.rows(Path("queue.txt"), lines, 0)]
        assert [row["NAME"] for row in rows] == [name[:width].strip() for name in names]
        assert [row["JOBID"] for row in rows] == [str(i) for i in range(len(names))]
        assert {(row["NODES"], row["ST"], row[titles[-1]]) for row in rows} == {("2", "R", "n[1-2]")}


@pytest.mark.parametrize("state", [*slurm.SLURM_STATES, *slurm.SLURM_STATES.values()])
def test_only_running_jobs_run(state: str, tmp_path: Path) -> None:
    """A completing job has ended and a suspended one sends nothing: both are counted under their names."""
    rows = f"1|a|1|4|R|n1\n2|b|1|4|{state}|n2\n"
    queue = queue_of(HEAD + rows, tmp_path)
    word = slurm.SLURM_STATES.get(state, state)
    assert [job.number for job in queue.jobs] == (["1", "2"] if word == "RUNNING" else ["1"])
    assert dict(queue.left_out) == ({} if word == "RUNNING" else {word: 1})


def test_states_may_be_cut_off(tmp_path: Path) -> None:
    """`squeue -l` cuts at 8 characters, below the date; `sacct` marks a cut with a plus."""
    rows = """Fri Nov 27 03:07:35 2026
             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)
                 1     batch  climate      bob  RUNNING    2:25:51 1-00:00:00      2 n[01-02]
                 2     batch      cfd      bob COMPLETI    2:25:51 UNLIMITED      1 n03
                 3     batch      cfd      bob  PENDING       0:00 UNLIMITED      1 (Nodes are DOWN or so)
"""
    queue = queue_of(rows, tmp_path)
    assert ([job.number for job in queue.jobs], dict(queue.left_out)) == (
        ["1"],
        {"COMPLETING": 1, "PENDING": 1},
    )
    queue = queue_of("JobID|State|NodeList\n1|OUT_OF_ME+|n1\n2|CANCELLED by 7|n1\n3|RUNNING|n1\n", tmp_path)
    assert dict(queue.left_out) == {"OUT_OF_MEMORY": 1, "CANCELLED": 1}


def test_jobs_share_a_node_by_cores(hall: Path) -> None:
    """By hand: 1 + 1 + 30 ranks on n01 and 30 on n02."""
    text = HEAD + "1_1|task|1|1|R|n01\n1_2|task|1|1|R|n01\n2|solver|2|60|R|n[01-02]\n"
    found = imported(hall, text)
    assert ranks_on(odonata.run(found.text)) == {
        "task-1_1": {"n01": 1},
        "task-1_2": {"n01": 1},
        "solver-2": {"n01": 30, "n02": 30},
    }
    assert "cores_per_node = 32" in found.text
    assert "jobs share 1 node: each rank takes a core" in found.notes
    # The resolved experiment has nodes_per_router, 8 as in the file: names and placement stay.
    resolved = odonata.check(found.text)["resolved"]
    assert ranks_on(odonata.run(resolved)) == ranks_on(odonata.run(found.text))


def test_no_rank_is_lost_on_uneven_nodes(hall: Path) -> None:
    """100 CPUs on 3 nodes are 34 + 33 + 33 ranks; JSON says which node has how many."""
    found = imported(hall, HEAD + "1|a|3|100|R|n[01-03]\n")
    assert ranks_on(odonata.run(found.text)) == {"a-1": {"n01": 34, "n02": 33, "n03": 33}}
    assert "CPUs do not divide evenly among the nodes of a-1" in " ".join(found.notes)
    content = json.loads(SQUEUE_JSON)
    counts = {"n01": 5, "n02": 3}
    content["jobs"][0]["job_resources"]["nodes"]["allocation"] = [
        {"name": name, "cpus": {"count": count}} for name, count in counts.items()
    ]
    found = imported(hall, json.dumps(content))
    assert ranks_on(odonata.run(found.text))["climate-7"] == counts
    assert "evenly" not in " ".join(found.notes)


def names_of(nodes: list[int]) -> str:
    """The list of a batch system without brackets."""
    return ",".join(f"n{n:02}" for n in nodes)


@settings(max_examples=100)
@given(
    jobs=st.lists(
        st.tuples(st.lists(st.integers(1, 16), min_size=1, max_size=5, unique=True), st.integers(0, 40)),
        min_size=1,
        max_size=5,
    )
)
def test_ranks_are_the_cpus_of_the_table(jobs: list[tuple[list[int], int]]) -> None:
    """Property: CPUs in = ranks out, and a list has the nodes of the table."""
    entries = [
        queues.Entry(
            "line 1", str(i), "a", "RUNNING", ",".join(f"n{n:02}" for n in nodes), None, len(nodes) + more
        )
        for i, (nodes, more) in enumerate(jobs)
    ]
    queue = queues.running("queue", queues.Listing("squeue", entries, frozenset({"cores"})), None, None)
    placed = queues.as_jobs(queue.jobs, "uniform")
    assert [job.ranks for job in placed] == [len(nodes) + more for nodes, more in jobs]
    for job, (nodes, more) in zip(placed, jobs, strict=True):
        counts = job.placement.get("ranks_on_nodes") or [job.ranks_per_node] * len(nodes)
        assert sum(counts) == job.ranks
        assert max(counts) - min(counts) <= (1 if more % len(nodes) else 0)
        names = odonata._core.host_names(str(job.placement["nodes"]))
        assert ",".join(names) == names_of(nodes)


def test_heterogeneous_jobs_and_arrays_keep_their_numbers(hall: Path) -> None:
    content = json.loads(SQUEUE_JSON)
    content["jobs"] = [
        content["jobs"][0] | {"het_job_id": number(7), "het_job_offset": number(0)},
        content["jobs"][1]
        | {"array_task_id": number(None), "array_job_id": number(0)}
        | {"het_job_id": number(7), "het_job_offset": number(1)},
    ]
    run = odonata.run(imported(hall, json.dumps(content)).text)
    assert run.jobs["name"].to_pylist() == ["climate-7+0", "my run-7+1"]
    text = HEAD + "7+0|a|1|4|R|n01\n7+1|a|1|4|R|n02\n8_[1-4]|a|1|1|PD|\n8_0|a|1|1|R|n03\n"
    run = odonata.run(imported(hall, text).text)
    assert run.jobs["name"].to_pylist() == ["a-7+0", "a-7+1", "a-8_0"]


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        ("queue.txt", "jobs of a batch system"),
        ("edisn", "Did you mean edison?"),
        ("nothing.csv", "nothing.csv"),
        ("hall.toml", r"has no [machine]"),
    ],
)
def test_a_machine_that_is_none_is_refused(
    machine: str, why: str, odonata_command: Command, hall: Path
) -> None:
    """Before anything is written."""
    (hall / "queue.txt").write_text(PIPES)
    (hall / "hall.toml").write_text("[engine]\nkind = 'flow'\n")
    for importer in ("slurm", "codes", "tracer"):
        (hall / "work").write_text("4 synthetic1\n" if importer == "codes" else "NA\n1\na b 4\n")
        file = "queue.txt" if importer == "slurm" else "work"
        done = odonata_command("import", importer, file, "--machine", machine, "-o", "now.toml", cwd=hall)
        assert done.returncode == 2, (importer, done.stderr)
        assert why in done.stderr
        assert not (hall / "now.toml").exists()


def test_unknown_nodes_are_counted_and_named(hall: Path) -> None:
    """A job on nodes of another machine is left out; if all are, nothing is written."""
    text = HEAD + "1|a|2|4|R|n[01-02]\n2|b|3|4|R|n[15-17]\n3|c|1|4|R|viz1\n"
    found = imported(hall, text)
    assert (found.jobs, found.left_out) == (1, 2)
    words = " ".join(found.notes)
    assert "2 nodes of queue.txt are not in cluster.conf: n17, viz1" in words
    assert "b-2, c-3" in words
    assert "its 16 nodes are n01, n02, .., n16" in words
    assert "Did you mean n16?" in words or "Did you mean n15?" in words or "Did you mean n07?" in words
    with pytest.raises(OdonataError, match=r"2 nodes of queue.txt are not in cluster.conf: m1, m2; its 16"):
        imported(hall, HEAD + "1|a|2|4|R|m[1-2]\n")


def test_jobs_on_failed_nodes_are_named(hall: Path) -> None:
    (hall / "hall.toml").write_text('[machine]\nfile = "cluster.conf"\nedit = "fail n02"\n')
    (hall / "queue.txt").write_text(PIPES)
    found = from_slurm("queue.txt", machine="hall.toml")
    assert found.jobs == 1
    assert (
        "climate-7 left out: on nodes that failed or are not for jobs in hall.toml, such as n02"
        in " ".join(found.notes)
    )


def test_cores_of_the_machine_hold_unless_the_jobs_have_more(hall: Path) -> None:
    (hall / "hall.toml").write_text('[machine]\nfile = "cluster.conf"\ncores_per_node = 8\n')
    (hall / "queue.txt").write_text(PIPES)
    assert "cores_per_node = 8\n" in from_slurm("queue.txt", machine="hall.toml").text
    more = from_slurm("queue.txt", machine="hall.toml", ranks_per_node=16)
    assert "cores_per_node = 16\n" in more.text
    assert "not the 8 of hall.toml" in " ".join(more.notes)
    assert odonata.run(more.text).jobs["ranks"].to_pylist() == [32, 16]
    (hall / "hall.toml").write_text('[machine]\ntopology = "dragonfly"\nnode_names = "n[01-1056]"\n')
    assert "which hall.toml does not give" in " ".join(from_slurm("queue.txt", machine="hall.toml").notes)


def test_files_below_the_working_directory_move_with_the_experiment(
    odonata_command: Command, hall: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A folder with both can move; an experiment elsewhere finds its files wherever it is."""
    (hall / "queue.txt").write_text(PIPES)
    (hall / "runs").mkdir()
    words = ("import", "slurm", "queue.txt", "--machine", "cluster.conf", "-o")
    assert odonata_command(*words, "runs/now.toml", cwd=hall).returncode == 0
    assert 'file = "../cluster.conf"' in (hall / "runs/now.toml").read_text()
    away = tmp_path_factory.mktemp("away")
    assert odonata_command(*words, str(away / "now.toml"), cwd=hall).returncode == 0
    moved = tmp_path_factory.mktemp("moved")
    (away / "now.toml").rename(moved / "now.toml")
    odonata.run(moved / "now.toml")
    hall.rename(moved / "hall")
    os.chdir(moved)
    odonata.run(moved / "hall/runs/now.toml")


@pytest.mark.parametrize(
    ("text", "kind", "command"),
    [
        ("; Version: 2\n1 2 3\n", "Standard Workload Format", "squeue -t R -o"),
        (
            " 184 561553 0 61 16 -1 -1 16 43200 819200 1 6 1 -1 -1 1 -1 -1\n",
            "Standard Workload Format",
            "squeue",
        ),
        ("JobId=12 JobName=a\n   JobState=RUNNING\n", "scontrol show job", "squeue"),
        ("SwitchName=s0 Nodes=n[0-1]\n", "topology.conf", "squeue"),
        ("# a comment\nSwitchName=s0 Nodes=n[0-1]\n", "topology.conf", "squeue"),
        ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n", "sinfo", "squeue"),
        (
            "JOBID   USER    STAT  QUEUE      EXEC_HOST   JOB_NAME   SUBMIT_TIME\n",
            "bjobs",
            "bjobs -u",
        ),
        ('{"COMMAND": "bjobs", "RECORDS": []}', "bjobs -json", "bjobs -u all -o"),
        ('{"jobs": [{"id": 1, "nodelist": "n1"}]}', "flux jobs --json", "flux jobs -A -o"),
        ('{"pbs_version": "1", "Jobs": {}}', "qstat -F json", "qstat -f"),
        (
            "Job id            Name             User\n----------------  ---\n",
            "qstat, which has no nodes",
            "qstat -f",
        ),
        ("\npbs01:\n       Req'd\nJob ID   Username Queue\n", "qstat, which has", "qstat -f"),
        ("job-ID  prior   name       user\n", "Grid Engine's qstat", "squeue"),
        (
            "             JOBID PARTITION     NAME     USER ST       TIME\n",
            "there is no column with nodes",
            "squeue",
        ),
        (
            "JobID JobName Partition Account AllocCPUS State ExitCode\n",
            "no column with nodes",
            "sacct -a -X -P",
        ),
        ("JOBID|NODES|NODELIST\n1|2|n[1-\n", "lacks a ']'", "without a width"),
        ("JOBID|NODES|NODELIST\n1|3|n[1-2]\n", "are 2 nodes, but the job has 3", "without a width"),
        ("JOBID|NODES|NODELIST\n1|3\n", "line 2: '1|3' does not fit the header", "squeue -o"),
        ("JOBID|NAME|NODELIST\n1|a|n1\n1|a|n2\n", "line 3: job a-1 is already in line 2", ""),
        ("JOBID|NAME|NODELIST|CPUS\n1|a|n[1-2]|1\n", "line 2: 1 CPUs on 2 nodes", ""),
        ("", "is empty", ""),
        ("1|a|n1\n", "no header with JOBID", "squeue"),
        ("JOBID|NAME|ST|NODELIST\n1|a|PD|\n", "no job of", ""),
    ],
)
def test_other_files_are_refused_by_name(text: str, kind: str, command: str, hall: Path) -> None:
    """With the shortest command that prints a file which is read."""
    with pytest.raises(OdonataError) as caught:
        imported(hall, text)
    assert kind in caught.value.message
    assert command in (caught.value.hint or "")


def test_real_logs_without_nodes_are_refused_by_name(shared_data: Path) -> None:
    with pytest.raises(OdonataError, match="Standard Workload Format"):
        from_slurm(shared_data / "logs/accasim-tests-workload.swf")
    with pytest.raises(OdonataError, match="compressed with gzip"):
        from_slurm(shared_data / "logs/theta_2022.swf.gz")


def test_a_packed_file_is_named(hall: Path) -> None:
    (hall / "queue.txt").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(OdonataError, match="compressed with gzip"):
        from_slurm("queue.txt")


def test_times_of_accounting(tmp_path: Path) -> None:
    """Jobs of a past moment need start and end; a forecast of a start is no start."""
    at = slurm.datetime.fromisoformat("2026-11-21T12:00:00")
    assert [job.number for job in queue_of(PARSABLE, tmp_path, at=at).jobs] == ["7", "8_2"]
    text = "JOBID|ST|START_TIME|END_TIME|NODELIST\n1|PD|2026-11-21T11:00:00|2026-11-21T13:00:00|n1\n"
    assert not queue_of(text, tmp_path, at=at).jobs
    with pytest.raises(OdonataError, match="has no column Start"):
        queue_of(PIPES, tmp_path, at=at)
    ended = PARSABLE.replace("RUNNING", "COMPLETED").replace("Unknown|n", "2026-11-21T15:00:00|n")
    (tmp_path / "day.txt").write_text(ended)
    with pytest.raises(OdonataError) as caught:
        from_slurm(tmp_path / "day.txt")
    assert "2 COMPLETED" in caught.value.message
    assert "--at 2026-11-21T10:00:00" in str(caught.value.hint)


def test_the_line_says_how_the_file_was_understood(odonata_command: Command, hall: Path) -> None:
    (hall / "queue.txt").write_text(ALIGNED)
    done = odonata_command(
        "import", "slurm", "queue.txt", "--machine", "cluster.conf", "-o", "now.toml", cwd=hall
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith(
        "queue.txt: sacct, columns JobID JobName State NCPUS Start End NodeList: 2 jobs"
    )
    assert lines[0].endswith("left out: 1 CANCELLED")
    assert lines[-1] == "now.toml: 2 jobs"
    assert "  1 step of jobs not read as jobs" in lines


def test_accounting_and_a_failed_leaf(odonata_command: Command, hall: Path) -> None:
    """Who ends, and who slows: the jobs of a past moment with and without the leaf."""
    (hall / "day.txt").write_text(
        PARSABLE.replace(
            "|1|4|2026-11-21T10:00:00|Unknown|n05|", "|2|4|2026-11-21T10:00:00|Unknown|n[09-10]|"
        )
    )
    words = ("import", "slurm", "day.txt", "--at", "2026-11-21T12:00", "--machine", "cluster.conf")
    for name, edit in (("day", ()), ("failed", ("-e", "fail sw1"))):
        done = odonata_command(*words, *edit, "-o", f"{name}.toml")
        assert done.returncode == 0, done.stderr
        assert odonata_command("run", f"{name}.toml", "-o", name).returncode == 0
    assert "climate-7 left out: on nodes that failed" in done.stderr
    assert "such as n01" in done.stderr
    compared = odonata_command("compare", "day", "failed")
    assert compared.returncode == 0, compared.stderr
    assert "my run-8_2" in compared.stdout


FINDINGS = [
    ("importers/squeue.txt", "importers/topology.conf", 4, 2),
    ("importers/squeue2.txt", "importers/topology.conf", 6, 2),
    ("importers/q3.txt", "importers/topology.conf", 1, 1),
    ("reports/squeue-names/spaces.txt", "reports/squeue-names/machine.toml", 2, 1),
    ("reports/squeue-names/blank.txt", "reports/squeue-names/machine.toml", 2, 0),
    ("reports/squeue-names/pipe.txt", "reports/squeue-names/machine.toml", 2, 0),
    ("reports/squeue-names/shared.txt", "reports/squeue-names/machine.toml", 3, 0),
]


@pytest.mark.parametrize(("queue", "machine", "jobs", "left_out"), FINDINGS)
def test_the_files_of_users(queue: str, machine: str, jobs: int, left_out: int, shared_data: Path) -> None:
    """Files as users had them: no job disappears, and each experiment runs as it was written."""
    folder = shared_data / "findings"
    if not folder.exists():
        pytest.skip("no files of users")
    found = from_slurm(folder / queue, machine=str(folder / machine))
    assert (found.jobs, found.left_out) == (jobs, left_out)
    odonata.run(found.text)
