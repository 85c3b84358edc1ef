"""`--on`: points on Dask, with a real scheduler and real workers, killed in the middle.

What is compared is every byte of every file but the summary, which has times of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running import Command

pytest.importorskip("distributed")

from distributed import Client

from odonata.sweeps.cluster import Cluster, Demand, batch_options

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
JOB = '[[job]]\nname = "all"\nranks = 72\npattern = "uniform"\n'
ENGINE = '[engine]\nkind = "packet"\nrouting = "min"\n'
SHORT = (
    f'{MACHINE}{JOB}traffic = {{ name = "open", load = 0.2 }}\n{ENGINE}warm_up = "5 us"\nmeasure = "15 us"\n'
)
LONG = (
    f'{MACHINE}{JOB}traffic = {{ name = "open", load = 0.9 }}\n{ENGINE}warm_up = "5 us"\nmeasure = "500 us"\n'
)
"""A point takes a second: long enough to kill what runs it."""
TWICE, LESS = ("500 us", "1 ms"), ("500 us", "200 us")
assert TWICE[0] in LONG


def seeds(count: int) -> str:
    return f'[sweep]\n"engine.seed" = {list(range(1, count + 1))}\n'


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + 90
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited 90 s for {what}")


class Farm:
    """A scheduler and workers as a user starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        file = folder / "scheduler.json"
        self.start(
            "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)
        )
        wait_for(lambda: file.exists() and file.read_text().endswith("}"), "the scheduler")
        self.address = json.loads(file.read_text())["address"]
        self.client = Client(self.address, set_as_default=False)

    def start(self, command: str, *arguments: str, folder: Path | None = None) -> subprocess.Popen[str]:
        self.processes.append(
            start(f"distributed.cli.dask_{command}", *arguments, folder=folder or self.folder)
        )
        return self.processes[-1]

    def worker(self, *options: str, folder: Path | None = None) -> subprocess.Popen[str]:
        known = len(self.client.nthreads())
        process = self.start(
            "worker",
            self.address,
            *(options or ("--nthreads", "1", "--no-nanny")),
            "--no-dashboard",
            folder=folder,
        )
        wait_for(lambda: len(self.client.nthreads()) > known, "the worker")
        return process

    def tasks(self) -> dict[str, str]:
        """The worker of each point that runs."""
        found = self.client.processing().items()
        return {str(task): address for address, tasks in found for task in tasks if "odonata-" in str(task)}

    def busy(self) -> list[int]:
        """Process ids of workers that run a point."""
        return [self.client.run(os.getpid, workers=[a])[a] for a in self.tasks().values()]

    def close(self) -> None:
        self.client.close()
        for process in reversed(self.processes):
            process.kill()
            process.communicate()


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path)
    yield made
    made.close()


def content(sweep: Path) -> dict[str, bytes]:
    """Every file of a sweep but those with times."""
    files = (path for path in sweep.rglob("*") if path.is_file() and path.name != "summary.json")
    return {str(path.relative_to(sweep)): path.read_bytes() for path in files}


def starts(sweep: Path) -> dict[str, int]:
    """When each run directory was made, so that it shows when one was replaced."""
    return {
        path.name: path.stat().st_ino
        for path in (sweep / "points").glob("seed=*")
        if (path / "summary.json").exists()
    }


@pytest.fixture
def local(odonata_command: Command, tmp_path: Path) -> dict[str, bytes]:
    """What processes of this machine make of four short points."""
    (tmp_path / "x.toml").write_text(SHORT + seeds(4))
    result = odonata_command("sweep", "x.toml", "-o", "local", "-q")
    assert result.returncode == 0, result.stderr
    return content(tmp_path / "local")


@pytest.mark.slow
def test_dask_makes_the_same_bytes(odonata_command: Command, tmp_path: Path, local: dict[str, bytes]) -> None:
    for expected in ("4 points: 4 run, 0 already finished", "4 points: 0 run, 4 already finished"):
        result = odonata_command("sweep", "x.toml", "-o", "sweep", "--on", "dask", "-j", "2")
        assert result.returncode == 0, result.stderr
        assert expected in result.stdout
        assert content(tmp_path / "sweep") == local


@pytest.mark.slow
def test_workers_that_see_no_directory_send_the_files(
    odonata_command: Command, tmp_path: Path, local: dict[str, bytes], farm: Farm
) -> None:
    """Workers look for a mark in the sweep's directory; this one cannot see it."""
    (tmp_path / "blind.py").write_text("from odonata.sweeps import remote\nremote._has = lambda *_: False\n")
    farm.worker("--nthreads", "1", "--no-nanny", "--preload", "blind.py")
    result = odonata_command("sweep", "x.toml", "-o", "sweep", "--on", farm.address, "-q")
    assert result.returncode == 0, result.stderr
    assert content(tmp_path / "sweep") == local
    assert not farm.client.list_datasets()


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(tmp_path: Path, farm: Farm) -> None:
    (tmp_path / "x.toml").write_text(LONG + seeds(3))
    farm.worker()
    farm.worker()
    sweep = start("odonata", "sweep", "x.toml", "-o", "sweep", "--on", farm.address, "-q", folder=tmp_path)
    victim = wait_for(farm.busy, "a point to run")[0]
    os.kill(victim, signal.SIGKILL)
    assert len(starts(tmp_path / "sweep")) < 3, "a point was running"
    _, errors = sweep.communicate(timeout=300)
    assert sweep.returncode == 0, errors
    assert len(starts(tmp_path / "sweep")) == 3


@pytest.mark.slow
def test_a_killed_client_starts_again_and_nothing_runs_twice(tmp_path: Path, farm: Farm) -> None:
    # Long enough that the point still runs after its client was killed.
    (tmp_path / "x.toml").write_text(LONG.replace(*TWICE) + seeds(3))
    farm.worker()
    arguments = ("odonata", "sweep", "x.toml", "-o", "sweep", "--on", farm.address, "-q")
    first = start(*arguments, folder=tmp_path)
    before = wait_for(farm.tasks, "a point to run").keys()
    wait_for(lambda: farm.tasks().keys() - before, "the next point to run")
    first.kill()
    first.communicate()
    kept = starts(tmp_path / "sweep")
    assert kept
    # The scheduler keeps what was running, and the worker ends it without a client.
    left = farm.client.list_datasets()
    assert len(left) >= 1
    wait_for(lambda: len(starts(tmp_path / "sweep")) > len(kept), "the point that was running")
    kept = starts(tmp_path / "sweep")
    second = start(*arguments, folder=tmp_path)
    _, errors = second.communicate(timeout=300)
    assert second.returncode == 0, errors
    found = starts(tmp_path / "sweep")
    assert len(found) == 3
    assert {name: found[name] for name in kept} == kept, "a finished point was run again"


@pytest.mark.slow
def test_a_killed_scheduler_is_named(tmp_path: Path, farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    (tmp_path / "x.toml").write_text(LONG.replace(*TWICE) + seeds(3))
    farm.worker()
    sweep = start("odonata", "sweep", "x.toml", "-o", "sweep", "--on", farm.address, "-q", folder=tmp_path)
    wait_for(farm.tasks, "a point to run")
    farm.processes[0].kill()
    _, errors = sweep.communicate(timeout=300)
    assert sweep.returncode == 2, errors
    assert f"error: the scheduler on {farm.address} was lost" in errors
    assert "internal error" not in errors
    assert "Traceback" not in errors


def test_processes_of_a_killed_sweep_end(tmp_path: Path) -> None:
    """What it wrote to is closed when nobody has it any more: neither it nor a process that it started."""
    (tmp_path / "x.toml").write_text(LONG + seeds(4))
    sweep = start("odonata", "sweep", "x.toml", "-o", "sweep", "-q", "-j", "2", folder=tmp_path)
    children = Path(f"/proc/{sweep.pid}/task/{sweep.pid}/children")
    wait_for(lambda: len(children.read_text().split()) > 2, "processes for points")
    sweep.kill()
    sweep.communicate(timeout=60)


LONG_KILLS = [pytest.param(25, seed, marks=pytest.mark.long) for seed in (2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "seed"), [(4, 1), *LONG_KILLS])
def test_kills_at_any_moment_lose_nothing(
    odonata_command: Command, tmp_path: Path, farm: Farm, kills: int, seed: int
) -> None:
    """Of the command or of any worker: what is finished stays, and in the end all is there."""
    points = 3 + kills // 5
    (tmp_path / "x.toml").write_text(LONG.replace(*LESS) + seeds(points))
    arguments = ("odonata", "sweep", "x.toml", "-o", "sweep", "--on", farm.address, "-q")
    moments = random.Random(seed)
    workers = [farm.worker(), farm.worker()]
    client = start(*arguments, folder=tmp_path)
    kept: dict[str, int] = {}
    for _ in range(kills):
        time.sleep(moments.uniform(0.0, 3.0))
        if moments.random() < 0.5:
            client.kill()
        else:
            # New workers are detected by their number, so this one must end first.
            workers.remove(victim := moments.choice(workers))
            address = {pid: at for at, pid in farm.client.run(os.getpid).items()}[victim.pid]
            victim.kill()
            wait_for(lambda gone=address: gone not in farm.client.nthreads(), "the worker's end")
            workers.append(farm.worker())
        found = starts(tmp_path / "sweep")
        assert {name: found.get(name) for name in kept} == kept, "a finished point was lost or run again"
        kept = found
        # Killed, or at its end: all is there, or points are named whose workers were killed too often.
        if client.poll() is not None:
            _, errors = client.communicate()
            assert client.returncode in (-signal.SIGKILL, 0, 1), errors
            assert "Traceback" not in errors, errors
            client = start(*arguments, folder=tmp_path)
    while client.wait(timeout=300) != 0:
        _, errors = client.communicate()
        assert client.returncode == -signal.SIGKILL or "its workers died" in errors, errors
        client = start(*arguments, folder=tmp_path)
    client.communicate()
    found = starts(tmp_path / "sweep")
    assert len(found) == points
    assert {name: found[name] for name in kept} == kept
    result = odonata_command("sweep", "x.toml", "-o", "local", "-q")
    assert result.returncode == 0, result.stderr
    assert content(tmp_path / "sweep") == content(tmp_path / "local")


@pytest.mark.slow
def test_a_point_that_kills_its_workers_is_named(tmp_path: Path, farm: Farm) -> None:
    """Dask's own setting says how often on a scheduler that somebody else started: 3 deaths are allowed."""
    (tmp_path / "x.toml").write_text(LONG + seeds(1))
    sweep = start("odonata", "sweep", "x.toml", "-o", "sweep", "--on", farm.address, folder=tmp_path)
    for _ in range(4):
        farm.worker()
        victim = wait_for(farm.busy, "the point to run")[0]
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: not farm.client.nthreads(), "the worker's end")
    _, errors = sweep.communicate(timeout=120)
    assert sweep.returncode == 1
    assert "point seed=1 failed: its workers died, perhaps due to a limit of memory or time" in errors


@pytest.mark.slow
def test_mistakes_are_named_before_anything_runs(
    odonata_command: Command, tmp_path: Path, farm: Farm
) -> None:
    (tmp_path / "x.toml").write_text(SHORT + seeds(2))

    def said(*options: str) -> str:
        result = odonata_command("sweep", "x.toml", "-o", "sweep", *options)
        assert result.returncode == 2, result.stderr
        assert "Traceback" not in result.stderr
        return result.stderr

    assert "Did you mean slurm?" in said("--on", "slrum")
    assert "--on slurm needs a table [cluster]" in said("--on", "slurm")
    assert "--on cannot be combined with --slurm" in said("--on", "dask", "--slurm")
    assert "each worker runs one point" in said("--on", farm.address, "-j", "2")
    assert "cannot reach a Dask scheduler at tcp://127.0.0.1:1" in said("--on", "tcp://127.0.0.1:1")
    farm.worker("--nthreads", "2", "--no-nanny")
    assert "has 2 threads" in said("--on", farm.address)


def batch_system(folder: Path, sbatch: str) -> dict[str, str]:
    """An environment in which Slurm is two scripts; what `sbatch` is given is `$1`."""
    folder.mkdir()
    for name, text in {"sbatch": sbatch, "scancel": "kill $1 2> /dev/null"}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


BATCH = '[cluster]\ncores = 1\nmemory = "2 GiB"\nwalltime = "00:10:00"\nqueue = "none-such"\njobs = 2\n'


@pytest.mark.slow
def test_a_refusal_of_a_batch_system_is_reported(tmp_path: Path) -> None:
    """Once the client waited forever for workers of jobs that nobody had taken."""
    (tmp_path / "x.toml").write_text(SHORT + BATCH + seeds(2))
    says = 'echo "sbatch: error: invalid partition specified: none-such" >&2\nexit 1'
    result = subprocess.run(
        [sys.executable, "-m", "odonata", "sweep", "x.toml", "-o", "sweep", "--on", "slurm"],
        cwd=tmp_path,
        env=os.environ | batch_system(tmp_path / "bin", says),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2, result.stderr
    assert "slurm refused the job of the workers: sbatch: error: invalid partition" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_jobs_of_a_batch_system_run_the_points(tmp_path: Path, local: dict[str, bytes]) -> None:
    (tmp_path / "y.toml").write_text(SHORT + BATCH + seeds(4))
    # The script outlives `sbatch`, which says its number.
    runs = 'sh "$(cp $1 job.$$ && echo job.$$)" > /dev/null 2>&1 &\necho "Submitted batch job $!"'
    result = subprocess.run(
        [sys.executable, "-m", "odonata", "sweep", "y.toml", "-o", "sweep", "--on", "slurm", "-q"],
        cwd=tmp_path,
        env=os.environ | batch_system(tmp_path / "bin", runs),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    same = {name: text for name, text in content(tmp_path / "sweep").items() if name.startswith("points")}
    assert same.keys() == {name for name in local if name.startswith("points")}
    assert all(text == local[name] for name, text in same.items() if name.endswith(".parquet"))


CLUSTER = {
    "cores": 32,
    "memory": 128 * 2**30,
    "walltime": "04:00:00",
    "jobs": 2,
    "queue": "long",
    "account": "p1",
}


@pytest.mark.parametrize(
    ("threads", "largest_gib", "workers"),
    [(1, 1, 32), (4, 1, 8), (4, 40, 3), (32, 1, 1), (1, 500, 1)],
    ids=["a worker for each core", "for each four", "as memory allows", "one", "one too large"],
)
def test_a_batch_job_has_as_many_workers_as_fit(threads: int, largest_gib: int, workers: int) -> None:
    """min(cores / threads, memory / largest point), but one at least."""
    options = batch_options("slurm", CLUSTER, Demand(1, threads, largest_gib * 2**30), Path("logs"))
    assert (options["cores"], options["processes"]) == (workers, workers)
    assert options["worker_extra_args"][-2:] == [
        "--resources",
        f"threads={threads},memory={2**37 // workers}",
    ]


@pytest.mark.parametrize(
    ("system", "lines"),
    {
        "slurm": [
            "#SBATCH -p long",
            "#SBATCH -A p1",
            "#SBATCH --cpus-per-task=32",
            "#SBATCH -t 04:00:00",
            "#SBATCH -X",
        ],
        "pbs": ["#PBS -q long", "#PBS -A p1", "#PBS -l select=1:ncpus=32:mem=131072mb", "#PBS -X"],
        "lsf": ["#BSUB -q long", '#BSUB -P "p1"', "#BSUB -n 32", "#BSUB -W 04:00:00", "#BSUB -X"],
    }.items(),
)
def test_the_script_of_a_batch_job(system: str, lines: list[str], tmp_path: Path) -> None:
    import dask_jobqueue

    settings = CLUSTER | {
        "directives": ["-X"],
        "setup": ["module load python"],
        "python": "apptainer exec o.sif python3",
    }
    options = batch_options(system, settings, Demand(1, 4, 2**30), tmp_path)
    kind = {"slurm": "SLURMJob", "pbs": "PBSJob", "lsf": "LSFJob"}[system]
    module = getattr(dask_jobqueue, system)
    script = getattr(module, kind)(scheduler="tcp://a:1", name="w", **options).job_script()
    found = script.splitlines()
    assert [line for line in lines if line not in found] == []
    assert found.index("module load python") < next(
        i for i, line in enumerate(found) if "dask_worker" in line
    )
    (worker,) = (line for line in found if "dask_worker" in line)
    assert worker.startswith("apptainer exec o.sif python3 -m distributed.cli.dask_worker tcp://a:1 ")
    assert "--worker-class odonata.sweeps.private.PrivateWorker" in worker
    assert "--nthreads 1 " in worker
    assert "--nworkers 8 " in worker


def test_a_directory_that_a_script_cannot_name_is_refused() -> None:
    from odonata.errors import OdonataError

    with pytest.raises(OdonataError, match="a character that a batch script cannot name"):
        batch_options("slurm", CLUSTER, Demand(1, 1, 2**30), Path("my sweep/logs"))


def test_an_unknown_scheme_is_no_address() -> None:
    from odonata.errors import OdonataError

    with pytest.raises(OdonataError, match="unknown cluster 'http://x'"):
        Cluster("http://x")
