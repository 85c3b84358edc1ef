"""Experiments made of what other programs say of their jobs: `odonata import`, from Python, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.importers import replay, slurm
from odonata.importers.jobs import ImportedJob, experiment, machine_of

File = str | Path


@dataclass(frozen=True)
class Imported:
    """What a file says.

    Examples:
        >>> found = odonata.importers.from_tracer("tracer.conf", machine="edison")
        >>> found.jobs, found.text.splitlines()[2:4]
        (1, ['[machine]', 'preset = "edison"'])
    """

    text: str
    """An experiment that `odonata.run` takes, or its jobs alone where no machine was named."""
    jobs: int
    left_out: int = 0
    """Jobs that do not run, or have no nodes."""


def from_slurm(
    table: File,
    *,
    machine: str | None = None,
    node_names: str | None = None,
    pattern: str = "uniform",
    ranks_per_node: int | None = None,
    at: datetime | None = None,
    beside: File = ".",
) -> Imported:
    """Jobs and their nodes from what `squeue` or `sacct` print.

    Args:
        table: The file; the columns are said by its first line.
        machine: A preset, a file of cables, or an experiment file that has `[machine]`.
        node_names: Names of the machine's nodes, as `nid[00001-05760]`.
        pattern: What each job sends.
        ranks_per_node: Instead of the cores that Slurm gave a node.
        at: Jobs that ran then, of a table with Start and End.
        beside: The directory in which the text will lie: it names files as seen from there.

    Raises:
        OdonataError: The file is not as Slurm prints it, or no job of it runs.

    Examples:
        >>> found = odonata.importers.from_slurm(
        ...     "queue.txt", machine="edison", node_names="nid[00000-05759]", pattern="stencil-3d"
        ... )
        >>> found.jobs, found.left_out
        (2, 1)
        >>> run = odonata.run(found.text)
        >>> run.jobs.select(["name", "ranks", "nodes"]).to_pylist()
        [{'name': 'cfd-1', 'ranks': 48, 'nodes': 2}, {'name': 'fft-2', 'ranks': 24, 'nodes': 1}]
    """
    if node_names is not None and machine is None:
        raise OdonataError("names of nodes need a machine: they are the machine's")
    jobs, others = slurm.read(Path(table), at)
    if not jobs:
        raise OdonataError(f"no job of {table} runs; {others} do not, or have no nodes")
    names = {} if node_names is None else {"node_names": node_names}
    imported = slurm.imported(jobs, pattern=pattern, ranks_per_node=ranks_per_node)
    return _of(imported, machine, beside, names, others)


def from_codes(
    table: File,
    *,
    alloc: File | None = None,
    machine: str | None = None,
    pattern: str = "uniform",
    message_bytes: str | None = None,
    beside: File = ".",
) -> Imported:
    """Jobs of a workload file of CODES, on the nodes of its allocation.

    Args:
        table: The workload file.
        alloc: The nodes of the jobs, a line for each.
        machine: As of `from_slurm`; a `network.conf`, too.
        pattern: What a job sends that the file does not say it of.
        message_bytes: Size of each message of a synthetic workload, as `"4 KiB"`.
        beside: As of `from_slurm`.

    Raises:
        OdonataError: A file is not as CODES has it.

    Examples:
        >>> odonata.importers.from_codes("workloads.conf", machine="edison").jobs
        2
    """
    given = None if alloc is None else Path(alloc)
    jobs = replay.codes(Path(table), given, Path(beside), pattern=pattern, message_bytes=message_bytes)
    return _of(jobs, machine, beside)


def from_tracer(
    table: File, *, machine: str | None = None, pattern: str = "uniform", beside: File = "."
) -> Imported:
    """Jobs of a configuration of TraceR, where its global map puts them.

    Args:
        table: The configuration.
        machine: As of `from_codes`.
        pattern: What each job sends.
        beside: As of `from_slurm`.

    Raises:
        OdonataError: The file is not as TraceR has it.

    Examples:
        >>> odonata.importers.from_tracer("tracer.conf", machine="edison").jobs
        1
    """
    return _of(replay.tracer(Path(table), Path(beside), pattern=pattern), machine, beside)


def _of(
    jobs: Sequence[ImportedJob],
    machine: str | None,
    beside: File,
    keys: Mapping[str, Any] | None = None,
    left_out: int = 0,
) -> Imported:
    hardware = None if machine is None else machine_of(machine, Path(beside)) | dict(keys or {})
    return Imported(experiment(jobs, hardware), len(jobs), left_out)
