"""What changed from one run to another."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from odonata.analysis import LinkPairs, pair_links, statistics_changes
from odonata.api import load_run
from odonata.explanation import no_effect, reason, time_of
from odonata.notebook import table
from odonata.runs import Run

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
    """One run against another; what `odonata compare` prints.

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
    """Lines of the resolved experiments that differ: `- ..` of the base, `+ ..` of the other."""
    no_effect: list[str]
    """Keys that differ, where no table does."""
    times: pa.Table
    """Of each job that has a time in both: `name`, `time_s_base`, `time_s_other`, `time_s_change` (relative;
    null where it was 0), `reason`: what binds it now, and what grew there."""
    classes: pa.Table
    """By link class: mean, 99 % and largest traffic of both in bytes, and their relative change."""
    jobs: pa.Table
    """The same by job and class."""
    links: LinkPairs
    """Link by link, paired by name: `pairs`, and the links that only one of them has."""

    def __repr__(self) -> str:
        links = f"{self.links.pairs.num_rows:,} links in both"
        return f"<odonata.Comparison of {self.base.name} with {self.other.name}, {links}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the jobs' times, or where there are none the traffic of the classes."""
        heading = f"{self.base.name} → {self.other.name}"
        if self.times.num_rows:
            rows = [
                (
                    row["name"],
                    row["time_s_base"],
                    row["time_s_other"],
                    _percent(row["time_s_change"]),
                    row["reason"],
                )
                for row in self.times.to_pylist()
            ]
            return table(heading, ("job", "time, s", "→", "change", "why"), rows)
        changes = [
            (row["class"], row["bytes_max_base"], row["bytes_max_other"], _percent(row["bytes_max_change"]))
            for row in self.classes.to_pylist()
        ]
        return table(heading, ("class", "largest, bytes", "→", "change"), changes)


def _percent(change: float | None) -> str:
    return "" if change is None else f"{100 * change:+.1f} %"


def compare(base: Run | str | Path, other: Run | str | Path) -> Comparison:
    """What changed from one run to another: jobs, link classes, links, and why.

    Links are paired by their names, so that machines with other cabling can be compared.

    Args:
        base: A run or its directory.
        other: The same.

    Returns:
        Settings that differ, and tables of times in seconds (a row for each job), of traffic in bytes (by
        class, by job and class, link by link) and their relative changes.

    Raises:
        OdonataError: A directory holds no run.

    Examples:
        >>> both, fewer = odonata.load("runs/both"), odonata.load("runs/fewer")
        >>> for job in odonata.compare(both, fewer).times.to_pylist():
        ...     print(f"{job['name']} {100 * job['time_s_change']:+.0f} %, {job['reason']}")
        cfd +67 %, busiest with it is g4r2>g4r1:local.0, 82.5 % of its time, where its own bytes take
        68.7 us longer; before g1r3n1 out
        fft +98 %, busiest with it is g4r2>g4r1:local.0, 82.7 % of its time, where cfd's bytes take 79.9
        us longer; before g4r1>g4r0:local.0
    """
    first, second = (run if isinstance(run, Run) else load_run(run) for run in (base, other))
    return Comparison(
        base=first,
        other=second,
        settings=_settings(first, second),
        no_effect=no_effect(first, second),
        times=_times(first, second),
        classes=statistics_changes(_of_classes(first), _of_classes(second), ["class"]),
        jobs=statistics_changes(_of_jobs(first), _of_jobs(second), ["name", "class"]),
        links=pair_links(first.links, first.routers, second.links, second.routers),
    )


def _settings(base: Run, other: Run) -> list[str]:
    before, after = base.resolved.splitlines(), other.resolved.splitlines()
    differing = difflib.unified_diff(before, after, lineterm="", n=0)
    return [f"{line[0]} {line[1:]}" for line in differing if line[:2] not in ("--", "++", "@@")]


def _times(base: Run, other: Run) -> pa.Table:
    """The predicted times of the jobs that both runs have, where both engines predict one."""
    names = set(other.jobs["name"].to_pylist())
    rows: list[dict[str, Any]] = []
    for name in base.jobs["name"].to_pylist():
        before, after = (time_of(run, name) if name in names else None for run in (base, other))
        if before is not None and after is not None:
            change = (after - before) / before if before else None
            row = {"name": name, "time_s_base": before, "time_s_other": after, "time_s_change": change}
            rows.append({**row, "reason": reason(base, other, name)})
    return pa.Table.from_pylist(rows, schema=_TIMES)


def _of_classes(run: Run) -> pa.Table:
    return pa.Table.from_pylist(run.summary["classes"])


def _of_jobs(run: Run) -> pa.Table:
    rows = [{"name": job["name"], **row} for job in run.summary["jobs"] for row in job["classes"]]
    return pa.Table.from_pylist(rows)
