"""`--on slurm` and `--slurm` on a real Slurm; `make test-slurm` starts one of one node."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from running import Command
from test_cluster import SHORT, content, seeds

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("SLURM_CONF" not in os.environ, reason="no Slurm; `make test-slurm` starts one"),
]
CLUSTER = '[cluster]\ncores = 1\nmemory = "2 GiB"\nwalltime = "00:10:00"\njobs = 1\nqueue = "only"\n'


def jobs() -> list[str]:
    """Ids of the jobs that wait or run."""
    found = subprocess.run(
        ["squeue", "--noheader", "--format", "%i"], capture_output=True, text=True, check=True
    )
    return found.stdout.split()


def wait_until_empty() -> None:
    end = time.monotonic() + 120
    while jobs():
        assert time.monotonic() < end, "jobs are left after two minutes"
        time.sleep(0.5)


def test_a_batch_job_makes_the_same_bytes(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SHORT + CLUSTER + seeds(2))
    local = odonata_command("sweep", "x.toml", "-o", "local", "-q")
    assert local.returncode == 0, local.stderr
    result = odonata_command("sweep", "x.toml", "-o", "sweep", "--on", "slurm")
    assert result.returncode == 0, result.stderr
    assert "2 points: 2 run, 0 already finished" in result.stdout
    found = content(tmp_path / "sweep")
    logs = [name for name in found if name.startswith("logs/")]
    assert logs, "the output of the job"
    assert {name: found[name] for name in found if name not in logs} == content(tmp_path / "local")
    wait_until_empty()


def test_a_job_that_cannot_be_submitted_is_named(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SHORT + CLUSTER + seeds(2))
    result = odonata_command(
        "sweep", "x.toml", "-o", "sweep", "--on", "slurm", "--set", "cluster.queue=nowhere"
    )
    assert result.returncode == 2
    assert "invalid partition" in result.stderr.lower()
    assert "Traceback" not in result.stderr


def test_the_script_of_a_job_array_runs(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SHORT + seeds(2))
    assert odonata_command("sweep", "x.toml", "-o", "array", "--slurm").returncode == 0
    subprocess.run(["sbatch", "array/sweep.sbatch"], cwd=tmp_path, check=True, capture_output=True)
    wait_until_empty()
    result = odonata_command("sweep", "x.toml", "-o", "array")
    assert result.returncode == 0, result.stderr
    assert "2 points: 0 run, 2 kept" in result.stdout


def test_a_running_job_is_imported(odonata_command: Command, tmp_path: Path) -> None:
    """The one node has no tree of switches, so the machine is given."""
    subprocess.run(
        ["sbatch", "--job-name=held", "--output=/dev/null", "--wrap=sleep 60"],
        check=True,
        capture_output=True,
    )
    end = time.monotonic() + 60
    while "R" not in subprocess.run(["squeue", "-h", "-o", "%t"], capture_output=True, text=True).stdout:
        assert time.monotonic() < end, "the job does not start"
        time.sleep(0.2)
    node = subprocess.run(["sinfo", "-h", "-o", "%n"], capture_output=True, text=True).stdout.strip()
    (tmp_path / "one.conf").write_text(f"SwitchName=s0 Nodes={node}\n")
    try:
        refused = odonata_command("import", "slurm", "-o", "none.toml", cwd=tmp_path)
        done = odonata_command("import", "slurm", "--machine", "one.conf", "-o", "now.toml", cwd=tmp_path)
    finally:
        subprocess.run(["scancel", "--name=held"], check=True)
        wait_until_empty()
    assert refused.returncode == 2
    assert "Name the machine: --machine" in refused.stderr
    assert done.returncode == 0, done.stderr
    assert 'name = "held-' in (tmp_path / "now.toml").read_text()
