"""The section `interference` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Interference(TypedDict, total=False):
    """Keys of the section `interference`.

    Slowdown of jobs by other jobs. `odonata sweep` makes the runs, with the same nodes for a job in
    all runs, and the table `interference.parquet`. `odonata run` ignores the section. `[sweep]` may
    add axes.
    """

    pairs: Literal["alone", "targets x backgrounds", "mixed"] | Sequence[Sequence[str]]
    """Jobs that run together: `alone`, `targets x backgrounds`, `mixed`, or lists of names, `[["fft",
    "halo"]]`. Every target runs alone, too.
    """
    targets: Sequence[str]
    """Jobs whose slowdown is measured."""
    backgrounds: Sequence[str]
    """Jobs that run with the targets."""
    others: Literal["idle", "absent"]
    """State of the other jobs. Default: "idle"."""
    routings: Sequence[str | Mapping[str, Any]]
    """Routing algorithms, with their own defaults, or with a preset: `{ name = "par", preset = "study"
    }`.
    """
    seeds: Sequence[int]
    """Seeds of the runs."""
