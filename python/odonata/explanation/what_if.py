"""The time of a job on other machines, measured by runs: nothing here is estimated.

Paths and the times of other jobs react to a change, so bytes over capacity does not foretell it.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.job_bottleneck import job_of, time_of
from odonata.errors import ExperimentError
from odonata.store.run import RunData

STEP = 0.1
"""Relative change of a bandwidth."""


def changes_of(run: RunData, job: int) -> list[str]:
    """Edits of the machine that may change a job's time: bandwidth and cables of each class that it uses."""
    own = run.link_jobs.filter(pc.equal(run.link_jobs["job"], job))["link"]
    used = pc.unique(run.links["class"].take(own).cast(pa.string())).to_pylist()
    edits = []
    for name in sorted(used):
        edits += [
            f"{name}.bandwidth*={1 - STEP:g}",
            f"{name}.bandwidth*={1 + STEP:g}",
            f"-1 {name}",
            f"+1 {name}",
        ]
    return [*edits, f"terminal.bandwidth*={1 - STEP:g}", f"terminal.bandwidth*={1 + STEP:g}"]


def measure_changes(run: RunData, name: str, progress: Callable[[int, int], None] | None = None) -> pa.Table:
    """The time of a job after each edit of `changes_of`, by a run of the same experiment and seed.

    Args:
        run: A finished run.
        name: A job of it that has a time.
        progress: Called with the number of finished and of all runs.

    Returns:
        One row per edit: `change`, as in `machine.edit`; `time_s`; `difference`, relative to the time in
        `run`; and `reason` if the machine cannot be changed so or the job has no time there, else null.
    """
    from odonata import api

    number, _ = job_of(run, name)
    before = time_of(run, name)
    edits = changes_of(run, number)
    rows = []
    for made, edit in enumerate(edits):
        if progress is not None:
            progress(made, len(edits))
        time, reason = None, None
        try:
            changed = api.run(run.resolved, set=run.with_edits(edit))
            time = time_of(changed, name) if changed.is_complete else None
            reason = "the job has no time" if time is None else None
            reason = reason if changed.is_complete else f"the run did not complete: {changed.ending}"
        except ExperimentError as error:
            reason = error.problems[0].message
        difference = time / before - 1.0 if time is not None and before else None
        rows.append({"change": edit, "time_s": time, "difference": difference, "reason": reason})
    schema = [("change", pa.string()), ("time_s", pa.float64()), ("difference", pa.float64())]
    return pa.Table.from_pylist(rows, schema=pa.schema([*schema, ("reason", pa.string())]))
