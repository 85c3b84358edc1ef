"""Why a job's time differs between two runs: the cost of each change of the experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odonata.analysis import shapley
from odonata.analysis.job_bottleneck import job_of, reason, time_of
from odonata.errors import ExperimentError, OdonataError
from odonata.explanation.blame import CAUSES_MAX, RUN_AGAIN, measured_time
from odonata.explanation.changes import TOGETHER, Change, between, changes
from odonata.runs import Run


@dataclass(frozen=True)
class Difference:
    """The change of a job's time since another run, and its causes.

    Examples:
        >>> run, base = odonata.load("runs/fewer"), odonata.load("runs/both")
        >>> since = odonata.explain(run, "fft", against=base).against
        >>> since.changed, f"{since.time_s / since.time_s_base:.2f}"
        (['machine.edit -25% local'], '1.54')
        >>> since.to_dict()["blame"][0]["cause"]
        'machine.edit -25% local'
    """

    job: str
    time_s_base: float
    time_s: float
    reason: str
    """One line, from the tables of both runs."""
    changed: list[str]
    """The keys that differ."""
    blame: pa.Table | None
    """`cause` (a change), `cost_s`, `share`, `first_s`, `last_s`: costs sum up to `time_s - time_s_base`.
    None without extra runs."""

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain values."""
        return {**vars(self), "blame": None if self.blame is None else self.blame.to_pylist()}


def difference(
    run: Run,
    base: Run,
    job: str | None = None,
    *,
    blame: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Difference:
    """Explains why a job's time differs between two runs.

    Args:
        run: The run to explain.
        base: The run to compare with.
        job: Name of the job; optional if there is only one.
        blame: Whether extra runs with some of the changes measure the cost of each. By default, only if both
            runs use the flow engine.
        progress: Called with the number of finished and of all extra runs.

    Raises:
        OdonataError: A run has no such job, or the job has no time there.
    """
    _, name = job_of(run, job)
    job_of(base, name)
    for one in (base, run):
        if not one.is_complete:
            raise OdonataError(f"{one.name} is not complete ({one.ending}), so it has no figures to compare")
    before, after = time_of(base, name), time_of(run, name)
    if before is None or after is None:
        none = base if before is None else run
        raise OdonataError(f"job {name} of {none.name} has no time to compare")
    found = changes(base.settings, run.settings)
    makes_runs = all(r.summary["engine"] in RUN_AGAIN for r in (base, run)) if blame is None else blame
    return Difference(
        job=name,
        time_s_base=before,
        time_s=after,
        reason=reason(base, run, name),
        changed=[change.name for change in found],
        blame=_blame(run, base, name, found, progress) if makes_runs else None,
    )


def _blame(
    run: Run, base: Run, job: str, found: list[Change], progress: Callable[[int, int], None] | None
) -> pa.Table:
    """The cost of each change, from extra runs with some of the changes."""
    from odonata import api

    first, last = base.settings, run.settings
    causes = {change.name: [change] for change in found}
    if len(causes) > CAUSES_MAX:
        causes = {}
        for change in found:
            causes.setdefault(change.section, []).append(change)
    made, needed = 0, 2 ** len(causes) - 2

    def time_with(present: frozenset[str]) -> float:
        nonlocal made
        if not present:
            return measured_time(base, job)
        if len(present) == len(causes):
            return measured_time(run, job)
        mixed = between(first, last, [change for name in present for change in causes[name]])
        again = api.run(mixed)
        made += 1
        if progress is not None:
            progress(made, needed)
        return measured_time(again, job)

    try:
        return shapley(list(causes), time_with)
    except ExperimentError:
        # Some changes need others, such as a placement that needs a larger machine.
        ends = {frozenset[str](): base, frozenset({TOGETHER}): run}
        return shapley([TOGETHER], lambda present: measured_time(ends[present], job))


def no_effect(base: Run, run: Run) -> list[str]:
    """The keys that differ between two runs with equal tables; empty if a table differs."""
    if base.resolved == run.resolved or set(base.table_names) != set(run.table_names):
        return []
    if any(not base.table(name).equals(run.table(name)) for name in base.table_names):
        return []
    return [change.name for change in changes(base.settings, run.settings)]
