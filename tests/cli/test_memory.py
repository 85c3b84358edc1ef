"""Experiments that need too much memory are refused with a message, before they allocate it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from packet_files import experiment, job
from running import Command

from odonata import _core
from odonata.sweeps.execute import as_memory_allows

LARGE = 'topology = "dragonfly"\np = 6\na = 12\nh = 6\ng = 73'
"""5,256 nodes."""


STUDY = 'preset = "dragonfly-1056"'


def messages(engine: str) -> str:
    """Every rank of 5,256 to every other: 27.6 million messages, at least 16 B each."""
    lines = [f"[machine]\n{LARGE}", '[[job]]\npattern = "all-to-all"\nranks = 5256\nranks_per_node = 1']
    return "\n".join([*lines, f'[engine]\nkind = "{engine}"', ""])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["packet", "flow", "model"])
def test_an_address_space_that_is_too_small_is_named(command: Path, tmp_path: Path, engine: str) -> None:
    """The soft limit of the shell; libraries take most of these 1.3 GB."""
    (tmp_path / "x.toml").write_text(messages(engine))
    limit = 1_300_000
    shell = ["bash", "-c", f'ulimit -v {limit} && exec "$@"', "bash", command, "run", "x.toml", "-o", "run"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result.stderr
    for words in ("needs about", "address space", "ulimit -v"):
        assert words in result.stderr, result.stderr
    assert not (tmp_path / "run").exists()


def test_a_machine_that_is_too_large_is_refused_before_it_is_built(command: Path, tmp_path: Path) -> None:
    """92,544 nodes in 400 MB of addresses: this was an abort of the process."""
    (tmp_path / "x.toml").write_text(
        '[machine]\npreset = "cascade-241"\n[[job]]\npattern = "uniform"\nranks = 64\nranks_per_node = 1\n'
    )
    shell = ["bash", "-c", 'ulimit -v 400000 && exec "$@"', "bash", command, "run", "x.toml", "-o", "run"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result.stderr
    for words in ("the machine needs about", "address space", "x.toml:2"):
        assert words in result.stderr, result.stderr


SMALL = 'topology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9'
"""72 nodes."""


@pytest.mark.parametrize("engine", ["packet", "flow", "model"])
@pytest.mark.parametrize("limit", [1_300_000, 5_000_000])
def test_ranks_that_are_too_many_are_refused(command: Path, tmp_path: Path, engine: str, limit: int) -> None:
    """A billion ranks on one node need 4 GB for their nodes; this once aborted the process."""
    (tmp_path / "x.toml").write_text(
        f"[machine]\n{SMALL}\ncores_per_node = 1000000000\n"
        '[[job]]\npattern = "uniform"\nranks = 1000000000\nranks_per_node = 1000000000\n'
        f'[engine]\nkind = "{engine}"\n'
    )
    for verb in (["check", "x.toml"], ["run", "x.toml", "-o", "run"]):
        shell = ["bash", "-c", f'ulimit -v {limit} && exec "$@"', "bash", command, *verb]
        result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert result.returncode == 2, result.stderr
        for words in ("the 1000000000 ranks of the jobs need", "address space", "x.toml:"):
            assert words in result.stderr, result.stderr


def test_check_says_what_a_run_is_estimated_to_take(odonata_command: Command, tmp_path: Path) -> None:
    """The estimate of `check` equals the run's, except for the memory of the process so far."""
    job_of_all = '[[job]]\npattern = "uniform"\nranks = 72\nranks_per_node = 1\n'
    (tmp_path / "x.toml").write_text(f"[machine]\n{SMALL}\n{job_of_all}")
    foreseen = json.loads(odonata_command("check", "x.toml", "--json").stdout)["memory_estimate_bytes"]
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0
    said = json.loads((tmp_path / "run/summary.json").read_text())["memory_estimate_bytes"]
    assert abs(foreseen - said) < 0.2 * said
    words = odonata_command("check", "x.toml").stdout
    found = re.search(r"^estimated memory ([\d.]+) MiB$", words, re.MULTILINE)
    assert found, words
    assert abs(float(found[1]) * 2**20 - said) < 0.2 * said


@pytest.mark.slow
def test_messages_of_the_same_nodes_take_no_room(command: Path, tmp_path: Path) -> None:
    """16 million messages of each of two ranks, between two nodes: each had 24 B, the process aborted."""
    (tmp_path / "x.toml").write_text(
        f"[machine]\n{SMALL}\n"
        '[[job]]\npattern = { name = "uniform", messages = 16000000 }\nranks = 2\nranks_per_node = 1\n'
        '[engine]\nkind = "flow"\n'
    )
    shell = ["bash", "-c", 'ulimit -v 1300000 && exec "$@"', "bash", command, "run", "x.toml", "-o", "run"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


def test_a_given_limit_does_not_lift_that_of_the_process(command: Path, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(messages("packet") + 'memory_limit = "1 TB"\n')
    shell = ["bash", "-c", 'ulimit -v 1300000 && exec "$@"', "bash", command, "run", "x.toml", "-o", "run"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result.stderr
    assert "address space" in result.stderr


def test_a_small_run_needs_no_large_address_space(command: Path, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(experiment(job(), measure="2 us"))
    shell = ["bash", "-c", 'ulimit -v 1300000 && exec "$@"', "bash", command, "run", "x.toml", "-o", "run"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


RUNS = {
    "open": experiment(job(), load=1.0, measure="5 us"),
    "packets and paths": experiment(
        job(), load=1.0, measure="20 us", engine="record_packets = true\nrecord_paths = true\n"
    ),
    "series": experiment(
        job("one", ranks=36),
        job("two", ranks=36),
        measure="20 us",
        engine='interval = "1 us"\nrecord_channels = true\n'
        'series = ["jobs", "links", "channels", "link-jobs"]\n',
    ),
    "closed": experiment(job("one", "all-to-all"), load=None, measure=None),
    "flow": experiment(job("one", "all-to-all"), load=None, measure=None).replace('"packet"', '"flow"'),
    "model": experiment(job("one", "all-to-all"), load=None, measure=None).replace('"packet"', '"model"'),
}


RUNS |= {
    "programs": f"[machine]\n{STUDY}\n"
    + job("halo", None, 528, 'program = { name = "halo-3d", bytes = "8 KiB", iterations = 1 }\n')
    + job("sum", None, 528, 'program = { name = "allreduce", bytes = "8 KiB", compute = "1 us" }\n')
    + '[engine]\nkind = "packet"\nrouting = "min"\n',
    "irregular": f'[machine]\n{LARGE}\ncores_per_node = 4\n[[job]]\npattern = "spread"\nranks = 20000\n'
    '[engine]\nkind = "flow"\n',
    "tables": f'[machine]\n{LARGE}\ncores_per_node = 16\n[[job]]\npattern = "stencil-3d"\nranks = 84096\n'
    '[engine]\nkind = "flow"\nrouting = "min"\n',
}

PEAK = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Peak memory of a command. A process of its own, since a child starts with the size of its parent."""


PRINTED_BYTES = 64 << 20


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_estimates_hold_the_whole_process(command: Path, tmp_path: Path, run: str) -> None:
    """What `check` and `run` estimate is at least the peak of the process, and at most 1.7 of it.

    The peak that a run reports includes the writing of its tables, not the summary printed afterwards.
    The command itself is started: a process of the command server also has the server's modules.
    """
    (tmp_path / "x.toml").write_text(RUNS[run])
    checked = subprocess.run(
        [command, "check", "x.toml", "--json"], cwd=tmp_path, check=True, capture_output=True
    )
    started = [sys.executable, "-I", "-S", "-c", PEAK, command, "run", "x.toml", "-o", "run"]
    done = subprocess.run(started, cwd=tmp_path, check=True, capture_output=True, text=True)
    taken = int(done.stdout)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert taken - PRINTED_BYTES <= summary["peak_rss_bytes"] <= 1.001 * taken
    for estimate in (json.loads(checked.stdout)["memory_estimate_bytes"], summary["memory_estimate_bytes"]):
        assert taken <= estimate <= 1.7 * taken, (taken / 2**20, estimate / 2**20)


def test_the_minimum_limit_is_reported() -> None:
    available = _core.available_memory()
    if not Path("/proc/meminfo").exists():
        assert available is None
        return
    assert available is not None
    assert available[0] < 1 << 50
    assert any(word in available[1] for word in ("meminfo", "control group", "RLIMIT")), available


def test_runs_of_a_sweep_wait_until_there_is_memory() -> None:
    """Memory for 10 bytes in total; the run with 20 bytes runs alone."""
    needs = {0: 6, 1: 4, 2: 5, 3: 20, 4: 3, 5: 3, 6: 3}
    running: set[int] = set()
    seen: list[set[int]] = []

    def work(index: int) -> None:
        time.sleep(0.05)
        running.discard(index)

    with ThreadPoolExecutor(len(needs)) as pool:

        def start(index: int) -> Future[None]:
            running.add(index)
            seen.append(set(running))
            return pool.submit(work, index)

        ended = [index for index, _ in as_memory_allows(needs, 10, start)]
    assert sorted(ended) == list(needs)
    assert all(sum(needs[i] for i in together) <= 10 for together in seen if together != {3}), seen
    assert {3} in seen
    assert {4, 5, 6} in seen
    assert len(list(as_memory_allows({0: 6, 1: 6}, None, lambda _: _done()))) == 2


def _done() -> Future[None]:
    future = Future[None]()
    future.set_result(None)
    return future
