"""Jobs of a batch system at one moment: what a file says, which jobs run, and their ranks on their nodes.

What a file does not say stays unknown: a job without a number of CPUs gets one rank per node, and a note says
so. Jobs that do not run are counted by their state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from odonata import _core
from odonata.errors import OdonataError
from odonata.importers.jobs import ImportedJob, listed
from odonata.quantity import counted

RUNNING = ("RUNNING", "RUN")
"""The states of a job that computes. A completing job has ended, and a suspended one sends nothing."""
NEVER_RAN = ("PENDING", "PEND", "SCHED", "DEPEND", "PRIORITY")
"""States in which a start in the table is a forecast."""
SACCT = "sacct -a -X -P -o JobID,JobName,State,NNodes,NCPUS,Start,End,NodeList"
"""Prints a table with everything that is read."""
SCANTY = "the list of nodes may be cut off: print it without a width, best with -P or a separator"


@dataclass(frozen=True)
class Entry:
    """A job as its file has it; None is what the file does not say.

    Attributes:
        place: Where it is in the file, for errors: `line 7`.
        number: Its number, with the index of an array job (`1234_5`) or the part of a heterogeneous one
            (`1234+1`).
        name: Its name; may be empty.
        state: Its state in full (`RUNNING`).
        nodes: Its nodes in Slurm's notation: `nid[00012-00044,00100]`; empty without nodes.
        node_count: Number of its nodes.
        cores: Number of its cores (Slurm: CPUs) on all nodes.
        cores_on: Number of its cores on each node, if the file gives the nodes one by one.
        start: Time of its start.
        end: Time of its end.
    """

    place: str
    number: str
    name: str
    state: str | None = None
    nodes: str = ""
    node_count: int | None = None
    cores: int | None = None
    cores_on: Mapping[str, int] | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True)
class Listing:
    """The jobs of a file.

    Attributes:
        source: What wrote the file and how it was read: `squeue, columns JOBID NAME ..`.
        entries: Its jobs.
        has: The attributes of an entry that the file gives for its jobs.
        steps: Number of job steps, which are parts of jobs.
    """

    source: str
    entries: list[Entry]
    has: frozenset[str]
    steps: int = 0


@dataclass(frozen=True)
class PlacedJob:
    """A running job: ranks on each of its nodes."""

    number: str
    name: str
    ranks_on: Mapping[str, int]

    @property
    def title(self) -> str:
        """A name that no other job has."""
        return f"{self.name or 'job'}-{self.number}"


@dataclass(frozen=True)
class Queue:
    """The running jobs, and the number of others by the reason for which they are left out."""

    jobs: list[PlacedJob]
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def noting(self, note: str) -> Queue:
        """The same with one more note."""
        return replace(self, notes=[*self.notes, note])

    def without(self, jobs: Sequence[PlacedJob], reason: str, note: str) -> Queue:
        """The same without some jobs, and why."""
        titles = {job.title for job in jobs}
        rest = [job for job in self.jobs if job.title not in titles]
        left_out = self.left_out + Counter({reason: len(jobs)})
        return replace(self, jobs=rest, left_out=left_out, notes=[*self.notes, note])


def running(path: object, listing: Listing, at: datetime | None, ranks_per_node: int | None) -> Queue:
    """The jobs that run, or that ran at a time, with their ranks.

    Args:
        path: Name of the file, for errors.
        listing: Its jobs.
        at: Select the jobs that ran at this time instead of those in a running state.
        ranks_per_node: Ranks on each node instead of the job's cores.

    Raises:
        OdonataError: A running job's nodes cannot be read, or two running jobs have one number.
    """
    if at is not None:
        _check_times(path, listing)
    jobs: list[PlacedJob] = []
    left_out: Counter[str] = Counter()
    seen: dict[str, str] = {}
    uneven: list[str] = []
    for entry in listing.entries:
        reason = _reason(entry, at)
        if reason is not None:
            left_out[reason] += 1
            continue
        job = _placed(path, entry, ranks_per_node)
        if job.title in seen:
            raise OdonataError(f"{path}, {entry.place}: job {job.title} is already in {seen[job.title]}")
        seen[job.title] = entry.place
        jobs.append(job)
        if ranks_per_node is None and entry.cores_on is None and len(set(job.ranks_on.values())) > 1:
            uneven.append(job.title)
    return Queue(jobs, left_out, list(_notes(listing, ranks_per_node, jobs, uneven)))


def _check_times(path: object, listing: Listing) -> None:
    for name, title in (("start", "Start"), ("end", "End")):
        if name not in listing.has:
            raise OdonataError(
                f"{path} has no column {title}, so it does not say which jobs ran at a time",
                hint=f"Print one with it: {SACCT}",
            )


def _reason(entry: Entry, at: datetime | None) -> str | None:
    """Why a job is left out; None for a running one."""
    if at is None:
        if entry.state is not None and entry.state not in RUNNING:
            return entry.state
    elif entry.state in NEVER_RAN or entry.start is None:
        return entry.state or "not started"
    elif not (entry.start <= at and (entry.end is None or at < entry.end)):
        return f"not running at {at.isoformat()}"
    return None if entry.nodes or entry.cores_on else "without nodes"


def _placed(path: object, entry: Entry, ranks_per_node: int | None) -> PlacedJob:
    if entry.cores_on is not None:
        names = list(entry.cores_on)
    else:
        try:
            names = _core.host_names(entry.nodes)
        except ValueError as error:
            raise OdonataError(
                f"{path}, {entry.place}: {error}; expected nodes like nid[00012-00044,00100]", hint=SCANTY
            ) from None
    if entry.node_count is not None and entry.node_count != len(names):
        raise OdonataError(
            f"{path}, {entry.place}: '{entry.nodes or ','.join(names)}' are {len(names)} nodes, "
            f"but the job has {entry.node_count}",
            hint=SCANTY,
        )
    if len(set(names)) != len(names):
        raise OdonataError(f"{path}, {entry.place}: '{entry.nodes}' names a node twice")
    if ranks_per_node is not None:
        ranks_on = dict.fromkeys(names, ranks_per_node)
    elif entry.cores_on is not None:
        ranks_on = dict(entry.cores_on)
    elif entry.cores is None:
        ranks_on = dict.fromkeys(names, 1)
    elif entry.cores < len(names):
        raise OdonataError(
            f"{path}, {entry.place}: {entry.cores} CPUs on {len(names)} nodes; expected one or more per node"
        )
    else:
        each, more = divmod(entry.cores, len(names))
        ranks_on = {name: each + (index < more) for index, name in enumerate(names)}
    return PlacedJob(entry.number, entry.name, ranks_on)


def _notes(
    listing: Listing, ranks_per_node: int | None, jobs: Sequence[PlacedJob], uneven: Sequence[str]
) -> Iterator[str]:
    if listing.steps:
        yield f"{counted(listing.steps, 'step')} of jobs not read as jobs"
    if "state" not in listing.has and "start" not in listing.has:
        yield "the file gives no states: every job with nodes counts as running"
    if ranks_per_node is None and jobs:
        yield (
            "one rank per CPU"
            if "cores" in listing.has
            else "one rank per node: the file gives no CPUs (--ranks-per-node of `odonata import` sets it)"
        )
    if uneven:
        yield (
            f"CPUs do not divide evenly among the nodes of {listed(uneven)}: the file does not say which "
            "node has more, so the first ones get one rank more"
        )


def sharing(jobs: Sequence[PlacedJob]) -> set[str]:
    """Names of the nodes with more than one job."""
    jobs_on = Counter(name for job in jobs for name in job.ranks_on)
    return {name for name, count in jobs_on.items() if count > 1}


def cores_needed(jobs: Sequence[PlacedJob]) -> int:
    """The most ranks that all jobs together have on one node."""
    ranks_on: Counter[str] = Counter()
    for job in jobs:
        ranks_on.update(job.ranks_on)
    return max(ranks_on.values(), default=0)


def as_jobs(jobs: Sequence[PlacedJob], pattern: str) -> list[ImportedJob]:
    """The jobs in the form of an experiment.

    A job that shares a node, or has different ranks on its nodes, lists the ranks on each node; each rank
    takes a core.
    """
    shared = sharing(jobs)
    found = []
    for job in jobs:
        counts = list(job.ranks_on.values())
        nodes = compressed(list(job.ranks_on))
        placement: dict[str, object] = {"name": "list", "nodes": nodes}
        each: int | None = counts[0]
        if len(set(counts)) > 1 or not shared.isdisjoint(job.ranks_on):
            placement["ranks_on_nodes"] = counts
            each = None
        found.append(ImportedJob(job.title, sum(counts), pattern, each, placement))
    return found


def compressed(names: Sequence[str]) -> str:
    """The names in Slurm's notation, in their order: `nid[00012-00044,00100],login1`."""
    parts: list[tuple[str, list[str]]] = []
    for name in names:
        stem = name.rstrip("0123456789")
        digits = name[len(stem) :]
        if parts and parts[-1][0] == stem and digits and parts[-1][1][-1]:
            parts[-1][1].append(digits)
        else:
            parts.append((stem, [digits]))
    return ",".join(
        stem + (digits[0] if len(digits) == 1 else f"[{','.join(_ranges(digits))}]") for stem, digits in parts
    )


def _ranges(digits: Sequence[str]) -> Iterator[str]:
    """Runs of consecutive numbers of one width: `001-032`, `040`."""
    first = last = digits[0]
    for number in [*digits[1:], ""]:
        if number and len(number) == len(last) and int(number) == int(last) + 1:
            last = number
            continue
        yield first if first == last else f"{first}-{last}"
        first = last = number
