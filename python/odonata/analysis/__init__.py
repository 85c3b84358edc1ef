"""Table to table: functions from the Arrow tables of run directories to Arrow tables or arrays."""

from odonata.analysis.aggregate import aggregate
from odonata.analysis.blame import shapley
from odonata.analysis.bottleneck import bottlenecks, busy_times, sharers
from odonata.analysis.classes import class_statistics, job_class_statistics
from odonata.analysis.compare import LinkPairs, pair_links, statistics_changes
from odonata.analysis.congestion import congestion_roots, congestion_sentence, held_pairs, wait_share
from odonata.analysis.critical import add_links, critical_path, path_by_activity, path_by_link
from odonata.analysis.groups import group_matrix, grouping
from odonata.analysis.headline import Headline, headline
from odonata.analysis.hottest import hottest_links
from odonata.analysis.interaction import interactions, stratified_differences
from odonata.analysis.links import job_bytes, link_names, router_names
from odonata.analysis.paired import paired_differences
from odonata.analysis.waits import waits_by_blocking_job, waits_by_class, waits_by_link

__all__ = [
    "Headline",
    "LinkPairs",
    "add_links",
    "aggregate",
    "bottlenecks",
    "busy_times",
    "class_statistics",
    "congestion_roots",
    "congestion_sentence",
    "critical_path",
    "group_matrix",
    "grouping",
    "headline",
    "held_pairs",
    "hottest_links",
    "interactions",
    "job_bytes",
    "job_class_statistics",
    "link_names",
    "pair_links",
    "paired_differences",
    "path_by_activity",
    "path_by_link",
    "router_names",
    "shapley",
    "sharers",
    "statistics_changes",
    "stratified_differences",
    "wait_share",
    "waits_by_blocking_job",
    "waits_by_class",
    "waits_by_link",
]
