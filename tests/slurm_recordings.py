"""What Slurm's commands print on a cluster of 32 nodes, and commands that print it.

Written by hand after the fields of Slurm 24.05: `squeue --json` (data parser 0.0.41), `sacct -P` and
`scontrol show topology`. At two o'clock of the day before, other jobs ran.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from queue_files import number

TOPOLOGY = """\
SwitchName=leaf01 Level=0 LinkSpeed=1 Nodes=cn[001-008]
SwitchName=leaf02 Level=0 LinkSpeed=1 Nodes=cn[009-016]
SwitchName=leaf03 Level=0 LinkSpeed=1 Nodes=cn[017-024]
SwitchName=leaf04 Level=0 LinkSpeed=1 Nodes=cn[025-032]
SwitchName=spine Level=1 LinkSpeed=1 Nodes=cn[001-032] Switches=leaf[01-04]
"""


def _job(identity: int, name: str, nodes: str, names: list[str], cpus: int) -> dict[str, Any]:
    """A running job with all its CPUs evenly on its nodes."""
    each = cpus // len(names)
    return {
        "account": "physics",
        "job_id": identity,
        "name": name,
        "job_state": ["RUNNING"],
        "state_reason": "None",
        "partition": "batch",
        "nodes": nodes,
        "node_count": number(len(names)),
        "cpus": number(cpus),
        "array_job_id": number(0),
        "array_task_id": number(None),
        "het_job_id": number(0),
        "het_job_offset": number(0),
        "start_time": number(1_795_820_400),
        "end_time": number(1_795_906_800),
        "job_resources": {
            "select_type": ["CPU", "CORE", "MEMORY"],
            "nodes": {
                "count": len(names),
                "select_type": ["AVAILABLE"],
                "list": nodes,
                "whole": False,
                "allocation": [
                    {"index": i, "name": host, "cpus": {"count": each, "used": each}}
                    for i, host in enumerate(names)
                ],
            },
            "cpus": cpus,
        },
    }


def _hosts(*spans: tuple[int, int]) -> list[str]:
    return [f"cn{i:03}" for first, last in spans for i in range(first, last + 1)]


SQUEUE = json.dumps(
    {
        "jobs": [
            _job(7, "llm", "cn[009-020]", _hosts((9, 20)), 96),
            _job(8, "wrf", "cn[001-004,021-024]", _hosts((1, 4), (21, 24)), 64),
            _job(9, "md", "cn[005-008,025-028]", _hosts((5, 8), (25, 28)), 64),
            _job(10, "late", "", ["none"], 4)
            | {"job_state": ["PENDING"], "state_reason": "Resources", "job_resources": {}},
        ],
        "last_backfill": number(1_795_824_000),
        "last_update": number(1_795_824_123),
        "meta": {
            "plugin": {"type": "openapi/slurmctld", "data_parser": "data_parser/v0.0.41"},
            "slurm": {"version": {"major": "24", "micro": "4", "minor": "05"}, "cluster": "hall"},
        },
        "warnings": [],
        "errors": [],
    }
)
TABLE = """\
JOBID|NAME|NODES|CPUS|ST|NODELIST
7|llm|12|96|R|cn[009-020]
8|wrf|8|64|R|cn[001-004,021-024]
9|md|8|64|R|cn[005-008,025-028]
"""
SACCT = """\
JobID|JobName|State|NNodes|NCPUS|Start|End|NodeList
4|gw|COMPLETED|16|128|2026-11-26T11:02:17|2026-11-26T16:40:02|cn[001-016]
5|cp2k|TIMEOUT|8|64|2026-11-26T02:00:00|2026-11-26T14:00:00|cn[017-024]
6_1|scan|RUNNING|4|32|2026-11-26T13:30:45|Unknown|cn[025-028]
7|llm|PENDING|12|96|Unknown|Unknown|None assigned
"""


def install(folder: Path, **replaced: str) -> Path:
    """Makes commands that print the recordings, or run other shell text, and returns their folder.

    A command that gets other arguments than a Slurm of 24.05 knows fails, as Slurm's does.
    """
    folder.mkdir()
    printed = {"squeue.json": SQUEUE, "squeue.txt": TABLE, "topology": TOPOLOGY, "sacct": SACCT}
    for name, text in printed.items():
        (folder / f"{name}.out").write_text(text)
    scripts = {
        "squeue": (
            f'case "$*" in --json) cat {folder}/squeue.json.out;;\n'
            f'"-t R -o "*) cat {folder}/squeue.txt.out;;\n'
            "*) echo \"squeue: unrecognized option '$1'\" >&2; exit 1;; esac"
        ),
        "scontrol": f'[ "$*" = "show topology" ] || exit 1\ncat {folder}/topology.out',
        "sacct": f'case "$*" in "-a -X -P -S "*) cat {folder}/sacct.out;; *) exit 1;; esac',
    }
    for name, text in (scripts | replaced).items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder
