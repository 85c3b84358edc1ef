"""Counters of links: hardware names, tables of other programs, and their power to predict a job's time."""

from odonata.counters.against import Prediction, features_and_times, predictions
from odonata.counters.boxfish import read_regions, read_table
from odonata.counters.foreign import read_columns
from odonata.counters.ldms import read_counters
from odonata.counters.links import features, hardware_counters, statistics

__all__ = [
    "Prediction",
    "features",
    "features_and_times",
    "hardware_counters",
    "predictions",
    "read_columns",
    "read_counters",
    "read_regions",
    "read_table",
    "statistics",
]
