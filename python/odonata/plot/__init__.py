"""Figures from tables, with matplotlib. `run.plot` gives direct access to the figures of one run."""

from odonata.plot.changes import plot_class_changes, plot_group_changes
from odonata.plot.costs import plot_costs
from odonata.plot.front import plot_front
from odonata.plot.groups import plot_groups
from odonata.plot.histogram import plot_histogram
from odonata.plot.interference import plot_interference
from odonata.plot.jobs import plot_jobs
from odonata.plot.latency import plot_latency, plot_load_curve
from odonata.plot.links import plot_links
from odonata.plot.overview import plot_overview
from odonata.plot.stalls import plot_series, plot_stall_map
from odonata.plot.style import Picture, size
from odonata.plot.throughput import plot_throughput
from odonata.plot.times import plot_times
from odonata.plot.traffic import plot_traffic_bars

__all__ = [
    "Picture",
    "plot_class_changes",
    "plot_costs",
    "plot_front",
    "plot_group_changes",
    "plot_groups",
    "plot_histogram",
    "plot_interference",
    "plot_jobs",
    "plot_latency",
    "plot_links",
    "plot_load_curve",
    "plot_overview",
    "plot_series",
    "plot_stall_map",
    "plot_throughput",
    "plot_times",
    "plot_traffic_bars",
    "size",
]
