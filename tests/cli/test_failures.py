"""What a failure does to the jobs of a cluster: who ends, and who slows, in two commands after the import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from running import Command

import odonata
from odonata.cli.commands.compare import command as compare
from odonata.errors import OdonataError

# Four leaves of four nodes. At the third, llm has two nodes, wrf one and md none.
JOBS = {"llm": "n[01-02,09-10]", "wrf": "n[05-06,11]", "md": "n[03-04,13-14]"}
SLURM = "SwitchName=top Switches=leaf0[1-4]\n" + "".join(
    f"SwitchName=leaf0{leaf} Nodes=n[{4 * leaf - 3:02}-{4 * leaf:02}]\n" for leaf in range(1, 5)
)


def ibnetdiscover() -> str:
    """The same leaves under two spines, as the InfiniBand tool prints them."""
    blocks = []
    for leaf in range(1, 5):
        lines = [f'Switch\t40 "S-1{leaf}"\t\t# "leaf0{leaf}" enhanced port 0 lid {leaf} lmc 0']
        lines += [
            f'[{port}]\t"H-{4 * leaf - 4 + port:02}"[1]\t\t# "n{4 * leaf - 4 + port:02} HCA-1" lid 9 4xHDR'
            for port in range(1, 5)
        ]
        lines += [f'[{20 + spine}]\t"S-2{spine}"[{leaf}]\t\t# "spine{spine}" lid 9 4xHDR' for spine in (1, 2)]
        blocks.append("\n".join(lines))
    for spine in (1, 2):
        lines = [f'Switch\t40 "S-2{spine}"\t\t# "spine{spine}" enhanced port 0 lid 9 lmc 0']
        lines += [
            f'[{leaf}]\t"S-1{leaf}"[{20 + spine}]\t\t# "leaf0{leaf}" lid {leaf} 4xHDR' for leaf in range(1, 5)
        ]
        blocks.append("\n".join(lines))
    for node in range(1, 17):
        leaf, port = (node + 3) // 4, (node - 1) % 4 + 1
        blocks.append(
            f'Ca\t1 "H-{node:02}"\t\t# "n{node:02} HCA-1"\n'
            f'[1](a)\t"S-1{leaf}"[{port}]\t\t# lid 9 lmc 0 "leaf0{leaf}" lid {leaf} 4xHDR'
        )
    return "\n\n".join(blocks) + "\n"


SQUEUE = "JOBID|NAME|NODES|CPUS|ST|NODELIST\n" + "".join(
    f"{number}|{name}|||R|{nodes}\n" for number, (name, nodes) in enumerate(JOBS.items(), 1)
)
SACCT = "JobID|JobName|State|Start|End|NodeList\n" + "".join(
    f"{number}|{name}|COMPLETED|2026-11-21T10:00:00|2026-11-21T14:00:00|{nodes}\n"
    for number, (name, nodes) in enumerate(JOBS.items(), 1)
)


@pytest.fixture
def cluster(odonata_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the experiment `now.toml`, imported from squeue and topology.conf."""
    imported(odonata_command, tmp_path, SLURM, SQUEUE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(odonata_command: Command, folder: Path, machine: str, jobs: str, *more: str) -> None:
    (folder / "machine.txt").write_text(machine)
    (folder / "jobs.txt").write_text(jobs)
    words = ("import", "slurm", "jobs.txt", "--machine", "machine.txt", *more, "-o", "now.toml")
    done = odonata_command(*words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("machine", "jobs", "more"),
    [
        pytest.param(ibnetdiscover(), SQUEUE, (), id="ibnetdiscover and squeue"),
        pytest.param(SLURM, SACCT, ("--at", "2026-11-21T12:00"), id="topology.conf and sacct"),
    ],
)
def test_who_ends_and_who_slows(
    machine: str, jobs: str, more: tuple[str, ...], odonata_command: Command, tmp_path: Path
) -> None:
    """The administrator's task: two commands name the jobs that end, and the times of the others."""
    imported(odonata_command, tmp_path, machine, jobs, *more)
    assert odonata_command("run", "now.toml", "-o", "now").returncode == 0
    done = odonata_command("compare", "now", "--edit", "fail leaf03")
    assert done.returncode == 0, done.stderr
    warning = "leaf03 fails: llm-1 and wrf-2 lose 2 and 1 nodes; absent from the run"
    assert warning in done.stderr
    shown = done.stdout.partition("Jobs that end, since nodes fail")[2]
    ended, _, times = shown.partition("Job time")
    rows = [line.split() for line in ended.splitlines() if line.endswith("leaf03")]
    assert rows == [["llm-1", "4", "4", "2", "leaf03"], ["wrf-2", "3", "3", "1", "leaf03"]]
    assert "md-3" in times.partition("Traffic per link")[0]
    assert "llm-1" not in times.partition("Traffic per link")[0]


def test_the_files_of_a_user(odonata_command: Command, tmp_path: Path, shared_data: Path) -> None:
    """Leaf 3 has cn033 to cn048: 16 of the 24 nodes of wrf_eu, and none of the three others that run."""
    folder = shared_data / "findings" / "importers"
    if not folder.exists():
        pytest.skip("no files of users")
    imported(
        odonata_command, tmp_path, (folder / "topology.conf").read_text(), (folder / "squeue.txt").read_text()
    )
    done = odonata_command("compare", "now.toml", "-e", "fail leaf03", "--json")
    (found,) = json.loads(done.stdout)["comparisons"]
    (ended,) = found["absent"]
    assert (ended["name"], ended["nodes"], ended["failed"]) == ("wrf_eu-4711202", 24, ["leaf03"])
    assert ended["lost_nodes"] == [f"cn0{number}" for number in range(33, 49)]
    assert len(found["times"]) == 3


def test_a_host_with_another_adapter_keeps_its_jobs(odonata_command: Command, tmp_path: Path) -> None:
    """Two hosts with an adapter at each of two leaves: the resolved file runs again."""
    blocks = [
        *(
            f'Switch\t40 "S-{leaf}"\t\t# "leaf{leaf}" enhanced port 0 lid {leaf} lmc 0\n'
            + "".join(
                f'[{host}]\t"H-{host}{leaf}"[1]\t\t# "host{host} mlx5_{leaf}" lid 9 4xHDR\n'
                for host in (1, 2)
            )
            + f'[9]\t"S-{3 - leaf}"[9]\t\t# "leaf{3 - leaf}" lid {3 - leaf} 4xHDR'
            for leaf in (1, 2)
        ),
        *(
            f'Ca\t1 "H-{host}{leaf}"\t\t# "host{host} mlx5_{leaf}"\n'
            f'[1](a)\t"S-{leaf}"[{host}]\t\t# lid 9 lmc 0 "leaf{leaf}" lid {leaf} 4xHDR'
            for host in (1, 2)
            for leaf in (1, 2)
        ),
    ]
    queue = "JOBID|NAME|NODES|CPUS|ST|NODELIST\n1|wrf|2|2|R|host[1-2]\n"
    imported(odonata_command, tmp_path, "\n\n".join(blocks) + "\n", queue)
    whole = odonata.run(tmp_path / "now.toml", out=tmp_path / "now")
    assert whole.summary["machine"]["rails"] == 2
    assert odonata.run(tmp_path / "now" / "resolved.toml").jobs.equals(whole.jobs)
    done = odonata_command("compare", "now", "--edit", "fail leaf1", "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["comparisons"]
    assert found["absent"] == []
    assert [row["name"] for row in found["times"]] == ["wrf-1"]


@pytest.mark.usefixtures("cluster")
def test_an_edit_is_a_run_of_the_experiment_with_it(odonata_command: Command) -> None:
    """The same comparison of a run and an edit, of an experiment file and an edit, and of two runs."""
    edit = ("--edit", "fail leaf03")
    assert odonata_command("run", "now.toml", "-o", "now").returncode == 0
    changed = ("run", "now.toml", "-o", "failed", "--set", 'machine.edit=["fail leaf03"]')
    assert odonata_command(*changed).returncode == 0

    def compared(*words: str) -> dict[str, object]:
        done = odonata_command("compare", *words, "--json")
        assert done.returncode == 0, done.stderr
        (found,) = json.loads(done.stdout)["comparisons"]
        return {key: value for key, value in found.items() if key != "directory"}

    expected = compared("now", "failed")
    assert compared("now", *edit) == expected
    assert compared("now.toml", *edit, "-o", "kept") == expected
    assert compared("now", "kept") == expected
    # In the opposite order, the jobs come back.
    back = compared("failed", "now")["absent"]
    assert isinstance(back, list)
    assert [(row["name"], row["absent_in"]) for row in back] == [("llm-1", "base"), ("wrf-2", "base")]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(("--edit", "fail leafXX"), "unknown router 'leafXX'", id="router"),
        pytest.param(("-e", "fail leaf03", "-e", "-1 purple"), "unknown link class 'purple'", id="class"),
        pytest.param(("-e", "fail leaf01", "-e", "fail leaf03"), "no job is left", id="no job"),
        pytest.param(("--edit", "fail leafXX", "--seeds", "3"), "unknown router 'leafXX'", id="seeds"),
        pytest.param(("absent", "--edit", "fail leaf03"), "no directory absent", id="other run"),
        pytest.param(("--edit", "fail leaf03", "-o", "kept"), "kept exists", id="output"),
    ],
)
def test_mistakes_are_found_before_the_first_run(
    words: tuple[str, ...],
    reason: str,
    odonata_command: Command,
    cluster: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (cluster / "kept").mkdir()
    (cluster / "kept" / "notes.txt").write_text("not a run")
    before = sorted(cluster.rglob("*"))
    done = odonata_command("compare", "now.toml", *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stdout == ""
    assert sorted(cluster.rglob("*")) == before

    def run(*_args: object, **_keywords: object) -> None:
        raise AssertionError("an experiment ran")

    monkeypatch.setattr("odonata.api.run_until_interrupted", run)
    done_here = CliRunner().invoke(compare, ["now.toml", *words])
    assert isinstance(done_here.exception, OdonataError)


def test_every_output_names_the_jobs_that_end(odonata_command: Command, cluster: Path) -> None:
    edit = ("--set", 'machine.edit=["fail leaf03"]')
    checked = odonata_command("check", "now.toml", *edit)
    assert "leaf03 fails: llm-1 and wrf-2" in checked.stderr
    run = odonata_command("run", "now.toml", "-o", "failed", *edit)
    assert "leaf03 fails: llm-1 and wrf-2" in run.stderr
    shown = [checked, run, odonata_command("show", "failed"), odonata_command("explain", "failed")]
    for done in shown[:3]:
        assert done.returncode == 0, done.stderr
        table = done.stdout.partition("Absent jobs, whose nodes failed")[2]
        rows = [line.split() for line in table.splitlines() if line.endswith("leaf03")]
        assert [(row[0], int(row[3])) for row in rows] == [("llm-1", 2), ("wrf-2", 1)]
    summary = json.loads((cluster / "failed" / "summary.json").read_text())
    assert {job["name"]: len(job["lost_nodes"]) for job in summary["absent_jobs"]} == {"llm-1": 2, "wrf-2": 1}
    refused = odonata_command("explain", "failed", "--job", "wrf-2")
    assert refused.returncode == 2
    assert "job wrf-2 is absent from failed: 1 of its 3 nodes failed" in refused.stderr


@pytest.mark.usefixtures("cluster")
def test_from_python() -> None:
    run = odonata.run("now.toml")
    failed = odonata.run(run.resolved, set=run.with_edits("fail leaf03"))
    assert run.absent_jobs == []
    assert {job["name"]: job["lost_nodes"] for job in failed.absent_jobs} == {
        "llm-1": ["n09", "n10"],
        "wrf-2": ["n11"],
    }
    # Edits follow the edits of the run: the last job ends, too.
    with pytest.raises(OdonataError, match="no job is left: leaf01 and leaf03 fail"):
        odonata.run(failed.resolved, set=failed.with_edits("fail leaf01"))
    found = odonata.compare(run, failed)
    assert found.absent["name"].to_pylist() == ["llm-1", "wrf-2"]
    assert found.times["name"].to_pylist() == ["md-3"]


@pytest.mark.usefixtures("cluster")
def test_what_the_command_needs(odonata_command: Command) -> None:
    assert "--edit EDIT" in odonata_command("compare", "now.toml").stderr
    assert "--output needs --edit" in odonata_command("compare", "a", "b", "-o", "c").stderr
    wrong = odonata_command("compare", "now.toml", "-e", "fail leaf09")
    assert wrong.returncode == 2
    assert "unknown router 'leaf09'" in wrong.stderr


def test_jobs_on_other_nodes_are_named(odonata_command: Command, tmp_path: Path) -> None:
    """Compact jobs have nodes 0 to 5 and 6 to 11. Without node 8, ranks 2 to 5 of b move on by one."""
    jobs = "".join(
        f'[[job]]\nname = "{name}"\nranks = 6\nranks_per_node = 1\n'
        'pattern = { name = "shift", bytes = "64 KiB" }\n'
        for name in "ab"
    )
    tree = 'topology = "xgft"\nchildren = [4, 4]\nparents = [1, 1]\n'
    (tmp_path / "now.toml").write_text(f'format = 3\n[machine]\n{tree}{jobs}[engine]\nkind = "flow"\n')
    edit = ("compare", "now.toml", "--edit", "fail node l0p2i0n0")
    (found,) = json.loads(odonata_command(*edit, "--json").stdout)["comparisons"]
    assert found["moved"] == [{"name": "b", "ranks": 6, "moved_ranks": 4}]
    assert found["absent"] == []
    assert "\nOn other nodes: b (4 of 6 ranks)\n" in odonata_command(*edit).stdout
    unused = odonata_command("compare", "now.toml", "--edit", "fail node l0p3i0n3")
    assert unused.returncode == 0
    assert "other nodes" not in unused.stdout
