"""Asks the Slurm of this machine for its jobs and its switches.

`squeue --json` has the CPUs of each node, but is a plugin that some sites leave out; a table takes its place.
Past jobs come from `sacct` as a table, whose times are local, as the user's are.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from odonata.errors import OdonataError
from odonata.importers import slurm
from odonata.importers.queues import Listing

TIMEOUT_S = 120
"""A controller under load answers within a minute; one that is down never does."""
SACCT_COLUMNS = "JobID,JobName,State,NNodes,NCPUS,Start,End,NodeList"
SQUEUE_TABLE = ("squeue", "-t", "R", "-o", "%i|%j|%D|%C|%t|%N")
TREE = re.compile(r"\s*SwitchName=", re.IGNORECASE)


def jobs(at: datetime | None = None) -> Listing:
    """The jobs that Slurm has now, or that it had at a time.

    Args:
        at: A local time.

    Raises:
        OdonataError: Slurm's commands are missing, fail or print something else.
    """
    if at is not None:
        # Of equal times some versions of sacct print nothing.
        span = ("-S", at.isoformat(), "-E", (at + timedelta(seconds=1)).isoformat())
        return _listing(("sacct", "-a", "-X", "-P", *span, "-o", SACCT_COLUMNS))
    try:
        return _listing(("squeue", "--json"))
    except OdonataError:
        return _listing(SQUEUE_TABLE)


def slurm_topology() -> str:
    """The switches and nodes that `scontrol show topology` prints, as the content of a machine's file.

    Raises:
        OdonataError: Slurm has no tree of switches, or its commands are missing or fail.

    Examples:
        >>> odonata.importers.slurm_topology().splitlines()[0]
        'SwitchName=leaf01 Level=0 LinkSpeed=1 Nodes=cn[001-008]'
    """
    command = ("scontrol", "show", "topology")
    try:
        text = _output(command)
    except OdonataError as error:
        raise _without_tree(error.message) from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    other = next((line for line in lines if not TREE.match(line)), None)
    if other is not None or not lines:
        raise _without_tree(f"{' '.join(command)} prints no tree of switches: '{(other or '')[:60]}'")
    return "\n".join(lines) + "\n"


def _without_tree(message: str) -> OdonataError:
    return OdonataError(message, hint="Name the machine: --machine with a preset or a file of cables.")


def _listing(command: Sequence[str]) -> Listing:
    return slurm.parse(Path(" ".join(command[:2])), _output(command))


def _output(command: Sequence[str]) -> str:
    """What a command prints.

    Raises:
        OdonataError: It is not there, fails, or does not answer.
    """
    # Slurm's own variables would change columns and formats, and messages are in the language of the site.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("SQUEUE_", "SACCT_"))
    }
    name = command[0]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            env=environment | {"SLURM_TIME_FORMAT": "standard"},
        )
    except OSError as error:
        raise OdonataError(
            f"cannot run {name}: {error.strerror}",
            hint="Run this where Slurm's commands work, or name a file with the output of squeue or sacct.",
        ) from None
    except subprocess.TimeoutExpired:
        raise OdonataError(f"{name} does not answer within {TIMEOUT_S} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise OdonataError(
            f"{' '.join(command[:3])} fails: {said[-1] if said else f'status {done.returncode}'}"
        )
    return done.stdout.decode(errors="replace")
