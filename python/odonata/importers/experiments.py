"""Makes experiments from job data of other programs: `odonata import`, also from Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from odonata._core import Experiment
from odonata.errors import OdonataError, nearest
from odonata.importers import ember, live_slurm, queues, replay, slurm
from odonata.importers.jobs import Hardware, ImportedJob, experiment, hardware, listed
from odonata.importers.queues import Queue
from odonata.quantity import counted

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
    """Number of jobs that do not run, have no nodes, or do not fit the machine."""
    notes: tuple[str, ...] = ()
    """How the file was understood, what was left out, and what was assumed; a line each."""


def from_slurm(
    table: File | None,
    *,
    machine: str | None = None,
    node_names: str | None = None,
    edit: Sequence[str] = (),
    pattern: str = "uniform",
    ranks_per_node: int | None = None,
    at: datetime | None = None,
    directory: File = ".",
) -> ImportResult:
    """Jobs and their nodes from the output of `squeue` or `sacct`, or of another batch system.

    Args:
        table: The file: a table with titles in its first line, or JSON. None asks the Slurm of this
            machine: `squeue`, or with `at` the accounting by `sacct`.
        machine: A preset, a file of cables, or an experiment file with `[machine]`.
        node_names: Names of the machine's nodes, such as `nid[00001-05760]`.
        edit: Edits of the cabling, such as `fail leaf03`; jobs on nodes that fail are left out.
        pattern: Traffic pattern of each job.
        ranks_per_node: Ranks per node; by default the cores that Slurm allocated.
        at: Select the jobs that ran at this time, from a table with Start and End. Times of a table have
            no zone; times of JSON are in UTC. Asked from Slurm, it is a local time.
        directory: Directory for the experiment. Names of files below the working directory are relative to
            it.

    Raises:
        OdonataError: The file is not output of a batch system, Slurm does not answer, the machine is none,
            or no job runs on its nodes.

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
    if machine is None and (node_names is not None or edit):
        raise OdonataError("names of nodes and edits need a machine")
    parts = None if machine is None else hardware(machine, Path(directory), node_names, edit)
    listing = live_slurm.jobs(at) if table is None else slurm.read(Path(table))
    source = "Slurm" if table is None else str(table)
    queue = queues.running(source, listing, at, ranks_per_node)
    if not queue.jobs:
        raise OdonataError(
            f"no job of {source} runs: {_counted(queue.left_out) or 'it has none'}",
            hint=_other_time(listing, at),
        )
    section = None
    if parts is not None:
        queue = _on_nodes(queue, parts, source)
        queue, section = _with_cores(queue, parts)
    elif (cores := queues.cores_needed(queue.jobs)) > 1:
        queue = queue.noting(f"the machine needs cores_per_node = {cores} or more")
    if shared := queues.sharing(queue.jobs):
        queue = queue.noting(f"jobs share {counted(len(shared), 'node')}: each rank takes a core")
    left_out = f"; left out: {_counted(queue.left_out)}" if queue.left_out else ""
    first = f"{listing.source}: {counted(len(queue.jobs), 'job')}{left_out}"
    text = experiment(queues.as_jobs(queue.jobs, pattern), section)
    return _checked(text, len(queue.jobs), directory, parts, queue.left_out.total(), (first, *queue.notes))


def _counted(left_out: Counter[str]) -> str:
    """The jobs that are left out, by reason: `2 PENDING, 1 COMPLETING`."""
    return ", ".join(f"{count} {reason}" for reason, count in left_out.most_common())


def _other_time(listing: queues.Listing, at: datetime | None) -> str | None:
    """A time at which a job ran, if the file has times."""
    ran = next(
        (entry for entry in listing.entries if entry.start is not None and entry.end is not None), None
    )
    if at is not None or ran is None or ran.start is None:
        return None
    return f"Use --at TIME for the jobs of a past time, such as --at {ran.start.isoformat()}"


def _on_nodes(queue: Queue, machine: Hardware, table: str) -> Queue:
    """The jobs whose nodes the machine has.

    Raises:
        OdonataError: There is no such job.
    """
    names = list(machine.usable)
    unknown = {name: None for job in queue.jobs for name in job.ranks_on if name not in machine.usable}
    if unknown:
        away = [job for job in queue.jobs if not unknown.keys().isdisjoint(job.ranks_on)]
        shown = names if len(names) <= 4 else [*names[:2], "..", names[-1]]
        words = (
            f"{counted(len(unknown), 'node')} of {table} {'is' if len(unknown) == 1 else 'are'} not in "
            f"{machine.word}: {listed(list(unknown))}"
        )
        known = f"its {len(names)} nodes are {', '.join(shown)}"
        near = nearest(next(iter(unknown)), names, "Name them with --node-names or nodes_file.")
        if len(away) == len(queue.jobs):
            raise OdonataError(f"{words}; {known}", hint=near)
        titles = listed([job.title for job in away])
        queue = queue.without(away, "on unknown nodes", f"{words}, so {titles} left out; {known}. {near}")
    down = [job for job in queue.jobs if not all(machine.usable[name] for name in job.ranks_on)]
    if down:
        node = next(name for name in down[0].ranks_on if not machine.usable[name])
        words = (
            f"{listed([job.title for job in down], most=10)} left out: on nodes that failed or are not for "
            f"jobs in {machine.word}, such as {node}"
        )
        if len(down) == len(queue.jobs):
            raise OdonataError(words)
        queue = queue.without(down, "on unusable nodes", words)
    return queue


def _with_cores(queue: Queue, machine: Hardware) -> tuple[Queue, dict[str, Any]]:
    """`[machine]` with as many cores per node as the jobs use."""
    cores = queues.cores_needed(queue.jobs)
    if cores <= machine.cores_per_node:
        return queue, dict(machine.section)
    reason = (
        f"not the {machine.cores_per_node} of {machine.word}: Slurm may count hardware threads as CPUs"
        if machine.cores_known
        else f"which {machine.word} does not give"
    )
    note = f"cores_per_node = {cores}, the most that the jobs use on one node, {reason}"
    return queue.noting(note), {**machine.section, "cores_per_node": cores}


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
    return _of(
        jobs, machine, directory, replay.codes_notes(Path(table), jobs, sized=message_bytes is not None)
    )


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
    jobs = replay.tracer(Path(table), Path(directory), pattern=pattern)
    return _of(jobs, machine, directory, replay.tracer_notes(Path(table), jobs))


def from_ember(
    table: File, *, machine: str | None = None, pattern: str = "uniform", directory: File = "."
) -> ImportResult:
    """Jobs of an Ember load file, on the nodes of their lists.

    Args:
        table: The load file.
        machine: As in `from_codes`.
        pattern: Traffic pattern of jobs with motifs that have no program here.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The file is not in Ember's format.

    Examples:
        >>> odonata.importers.from_ember("loadfile", machine="dragonfly-1056").jobs
        2
    """
    jobs, notes = ember.ember(Path(table), pattern)
    return _of(jobs, machine, directory, notes)


def from_atlahs(table: File, *, machine: str | None = None, directory: File = ".") -> ImportResult:
    """Jobs of an ATLAHS merge file: GOAL files and their nodes.

    Args:
        table: The merge file, in JSON.
        machine: As in `from_codes`.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The file is not in ATLAHS' format, or a GOAL file is not there.

    Examples:
        >>> odonata.importers.from_atlahs("merge.json").jobs
        2
    """
    jobs, notes = ember.atlahs(Path(table), Path(directory))
    return _of(jobs, machine, directory, notes)


def _of(
    jobs: Sequence[ImportedJob], machine: str | None, directory: File, notes: Iterable[str]
) -> ImportResult:
    parts = None if machine is None else hardware(machine, Path(directory))
    text = experiment(jobs, None if parts is None else parts.section)
    return _checked(text, len(jobs), directory, parts, notes=tuple(notes))


def _checked(
    text: str,
    jobs: int,
    directory: File,
    machine: Hardware | None,
    left_out: int = 0,
    notes: tuple[str, ...] = (),
) -> ImportResult:
    """The result, after an experiment with a machine was checked as `odonata check` does."""
    if machine is not None:
        Experiment(text, str(Path(directory) / "<imported experiment>")).check()
    return ImportResult(text, jobs, left_out, notes)
