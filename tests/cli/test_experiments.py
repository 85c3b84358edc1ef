"""`run`, `check`, `sweep`, `machine` and `list` through the real engine, as a user calls them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata.errors import OdonataError
from odonata.viewer.runs import OpenRuns

pytestmark = pytest.mark.slow

SMALL = """\
[machine]
topology = "dragonfly"
p = 4
a = 4
h = 2
g = 9

[[job]]
name = "near"
pattern = "stencil-3d"
ranks = 64
ranks_per_node = 1

[[job]]
name = "far"
pattern = "uniform"
ranks = 64
ranks_per_node = 1
placement = "random-nodes"
"""

SWEEP = SMALL + '\n[sweep]\n"engine.routing" = ["min", "adaptive-hybrid"]\n"engine.seed" = [1, 2, 3]\n'

LONG = """\
[machine]
preset = "edison"

[[job]]
pattern = "spread"
ranks = 32768

[engine]
slices = 10000
max_iterations = 100000
tolerance = 0.0
"""
"""Releases capacity in so many slices that it takes an hour."""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def tables_of(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.glob("*.parquet")}


@pytest.mark.usefixtures("experiment")
def test_run_writes_a_directory_and_says_where(odonata_command: Command, tmp_path: Path) -> None:
    result = odonata_command("run", "small.toml")
    assert result.returncode == 0, result.stderr
    assert "Tables are in runs/small." in result.stdout
    run = odonata.load(tmp_path / "runs" / "small")
    assert run.experiment == SMALL
    assert run.summary["complete"] is True
    assert run.jobs["name"].to_pylist() == ["near", "far"]
    odonata_command("run", "small.toml")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["small", "small-2"]


def test_the_resolved_experiment_gives_the_same_run(odonata_command: Command, experiment: Path) -> None:
    odonata_command("run", experiment, "-o", "first", "-q", "--set", "engine.seed=7")
    first = experiment.parent / "first"
    result = odonata_command("run", "first/resolved.toml", "-o", "second", "-q")
    assert result.returncode == 0, result.stderr
    assert tables_of(first) == tables_of(experiment.parent / "second")


def test_the_tables_do_not_depend_on_threads(odonata_command: Command, experiment: Path) -> None:
    for threads in (1, 2, 3):
        odonata_command("run", experiment, "-o", f"with-{threads}", "-q", "--threads", threads)
    one, two, three = (tables_of(experiment.parent / f"with-{threads}") for threads in (1, 2, 3))
    assert one == two == three
    assert len(one) == 7


def test_json_and_quiet(odonata_command: Command, experiment: Path) -> None:
    result = odonata_command("run", experiment, "--json", "-o", "run")
    assert json.loads(result.stdout)["directory"] == "run"
    assert result.stderr == ""
    quiet = odonata_command("run", experiment, "-q", "-o", "quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_from_the_standard_input(command: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [command, "run", "-", "-q"], input=SMALL, cwd=tmp_path, text=True, capture_output=True
    )
    assert result.returncode == 0, result.stderr
    assert odonata.load(tmp_path / "runs" / "stdin").experiment == SMALL


def test_nothing_is_overwritten_unasked(odonata_command: Command, experiment: Path) -> None:
    odonata_command("run", experiment, "-q", "-o", "run")
    before = tables_of(experiment.parent / "run")
    again = odonata_command("run", experiment, "-q", "-o", "run", "--set", "engine.seed=2")
    assert again.returncode == 2
    assert "error: run already holds a run\n  Replace it with --force" in again.stderr
    assert tables_of(experiment.parent / "run") == before
    forced = odonata_command("run", experiment, "-q", "-o", "run", "--set", "engine.seed=2", "--force")
    assert forced.returncode == 0
    assert tables_of(experiment.parent / "run") != before


@pytest.mark.parametrize(
    ("line", "arguments", "place", "expected"),
    [
        ('pattern = "stencil-3d"', ['pattern = "stencil-3"'], "small.toml:10:11", "stencil-3d"),
        ("ranks = 64", ["ranks = -1"], "small.toml:11:9", "ranks"),
        ("h = 2", ["hh = 2"], "small.toml:5:1", "hh"),
        ("p = 4", ['p = "four"'], "small.toml:3:5", "a whole number"),
    ],
)
def test_a_mistake_is_shown_where_it_is(
    odonata_command: Command, experiment: Path, line: str, arguments: list[str], place: str, expected: str
) -> None:
    experiment.write_text(SMALL.replace(line, arguments[0], 1))
    for command in ("check", "run"):
        result = odonata_command(command, "small.toml")
        assert result.returncode == 2
        assert result.stdout == ""
        assert f"--> {place}" in result.stderr
        assert "^" in result.stderr
        assert expected in result.stderr
    assert not (experiment.parent / "runs").exists()


def test_mistakes_as_data(odonata_command: Command, experiment: Path) -> None:
    experiment.write_text(SMALL.replace('"stencil-3d"', '"stencil-3"'))
    result = odonata_command("check", "small.toml", "--json")
    assert result.returncode == 2
    (problem,) = json.loads(result.stdout)["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("small.toml", 10, 11)
    assert problem["span"] == '"stencil-3"'
    assert "stencil-3d" in problem["help"]


def test_a_mistake_in_an_override_is_shown_there(odonata_command: Command, experiment: Path) -> None:
    result = odonata_command("run", experiment, "--set", "engine.sede=3")
    assert result.returncode == 2
    assert "engine.sede=3" in result.stderr
    assert "seed" in result.stderr


def test_a_file_that_is_no_text(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"[machine]\n\xff\xfe")
    result = odonata_command("run", "x.toml")
    assert result.returncode == 2
    assert result.stderr == "error: x.toml is not a text file in UTF-8: byte 10 does not belong there\n"


def test_check_shows_what_would_run(odonata_command: Command, experiment: Path) -> None:
    result = odonata_command("check", "small.toml")
    assert result.returncode == 0
    assert "small.toml is valid: flow engine, ugal routing, seed 1" in result.stdout
    shown = json.loads(odonata_command("check", experiment, "--json").stdout)
    assert shown["jobs"][0]["messages"] == 3 * 2 * (4 * 4 * 3), (
        "3 axes, both directions, on an open 4 x 4 x 4 grid"
    )
    resolved = odonata_command("check", experiment, "--resolved").stdout
    assert resolved == shown["resolved"]


def test_check_says_what_faults_cost(odonata_command: Command, tmp_path: Path) -> None:
    text = """
        [machine]
        preset = "dragonfly-1056"
        edit = ["fail 5% global"]
        [[job]]
        name = "ur"
        pattern = "uniform"
        ranks = 64
        traffic = { name = "open", load = 0.1 }
        [engine]
        kind = "packet"
        routing = "valiant-n"
    """
    (tmp_path / "broken.toml").write_text(text)
    result = odonata_command("check", "broken.toml")
    assert result.returncode == 0
    assert "packet engine, valiant-n routing on 6 virtual channels, seed 1" in " ".join(result.stdout.split())
    assert "warning: 'valiant-n' needs 6 virtual channels at every port" in result.stderr
    assert "With 4, enough if all groups are complete and directly connected" in result.stderr


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(
    command: Path, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    with subprocess.Popen(
        [command, "run", "long.toml"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_until_it_computes(process)
        process.send_signal(sent)
        printed, complained = process.communicate(timeout=60)
    assert (process.returncode, printed, b"Traceback" in complained) == (code, b"", False)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["long.toml"]


def wait_until_it_computes(process: subprocess.Popen[bytes]) -> None:
    """Until the process has used four seconds of processor time, which is more than it takes to start."""
    ticks = os.sysconf("SC_CLK_TCK")
    while True:
        assert process.poll() is None, "it ended before the signal"
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if (int(fields[11]) + int(fields[12])) / ticks > 4:
            return
        time.sleep(0.05)


def wait_until_the_group_is_gone(group: int) -> None:
    """Processes that received a signal need a moment to end."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("processes were left behind")


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def test_a_sweep_runs_every_combination_and_compares_equal_seeds(
    odonata_command: Command, sweep_file: Path
) -> None:
    result = odonata_command("sweep", sweep_file)
    assert result.returncode == 0, result.stderr
    assert "6 points: 6 run, 0 already finished, 0 failed" in result.stdout
    assert "engine.routing: adaptive-hybrid compared with min, all else equal" in result.stdout
    directory = sweep_file.parent / "runs" / "sweep-sweep"
    assert sorted(path.name for path in (directory / "points").iterdir()) == sorted(
        f"routing={routing},seed={seed}" for routing in ("min", "adaptive-hybrid") for seed in (1, 2, 3)
    )
    sweep = odonata.Sweep.load(directory)
    assert sweep.results.num_rows == 6 * 3 * 3, "points, jobs and all of them, classes and all of them"
    by_hand = [
        sweep.runs[other].summary["classes"][0]["bytes_mean"]
        - sweep.runs[base].summary["classes"][0]["bytes_mean"]
        for base, other in zip(sweep.points[:3], sweep.points[3:], strict=True)
    ]
    row = sweep.differences("engine.routing", value="bytes_mean").to_pylist()[0]
    assert row["pairs"] == 3
    assert row["difference"] == pytest.approx(sum(by_hand) / 3)


def test_a_sweep_says_what_becomes_of_the_jobs(odonata_command: Command, sweep_file: Path) -> None:
    """Times are paired as traffic is, `show` prints them again, the viewer has the points with their keys."""
    printed = odonata_command("sweep", sweep_file).stdout
    directory = sweep_file.parent / "runs" / "sweep-sweep"
    sweep = odonata.Sweep.load(directory)
    name = sweep.jobs["name"][0].as_py()
    times = [run.jobs["completion_time_s"][0].as_py() for run in sweep.runs.values()]
    row = sweep.differences("engine.routing", value="job_time_s", job=name).to_pylist()[0]
    assert row["difference"] == pytest.approx((sum(times[3:]) - sum(times[:3])) / 3)
    assert f"{name}: time, " in printed
    with pytest.raises(OdonataError, match="needs a job"):
        sweep.differences("engine.routing", value="job_time_s")
    shown = odonata_command("show", "runs/sweep-sweep")
    assert shown.stdout.splitlines()[0] == "6 points, 6 finished"
    assert shown.stdout.splitlines()[1:] == printed.splitlines()[1:]
    opened = OpenRuns.from_directories([directory]).index()["runs"]
    assert [run["label"].replace(", ", ",") for run in opened] == [point.name for point in sweep.points]
    assert [run["keys"]["routing"] for run in opened] == ["min"] * 3 + ["adaptive-hybrid"] * 3


def test_a_sweep_over_lists(odonata_command: Command, sweep_file: Path) -> None:
    """Edits are lists, which tables of results hold as text."""
    axes = '\n[sweep]\n"machine.edit" = [[], ["-1 local"]]\n"engine.link_capacity" = ["machine", "1 GB/s"]\n'
    sweep_file.write_text(SMALL.replace("g = 9", "g = 9\nlocal_cables = 2") + axes)
    result = odonata_command("sweep", sweep_file, "-o", "out")
    assert result.returncode == 0, result.stderr
    assert 'machine.edit: ["-1 local"] compared with [], all else equal' in result.stdout
    sweep = odonata.Sweep.load(sweep_file.parent / "out")
    assert set(sweep.results["machine.edit"].to_pylist()) == {"[]", '["-1 local"]'}
    assert len(sweep.runs) == 4
    row = sweep.differences("machine.edit", value="bytes_mean", link_class="local").to_pylist()[0]
    assert (row["machine.edit"], row["pairs"]) == ('["-1 local"]', 2)
    assert row["lower"] == 0, "fewer cables, more on each"


def test_points_of_equal_seed_have_equal_placements(odonata_command: Command, sweep_file: Path) -> None:
    odonata_command("sweep", sweep_file, "-q", "-o", "out")
    points = sweep_file.parent / "out" / "points"
    for seed in (1, 2, 3):
        one, other = (
            (points / f"routing={routing},seed={seed}" / "placement.parquet").read_bytes()
            for routing in ("min", "adaptive-hybrid")
        )
        assert one == other
    assert (points / "routing=min,seed=1" / "placement.parquet").read_bytes() != one


def test_a_sweep_keeps_what_is_finished(odonata_command: Command, sweep_file: Path) -> None:
    """A point removed, one damaged, one of other settings, two added: those five run, three are kept."""
    first = json.loads(odonata_command("sweep", sweep_file, "--json", "-o", "out").stdout)
    assert (first["points"], first["kept"]) == (6, 0)
    points = sweep_file.parent / "out" / "points"
    kept = points / "routing=min,seed=1" / "summary.json"
    before = kept.stat().st_mtime_ns
    for path in (points / "routing=min,seed=2").iterdir():
        path.unlink()
    (points / "routing=min,seed=2").rmdir()
    (points / "routing=min,seed=3" / "links.parquet").unlink()
    (points / "routing=adaptive-hybrid,seed=1" / "resolved.toml").write_text("other settings")
    sweep_file.write_text(SWEEP.replace("[1, 2, 3]", "[1, 2, 3, 4]"))
    second = json.loads(odonata_command("sweep", sweep_file, "--json", "-o", "out").stdout)
    assert (second["points"], second["kept"]) == (8, 3)
    assert kept.stat().st_mtime_ns == before
    assert {row["engine.seed"] for row in second["results"]} == {1, 2, 3, 4}


def test_a_sweep_runs_again_what_read_another_file(odonata_command: Command, sweep_file: Path) -> None:
    """The experiment is the same, but the graph that it names is not."""
    graph = sweep_file.parent / "graph.csv"
    graph.write_text("src,dst,bytes\n0,1,100\n")
    job = '[[job]]\npattern = "file"\npath = "graph.csv"\nranks = 2\nranks_per_node = 1\n'
    machine = SMALL[: SMALL.index("[[job]]")]
    sweep_file.write_text(machine + job + '[sweep]\n"engine.seed" = [1, 2]\n')
    kept = []
    for content in ("0,1,100", "0,1,100", "0,1,200"):
        graph.write_text(f"src,dst,bytes\n{content}\n")
        result = odonata_command("sweep", "sweep.toml", "--json", "-o", "out")
        assert result.returncode == 0, result.stderr
        kept.append(json.loads(result.stdout)["kept"])
    assert kept == [0, 2, 0]


def test_a_sweep_does_not_depend_on_processes(odonata_command: Command, sweep_file: Path) -> None:
    for processes in (1, 3):
        odonata_command("sweep", sweep_file, "-q", "-j", processes, "-o", f"with-{processes}")
    one, three = (
        (sweep_file.parent / f"with-{processes}" / "results.parquet").read_bytes() for processes in (1, 3)
    )
    assert one == three


def test_a_point_that_cannot_run_stops_it_at_once(odonata_command: Command, sweep_file: Path) -> None:
    sweep_file.write_text(SWEEP.replace('"engine.seed" = [1, 2, 3]', '"job.near.ranks" = [64, 1000000]'))
    result = odonata_command("sweep", sweep_file, "-o", "out")
    assert result.returncode == 2
    assert "2 of 4 points cannot run. The first is routing=min,ranks=1000000" in result.stderr
    assert f"{sweep_file.name}:{len(SWEEP.splitlines())}:25" in result.stderr
    assert "No point was run." in result.stderr
    assert not (sweep_file.parent / "out").exists()


def test_a_file_without_a_sweep(odonata_command: Command, experiment: Path) -> None:
    result = odonata_command("sweep", experiment)
    assert result.returncode == 2
    assert "has no table [sweep]" in result.stderr


def test_a_sweep_leaves_other_directories_alone(odonata_command: Command, sweep_file: Path) -> None:
    (sweep_file.parent / "home").mkdir()
    (sweep_file.parent / "home" / "thesis.tex").write_text("")
    result = odonata_command("sweep", sweep_file, "-o", "home")
    assert result.returncode == 2
    assert "is not the directory of a sweep" in result.stderr
    assert [path.name for path in (sweep_file.parent / "home").iterdir()] == ["thesis.tex"]


def test_an_interrupted_sweep_ends_its_processes_and_resumes_later(command: Path, tmp_path: Path) -> None:
    """One point takes an hour; the other is finished and kept."""
    (tmp_path / "long.toml").write_text(LONG + '\n[sweep]\n"engine.slices" = [50, 10000]\n')
    arguments = [command, "sweep", "long.toml", "-o", "out", "-j", "1"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        finished = tmp_path / "out" / "points" / "slices=50" / "summary.json"
        while not finished.exists():
            assert process.poll() is None, "it ended before the signal"
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, complained = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in complained
    wait_until_the_group_is_gone(process.pid)
    assert [path.name for path in (tmp_path / "out" / "points").iterdir()] == ["slices=50"]


def test_a_sweep_as_a_job_array(odonata_command: Command, sweep_file: Path) -> None:
    """Each task of the script, run here by hand, makes its point; gathering them runs nothing more."""
    result = odonata_command("sweep", "sweep.toml", "-o", "out", "--slurm", "--threads", 2)
    assert result.stdout == "6 points. Submit them with: sbatch out/sweep.sbatch\n"
    script = sweep_file.parent / "out" / "sweep.sbatch"
    assert "#SBATCH --array=0-5\n#SBATCH --cpus-per-task=2\n" in script.read_text()
    for task in range(6):
        done = subprocess.run(
            ["bash", script],
            cwd="/",
            env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "2"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    gathered = json.loads(odonata_command("sweep", "sweep.toml", "-o", "out", "--json").stdout)
    assert (gathered["points"], gathered["kept"]) == (6, 6)


def test_a_task_beyond_the_points(odonata_command: Command, sweep_file: Path) -> None:
    result = odonata_command("sweep", sweep_file, "-o", "out", "--point", 6)
    assert (result.returncode, result.stderr) == (2, "error: there is no point 6; the points are 0 to 5\n")


def test_machine_counts_what_edison_has(odonata_command: Command) -> None:
    """Counts from the closed form: 15 groups of 6 x 16 routers, 15 green, 5 x 3 black links each, and 24
    blue between every two groups in each direction."""
    result = odonata_command("machine", "edison")
    assert result.returncode == 0
    assert "edison: 15 groups, 1,440 routers, 5,760 nodes, 48,240 links" in result.stdout
    metrics = json.loads(odonata_command("machine", "edison", "--json").stdout)
    links = {row["class"]: row["links"] for row in metrics["classes"]}
    assert links == {"green": 1440 * 15, "black": 1440 * 15, "blue": 15 * 14 * 24}
    assert all(check["holds"] for check in metrics["checks"])


def test_machine_with_other_cables_and_prices(odonata_command: Command) -> None:
    """+B-K makes 36 blue links of 24 between groups, and 2 black ones of 3; a cable is two links."""
    metrics = json.loads(
        odonata_command(
            "machine", "edison", "-e", "+B-K", "--price", "blue=100", "--price=black=1", "--json"
        ).stdout
    )
    cables = {row["class"]: row["cables"] for row in metrics["classes"]}
    assert cables["blue"] == 15 * 14 // 2 * 36
    assert cables["black"] == 1440 * 5 * 2 // 2
    assert metrics["cost"]["total"] == 100 * cables["blue"] + cables["black"]
    assert metrics["cost"]["without_price"] == ["green"]


def test_machine_from_a_file_of_cables(odonata_command: Command, shared_data: Path) -> None:
    metrics = json.loads(odonata_command("machine", shared_data / "edison-links.txt.gz", "--json").stdout)
    assert metrics["links"] == 48_240


def test_machine_from_an_experiment(odonata_command: Command, experiment: Path) -> None:
    assert "9 groups, 36 routers, 144 nodes" in odonata_command("machine", experiment).stdout


def test_machine_that_does_not_exist(odonata_command: Command) -> None:
    result = odonata_command("machine", "edisson")
    assert result.returncode == 2
    assert result.stderr == "error: unknown preset, topology or file edisson\n  Did you mean edison?\n"
    result = odonata_command("machine", "edison", "--price", "blue")
    assert result.returncode == 2
    assert "'blue' is no price; expected CLASS=AMOUNT" in result.stderr


def test_list_names_what_a_file_can_use(odonata_command: Command) -> None:
    found = json.loads(odonata_command("list", "--json").stdout)
    assert {"edison", "theta", "dragonfly-1056"} <= {row["name"] for row in found["presets"]}
    assert {"stencil-4d", "umesh", "spread"} <= {row["name"] for row in found["patterns"]}
    assert {"non-uniform", "compact"} <= {row["name"] for row in found["placements"]}
    takes = {row["name"]: row["of"] for row in found["routings"]}
    assert takes["min"] == "engine 'flow', 'packet'"
    assert (takes["adaptive-hybrid"], takes["par"]) == ("engine 'flow'", "engine 'packet'")
    assert all(row.get("summary") or row["read"] for rows in found.values() for row in rows)
    shown = odonata_command("list", "patterns")
    assert shown.returncode == 0
    assert "stencil-4d" in shown.stdout


def test_schema_is_json_schema_and_the_page_is_markdown(odonata_command: Command) -> None:
    schema = json.loads(odonata_command("schema").stdout)
    assert set(schema["properties"]) >= {"machine", "job", "engine", "sweep"}
    assert odonata_command("schema", "--page").stdout.startswith("# ")
