"""Counters of links: hardware names, tables of other programs, and their power to predict a job's time."""

from odonata.counters.against import Prediction, points_of, predictions
from odonata.counters.boxfish import read_table
from odonata.counters.foreign import columns_of
from odonata.counters.ldms import read_counters
from odonata.counters.links import features, hardware_counters, summary_of

__all__ = [
    "Prediction",
    "columns_of",
    "features",
    "hardware_counters",
    "points_of",
    "predictions",
    "read_counters",
    "read_table",
    "summary_of",
]
