"""Comparison of two runs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.analysis import LinkPairs, pair_links, statistics_changes
from odonata.analysis.compare import STATISTICS
from odonata.analysis.job_bottleneck import spans_of
from odonata.api import load_run
from odonata.explanation import no_effect, reason, time_of
from odonata.notebook import table
from odonata.quantity import quantity
from odonata.runs import Run
from odonata.store.arrays import numbers, table_of

_ABSENT = pa.schema(
    [
        ("name", pa.string()),
        ("absent_in", pa.string()),
        ("ranks", pa.int64()),
        ("nodes", pa.int64()),
        ("lost_nodes", pa.list_(pa.string())),
        ("failed", pa.list_(pa.string())),
    ]
)

_MOVED = pa.schema([("name", pa.string()), ("ranks", pa.int64()), ("moved_ranks", pa.int64())])

_TIMES = pa.schema(
    [
        ("name", pa.string()),
        ("time_s_base", pa.float64()),
        ("time_s_other", pa.float64()),
        ("time_s_change", pa.float64()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True, repr=False)
class Comparison:
    """The comparison of two runs, as `odonata compare` prints it.

    Examples:
        >>> comparison = odonata.compare("runs/both", "runs/fewer")
        >>> comparison
        <odonata.Comparison of both with fewer, 152 links in both>
        >>> comparison.settings
        ['- edit = []', '+ edit = ["-25% local"]']
        >>> row = comparison.classes.to_pylist()[0]
        >>> f"{row['class']}: {row['bytes_mean_base']:.0f} bytes, {100 * row['bytes_mean_change']:+.1f} %"
        'all: 2110400 bytes, +28.4 %'
    """

    base: Run
    other: Run
    settings: list[str]
    """Different lines of the resolved experiments: `- ..` of the base, `+ ..` of the other."""
    no_effect: list[str]
    """Keys that differ although all tables are equal."""
    times: pa.Table
    """One row per job with a time in both runs, if both are complete: `name`, `time_s_base`, `time_s_other`,
    `time_s_change` (relative; null if the base is 0) and `reason`. The reason names the busiest link now, and
    whose bytes changed there."""
    absent: pa.Table
    """One row per job that lost nodes to failures in one run only: `name`, `absent_in` (`base` or `other`),
    `ranks`, `nodes` (their number), `lost_nodes` and `failed` (lists of names)."""
    moved: pa.Table
    """One row per job with ranks on other nodes in the second run: `name`, `ranks` and `moved_ranks` (their
    numbers). Without rows if the machines have other nodes."""
    classes: pa.Table
    """Mean, 99th percentile and maximum of link traffic by class, in bytes, and their relative changes.
    Without rows if a run is not comparable."""
    jobs: pa.Table
    """The same columns by job and class."""
    links: LinkPairs | None
    """Links paired by name, and the links that only one run has; None if a run is not comparable."""

    def __repr__(self) -> str:
        links = (
            "no links to compare" if self.links is None else f"{self.links.pairs.num_rows:,} links in both"
        )
        return f"<odonata.Comparison of {self.base.name} with {self.other.name}, {links}>"

    def _repr_html_(self) -> str:
        """The display in notebooks: times of jobs, or without times the traffic of classes."""
        heading = f"{self.base.name} → {self.other.name}"
        if self.times.num_rows:
            rows = [
                (
                    row["name"],
                    quantity(row["time_s_base"], "s"),
                    quantity(row["time_s_other"], "s"),
                    _percent(row["time_s_change"]),
                    row["reason"],
                )
                for row in self.times.to_pylist()
            ]
            return table(heading, ("job", "time", "→", "change", "why"), rows)
        changes = [
            (
                row["class"],
                quantity(row["bytes_max_base"], "bytes"),
                quantity(row["bytes_max_other"], "bytes"),
                _percent(row["bytes_max_change"]),
            )
            for row in self.classes.to_pylist()
        ]
        return table(heading, ("class", "maximum", "→", "change"), changes)


def _percent(change: float | None) -> str:
    return "" if change is None else f"{100 * change:+.1f} %"


def compare(base: Run | str | Path, other: Run | str | Path) -> Comparison:
    """Compares two runs: jobs, link classes and links, with reasons.

    Links are paired by name, so machines with different cabling can be compared. A run that is not complete
    has no figures, so only settings are compared with it.

    Args:
        base: A run or its directory.
        other: The run to compare with it, or its directory.

    Returns:
        Settings that differ, and tables with relative changes: times in seconds per job, and traffic in bytes
        by class, by job and class, and by link.

    Raises:
        OdonataError: A directory holds no run.

    Examples:
        >>> both, fewer = odonata.load("runs/both"), odonata.load("runs/fewer")
        >>> for job in odonata.compare(both, fewer).times.to_pylist():
        ...     print(f"{job['name']} {100 * job['time_s_change']:+.0f} %, {job['reason']}")
        cfd +37 %, busiest is g4r2>g4r1:local.0, 85.8 % busy; own bytes take 68.7 us longer; before: injection
        port of node g1r3n1
        fft +54 %, busiest is g0r1>g0r2:local.0, 100 % busy; own bytes take 19.8 us longer
    """
    first, second = (run if isinstance(run, Run) else load_run(run) for run in (base, other))
    comparable = not any(map(not_comparable, (first, second)))
    rows = None if comparable else 0
    return Comparison(
        base=first,
        other=second,
        settings=_settings(first, second),
        no_effect=no_effect(first, second),
        times=_times(first, second),
        absent=_absent(first, second),
        moved=_moved(first, second),
        classes=statistics_changes(_of_classes(first), _of_classes(second), ["class"]).slice(0, rows),
        jobs=statistics_changes(_of_jobs(first), _of_jobs(second), ["name", "class"]).slice(0, rows),
        links=pair_links(first.links, first.routers, second.links, second.routers) if comparable else None,
    )


def not_comparable(run: Run) -> str | None:
    """Why a run has no figures to compare with, or None: what is not there would count as 0, or as less."""
    if not run.is_complete:
        return f"{run.name} is not complete ({run.ending}), so it has no figures to compare"
    return None if run.routed else f"{run.name} routes nothing, so the traffic of links is not compared"


def _settings(base: Run, other: Run) -> list[str]:
    before, after = base.resolved.splitlines(), other.resolved.splitlines()
    differing = difflib.unified_diff(before, after, lineterm="", n=0)
    # A new table comes with the empty line before it, which says nothing.
    return [f"{line[0]} {line[1:]}" for line in differing if line[:2] not in ("--", "++", "@@") and line[1:]]


def _times(base: Run, other: Run) -> pa.Table:
    names = set(other.jobs["name"].to_pylist()) if base.is_complete and other.is_complete else set()
    spans = (spans_of(base), spans_of(other)) if names else None
    rows: list[dict[str, Any]] = []
    for name in base.jobs["name"].to_pylist():
        before, after = (time_of(run, name) if name in names else None for run in (base, other))
        if before is not None and after is not None:
            change = (after - before) / before if before else None
            row = {"name": name, "time_s_base": before, "time_s_other": after, "time_s_change": change}
            rows.append({**row, "reason": reason(base, other, name, spans)})
    return table_of(rows, _TIMES)


def _absent(base: Run, other: Run) -> pa.Table:
    names = {
        side: {job["name"] for job in run.absent_jobs} for side, run in (("base", base), ("other", other))
    }
    rows = [
        {**job, "absent_in": side}
        for side, run, there in (("base", base, names["other"]), ("other", other, names["base"]))
        for job in run.absent_jobs
        if job["name"] not in there
    ]
    return table_of(rows, _ABSENT)


def _moved(base: Run, other: Run) -> pa.Table:
    rows = []
    if base.nodes["name"].equals(other.nodes["name"]):
        places = _nodes_by_job(other)
        for name, before in _nodes_by_job(base).items():
            after = places.get(name)
            if after is not None and len(after) == len(before) and (before != after).any():
                moved = int((before != after).sum())
                rows.append({"name": name, "ranks": len(before), "moved_ranks": moved})
    return table_of(rows, _MOVED)


def _nodes_by_job(run: Run) -> dict[str, npt.NDArray[np.uint32]]:
    """The node of each rank, by job."""
    job_of_rank, nodes = (numbers(run.placement[name]) for name in ("job", "node"))
    ends = [np.searchsorted(job_of_rank, numbers(run.jobs["job"]), side) for side in ("left", "right")]
    return {
        name: nodes[low:high] for name, low, high in zip(run.jobs["name"].to_pylist(), *ends, strict=True)
    }


_STATISTICS = pa.schema([("class", pa.string()), *((name, pa.float64()) for name in STATISTICS)])


def _of_classes(run: Run) -> pa.Table:
    return table_of(run.summary["classes"], _STATISTICS)


def _of_jobs(run: Run) -> pa.Table:
    rows = [{"name": job["name"], **row} for job in run.summary["jobs"] for row in job["classes"]]
    return table_of(rows, pa.schema([("name", pa.string()), *_STATISTICS]))
