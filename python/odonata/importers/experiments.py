"""Makes experiments from job data of other programs: `odonata import`, also from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.importers import replay, slurm
from odonata.importers.jobs import ImportedJob, experiment, machine_section

File = str | Path


@dataclass(frozen=True)
class ImportResult:
    """Content of an imported file.

    Examples:
        >>> found = odonata.importers.from_tracer("tracer.conf", machine="edison")
        >>> found.jobs, found.text.splitlines()[2:4]
        (1, ['[machine]', 'preset = "edison"'])
    """

    text: str
    """An experiment for `odonata.run`, or only its jobs if no machine was given."""
    jobs: int
    left_out: int = 0
    """Number of jobs that do not run, or have no nodes."""


def from_slurm(
    table: File,
    *,
    machine: str | None = None,
    node_names: str | None = None,
    pattern: str = "uniform",
    ranks_per_node: int | None = None,
    at: datetime | None = None,
    directory: File = ".",
) -> ImportResult:
    """Jobs and their nodes from the output of `squeue` or `sacct`.

    Args:
        table: The file; its first line names the columns.
        machine: A preset, a file of cables, or an experiment file with `[machine]`.
        node_names: Names of the machine's nodes, such as `nid[00001-05760]`.
        pattern: Traffic pattern of each job.
        ranks_per_node: Ranks per node; by default the cores that Slurm allocated.
        at: Select the jobs that ran at this time, from a table with Start and End.
        directory: Directory for the experiment; its file names are relative to it.

    Raises:
        OdonataError: The file is not output of Slurm, or none of its jobs runs.

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
        raise OdonataError("names of nodes need a machine")
    jobs, others = slurm.read(Path(table), at)
    if not jobs:
        raise OdonataError(f"no job of {table} runs; {others} jobs do not run or have no nodes")
    names = {} if node_names is None else {"node_names": node_names}
    imported = slurm.as_jobs(jobs, pattern=pattern, ranks_per_node=ranks_per_node)
    return _of(imported, machine, directory, names, others)


def from_codes(
    table: File,
    *,
    alloc: File | None = None,
    machine: str | None = None,
    pattern: str = "uniform",
    message_bytes: str | None = None,
    directory: File = ".",
) -> ImportResult:
    """Jobs of a CODES workload file, on the nodes of its allocation.

    Args:
        table: The workload file.
        alloc: File with the nodes of the jobs, one line per job.
        machine: As in `from_slurm`; also a `network.conf`.
        pattern: Traffic pattern of jobs without one in the file.
        message_bytes: Size of each message of a synthetic workload, such as `"4 KiB"`.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: A file is not in CODES' format.

    Examples:
        >>> odonata.importers.from_codes("workloads.conf", machine="edison").jobs
        2
    """
    given = None if alloc is None else Path(alloc)
    jobs = replay.codes(Path(table), given, Path(directory), pattern=pattern, message_bytes=message_bytes)
    return _of(jobs, machine, directory)


def from_tracer(
    table: File, *, machine: str | None = None, pattern: str = "uniform", directory: File = "."
) -> ImportResult:
    """Jobs of a TraceR configuration, with the placement of its global map.

    Args:
        table: The configuration.
        machine: As in `from_codes`.
        pattern: Traffic pattern of each job.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The file is not in TraceR's format.

    Examples:
        >>> odonata.importers.from_tracer("tracer.conf", machine="edison").jobs
        1
    """
    return _of(replay.tracer(Path(table), Path(directory), pattern=pattern), machine, directory)


def _of(
    jobs: Sequence[ImportedJob],
    machine: str | None,
    directory: File,
    keys: Mapping[str, Any] | None = None,
    left_out: int = 0,
) -> ImportResult:
    hardware = None if machine is None else machine_section(machine, Path(directory)) | dict(keys or {})
    return ImportResult(experiment(jobs, hardware), len(jobs), left_out)
