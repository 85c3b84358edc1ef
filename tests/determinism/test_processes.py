"""`mpiexec -n N odonata run FILE`: the same bytes as one process, one message for what goes wrong."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import packet_files
import pytest

MPIEXEC = Path(sys.executable).with_name("mpiexec")

pytestmark = pytest.mark.skipif(
    not MPIEXEC.exists() or importlib.util.find_spec("mpi4py") is None,
    reason="no MPI: scripts/bootstrap mpi",
)


def open_traffic(routing: str, recorded: str = "") -> str:
    engine = f'routing = "{routing}"\n{recorded}'
    return packet_files.experiment(measure="4 us", warm_up="2 us", engine=engine)


EVERYTHING = (
    "record_packets = true\nrecord_paths = true\nrecord_channels = true\nrecord_job_waits = true\n"
    'interval = "1 us"\nseries = ["jobs", "links", "channels", "link-jobs"]\n'
)

RANKS = """
[[job]]
name = "fft"
program = { name = "fft-3d", iterations = 1 }
ranks = 36
ranks_per_node = 1
placement = { name = "random-order", order = 1 }

[[job]]
name = "halo"
program = { name = "halo-3d", iterations = 1 }
ranks = 36
ranks_per_node = 1
placement = { name = "random-order", order = 1, skip = 36 }
"""

CASES = {
    **{name: open_traffic(name) for name in ("min", "valiant-n", "ugal-n", "par", "piggyback", "q-adaptive")},
    "everything recorded": open_traffic("par", EVERYTHING),
    "closed": packet_files.experiment(
        packet_files.job(pattern="all-to-all", ranks=24), load=None, measure=None
    ),
    "side by side": packet_files.experiment(
        packet_files.job("a", ranks=40), packet_files.job("b", ranks=32), load=[0.3, 0.1], measure="4 us"
    ),
    "ranks": packet_files.experiment(
        RANKS,
        load=None,
        measure=None,
        engine='time_limit = "100 us"\nrecord_messages = true\nrecord_calls = true\n',
    ),
}


def command(file: Path, out: Path, threads: int = 1) -> list[str]:
    return [sys.executable, "-m", "odonata", "run", str(file), "-o", str(out), "--threads", str(threads)]


def run(file: Path, out: Path, processes: int, threads: int, *more: str) -> subprocess.CompletedProcess[str]:
    started = [] if processes == 1 else [str(MPIEXEC), "-n", str(processes)]
    words = [*started, *command(file, out, threads), *more]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def tables(run: Path) -> dict[str, bytes]:
    """Every file but the summary, which says how long the run took, and of the summary what does not."""
    files = {file.name: file.read_bytes() for file in run.iterdir() if file.name != "summary.json"}
    summary = json.loads((run / "summary.json").read_bytes())
    return files | {"jobs": json.dumps([summary["jobs"], summary["convergence"]]).encode()}


SOME = ((2, 1), (3, 2))
ALL = tuple((processes, threads) for processes in (1, 2, 3, 4) for threads in (1, 2))


@pytest.mark.parametrize("layouts", [SOME, pytest.param(ALL, marks=pytest.mark.long)], ids=["some", "all"])
@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes_for_any_number_of_processes_and_threads(
    case: str, layouts: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    file = tmp_path / "run.toml"
    file.write_text(CASES[case])
    alone = run(file, tmp_path / "alone", 1, 1)
    assert alone.returncode == 0, alone.stderr
    for processes, threads in layouts:
        out = tmp_path / f"{processes}x{threads}"
        ended = run(file, out, processes, threads)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.count("Tables are in") == 1
        assert tables(out) == tables(tmp_path / "alone"), f"{processes} processes of {threads} threads"


def test_a_mistake_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(packet_files.experiment(engine='routing = "praise"\n'))
    ended = run(file, tmp_path / "out", 3, 1)
    assert ended.returncode == 2
    assert ended.stderr.count("praise") == run(file, tmp_path / "out", 1, 1).stderr.count("praise")
    assert list(tmp_path.iterdir()) == [file]


def test_a_mistake_in_the_arguments_is_reported_once(tmp_path: Path) -> None:
    ended = run(tmp_path / "nowhere.toml", tmp_path / "out", 3, 1)
    assert ended.returncode == 2
    assert ended.stderr.count("there is no file") == 1, ended.stderr


def test_what_only_the_first_process_finds_ends_all(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(CASES["min"])
    (tmp_path / "taken").write_text("")
    ended = run(file, tmp_path / "taken", 3, 1)
    assert ended.returncode == 2
    assert ended.stderr.count("is not a directory") == 1


FLOWS = {
    name: packet_files.experiment(
        packet_files.job("a", ranks=40),
        packet_files.job("b", pattern="stencil-2d", ranks=30),
        load=None,
        measure=None,
    ).replace('kind = "packet"', f'kind = "flow"\nrouting = "{name}"\nalone = true\nbound_gap = 0.2')
    for name in ("adaptive-hybrid", "ugal", "static-direct", "static-indirect")
}


@pytest.mark.parametrize("routing", FLOWS)
def test_the_flow_engine_has_the_same_bytes(routing: str, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(FLOWS[routing])
    alone = run(file, tmp_path / "alone", 1, 1)
    assert alone.returncode == 0, alone.stderr
    for processes, threads in ((2, 2), (4, 1)):
        out = tmp_path / f"{processes}x{threads}"
        ended = run(file, out, processes, threads)
        assert ended.returncode == 0, ended.stderr
        assert tables(out) == tables(tmp_path / "alone"), f"{processes} processes of {threads} threads"


def test_what_one_process_does_says_so(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    flow = packet_files.experiment(load=None, measure=None).replace('"packet"', '"flow"')
    for text in (flow.replace('"flow"', '"flow"\nrouting = "optimal"'), flow.replace('"flow"', '"model"')):
        file.write_text(text)
        ended = run(file, tmp_path / "out", 2, 1)
        assert ended.returncode == 2
        assert ended.stderr.count("2 were started") == 1, ended.stderr


KEPT = packet_files.experiment(
    measure="20 us",
    warm_up="10 us",
    engine='routing = "q-adaptive"\nrecord_packets = true\ninterval = "2 us"\nseries = ["links"]\n',
)


def test_processes_make_a_warm_up_and_begin_with_it(tmp_path: Path) -> None:
    text = packet_files.experiment(measure="5 us", warm_up="20 us", engine='routing = "q-adaptive"\n')
    (tmp_path / "alone.toml").write_text(text)
    assert run(tmp_path / "alone.toml", tmp_path / "alone", 1, 1).returncode == 0
    text_files = {"experiment.toml", "resolved.toml"}
    expected = {name: data for name, data in tables(tmp_path / "alone").items() if name not in text_files}
    for makes, begins in ((3, 1), (1, 2)):
        warm = tmp_path / f"warm-{makes}"
        file = tmp_path / "shared.toml"
        file.write_text(f'{text}start_from = "{warm}"\n')
        for processes in (makes, begins):
            out = tmp_path / f"{makes}-{processes}"
            ended = run(file, out, processes, 1)
            assert ended.returncode == 0, ended.stderr
            found = {name: data for name, data in tables(out).items() if name not in text_files}
            assert found == expected
            assert [path.suffix for path in warm.iterdir()] == [".state"]


@pytest.mark.parametrize(("first", "then"), [(3, 1), (1, 2), (2, 4)])
def test_a_run_resumes_in_another_number_of_processes(first: int, then: int, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(KEPT)
    alone = run(file, tmp_path / "alone", 1, 1)
    assert alone.returncode == 0, alone.stderr
    out = tmp_path / "out"
    # It is killed by the first signal that finds it in the simulation, with a checkpoint by then.
    options = [f"--checkpoint-at={us}us" for us in range(4, 30, 4)]
    killed = run_killed_after_a_checkpoint(file, out, first, options)
    assert killed != 0
    assert (tmp_path / "out.checkpoint" / "checkpoint").is_file()
    words = [sys.executable, "-m", "odonata", "run", "--resume", str(out)]
    started = [] if then == 1 else [str(MPIEXEC), "-n", str(then)]
    ended = subprocess.run([*started, *words], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    assert tables(out) == tables(tmp_path / "alone")
    assert not (tmp_path / "out.checkpoint").exists()


def run_killed_after_a_checkpoint(file: Path, out: Path, processes: int, options: list[str]) -> int:
    """As by a node that fails when its second checkpoint is there; the exit code of what had started it."""
    script = (
        "import os, signal, odonata.store.writer as w; keep = w.GrowingTables.save_checkpoint; taken = []\n"
        "def killed(*a):\n"
        "    keep(*a); taken.append(1)\n"
        "    if len(taken) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "w.GrowingTables.save_checkpoint = killed\n"
        "from odonata.cli import main; main()\n"
    )
    started = [] if processes == 1 else [str(MPIEXEC), "-n", str(processes)]
    words = [*started, sys.executable, "-c", script, "run", str(file), "-o", str(out), *options]
    return subprocess.run(words, capture_output=True, timeout=300, check=False).returncode


def test_a_signal_keeps_a_run_of_several_processes(tmp_path: Path) -> None:
    file, out = tmp_path / "run.toml", tmp_path / "out"
    file.write_text(KEPT.replace("20 us", "2 ms"))
    words = [str(MPIEXEC), "-n", "2", *command(file, out)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        process = _child(started.pid, "PMI_RANK=0")
        time.sleep(4)
        os.kill(process, signal.SIGUSR1)
        said = "".join(started.communicate(timeout=100))
    assert started.returncode == 75, said
    assert said.count("ended with a checkpoint") == 1
    assert (tmp_path / "out.checkpoint" / "checkpoint").is_file()


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.long)])
def test_the_death_of_one_process_ends_all_and_leaves_no_run(kills: int, tmp_path: Path) -> None:
    """At any moment: while Python starts, the machine is built, messages pass."""
    file, out = tmp_path / "run.toml", tmp_path / "out"
    file.write_text(packet_files.experiment(measure="100 ms"))
    moments = random.Random(kills)
    for _ in range(kills):
        victim, seconds = moments.randrange(3), moments.uniform(0.0, 4.0)
        words = [str(MPIEXEC), "-n", "3", *command(file, out)]
        with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
            process = _child(started.pid, f"PMI_RANK={victim}")
            time.sleep(seconds)
            os.kill(process, signal.SIGKILL)
            said = "".join(started.communicate(timeout=60))
        assert started.returncode != 0, f"process {victim} after {seconds} s"
        assert "(signal 9)" in said
        assert not out.exists()
    # The next run with this target removes the partial directory.
    assert run(file, out, 1, 1, "--set", "engine.measure=2 us").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run.toml"]


def _child(mpiexec: int, marked: str) -> int:
    """The process below `mpiexec` that has a variable, once it is there."""
    for _ in range(300):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                words = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if marked.encode() in variables and b"odonata" in words and _descends(int(process.name), mpiexec):
                return int(process.name)
        time.sleep(0.1)
    raise AssertionError(f"no process with {marked} was started")


def _descends(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
    return False
