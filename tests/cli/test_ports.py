"""Every port that Odonata opens asks for a key.

Dask's ports answer nobody else, and no other command opens a port.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from running import Command

EXPERIMENT = """
[machine]
topology = "dragonfly"
p = 1
a = 4
h = 1
g = 5
[[job]]
name = "all"
ranks = 20
ranks_per_node = 1
pattern = "uniform"
"""
FLOW = '[engine]\nkind = "flow"\n'
LONG = (
    EXPERIMENT.replace('"uniform"', '"uniform"\ntraffic = { name = "open", load = 0.9 }')
    + '[engine]\nkind = "packet"\nrouting = "min"\nmeasure = "20 ms"\n'
)
SEEDS = '[sweep]\n"engine.seed" = [1, 2]\n'
BATCH = '[cluster]\ncores = 1\nmemory = "2 GiB"\nwalltime = "00:10:00"\n'


def answers(address: str, security: object) -> bool:
    """Whether what listens there answers a message of Dask."""
    from distributed.comm import connect
    from distributed.security import Security

    assert isinstance(security, Security)

    async def ask() -> bool:
        try:
            comm = await connect(address, timeout=3, **security.get_connection_args("client"))
            try:
                await comm.write({"op": "identity", "reply": True})
                return bool(await asyncio.wait_for(comm.read(), 3))
            finally:
                comm.abort()
        except (OSError, TimeoutError):
            return False

    return asyncio.run(ask())


def ports(process: int) -> set[str]:
    """Every TCP port on which a process or one that it started listens, as host:port."""
    psutil = pytest.importorskip("psutil")
    found = set()
    try:
        root = psutil.Process(process)
        for one in (root, *root.children(recursive=True)):
            for connection in one.net_connections("tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    found.add(f"127.0.0.1:{connection.laddr.port}")
    except psutil.NoSuchProcess:
        pass
    return found


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end, f"waited 90 s for {what}"
        time.sleep(0.1)


@contextmanager
def sweeping(folder: Path, text: str, *options: str, **environment: str) -> Iterator[int]:
    """A sweep that runs; its process number."""
    (folder / "x.toml").write_text(text)
    with subprocess.Popen(
        [sys.executable, "-m", "odonata", "sweep", "x.toml", "-o", "sweep", "-q", *options],
        cwd=folder,
        env=os.environ | environment,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process.pid
        finally:
            process.terminate()
            process.communicate(timeout=60)


def check_refusals(addresses: set[str]) -> None:
    """Plain messages and foreign keys get no answer."""
    from distributed.security import Security

    foreign_keys = Security.temporary()
    for address in sorted(addresses):
        assert not answers(f"tcp://{address}", Security()), f"{address} answers without keys"
        assert not answers(f"tls://{address}", foreign_keys), f"{address} answers to foreign keys"


@pytest.mark.slow
def test_a_client_with_the_keys_is_answered_and_others_are_not() -> None:
    """The control: the same question gets an answer from the same port when it comes with the keys."""
    distributed = pytest.importorskip("distributed")

    from odonata.sweeps.private import local_nodes

    keys = distributed.Security.temporary()
    with distributed.SpecCluster(**local_nodes(1, {}, keys), silence_logs=50) as cluster:
        address = cluster.scheduler_address.removeprefix("tls://")
        assert answers(f"tls://{address}", keys)
        check_refusals({address})


@pytest.mark.slow
def test_a_sweep_on_dask_talks_to_nobody_else(tmp_path: Path) -> None:
    """Once any user of the machine could run programs as the user who swept."""
    pytest.importorskip("distributed")
    with sweeping(tmp_path, LONG + SEEDS, "--on", "dask", "-j", "2") as process:
        # A scheduler, and two workers with a nanny each.
        wait_until(lambda: len(ports(process)) >= 5, "the workers")
        check_refusals(ports(process))


@pytest.mark.slow
def test_a_sweep_on_a_batch_system_talks_to_nobody_else(tmp_path: Path) -> None:
    """Its scheduler listens on the network, and so do the workers; the keys are files of this user alone."""
    pytest.importorskip("distributed")
    (tmp_path / "bin").mkdir()
    runs = 'sh "$(cp $1 job.$$ && echo job.$$)" > /dev/null 2>&1 &\necho "Submitted batch job $!"'
    for name, text in {"sbatch": runs, "scancel": "pkill -P $1; kill $1"}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with sweeping(tmp_path, LONG + BATCH + SEEDS, "--on", "slurm", PATH=path) as process:
        logs = tmp_path / "sweep" / "logs"
        wait_until(lambda: bool(list(logs.glob(".keys-*/*.pem"))) and bool(ports(process)), "the scheduler")
        (folder,) = logs.glob(".keys-*")
        assert folder.stat().st_mode & 0o077 == 0
        check_refusals(ports(process))
        script = tmp_path / next(iter(wait_for_files(tmp_path, "job.*")))
        assert "--worker-class odonata.sweeps.private.PrivateWorker" in script.read_text()
    assert not list(logs.glob(".keys-*")), "the keys outlive the sweep"


def wait_for_files(folder: Path, pattern: str) -> list[Path]:
    wait_until(lambda: bool(list(folder.glob(pattern))), pattern)
    return list(folder.glob(pattern))


COMMANDS = {
    "run": "flow.toml -o run --force",
    "check": "flow.toml",
    "sweep": "sweep.toml -o swept -j 1",
    "sweep --on dask": "sweep.toml -o dask --on dask -j 1",
    "optimize": "optimize.toml -o best",
    "characterize": "flow.toml",
    "show": "run",
    "explain": "run",
    "compare": "run run",
    "view": "run --html page.html",
    "plot": "run -o figure.png",
    "machine": "edison",
    "schema": "",
}

HOOK = """
import os, sys
def record(event, arguments):
    if event == "socket.bind" and isinstance(arguments[1], tuple):
        frame, files = sys._getframe(1), []
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        with open(os.environ["PORTS"], "a") as log:
            print(arguments[1][:2], *files, file=log)
sys.addaudithook(record)
"""
"""Runs in every Python process of a command, as `sitecustomize`."""


@pytest.mark.slow
def test_no_other_command_opens_a_port(odonata_command: Command, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("optuna")
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK)
    (tmp_path / "flow.toml").write_text(EXPERIMENT + FLOW)
    (tmp_path / "sweep.toml").write_text(EXPERIMENT + FLOW + SEEDS)
    choice = '"engine.routing" = ["min", "adaptive-hybrid"]\n'
    search = '[optimize]\nobjectives = ["slowest job"]\ntrials = 2\n'
    (tmp_path / "optimize.toml").write_text(EXPERIMENT + FLOW + SEEDS + choice + search)
    opened = {}
    for name, arguments in COMMANDS.items():
        log = tmp_path / "ports.log"
        log.unlink(missing_ok=True)
        path = os.pathsep.join(filter(None, [str(tmp_path / "hook"), os.environ.get("PYTHONPATH")]))
        result = odonata_command(name.split()[0], *arguments.split(), PYTHONPATH=path, PORTS=str(log))
        assert result.returncode == 0, f"{name}: {result.stderr}"
        if log.exists():
            opened[name] = log.read_text()
    assert set(opened) == {"sweep --on dask"}, opened
    assert all("distributed/comm/tcp.py" in line for line in opened["sweep --on dask"].splitlines())
