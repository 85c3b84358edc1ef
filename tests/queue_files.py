"""Lists of jobs as batch systems print them, for a machine of 16 nodes."""

from __future__ import annotations

import json
from typing import Any

TREE = "SwitchName=top Switches=sw[1-2]\nSwitchName=sw1 Nodes=n[01-08]\nSwitchName=sw2 Nodes=n[09-16]\n"

# Job 7 on n01 and n02 with 4 CPUs on each, job 8_2 of an array on n05 with 4, and one that waits.
DEFAULT = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
       9_[3-4%2]     batch    sweep      ann PD       0:00      1 (JobArrayTaskLimit)
                 7     batch  climate      bob  R    2:25:51      2 n[01-02]
               8_2     batch   my run      ann  R 1-02:57:09      1 n05
"""
HEAD = "JOBID|NAME|NODES|CPUS|ST|NODELIST\n"
PIPES = HEAD + "7|climate|2|8|R|n[01-02]\n8_2|my run|1|4|R|n05\n9|x|1|1|PD|\n"
ALIGNED = """\
JobID           JobName      State      NCPUS               Start                 End        NodeList
------------ ---------- ---------- ---------- ------------------- ------------------- ---------------
7               climate    RUNNING          8 2026-11-21T10:00:00             Unknown        n[01-02]
7.batch           batch    RUNNING          4 2026-11-21T10:00:00             Unknown             n01
8_2              my run    RUNNING          4 2026-11-21T10:00:00             Unknown             n05
9                     x CANCELLED+          0             Unknown             Unknown   None assigned
"""
PARSABLE = """\
JobID|JobName|State|NNodes|NCPUS|Start|End|NodeList|
7|climate|RUNNING|2|8|2026-11-21T10:00:00|Unknown|n[01-02]|
7.0|climate|RUNNING|2|8|2026-11-21T10:00:00|Unknown|n[01-02]|
8_2|my run|RUNNING|1|4|2026-11-21T10:00:00|Unknown|n05|
9|x|CANCELLED by 1000|1|0|Unknown|Unknown|None assigned|
"""


def number(value: int | None) -> dict[str, Any]:
    """A number in the JSON of Slurm since 23.02."""
    return {"set": value is not None, "infinite": False, "number": value or 0}


SQUEUE_JSON = json.dumps(
    {
        "jobs": [
            {
                "job_id": 7,
                "name": "climate",
                "job_state": ["RUNNING"],
                "nodes": "n[01-02]",
                "cpus": number(8),
                "array_job_id": number(0),
                "array_task_id": number(None),
                "het_job_id": number(0),
                "het_job_offset": number(0),
                "job_resources": {
                    "nodes": {
                        "list": "n[01-02]",
                        "allocation": [{"name": f"n0{i}", "cpus": {"count": 4, "used": 0}} for i in (1, 2)],
                    }
                },
            },
            {
                "job_id": 11,
                "name": "my run",
                "job_state": "RUNNING",
                "nodes": "n05",
                "cpus": 4,
                "array_job_id": 8,
                "array_task_id": 2,
                "job_resources": {"nodes": "n05", "allocated_hosts": 1},
            },
            {"job_id": 9, "name": "x", "job_state": ["COMPLETED", "COMPLETING"], "nodes": "n09"},
        ]
    }
)
SACCT_JSON = json.dumps(
    {
        "jobs": [
            {
                "job_id": 7,
                "name": "climate",
                "state": {"current": ["RUNNING"], "reason": "None"},
                "nodes": "n[01-02]",
                "allocation_nodes": 2,
                "tres": {"allocated": [{"type": "mem", "count": 9}, {"type": "cpu", "count": 8}]},
                "array": {"job_id": 0, "task_id": number(None)},
                "het": {"job_id": 0, "job_offset": number(None)},
                "time": {"start": 1795255200, "end": 0},
                "steps": [],
            },
            {
                "job_id": 11,
                "name": "my run",
                "state": {"current": "RUNNING", "reason": "None"},
                "nodes": "n05",
                "allocation_nodes": 1,
                "tres": {"allocated": [{"type": "cpu", "count": 4}]},
                "array": {"job_id": 8, "task_id": 2},
                "time": {"start": 1795255200, "end": 0},
            },
            {"job_id": 9, "name": "x", "state": {"current": ["PENDING"]}, "nodes": "None assigned"},
        ]
    }
)
QSTAT = """\
Job Id: 7.pbs01
    Job_Name = climate
    job_state = R
    exec_host = n01/0*4
\t+n02/0*4
    Resource_List.nodect = 2

Job Id: 8_2.pbs01
    Job_Name = my run
    job_state = R
    exec_host = n05/0-2+n05/3
Job Id: 9.pbs01
    Job_Name = x
    job_state = Q
"""
BJOBS = "JOBID|STAT|EXEC_HOST|JOB_NAME\n7|RUN|4*n01:4*n02|climate\n8_2|RUN|n05:n05:2*n05|my run\n9|PEND|-|x\n"
FLUX = """\
       JOBID USER     NAME       ST NTASKS NNODES     TIME INFO
           9 a        x           S      1      1        - eta:3.5h
           7 a        climate     R      8      2     1.5h n[01-02]
         8_2 a        my run      R      4      1     1.5h n05
"""
FORMATS = {
    "squeue -o": PIPES,
    "sacct": ALIGNED,
    "sacct -p": PARSABLE,
    "squeue --json": SQUEUE_JSON,
    "sacct --json": SACCT_JSON,
    "qstat -f": QSTAT,
    "bjobs": BJOBS,
    "flux jobs": FLUX,
}
