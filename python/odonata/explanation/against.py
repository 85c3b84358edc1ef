"""Why a job takes longer or shorter than in another run: which cable, failure or placement is to blame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odonata import toml
from odonata.analysis import shapley
from odonata.analysis.binding import job_of, reason, time_of
from odonata.errors import ExperimentError, OdonataError
from odonata.explanation.blame import CAUSES_MAX, RUN_AGAIN
from odonata.explanation.changes import TOGETHER, Change, between, changes
from odonata.runs import Run


@dataclass(frozen=True)
class Difference:
    """What a job's time has changed by since another run, and why.

    Examples:
        >>> run, base = odonata.load("runs/fewer"), odonata.load("runs/both")
        >>> since = odonata.explain(run, "fft", against=base).against
        >>> since.changed, f"{since.time_s / since.time_s_base:.2f}"
        (['machine.edit -25% local'], '1.98')
        >>> since.to_dict()["blame"][0]["cause"]
        'machine.edit -25% local'
    """

    job: str
    time_s_base: float
    time_s: float
    reason: str
    """In a line, from the tables of both runs."""
    changed: list[str]
    """What is otherwise, by key."""
    blame: pa.Table | None
    """`cause` (a change), `cost_s`, `share`, `first_s`, `last_s`: adds up to `time_s - time_s_base`; None
    where no runs between the two were made."""

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {**vars(self), "blame": None if self.blame is None else self.blame.to_pylist()}


def difference(
    run: Run,
    base: Run,
    job: str | None = None,
    *,
    blame: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Difference:
    """Why a job's time differs from that in another run.

    Args:
        run: The run to explain.
        base: The one that it is held against.
        job: Name of the job; not needed where there is only one.
        blame: Whether runs between the two are made, with some of the changes, to say what each costs.
            Without a word only if both are of the flow engine.
        progress: Called with the number of runs made and that of all.

    Raises:
        OdonataError: One of the runs has no such job, or no time of it.
    """
    _, name = job_of(run, job)
    job_of(base, name)
    before, after = time_of(base, name), time_of(run, name)
    if before is None or after is None:
        none = base if before is None else run
        raise OdonataError(f"job {name} of {none.name} has no end, so no time to compare")
    found = changes(toml.parse(base.resolved), toml.parse(run.resolved))
    makes = all(r.summary["engine"] in RUN_AGAIN for r in (base, run)) if blame is None else blame
    return Difference(
        job=name,
        time_s_base=before,
        time_s=after,
        reason=reason(base, run, name),
        changed=[change.name for change in found],
        blame=_blame(run, base, name, found, progress) if makes else None,
    )


def _blame(
    run: Run, base: Run, job: str, found: list[Change], progress: Callable[[int, int], None] | None
) -> pa.Table:
    """What each change costs the job, by the runs between the two."""
    from odonata import api

    first, last = toml.parse(base.resolved), toml.parse(run.resolved)
    causes = {change.name: [change] for change in found}
    if len(causes) > CAUSES_MAX:
        causes = {}
        for change in found:
            causes.setdefault(change.section, []).append(change)
    made, needed = 0, 2 ** len(causes) - 2

    def time_with(there: frozenset[str]) -> float:
        nonlocal made
        if not there:
            return time_of(base, job) or 0.0
        if len(there) == len(causes):
            return time_of(run, job) or 0.0
        mixed = between(first, last, [change for name in there for change in causes[name]])
        again = api.run(mixed)
        made += 1
        if progress is not None:
            progress(made, needed)
        return time_of(again, job) or 0.0

    try:
        return shapley(list(causes), time_with)
    except ExperimentError:
        # Some of the changes cannot be without others, as a placement that needs the larger machine.
        ends = {frozenset[str](): base, frozenset({TOGETHER}): run}
        return shapley([TOGETHER], lambda there: time_of(ends[there], job) or 0.0)


def no_effect(base: Run, run: Run) -> list[str]:
    """The keys that differ between two runs all of whose tables are the same; none if a table differs."""
    if base.resolved == run.resolved or set(base.table_names) != set(run.table_names):
        return []
    if any(not base.table(name).equals(run.table(name)) for name in base.table_names):
        return []
    return [change.name for change in changes(toml.parse(base.resolved), toml.parse(run.resolved))]
