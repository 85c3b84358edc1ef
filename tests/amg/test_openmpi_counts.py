"""What vmpi records of a program is what the same program does on Open MPI.

Every message with its ends and bytes, every collective with its ranks and bytes. There they are counted by a
library of MPI's profiling layer (`vmpi/tests/profile.c`), which changes neither the program nor the MPI.
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from openmpi_tools import openmpi, windows

from odonata.amg import program
from odonata.amg.problems import make

VMPI = Path(__file__).parents[2] / "vmpi"
MPIRUN = (
    openmpi("mpirun"),
    "--allow-run-as-root",
    "--oversubscribe",
    "--mca",
    "btl_vader_single_copy_mechanism",
    "none",
)
Counts = tuple[Counter[tuple[int, int, int]], Counter[tuple[str, int, int]]]
"""Messages by source, destination and bytes; collectives by name, ranks and bytes that were given."""


@pytest.fixture(scope="module")
def profile(openmpi_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001 - mpicc is there
    subprocess.run(["make", "--silent", "-C", str(VMPI), "library"], check=True)
    library = tmp_path_factory.mktemp("profile") / "libprofile.so"
    words = [
        openmpi("mpicc"),
        "-shared",
        "-fPIC",
        "-O1",
        "-o",
        str(library),
        str(VMPI / "tests" / "profile.c"),
    ]
    subprocess.run(words, check=True)
    return library


def on_open_mpi(folder: Path, profile: Path, ranks: int, *words: object) -> Counts:
    environment = {**os.environ, "MPI_PROFILE": str(folder / "profile")}
    given = ["-x", "MPI_PROFILE", "-x", f"LD_PRELOAD={profile}", "--mca", "osc", windows()]
    command = [*MPIRUN, *given, "-np", str(ranks), *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder, timeout=300)
    messages: Counter[tuple[int, int, int]] = Counter()
    calls: Counter[tuple[str, int, int]] = Counter()
    for rank in range(ranks):
        for line in (folder / f"profile.{rank}").read_text().splitlines():
            kind, first, second, third = line.split()
            if kind == "message":
                messages[int(first), int(second), int(third)] += 1
            else:
                calls[first, int(second), int(third)] += 1
    return messages, calls


def recorded(path: Path) -> tuple[Counter[tuple[int, int, int]], Counter[tuple[str, int, str]]]:
    """Single messages of vmpi's record; calls and bytes of each collective, by its ranks."""
    kinds = [
        ("source", "<u4"),
        ("destination", "<u4"),
        ("bytes", "<u4"),
        ("step", "<u2"),
        ("phase", "<u2"),
    ]
    rows = np.fromfile(path, dtype=kinds, offset=32)
    messages = Counter(
        zip(*(rows[name].tolist() for name in ("source", "destination", "bytes")), strict=True)
    )
    calls: Counter[tuple[str, int, str]] = Counter()
    for row in csv.DictReader(path.with_name(path.name + ".collectives").read_text().splitlines()):
        for what in ("calls", "bytes"):
            calls[row["call"], int(row["ranks"]), what] += int(row[what])
    return messages, calls


def summed(calls: Counter[tuple[str, int, int]]) -> Counter[tuple[str, int, str]]:
    sums: Counter[tuple[str, int, str]] = Counter()
    for (name, ranks, given), count in calls.items():
        sums[name, ranks, "calls"] += count
        sums[name, ranks, "bytes"] += count * given
    return sums


# Not windows.c, which asks again and again until all are there.
@pytest.mark.parametrize(
    ("source", "ranks"),
    [
        ("messages.c", 5),
        ("collectives.c", 5),
        ("nonblocking.c", 5),
        ("neighbours.c", 5),
        ("types.c", 5),
        ("calls.c", 5),
        ("apps/shock.cc", 8),
        ("apps/gradients.cc", 8),
        ("apps/blocks.c", 8),
    ],
)
def test_the_record_has_the_counts_of_open_mpi(
    profile: Path, tmp_path: Path, source: str, ranks: int
) -> None:
    compiled = source.endswith("c") and not source.endswith("cc")
    for compiler, name in ((openmpi("mpicc"), "real"), (VMPI / "bin" / "vmpicc", "virtual")):
        words = [str(compiler) if compiled else str(compiler).replace("picc", "picxx")]
        words += ["-O1", "-DOMPI_SKIP_MPICXX", "-o", name, str(VMPI / "tests" / source), "-lm"]
        subprocess.run(words, check=True, cwd=tmp_path, capture_output=True)
    run = [str(VMPI / "bin" / "vmpirun"), "-n", str(ranks), "-record", "record.bin", "virtual"]
    subprocess.run(run, check=True, cwd=tmp_path, capture_output=True)
    messages, calls = on_open_mpi(tmp_path, profile, ranks, tmp_path / "real")
    sent, called = recorded(tmp_path / "record.bin")
    assert sent == messages
    assert called == summed(calls)
    assert messages or calls


def traced(path: Path) -> tuple[Counter[tuple[int, int, int]], Counter[str]]:
    """Messages of a trace, between ranks of the world, and how often each collective is called."""
    lines = [line.split() for line in path.read_text().splitlines()]
    world: dict[tuple[int, int], int] = {}
    for rank, action, *more in lines:
        if action == "comm_split":
            world[int(more[0]), int(more[2])] = int(rank)
    messages: Counter[tuple[int, int, int]] = Counter()
    calls: Counter[str] = Counter()
    for rank, action, *more in lines:
        on = int(more[-1]) if more[-2:-1] == ["on"] else None
        if action in ("send", "isend"):
            peer = int(more[0])
            messages[int(rank), peer if on is None else world[on, peer], int(more[2])] += 1
        elif action == "sendRecv":
            peer = int(more[1])
            messages[int(rank), peer if on is None else world[on, peer], int(more[0])] += 1
        elif action not in (
            "init",
            "finalize",
            "compute",
            "wait",
            "recv",
            "irecv",
            "comm_split",
            "comm_free",
        ):
            calls[action] += 1
    return messages, calls


@pytest.mark.parametrize("redistribute", [None, "1:3"])
def test_hypre_sends_as_on_open_mpi(
    amg_program: Path, openmpi_program: Path, profile: Path, tmp_path: Path, redistribute: str | None
) -> None:
    """BoomerAMG's set-up, a cycle and the solver: the trace of what 8 ranks of 8^3 points each call."""
    problem, folders = make("laplace7", 8, (8, 8, 8)), [tmp_path / "virtual", tmp_path / "real"]
    for folder in folders:
        folder.mkdir()
    words = [
        program.arguments(problem, folder, matrix=None, solve=True, redistribute=redistribute)
        for folder in folders
    ]
    run = [str(amg_program), "-np", "8", "-trace", str(tmp_path / "hypre.trace"), "--", *words[0]]
    subprocess.run(run, check=True, capture_output=True)
    messages, calls = on_open_mpi(tmp_path, profile, 8, openmpi_program, *words[1])
    sent, called = traced(tmp_path / "hypre.trace")
    assert sum(messages.values()) > 5_000
    assert sent == messages
    several: Counter[str] = Counter()
    for (name, ranks, _), count in calls.items():
        if ranks > 1:  # the trace leaves out what moves nothing
            several[name.removeprefix("MPI_").lower()] += count
    assert called == several
