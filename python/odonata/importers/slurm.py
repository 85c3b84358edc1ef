"""Jobs and their nodes from what `squeue` and `sacct` print.

Read are tables with a head line: columns apart by `|` (`sacct -P`, `squeue -o '%i|%j|%D|%C|%t|%N'`) or by
spaces (`squeue` as it prints by itself), in any order, with the names of columns that either program uses.
Steps of a job (`1234.batch`) are left out; jobs without nodes (pending ones) are counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from odonata import _core
from odonata.errors import OdonataError
from odonata.importers.jobs import ImportedJob

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
"""Our name for a column and theirs."""

RUNNING = ("R", "RUNNING", "CG", "COMPLETING")
NOWHERE = ("", "None assigned", "(null)")


@dataclass(frozen=True)
class SlurmJob:
    """A job and where it runs.

    Attributes:
        number: Its number, of an array with the index (`1234_5`).
        name: Its name.
        nodes: Its nodes as Slurm lists them: `nid[00012-00044,00100]`.
        count: How many these are.
        cores: Its cores on all of them; `None` if the table does not say.
    """

    number: str
    name: str
    nodes: str
    count: int
    cores: int | None


def read(path: Path, at: datetime | None = None) -> tuple[list[SlurmJob], int]:
    """The jobs of a table that run, and how many others it has.

    Args:
        path: The file.
        at: Jobs that ran then, by the columns of start and end, instead of those whose state says so.

    Raises:
        OdonataError: It is no such table; with the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise OdonataError(f"{path} is no text; expected what squeue or sacct print") from None
    except OSError as error:
        raise OdonataError(f"{path} cannot be read: {error.strerror}") from None
    rows = list(_rows(path, lines))
    jobs, others = [], 0
    for line, row in rows:
        if "." in row["number"]:
            continue
        if row["nodes"] in NOWHERE or row["nodes"].startswith("(") or not _runs(path, line, row, at):
            others += 1
            continue
        jobs.append(_job(path, line, row))
    if not rows:
        raise OdonataError(f"{path} has no jobs; expected what squeue or sacct print, with the head line")
    return jobs, others


def _rows(path: Path, lines: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with their lines, by our names of the columns."""
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
            hint="print a table with its head line: squeue -o '%i|%j|%D|%C|%t|%N'",
        )
    for number, line in rest:
        # The last column may hold spaces: a reason, or a list of nodes as the program likes it.
        parts = line.split("|") if separator else line.split(None, len(titles) - 1)
        if len(parts) < len(titles):
            raise OdonataError(
                f"{path}, line {number}: {len(parts)} columns, the head line has {len(titles)}"
            )
        yield number, {ours: parts[place].strip() for ours, place in places.items()}


def _runs(path: Path, line: int, row: dict[str, str], at: datetime | None) -> bool:
    if at is None:
        return row.get("state", "RUNNING").split()[0] in RUNNING
    if "start" not in row:
        raise OdonataError(f"{path} has no column of when jobs started; ask sacct for Start and End")
    start, end = (_time(path, line, row.get(name, "Unknown")) for name in ("start", "end"))
    return start is not None and start <= at and (end is None or at < end)


def _time(path: Path, line: int, text: str) -> datetime | None:
    if text in ("Unknown", "N/A", "None", ""):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise OdonataError(f"{path}, line {line}: '{text}' is no time as 2026-11-22T14:03:00") from None


def _job(path: Path, line: int, row: dict[str, str]) -> SlurmJob:
    try:
        names = len(_core.host_names(row["nodes"]))
    except ValueError as error:
        raise OdonataError(
            f"{path}, line {line}: {error}; expected nodes as nid[00012-00044,00100]"
        ) from None
    count = row.get("count", "")
    if count.isdigit() and int(count) != names:
        # A column that is too narrow cuts lists off.
        raise OdonataError(
            f"{path}, line {line}: '{row['nodes']}' are {names} nodes, the job has {count}",
            hint="a column of squeue cuts long lists off: write %N without a width",
        )
    cores = row.get("cores", "")
    return SlurmJob(
        row["number"], row.get("name") or "job", row["nodes"], names, int(cores) if cores.isdigit() else None
    )


def imported(jobs: list[SlurmJob], *, pattern: str, ranks_per_node: int | None) -> list[ImportedJob]:
    """The jobs as those of an experiment.

    Ranks are the cores that Slurm gave the job, or its nodes where it does not say, unless `ranks_per_node`
    does.
    """
    found = []
    for job in jobs:
        each = ranks_per_node or max(1, (job.cores or job.count) // job.count)
        placement = {"name": "list", "nodes": job.nodes}
        found.append(ImportedJob(f"{job.name}-{job.number}", each * job.count, pattern, each, placement))
    return found
