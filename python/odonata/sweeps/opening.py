"""Opens the directory of a run or a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odonata.api import load_run
from odonata.store.sweep import DESCRIPTION
from odonata.sweeps.result import Sweep


def load(directory: str | Path) -> Any:
    """Opens the directory of a run or a sweep. A partial run causes a `PartialRunWarning`.

    Args:
        directory: A run directory, from `odonata run` or `Run.save`, or the directory of a sweep.

    Returns:
        The `Run` or `Sweep`. Each table is read on first use.

    Raises:
        NotARunError: The directory holds neither, or has an unsupported old format.
        DamagedRunError: A file is missing or unreadable.
        NewerRunError: A newer version wrote it, in an unknown format.

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
