"""Sweeps: one experiment at every combination of some keys, with paired placements and seeds."""

from odonata.sweeps.opening import load
from odonata.sweeps.result import Sweep
from odonata.sweeps.run import run_sweep, sweep

__all__ = ["Sweep", "load", "run_sweep", "sweep"]
