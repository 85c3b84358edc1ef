"""Job lists of other batch systems: those that are read, and the names of those that are not.

A refusal names the kind of the file and the shortest command that prints a file that is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata import _core
from odonata.errors import OdonataError
from odonata.importers.queues import Entry

SQUEUE = "squeue -t R -o '%i|%j|%D|%C|%t|%N'"
QSTAT = "qstat -f"
BJOBS = "bjobs -u all -o \"jobid stat exec_host job_name delimiter='|'\""
FLUX = "flux jobs -A -o '{id.f58plain}|{name}|{nnodes}|{ncores}|{status_abbrev}|{nodelist}'"

SWF = "a log in the Standard Workload Format, which has no nodes"

KINDS: tuple[tuple[str, str, str], ...] = (
    (
        r"(\s*;.*\n)*\s*\d+(\s+-?[\d.]+){17,20}\s*(\n|$)",
        "a log in the Standard Workload Format, which has no nodes",
        SQUEUE,
    ),
    (r"\s*; *\w+: ", SWF, SQUEUE),
    (r"\s*JobId=\d+", "the output of scontrol show job", SQUEUE),
    (r"\s*NodeName=", "the output of scontrol show node, which has no jobs", SQUEUE),
    (r"\s*SwitchName=", "Slurm's topology.conf, a machine and not its jobs", SQUEUE),
    (r"\s*PARTITION\s+AVAIL\s", "the output of sinfo, which has no jobs", SQUEUE),
    (
        r"\s*job-ID\s+prior\s",
        "the output of Grid Engine's qstat, which has no nodes of a job",
        SQUEUE,
    ),
    (r"(?s).{0,400}^\s*Job ID\s+(Name|Username)\s", "the output of PBS's qstat, which has no nodes", QSTAT),
    (r"(?s).{0,400}^\s*Job id\s+Name\s", "the output of PBS's qstat, which has no nodes", QSTAT),
    (r"(?s).{0,400}ACTIVE JOBS|\s*active jobs", "the output of showq, which has no nodes", SQUEUE),
    (r"No unfinished job found", "the output of bjobs without jobs", BJOBS),
)
"""The beginning of a file, its kind, and the command to use."""

STATES: Mapping[str, str] = {
    "R": "RUNNING",
    "Q": "PENDING",
    "H": "HELD",
    "E": "COMPLETING",
    "S": "SUSPENDED",
    "U": "SUSPENDED",
    "T": "MOVING",
    "W": "WAITING",
    "B": "ARRAY",
    "X": "COMPLETED",
    "F": "COMPLETED",
    "C": "COMPLETED",
    "M": "MOVED",
}
"""States of jobs of PBS (qstat(1B))."""


def refuse_packed(path: Path) -> None:
    """Refuses a compressed file by name."""
    if _core.read_file(path)[:2] == b"\x1f\x8b":
        raise OdonataError(f"{path} is compressed with gzip", hint=f"Unpack it: gunzip -k {path}")


def refuse(path: Path, lines: Sequence[str]) -> None:
    """Raises if the file is of a known kind that is not read."""
    start = "\n".join(line for line in lines[:40] if not line.startswith("#"))
    for beginning, kind, command in KINDS:
        if re.match(beginning, start, re.MULTILINE):
            raise unread(path, kind, command)


def unread(path: Path, kind: str, command: str) -> OdonataError:
    """The refusal of a file of a known kind; `command` prints a file that is read."""
    return OdonataError(f"{path} is {kind}; it is not read", hint=f"Print a file that is read: {command}")


def refuse_json(path: Path, content: Mapping[str, Any]) -> None:
    """Raises if the JSON is of another batch system."""
    if "RECORDS" in content:
        raise unread(path, "the output of bjobs -json", BJOBS)
    if "Jobs" in content:
        raise unread(path, "the output of qstat -F json", QSTAT)


def lsf_hosts(path: Path, place: str, text: str) -> dict[str, int]:
    """Cores on each host of LSF: `64*n0:64*n1`, `n0:n0:n1`.

    Raises:
        OdonataError: The text has another form.
    """
    found: dict[str, int] = {}
    for part in text.split(":"):
        match = re.fullmatch(r"(?:(\d+)\*)?([\w.-]+)", part.strip())
        if match is None:
            raise OdonataError(f"{path}, {place}: '{part}'; expected hosts like 64*n0:64*n1")
        found[match[2]] = found.get(match[2], 0) + int(match[1] or 1)
    return found


def pbs(path: Path, lines: Sequence[str]) -> list[Entry]:
    """The jobs of `qstat -f`; none if the file is something else.

    Raises:
        OdonataError: Hosts of a job have another form; the message gives the line of the job.
    """
    if not next((line for line in lines if line.strip()), "").startswith("Job Id:"):
        return []
    jobs: list[tuple[int, str, dict[str, str]]] = []
    key = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("Job Id:"):
            jobs.append((number, line.partition(":")[2].strip(), {}))
        elif line.startswith("\t") and key:
            # A long value goes on in the next line.
            jobs[-1][2][key] += line.strip()
        elif " = " in line:
            key, _, value = line.strip().partition(" = ")
            jobs[-1][2][key] = value.strip()
    return [_pbs_entry(path, number, identity, keys) for number, identity, keys in jobs]


def _pbs_entry(path: Path, number: int, identity: str, keys: Mapping[str, str]) -> Entry:
    place = f"line {number}"
    state = keys.get("job_state", "")
    cores_on = _pbs_hosts(path, place, keys["exec_host"]) if "exec_host" in keys else None
    # The number of a job is followed by its server: 1234.pbs01, 1234[5].pbs01 in an array.
    return Entry(
        place,
        identity.partition(".")[0],
        keys.get("Job_Name", ""),
        STATES.get(state, state) or None,
        cores_on=cores_on,
    )


def _pbs_hosts(path: Path, place: str, text: str) -> dict[str, int]:
    """Cores on each host of PBS: `n0/0*64+n1/0*64`; of Torque: `n0/0-63+n1/0+n1/1`."""
    found: dict[str, int] = {}
    for part in text.split("+"):
        match = re.fullmatch(r"([\w.-]+)/([\d,-]+)(?:\*(\d+))?", part.strip())
        if match is None:
            raise OdonataError(f"{path}, {place}: '{part}'; expected hosts like n0/0*64+n1/0*64")
        count = int(match[3]) if match[3] else sum(map(_span, match[2].split(",")))
        found[match[1]] = found.get(match[1], 0) + count
    return found


def _span(text: str) -> int:
    """The numbers of a range: 4 of `0-3`, 1 of `7`."""
    first, _, last = text.partition("-")
    return int(last or first) - int(first) + 1
