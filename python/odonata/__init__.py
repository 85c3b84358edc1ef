"""Odonata: a workbench for supercomputer interconnects.

>>> import odonata
>>> run = odonata.run("both.toml")               # an experiment file, its text, or a dict
>>> classes = run.summary["classes"]             # traffic per link class
>>> links = run.links.to_pandas()                # every directed link
>>> run.plot.links().savefig("links.png")
>>> odonata.load("runs/both").jobs.num_rows      # the directory of a run or a sweep
2

Everything is imported on first use, so that `import odonata` is fast.
"""

from __future__ import annotations

from odonata.command_signals import hold_signals

hold_signals()

# ruff: noqa: E402 - what follows takes a while to import
from importlib import import_module
from typing import TYPE_CHECKING, Any

from odonata._core import version as _version
from odonata.errors import (
    ExperimentError,
    InternalError,
    NotARunError,
    OdonataError,
    PartialRunWarning,
    StoreError,
)

if TYPE_CHECKING:
    from odonata import analysis, drafts, importers, plot, prices, sections, shipped
    from odonata.api import check, run
    from odonata.characterization import characterize
    from odonata.comparison import Comparison, compare
    from odonata.experiment import Experiment
    from odonata.explanation import explain
    from odonata.machines import Machine, machine, presets
    from odonata.names import patterns, placements, rank_programs, routings
    from odonata.optimization import Optimization, optimize
    from odonata.records import CheckResult, Choice, Preset, RoutingChoice
    from odonata.runs import Run
    from odonata.sweeps import Sweep, load, sweep
    from odonata.views import view

__all__ = [
    "CheckResult",
    "Choice",
    "Comparison",
    "Experiment",
    "ExperimentError",
    "InternalError",
    "Machine",
    "NotARunError",
    "OdonataError",
    "Optimization",
    "PartialRunWarning",
    "Preset",
    "RoutingChoice",
    "Run",
    "StoreError",
    "Sweep",
    "__version__",
    "analysis",
    "characterize",
    "check",
    "compare",
    "drafts",
    "explain",
    "importers",
    "load",
    "machine",
    "optimize",
    "patterns",
    "placements",
    "plot",
    "presets",
    "prices",
    "rank_programs",
    "routings",
    "run",
    "sections",
    "shipped",
    "sweep",
    "view",
]

__version__: str = _version()

_HOMES = {
    "CheckResult": "odonata.records",
    "Choice": "odonata.records",
    "Comparison": "odonata.comparison",
    "Experiment": "odonata.experiment",
    "Machine": "odonata.machines",
    "Optimization": "odonata.optimization",
    "Preset": "odonata.records",
    "RoutingChoice": "odonata.records",
    "Run": "odonata.runs",
    "Sweep": "odonata.sweeps",
    "characterize": "odonata.characterization",
    "check": "odonata.api",
    "compare": "odonata.comparison",
    "explain": "odonata.explanation",
    "load": "odonata.sweeps",
    "machine": "odonata.machines",
    "optimize": "odonata.optimization",
    "patterns": "odonata.names",
    "placements": "odonata.names",
    "presets": "odonata.machines",
    "rank_programs": "odonata.names",
    "routings": "odonata.names",
    "run": "odonata.api",
    "sweep": "odonata.sweeps",
    "view": "odonata.views",
}


def __getattr__(name: str) -> Any:
    if name in ("analysis", "drafts", "importers", "plot", "prices", "sections", "shipped"):
        return import_module(f"odonata.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'odonata' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
