"""A sweep as a Slurm job array, one task per point."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from odonata._core import Experiment
from odonata.errors import OdonataError

_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task={threads}
#SBATCH --output={log}
# Submit with:                  sbatch {script}
# When all tasks are done, see: {gather}
set -euo pipefail
cd {here}
exec {task} --point "$SLURM_ARRAY_TASK_ID" --threads "$SLURM_CPUS_PER_TASK"
"""


def script(*, experiment: Experiment, directory: Path, points: int, threads: int, here: Path) -> str:
    """The text of the job script.

    Args:
        experiment: The experiment of the sweep.
        directory: The sweep's directory.
        points: Number of points.
        threads: Threads per task.
        here: Base directory of relative paths.

    Raises:
        OdonataError: The directory's name has a character that cannot be printed, such as a line break.
    """
    if not str(directory).isprintable():
        raise OdonataError(
            f"the directory {str(directory)!r} has a character that a Slurm script cannot name",
            hint="Choose another directory with -o.",
        )
    settings = [part for change in experiment.overrides for part in ("--set", change)]
    arguments = ["sweep", experiment.path, "-o", str(directory), *settings]
    return _SCRIPT.format(
        name=re.sub(r"[^\w.-]", "_", f"odonata-{Path(experiment.path).stem}"),
        last=points - 1,
        threads=threads,
        # Slurm prints %% as one percent sign.
        log=shlex.quote(f"{directory}/".replace("%", "%%") + "slurm-%a.log"),
        script=shlex.quote(str(directory / "sweep.sbatch")),
        gather=" ".join(map(_on_one_line, ["odonata", *arguments])),
        here=shlex.quote(str(here)),
        task=shlex.join([sys.executable, "-m", "odonata", *arguments]),
    )


def _on_one_line(argument: str) -> str:
    """An argument for bash without line breaks, so that it fits in a comment."""
    if argument.isprintable():
        return shlex.quote(argument)
    escaped = argument.replace("\\", r"\\").replace("'", r"\'")
    return "$'" + "".join(c if c.isprintable() else _escape(c) for c in escaped) + "'"


def _escape(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
