"""A sweep as a Slurm job array: one task for each point."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task={threads}
#SBATCH --output={directory}/slurm-%a.log
# Submit with:                  sbatch {script}
# When all tasks are done, see: {gather}
set -euo pipefail
cd {here}
exec {task} --point "$SLURM_ARRAY_TASK_ID" --threads "$SLURM_CPUS_PER_TASK"
"""


def script(
    *,
    experiment: Path,
    directory: Path,
    changes: Sequence[str],
    points: int,
    threads: int,
    here: Path,
) -> str:
    """The text of the script.

    Args:
        experiment: The experiment file.
        directory: The sweep's directory.
        changes: Overrides that hold for all points.
        points: How many there are.
        threads: For each task.
        here: The directory that relative paths start from.
    """
    settings = [part for change in changes for part in ("--set", change)]
    arguments = ["sweep", str(experiment), "-o", str(directory), *settings]
    return _SCRIPT.format(
        name=shlex.quote(f"odonata-{experiment.stem}"),
        last=points - 1,
        threads=threads,
        directory=directory,
        script=shlex.quote(str(directory / "sweep.sbatch")),
        gather=shlex.join(["odonata", *arguments]),
        here=shlex.quote(str(here)),
        task=shlex.join([sys.executable, "-m", "odonata", *arguments]),
    )
