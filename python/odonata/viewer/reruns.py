"""Runs that a page asks for: the experiment of an open run again, on a changed machine.

One runs at a time, and a server makes at most `RERUNS_MAX`. Results lie in a temporary directory of the
server, so its memory does not grow. A run that needs more memory than is free is refused before it starts.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from odonata.errors import ExperimentError, OdonataError
from odonata.store.run import RunData
from odonata.viewer.explanation import what_if
from odonata.viewer.runs import OpenRuns, StoredRun

RERUNS_MAX = 16
"""Maximum number of runs that one server adds to its list."""
EDITS_MAX = 32
"""Maximum number of edits of one run."""
NAMED_MAX = 2
"""Edits in the label of a run; more are counted, since labels stand in menus."""
ENGINE = "flow"
"""The engine that is fast enough to wait for: seconds on the machines that a page shows."""


class Measure(Protocol):
    """Measures a job's time after each change of the machine, as `odonata.explanation.measure_changes`."""

    def __call__(self, run: RunData, name: str, progress: Callable[[int, int], None]) -> pa.Table:
        """A row for each change."""


class Rerun(Protocol):
    """Runs the experiment of a run with further edits of its machine and writes the run to a directory.

    An exception of `progress` ends the run.
    """

    def __call__(
        self, run: RunData, edits: Sequence[str], out: Path, progress: Callable[[str, float], None]
    ) -> None:
        """Runs it."""


@dataclass(frozen=True)
class Runner:
    """What a viewer needs to make runs; it does not import the engines."""

    measure: Measure
    rerun: Rerun


class BusyError(OdonataError):
    """Another run of this server is not finished."""


class CancelError(Exception):
    """The page that asked for the run closed its connection."""


class Reruns:
    """Makes runs for pages and adds them to the open runs.

    Args:
        runs: The open runs.
        runner: Makes the runs.
    """

    def __init__(self, runs: OpenRuns, runner: Runner) -> None:
        self._runs = runs
        self._runner = runner
        self._turn = threading.Lock()
        self._made = 0
        self._directory = tempfile.TemporaryDirectory(prefix="odonata-view-", ignore_cleanup_errors=True)

    def add(self, number: int, edits: Sequence[str], is_cancelled: Callable[[], bool]) -> int:
        """Runs the experiment of an open run with further edits and returns the number of the new run.

        Raises:
            KeyError: Unknown run.
            BusyError: Another run is not finished.
            CancelError: `is_cancelled` returned true.
            OdonataError: There are no or too many edits or runs, the run has another engine or no experiment,
                or the machine cannot be edited so.
        """
        if not 1 <= len(edits) <= EDITS_MAX:
            raise OdonataError(f"{len(edits)} edits; expected 1 to {EDITS_MAX}")
        with self._alone():
            if self._made >= RERUNS_MAX:
                raise OdonataError(
                    f"this server has made {RERUNS_MAX} runs, the maximum", hint="Restart it to make others."
                )
            base = self._runs.data(number)
            if base.summary["engine"] != ENGINE:
                raise OdonataError(
                    f"the page runs the {ENGINE} engine only; this run is of {base.summary['engine']}",
                    hint=f"Use: odonata compare {base.name} --edit '{edits[0]}'",
                )
            if not base.resolved:
                raise OdonataError("this run has no experiment, so it cannot run again")
            out = Path(self._directory.name) / str(self._made)
            try:
                self._runner.rerun(base, edits, out, lambda phase, share: _stop(is_cancelled))  # noqa: ARG005
            except ExperimentError as error:
                reasons = "; ".join(dict.fromkeys(problem.message for problem in error.problems))
                raise OdonataError(f"the machine cannot be changed so: {reasons}") from error
            _stop(is_cancelled)
            self._made += 1
            what = ", ".join(edits) if len(edits) <= NAMED_MAX else f"{len(edits)} edits"
            return self._runs.add(f"{self._runs.labels[number]}, {what}", StoredRun(out))

    def what_if(self, number: int, job: str, is_cancelled: Callable[[], bool]) -> bytes:
        """The time of a job after each change of `odonata.explain(..., what_if=True)`, as JSON.

        Raises:
            KeyError: Unknown run.
            BusyError: Another run is not finished.
            CancelError: `is_cancelled` returned true.
            OdonataError: There is no such job, or a table cannot be read.
        """
        with self._alone():
            run = self._runs.data(number)
            return what_if(
                run, job, lambda of, name: self._runner.measure(of, name, lambda *_: _stop(is_cancelled))
            )

    def close(self) -> None:
        """Removes the runs."""
        self._directory.cleanup()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._turn.acquire(blocking=False):
            raise BusyError("another run of this server is not finished", hint="Wait for it, or cancel it.")
        try:
            yield
        finally:
            self._turn.release()


def _stop(is_cancelled: Callable[[], bool]) -> None:
    if is_cancelled():
        raise CancelError
