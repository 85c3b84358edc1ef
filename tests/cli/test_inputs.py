"""Missing, special and too large files are refused with a message, wherever a file name is accepted."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import Command

from odonata import _core

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
JOB = "[[job]]\nranks = 4\nranks_per_node = 1\n"

NAMING = {
    "cables": '[machine]\nfile = "{}"\nformat = "edge-list"\n' + JOB + 'pattern = "uniform"\n',
    "a machine of unknown format": '[machine]\nfile = "{}"\n' + JOB + 'pattern = "uniform"\n',
    "matrix": MACHINE + JOB + 'pattern = {{ name = "file", path = "{}" }}\n',
    "trace": MACHINE + JOB + 'program = {{ name = "trace", path = "{}" }}\n[engine]\nkind = "packet"\n',
}
"""Experiments that name a file."""

NO_FILES = {"pipe": "a pipe", "socket": "a socket", "folder": "a directory", "/dev/zero": "a device"}


@pytest.fixture
def no_files(tmp_path: Path) -> Path:
    """A directory with one of each of `NO_FILES`."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    # A socket needs a short name, but the path of a temporary directory may be long.
    before = Path.cwd()
    os.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    os.chdir(before)
    return tmp_path


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    """It ended as a mistake of the user, and its message has these words."""
    assert result.returncode == 2, result.stderr
    for word in words:
        assert word in result.stderr, result.stderr
    assert "internal error" not in result.stderr


@pytest.mark.parametrize("verb", ["run", "check", "sweep", "machine"])
@pytest.mark.parametrize("name", NO_FILES)
def test_no_file_is_no_experiment(odonata_command: Command, no_files: Path, verb: str, name: str) -> None:
    refused(odonata_command(verb, name, cwd=no_files), name, NO_FILES[name])


@pytest.mark.parametrize("kind", NAMING)
@pytest.mark.parametrize("name", NO_FILES)
def test_no_file_is_no_table(odonata_command: Command, no_files: Path, kind: str, name: str) -> None:
    (no_files / "x.toml").write_text(NAMING[kind].format(name))
    refused(odonata_command("check", "x.toml", cwd=no_files), name, NO_FILES[name], "x.toml:")


def long_list(path: Path, bytes_: int) -> None:
    """A list of numbers, the densest text: each takes some 180 B once it is read."""
    path.write_text(MACHINE + "a = [" + "1," * (bytes_ // 2) + "]\n")


def test_an_experiment_of_100_mb_is_refused_however_it_comes(
    odonata_command: Command, command: Path, tmp_path: Path
) -> None:
    """Under a limit of the address space it aborted the process."""
    long_list(tmp_path / "x.toml", 100_000_000)
    refused(odonata_command("check", "x.toml"), "x.toml", "95.367 MiB", "16 MiB")
    for source in (tmp_path / "x.toml", Path("/dev/zero")):
        with source.open() as text:
            result = subprocess.run(
                [command, "check", "-"], stdin=text, capture_output=True, text=True, timeout=300
            )
        refused(result, "<stdin>", "16 MiB")


def test_an_experiment_for_which_there_is_no_memory_is_refused(command: Path, tmp_path: Path) -> None:
    """8 MiB of text take some 800 MiB; 1.3 GB of addresses, most of which libraries take."""
    long_list(tmp_path / "x.toml", 8 << 20)
    shell = ["bash", "-c", 'ulimit -v 1300000 && exec "$@"', "bash", command, "check", "x.toml"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    refused(result, "x.toml", "8.0", "800", "address space")


def test_a_table_for_which_there_is_no_memory_is_refused(command: Path, tmp_path: Path) -> None:
    """A file of 3 GB that takes no room on the disk."""
    (tmp_path / "x.toml").write_text(NAMING["cables"].format("cables.csv"))
    with (tmp_path / "cables.csv").open("wb") as file:
        file.truncate(3_000_000_000)
    shell = ["bash", "-c", 'ulimit -v 1300000 && exec "$@"', "bash", command, "check", "x.toml"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    refused(result, "cables.csv", "2.79", "address space")


def test_a_parquet_file_is_as_large_as_what_is_in_it(command: Path, tmp_path: Path) -> None:
    """10 million rows that are all the same: a few kB on the disk, 800 MB as text and as cables."""
    (tmp_path / "x.toml").write_text(NAMING["cables"].format("cables.parquet"))
    ones = pa.array(np.ones(10_000_000, dtype=np.int32))
    pq.write_table(pa.table({"src": ones, "dst": ones}), tmp_path / "cables.parquet")
    shell = ["bash", "-c", 'ulimit -v 1300000 && exec "$@"', "bash", command, "check", "x.toml"]
    result = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    refused(result, "cables.parquet", "20,000,000 values", "address space")


def test_a_long_list_of_mistakes_is_shortened(odonata_command: Command, tmp_path: Path) -> None:
    """80,000 unknown keys took 40 s and 20 MB of words; no machine and no job are two more mistakes."""
    (tmp_path / "x.toml").write_text("".join(f"k{i} = 1\n" for i in range(80_000)))
    result = odonata_command("check", "x.toml")
    refused(result, "unknown key 'k0'", "79902 mistakes more")
    assert len(result.stderr) < 50_000


def test_a_pipe_that_nobody_writes_to_is_refused_in_python(no_files: Path) -> None:
    for name, noun in NO_FILES.items():
        for read in (_core.read_experiment, _core.read_file):
            with pytest.raises(Exception, match=f"cannot be read: it is {noun}"):
                read(no_files / name)
