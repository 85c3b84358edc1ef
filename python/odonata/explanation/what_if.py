"""The times of jobs on other machines, measured by runs. Only `sensitivities` interpolates between them.

Paths and the times of other jobs react to a change, so bytes over capacity does not foretell it. A run and
its edit share all random draws, so their difference is the effect of the edit. Another seed places jobs and
draws partners differently; only several seeds show how far the effect depends on that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from statistics import mean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odonata._core import Experiment
from odonata.analysis.intervals import mean_interval
from odonata.analysis.job_bottleneck import job_of, time_of, times_of
from odonata.errors import ExperimentError
from odonata.store.run import RunData, with_edits

STEP = 0.1
"""Relative change of a bandwidth. Completion times of the flow engine advance in coarse steps, so smaller
changes are noisy. From changes by 0.05 to 1 %, 4 to 6 % of the times at 5 % differ by more than 5 % from a
run, up to 35 %. From changes by 10 % it is 2 %, up to 8 % (ten random pairs of jobs)."""
SENSITIVITY_ACCURACY = "within 5 % of a run for 288 of 296 changes by 5 % in random pairs of jobs"
"""Of `sensitivities` (`tests/differential/test_sensitivities.py`)."""
BY = ".bandwidth*="
"""An edit that multiplies the bandwidth of a class."""

Report = Callable[[int, int], None]
"""Called with the number of finished and of all runs."""


def changes_of(run: RunData, job: int) -> list[str]:
    """Edits of the machine that may change a job's time: bandwidth and cables of each class that it uses."""
    own = run.link_jobs.filter(pc.equal(run.link_jobs["job"], job))["link"]
    used = pc.unique(run.links["class"].take(own).cast(pa.string())).to_pylist()
    edits = []
    for name in sorted(used):
        edits += [
            f"{name}{BY}{1 - STEP:g}",
            f"{name}{BY}{1 + STEP:g}",
            f"-1 {name}",
            f"+1 {name}",
        ]
    return [*edits, f"terminal{BY}{1 - STEP:g}", f"terminal{BY}{1 + STEP:g}"]


def measure_changes(run: RunData, name: str, progress: Report | None = None, *, seeds: int = 1) -> pa.Table:
    """The time of a job after each edit of `changes_of`, by runs of the same experiment.

    Args:
        run: A finished run.
        name: A job of it that has a time.
        progress: Called with the number of finished and of all runs.
        seeds: Number of seeds, from the run's own on: each edit runs with each of them.

    Returns:
        One row per edit:

        - `change`: The edit, as in `machine.edit`.
        - `seeds`, `time_s`: Number of runs and their mean time.
        - `difference`: Mean over seeds of time / time without the edit - 1.
        - `low`, `high`: Its 95 % interval; null for one seed.
        - `reason`: Why the machine cannot be changed so or the job has no time there; else null.
    """
    number, _ = job_of(run, name)
    edits = changes_of(run, number)
    report = _Progress(progress, len(edits) * seeds + seeds - 1)
    before = [time_of(run, name), *(time_of(_again(run, seed, (), report), name) for seed in range(1, seeds))]
    rows = []
    for edit in edits:
        times, reason = [], None
        for seed in range(seeds):
            try:
                changed = _again(run, seed, (edit,), report)
            except ExperimentError as error:
                reason = error.problems[0].message
                break
            times.append(time_of(changed, name) if changed.is_complete else None)
            if times[-1] is None:
                ended = f"the run did not complete: {changed.ending}"
                reason = "the job has no time" if changed.is_complete else ended
                break
        rows.append({"change": edit, **_change(before, times if reason is None else []), "reason": reason})
    return pa.Table.from_pylist(
        rows, schema=pa.schema([("change", pa.string()), *VALUES, ("reason", pa.string())])
    )


def sensitivities(table: pa.Table) -> pa.Table:
    """Exponents of a job's time by the bandwidth of each class, from its times at -10 % and +10 %.

    Args:
        table: The result of `measure_changes`.

    Returns:
        One row per class with both times:

        - `class`: Link class, or `terminal` for the nodes' links.
        - `less`, `more`: d ln(time) / d ln(bandwidth), for less and for more bandwidth. -1: the time is in
          inverse proportion to the bandwidth. 0: the bandwidth does not matter. The two differ where another
          link becomes the bottleneck.
    """
    ratios = {row["change"]: 1.0 + row["difference"] for row in table.to_pylist() if row["time_s"]}
    ends = {"less": f"{1 - STEP:g}", "more": f"{1 + STEP:g}"}
    rows = []
    for name in dict.fromkeys(change.split(".")[0] for change in table["change"].to_pylist() if BY in change):
        edits = {end: f"{name}{BY}{factor}" for end, factor in ends.items()}
        if all(edit in ratios for edit in edits.values()):
            # -0.0 + 0.0 is 0.0.
            exponents = {end: log(ratios[edit]) / log(float(ends[end])) + 0.0 for end, edit in edits.items()}
            rows.append({"class": name, **exponents})
    return pa.Table.from_pylist(
        rows, schema=pa.schema([("class", pa.string()), ("less", pa.float64()), ("more", pa.float64())])
    )


VALUES = [
    ("seeds", pa.int64()),
    ("time_s", pa.float64()),
    ("difference", pa.float64()),
    ("low", pa.float64()),
    ("high", pa.float64()),
]


def edited(resolved: str, settings: Mapping[str, Any], edits: Sequence[str], seeds: int = 1) -> Experiment:
    """An experiment with further edits of its machine, after a check with each seed that shall run.

    Args:
        resolved: The experiment with every key.
        settings: Its content.
        edits: Edits that follow its own.
        seeds: Number of seeds, from its own on.

    Raises:
        ExperimentError: It cannot run with the edits, or with another seed.
    """
    from odonata import api

    changed = api.read(resolved, with_edits(settings, *edits))
    experiments = (api.read(resolved), changed) if seeds > 1 else (changed,)
    points = [[f"engine.seed={settings['engine']['seed'] + seed}"] for seed in range(seeds)]
    for found in (found for experiment in experiments for found in experiment.check_points(points)):
        if isinstance(found, Exception):
            raise found
    return changed


def changes_by_seed(
    base: RunData, other: RunData, edits: Sequence[str], seeds: int, progress: Report | None = None
) -> pa.Table:
    """How edits change the time of each job, over several seeds.

    Args:
        base: A finished run.
        other: The run with the edits and the same seed.
        edits: What `other` changes of the machine of `base`.
        seeds: Number of seeds, at least 2, from the seed of `base` on.
        progress: Called with the number of finished and of all runs.

    Returns:
        One row per job with a time at all seeds: `name`; `time_before_s`, the mean without the edits; and
        `seeds`, `time_s`, `difference`, `low` and `high` as in `measure_changes`.

    Raises:
        ExperimentError: The edits cannot be made with another seed.
    """
    report = _Progress(progress, 2 * (seeds - 1))
    pairs = [(_times(base), _times(other))]
    for seed in range(1, seeds):
        pairs.append((_times(_again(base, seed, (), report)), _times(_again(base, seed, edits, report))))
    rows = []
    for name in pairs[0][0]:
        if all(name in times for pair in pairs for times in pair):
            before = [pair[0][name] for pair in pairs]
            change = _change(before, [pair[1][name] for pair in pairs])
            rows.append({"name": name, "time_before_s": mean(before), **change})
    schema = [("name", pa.string()), ("time_before_s", pa.float64()), *VALUES]
    return pa.Table.from_pylist(rows, schema=pa.schema(schema))


class _Progress:
    def __init__(self, report: Report | None, total: int) -> None:
        self._report, self._total, self._made = report, total, 0

    def next(self) -> None:
        if self._report is not None:
            self._report(self._made, self._total)
        self._made += 1


def _again(run: RunData, offset: int, edits: Sequence[str], report: _Progress) -> RunData:
    """The run of the same experiment with its seed + offset and further edits."""
    from odonata import api

    report.next()
    keys: dict[str, object] = dict(run.with_edits(*edits)) if edits else {}
    if offset:
        keys["engine.seed"] = run.settings["engine"]["seed"] + offset
    return api.run(run.resolved, set=keys)


def _times(run: RunData) -> dict[str, float]:
    names = run.jobs["name"].to_pylist()
    return {names[number]: time for number, time in times_of(run).items()} if run.is_complete else {}


def _change(before: Sequence[float | None], after: Sequence[float | None]) -> dict[str, float | None]:
    ratios = [new / old - 1.0 for old, new in zip(before, after, strict=False) if old and new is not None]
    times = [time for time in after if time is not None]
    low, high = mean_interval(ratios)
    return {
        "seeds": len(times),
        "time_s": mean(times) if times else None,
        "difference": mean(ratios) if ratios else None,
        "low": low,
        "high": high,
    }
