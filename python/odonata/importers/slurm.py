"""Jobs and their nodes from the output of `squeue` and `sacct`.

Input is a table with a header. Columns are separated by `|` (`sacct -P`, `squeue -o '%i|%j|%D|%C|%t|%N'`) or
by spaces (default `squeue` output), in any order, with the column names of either program. Steps of a job
(`1234.batch`) are left out. Jobs without nodes (pending ones) are counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from odonata import _core
from odonata.errors import OdonataError
from odonata.importers.jobs import ImportedJob
from odonata.textfile import read_lines

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "number": ("JOBID", "JobID"),
    "name": ("NAME", "JobName"),
    "nodes": ("NODELIST", "NodeList", "NODELIST(REASON)"),
    "count": ("NODES", "NNodes", "AllocNodes"),
    "cores": ("CPUS", "NCPUS", "AllocCPUS"),
    "state": ("ST", "STATE", "State"),
    "start": ("START_TIME", "Start"),
    "end": ("END_TIME", "End"),
}
"""Our name of a column, and Slurm's names."""

RUNNING = ("R", "RUNNING", "CG", "COMPLETING")
NOWHERE = ("", "None assigned", "(null)")


@dataclass(frozen=True)
class SlurmJob:
    """A job and its nodes.

    Attributes:
        number: Job number, with the index for an array job (`1234_5`).
        name: Name of the job.
        nodes: Its nodes in Slurm's notation: `nid[00012-00044,00100]`.
        count: Number of nodes.
        cores: Total number of cores; `None` if the table does not have it.
    """

    number: str
    name: str
    nodes: str
    count: int
    cores: int | None


def read(path: Path, at: datetime | None = None) -> tuple[list[SlurmJob], int]:
    """The running jobs of a table, and the number of its other jobs.

    Args:
        path: The file.
        at: Select jobs that ran at this time, by start and end, instead of those in a running state.

    Raises:
        OdonataError: The file is not output of Slurm; the message gives the line.
    """
    rows = list(_rows(path, read_lines(path, "the output of squeue or sacct")))
    jobs, others = [], 0
    for line, row in rows:
        if "." in row["number"]:
            continue
        if row["nodes"] in NOWHERE or row["nodes"].startswith("(") or not _runs(path, line, row, at):
            others += 1
            continue
        jobs.append(_job(path, line, row))
    if not rows:
        raise OdonataError(f"{path} has no jobs; expected the output of squeue or sacct, with the header")
    return jobs, others


def _rows(path: Path, lines: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with their line numbers, by our names of the columns."""
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not filled:
        return
    (at, head), *rest = filled
    separator = "|" if "|" in head else None
    titles = [title.strip() for title in head.strip("|\n" if separator else None).split(separator)]
    places = {
        ours: titles.index(theirs) for ours, names in COLUMNS.items() for theirs in names if theirs in titles
    }
    missing = [
        names[0] for ours, names in COLUMNS.items() if ours in ("number", "nodes") and ours not in places
    ]
    if missing:
        raise OdonataError(
            f"{path}, line {at}: there is no column {missing[0]}; found {', '.join(titles[:12])}",
            hint="Print a table with its header: squeue -o '%i|%j|%D|%C|%t|%N'",
        )
    for number, line in rest:
        # The last column may contain spaces: a reason, or a list of nodes.
        parts = line.split("|") if separator else line.split(None, len(titles) - 1)
        if len(parts) < len(titles):
            raise OdonataError(
                f"{path}, line {number}: {len(parts)} columns, but the header has {len(titles)}"
            )
        yield number, {ours: parts[place].strip() for ours, place in places.items()}


def _runs(path: Path, line: int, row: dict[str, str], at: datetime | None) -> bool:
    if at is None:
        return row.get("state", "RUNNING").split()[0] in RUNNING
    if "start" not in row:
        raise OdonataError(f"{path} has no column with start times; print Start and End with sacct")
    start, end = (_time(path, line, row.get(name, "Unknown")) for name in ("start", "end"))
    return start is not None and start <= at and (end is None or at < end)


def _time(path: Path, line: int, text: str) -> datetime | None:
    if text in ("Unknown", "N/A", "None", ""):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise OdonataError(f"{path}, line {line}: '{text}' is not a time like 2026-11-22T14:03:00") from None


def _job(path: Path, line: int, row: dict[str, str]) -> SlurmJob:
    try:
        names = len(_core.host_names(row["nodes"]))
    except ValueError as error:
        raise OdonataError(
            f"{path}, line {line}: {error}; expected nodes like nid[00012-00044,00100]"
        ) from None
    count = row.get("count", "")
    if count.isdigit() and int(count) != names:
        # A column that is too narrow truncates lists.
        raise OdonataError(
            f"{path}, line {line}: '{row['nodes']}' are {names} nodes, but the job has {count}",
            hint="squeue truncates long lists: use %N without a width.",
        )
    cores = row.get("cores", "")
    return SlurmJob(
        row["number"], row.get("name") or "job", row["nodes"], names, int(cores) if cores.isdigit() else None
    )


def as_jobs(jobs: list[SlurmJob], *, pattern: str, ranks_per_node: int | None) -> list[ImportedJob]:
    """The jobs in the form of an experiment.

    The ranks are the job's cores, or its nodes without a number of cores, unless `ranks_per_node` is given.
    """
    found = []
    for job in jobs:
        each = ranks_per_node or max(1, (job.cores or job.count) // job.count)
        placement = {"name": "list", "nodes": job.nodes}
        found.append(ImportedJob(f"{job.name}-{job.number}", each * job.count, pattern, each, placement))
    return found
