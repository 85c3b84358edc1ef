"""Jobs and their nodes from the output of `squeue` and `sacct`, and of the batch systems PBS, LSF and Flux.

Tables have a header. Columns are in any order, with a separator (`sacct -P`,
`squeue -o '%i|%j|%D|%C|%t|%N'`) or aligned (the default output). `--json` of both commands and `qstat -f` are
read, too. Steps of a job (`1234.batch`) are counted, but are no jobs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.files import read_text
from odonata.importers import foreign_queues, tables
from odonata.importers.queues import RUNNING, SACCT, Entry, Listing

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "number": ("JOBID", "JobID"),
    "name": tables.NAMES,
    "nodes": (*tables.NODES, "INFO"),
    "node_count": tables.NODE_COUNTS,
    "cores": tables.CORES,
    "state": tables.STATES,
    "start": ("START_TIME", "Start"),
    "end": ("END_TIME", "End"),
}
"""Attribute of an entry, and its titles in tables; the first one that a table has is read."""

NOWHERE = ("", "-", "None assigned", "(null)", "None")
UNKNOWN_TIMES = ("Unknown", "N/A", "None", "NONE", "")

SLURM_STATES: Mapping[str, str] = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
}
"""States of jobs by their codes (Slurm 24.05, squeue(1))."""

FLUX_STATES: Mapping[str, str] = {
    "D": "DEPEND",
    "P": "PRIORITY",
    "S": "SCHED",
    "R": "RUN",
    "C": "CLEANUP",
    "CD": "COMPLETED",
    "F": "FAILED",
    "CA": "CANCELED",
    "TO": "TIMEOUT",
}
"""States of jobs by their codes (flux-jobs(1))."""


@dataclass(frozen=True)
class Program:
    """A program that prints tables of jobs, and its codes of states."""

    name: str
    states: Mapping[str, str]


def read(path: Path) -> Listing:
    """The jobs of a file.

    Raises:
        OdonataError: The file is none that is read; the message names its kind, or gives the line.
    """
    foreign_queues.refuse_packed(path)
    return parse(path, read_text(path, "the output of squeue or sacct"))


def parse(path: Path, text: str) -> Listing:
    """The jobs in a text.

    Args:
        path: Its file, or the command that printed it; for messages.
        text: The text.

    Raises:
        OdonataError: As `read`.
    """
    if text.lstrip().startswith("{"):
        return _json(path, text)
    # A name may have any other character that ends a line, such as U+2028.
    lines = text.replace("\r\n", "\n").split("\n")
    if blocks := foreign_queues.pbs(path, lines):
        return Listing("qstat -f", blocks, frozenset({"state", "cores"}))
    head = next((number for number, line in enumerate(lines[:10]) if _is_head(line)), None)
    if head is None:
        foreign_queues.refuse(path, lines)
        first = next((line.strip() for line in lines if line.strip()), None)
        if first is None:
            raise OdonataError(f"{path} is empty; expected the output of squeue or sacct, with the header")
        raise OdonataError(
            f"{path}, line 1: '{first[:60]}' is no header with JOBID and NODELIST",
            hint=f"Print a table with its header: {foreign_queues.SQUEUE}",
        )
    return _table(path, lines, head)


def _is_head(line: str) -> bool:
    titles = tables.titles_of(line)[0]
    return any(title in COLUMNS["number"] for title in titles)


def _program(titles: list[str]) -> Program:
    if "EXEC_HOST" in titles or "STAT" in titles:
        return Program("bjobs", {})
    if {"INFO", "NTASKS", "NNODES", "NCORES"} & set(titles):
        return Program("flux jobs", FLUX_STATES)
    return Program("sacct" if "JobID" in titles else "squeue", SLURM_STATES)


def _table(path: Path, lines: list[str], head: int) -> Listing:
    titles, separator = tables.titles_of(lines[head])
    program = _program(titles)
    if program.name == "bjobs" and separator is None:
        kind = "the default output of bjobs, which cuts names and wraps lines"
        raise foreign_queues.unread(path, kind, foreign_queues.BJOBS)
    places = {
        ours: next(title for title in names if title in titles)
        for ours, names in COLUMNS.items()
        if not set(names).isdisjoint(titles)
    }
    if "nodes" not in places:
        command = {
            "sacct": SACCT,
            "flux jobs": foreign_queues.FLUX,
            "bjobs": foreign_queues.BJOBS,
        }.get(program.name, foreign_queues.SQUEUE)
        raise OdonataError(
            f"{path}, line {head + 1}: there is no column with nodes; found {', '.join(titles[:12])}",
            hint=f"Print one with it: {command}",
        )
    rows = tables.rows(path, lines, head)
    entries, steps = [], 0
    for line, row in rows:
        words = {ours: row[title] for ours, title in places.items()}
        # A step belongs to a job: 1234.batch, 1234_5.0; a number of PBS has a server after the point.
        if program.name in ("squeue", "sacct") and "." in words["number"]:
            steps += 1
            continue
        entries.append(_entry(path, line, words, program))
    source = f"{program.name}, columns {' '.join(titles)}"
    return Listing(source, entries, frozenset(places), steps)


def _entry(path: Path, line: int, words: Mapping[str, str], program: Program) -> Entry:
    nodes = words["nodes"]
    if nodes in NOWHERE or nodes.startswith("("):
        nodes = ""
    place = f"line {line}"
    cores_on = None
    if program.name == "bjobs" and nodes:
        cores_on = foreign_queues.lsf_hosts(path, place, nodes)
    state = words.get("state")
    return Entry(
        place,
        words["number"],
        words.get("name", ""),
        None if state is None else _state(state, program),
        nodes,
        _number(path, place, words.get("node_count", "")),
        _number(path, place, words.get("cores", "")),
        cores_on,
        _time(path, place, words.get("start", "")),
        _time(path, place, words.get("end", "")),
    )


def _state(text: str, program: Program) -> str:
    """The state in full, from a code, a word, or the beginning of one (`CANCELLED by 1000`, `COMPLETI`)."""
    word = text.split()[0].removesuffix("+") if text.split() else "without a state"
    if word in program.states:
        return program.states[word]
    whole = [state for state in program.states.values() if state.startswith(word)]
    return whole[0] if len(whole) == 1 else word


def _number(path: Path, place: str, text: str) -> int | None:
    if text in ("", "-"):
        return None
    if not text.isdecimal():
        raise OdonataError(f"{path}, {place}: '{text}' is not a number of nodes or CPUs")
    return int(text)


def _time(path: Path, place: str, text: str) -> datetime | None:
    if text in UNKNOWN_TIMES:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise OdonataError(f"{path}, {place}: '{text}' is not a time like 2026-11-22T14:03:00") from None


def _json(path: Path, text: str) -> Listing:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise OdonataError(f"{path} is not JSON: {error}") from None
    jobs = content.get("jobs")
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        foreign_queues.refuse_json(path, content)
        raise OdonataError(f"{path} has no list 'jobs'; expected the output of squeue --json or sacct --json")
    if jobs and "nodelist" in jobs[0] and "job_id" not in jobs[0]:
        raise foreign_queues.unread(path, "the output of flux jobs --json", foreign_queues.FLUX)
    accounting = bool(jobs) and "job_state" not in jobs[0]
    entries = []
    for index, job in enumerate(jobs):
        place = f"job {index + 1} of the list"
        try:
            entries.append(_from_sacct(place, job) if accounting else _from_squeue(place, job))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise OdonataError(f"{path}, {place}: {error!r}; expected a job of squeue or sacct") from None
    has = {"state", "cores", "start", "end"}
    return Listing(f"{'sacct' if accounting else 'squeue'} --json", entries, frozenset(has))


def _plain(value: Any) -> int | None:
    """A number, also as `{"set": true, "number": 5}`; None if it is not set."""
    if isinstance(value, Mapping):
        return int(value["number"]) if value.get("set", True) and not value.get("infinite") else None
    return None if value is None else int(value)


def _words(value: Any) -> str | None:
    """A state: a word, or a list of a state and its flags, such as `["COMPLETED", "COMPLETING"]`."""
    if isinstance(value, str):
        return value
    found = [str(word) for word in value or []]
    if "COMPLETING" in found:
        return "COMPLETING"
    return next((word for word in found if word not in RUNNING), found[0] if found else None)


def _moment(value: Any) -> datetime | None:
    seconds = _plain(value)
    # Times of tables have no zone, times of --json are in UTC.
    return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None) if seconds else None


def _identity(job: Mapping[str, Any], array: Any, task: Any, leader: Any, offset: Any) -> str:
    """The number as squeue prints it: `1234`, `1234_5` of an array, `1234+1` of a heterogeneous job."""
    if _plain(array) and (index := _plain(task)) is not None:
        return f"{_plain(array)}_{index}"
    if _plain(leader):
        return f"{_plain(leader)}+{_plain(offset) or 0}"
    return str(job["job_id"])


def _from_squeue(place: str, job: Mapping[str, Any]) -> Entry:
    number = _identity(
        job,
        job.get("array_job_id"),
        job.get("array_task_id"),
        job.get("het_job_id"),
        job.get("het_job_offset"),
    )
    cores_on = _allocation(job.get("job_resources"))
    return Entry(
        place,
        number,
        str(job.get("name") or ""),
        _words(job["job_state"]),
        _nodes(job),
        len(cores_on) if cores_on else None,
        _plain(job.get("cpus")),
        cores_on,
        _moment(job.get("start_time")),
        _moment(job.get("end_time")),
    )


def _allocation(resources: Any) -> dict[str, int] | None:
    """CPUs on each node (Slurm 23.11 and later); None if the file gives only their sum."""
    nodes = resources.get("nodes") if isinstance(resources, Mapping) else None
    hosts = nodes.get("allocation") if isinstance(nodes, Mapping) else None
    if not hosts:
        return None
    found = {str(host["name"]): _plain((host.get("cpus") or {}).get("count")) or 0 for host in hosts}
    return found if all(found.values()) else None


def _from_sacct(place: str, job: Mapping[str, Any]) -> Entry:
    array, het, time = job.get("array") or {}, job.get("het") or {}, job.get("time") or {}
    state = job["state"]
    allocated = (job.get("tres") or {}).get("allocated") or []
    cores = next((_plain(tres["count"]) for tres in allocated if tres.get("type") == "cpu"), None)
    number = _identity(
        job, array.get("job_id"), array.get("task_id"), het.get("job_id"), het.get("job_offset")
    )
    return Entry(
        place,
        number,
        str(job.get("name") or ""),
        _words(state.get("current") if isinstance(state, Mapping) else state),
        _nodes(job),
        _plain(job.get("allocation_nodes")) or None,
        cores,
        None,
        _moment(time.get("start")),
        _moment(time.get("end")),
    )


def _nodes(job: Mapping[str, Any]) -> str:
    nodes = str(job.get("nodes") or "")
    return "" if nodes in NOWHERE else nodes
