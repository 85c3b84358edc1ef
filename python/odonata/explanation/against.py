"""Why a job takes longer or shorter than in another run: which cable, failure or placement is to blame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odonata import toml
from odonata.analysis import link_names, shapley, sharers
from odonata.errors import ExperimentError, OdonataError
from odonata.explanation.changes import TOGETHER, Change, between, changes
from odonata.explanation.job import CAUSES_MAX, RUN_AGAIN, bound, job_of, time_of, times_of
from odonata.quantity import percent, quantity
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


def reason(base: Run, run: Run, job: str) -> str:
    """In a line why a job's time is another: what binds it now, and whose bytes there have changed.

    Empty where the tables cannot say it: nothing was routed, or the job has no time in one of the runs.
    """
    before, after = time_of(base, job), time_of(run, job)
    if not before or not after or not all(r.routed and r.link_jobs.num_rows for r in (base, run)):
        return ""
    now, then = (bound(r, job_of(r, job)[0], t, 1) for r, t in ((run, after), (base, before)))
    if now["sharers"] is None or then["sharers"] is None:
        return ""
    name, share = now["bottlenecks"]["name"][0].as_py(), now["bottlenecks"]["share"][0].as_py()
    said = f"bound by {name}" if now["decides"] else f"busiest with it is {name}"
    said += f", {percent(share)} of its time"
    was = then["bottlenecks"]["name"][0].as_py()
    if now["bottlenecks"]["link"][0].as_py() is None:
        return said if was == name else f"{said}; before {was}"
    at_base = _sharers_of(base, job, before, name)
    if at_base is None:
        return f"{said}, a link that {base.name} does not have; before {was}"
    at_run = dict(zip(*(now["sharers"][c].to_pylist() for c in ("name", "busy_s")), strict=True))
    grown = {k: at_run.get(k, 0.0) - at_base.get(k, 0.0) for k in (*at_run, *at_base)}
    largest = max(grown, key=lambda k: abs(grown[k]))
    if abs(grown[largest]) > 1e-3 * after:
        whose = "its own bytes" if largest == job else f"{largest}'s bytes"
        how = "longer" if grown[largest] > 0 else "less"
        said += f", where {whose} take {quantity(abs(grown[largest]), 's')} {how}"
    return said if was == name else f"{said}; before {was}"


def _sharers_of(run: Run, job: str, time_s: float, link: str) -> dict[str, float] | None:
    """How long a link of this name is busy with each job while one of them runs; None if there is none."""
    number = pc.index(link_names(run.links, run.routers), link).as_py()
    if number < 0:
        return None
    table = sharers(number, run.links, run.link_jobs, run.jobs, times_of(run), job_of(run, job)[0], time_s)
    return dict(zip(table["name"].to_pylist(), table["busy_s"].to_pylist(), strict=True))


def no_effect(base: Run, run: Run) -> list[str]:
    """The keys that differ between two runs all of whose tables are the same; none if a table differs."""
    if base.resolved == run.resolved or set(base.table_names) != set(run.table_names):
        return []
    if any(not base.table(name).equals(run.table(name)) for name in base.table_names):
        return []
    return [change.name for change in changes(toml.parse(base.resolved), toml.parse(run.resolved))]
