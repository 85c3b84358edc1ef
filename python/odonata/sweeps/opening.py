"""What a directory holds, a run or a sweep, opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odonata.api import load_run
from odonata.store.sweep import DESCRIPTION
from odonata.sweeps.result import Sweep


def load(directory: str | Path) -> Any:
    """Opens the directory of a run or a sweep. A run that is partial is opened with a `PartialRunWarning`.

    Args:
        directory: A run directory, which `odonata run` or `Run.save` has written, or that of a sweep.

    Returns:
        The `Run` as `odonata.run` gave it, or the `Sweep` as `odonata.sweep` did; a table is read when it is
        asked for.

    Raises:
        NotARunError: There is neither, or it is in a format that is no longer read.
        DamagedRunError: A file of it is missing or unreadable.
        NewerRunError: It was written by a newer version, in a format that this one does not know.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> run.jobs.select(["name", "ranks"]).to_pylist()
        [{'name': 'cfd', 'ranks': 32}, {'name': 'fft', 'ranks': 32}]
        >>> odonata.load("runs/pairs")
        <odonata.Sweep of 3 points over jobs, runs/pairs>
    """
    if (Path(directory) / DESCRIPTION).is_file():
        return Sweep.load(directory)
    return load_run(directory)
