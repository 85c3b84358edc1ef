"""Estimates the CPU time of a run from its first seconds on this machine."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from odonata import toml
from odonata._core import Experiment
from odonata.api import run_until_interrupted
from odonata.quantity import picoseconds

if TYPE_CHECKING:
    from odonata.runs import Run

SECONDS = 5.0
"""CPU time of a trial run. Longer trials are more accurate."""


@dataclass(frozen=True)
class RunEstimate:
    """Estimated CPU time of a run with one thread."""

    cpu_s: float | None
    """CPU time in seconds; None if unknown."""
    basis: Literal["measured", "extrapolated", "at most", "unknown"]
    """`measured`: the run ended during the trial. `at most`: the solver may need fewer iterations."""
    tried_s: float
    """CPU time of the trial."""

    def sentence(self) -> str:
        """The estimate as a sentence."""
        trial = f"{self.tried_s:.3g} s of CPU time"
        if self.cpu_s is None:
            return f"The run did not end within {trial}; the time left is unknown."
        if self.basis == "measured":
            return f"The whole run takes {trial}."
        about = "at most" if self.basis == "at most" else "about"
        return f"The run takes {about} {self.cpu_s:.3g} s of CPU time, by its first {self.tried_s:.3g} s."


class TrialEnd(KeyboardInterrupt):
    """The trial time is over. Ends a run like Ctrl-C, so that it returns its partial results."""


@dataclass(frozen=True)
class Trial:
    """The first seconds of a run."""

    run: Run | None
    """Partial results; None if its phase cannot stop."""
    is_whole: bool
    """Whether the run ended."""
    start_s: float
    """CPU time before the engine started."""
    cpu_s: float
    """Total CPU time."""
    half_s: float
    half_share: float
    """CPU time of the first half of the trial, and the share of the phase finished by then."""
    phase: str
    share: float
    """The phase in which it stopped, and the finished share of it."""


class TrialTimer:
    """Raises `TrialEnd` once: on request, or after some CPU time, since a phase may report no progress.

    Signals reach only the main thread; other threads need the request.
    """

    def __init__(self) -> None:
        self._has_raised = False
        self._has_signals = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> TrialTimer:
        if self._has_signals:
            self._before = signal.signal(signal.SIGPROF, self.raise_end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._has_raised = True
        if self._has_signals:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, self._before or signal.SIG_DFL)

    def set(self, cpu_s: float) -> None:
        """Raises `TrialEnd` after this much more CPU time."""
        if self._has_signals:
            signal.setitimer(signal.ITIMER_PROF, cpu_s)

    def raise_end(self, *_: object) -> None:
        """Raises `TrialEnd`, unless it was raised before."""
        if not self._has_raised:
            self._has_raised = True
            raise TrialEnd


def run_trial(experiment: Experiment, seconds: float) -> Trial:
    """Runs an experiment for a few seconds, with one thread, in memory."""
    first = time.process_time()
    start_s: float | None = None
    half = (0.0, 0.0)
    last = ("building", 0.0)

    def report(phase: str, share: float) -> None:
        nonlocal start_s, half, last
        last = (phase, share)
        if phase == "building":
            return
        now_s = time.process_time() - first
        if start_s is None:
            start_s, half = now_s, (now_s, share)
            timer.set(seconds)
        if now_s - start_s < seconds / 2:
            half = (now_s, share)
        if now_s - start_s > seconds:
            timer.raise_end()

    run: Run | None = None
    interrupt: BaseException | None
    with TrialTimer() as timer:
        try:
            run, interrupt = run_until_interrupted(experiment, threads=1, progress=report)
        except TrialEnd as enough:
            interrupt = enough
    if interrupt is not None and not isinstance(interrupt, TrialEnd):
        raise interrupt
    cpu_s = time.process_time() - first
    return Trial(run, interrupt is None, cpu_s if start_s is None else start_s, cpu_s, *half, *last)


def estimate_run(experiment: Experiment, checked: Mapping[str, Any]) -> RunEstimate:
    """Runs an experiment for a few seconds and estimates the CPU time of the whole run.

    Packet engine with programs: the time is proportional to the packets. With only open traffic: the time is
    proportional to the simulated time of the second half of the trial, when the network has filled. Phases
    without progress (paths of `optimal`) have no estimate.

    Args:
        experiment: The experiment.
        checked: Result of its check.
    """
    trial = run_trial(experiment, SECONDS)
    if trial.is_whole:
        return RunEstimate(trial.cpu_s, "measured", trial.cpu_s)
    ahead_s = _ahead(trial, checked)
    if ahead_s is None:
        return RunEstimate(None, "unknown", trial.cpu_s)
    solves = trial.phase == "solving"
    return RunEstimate(trial.cpu_s + max(ahead_s, 0.0), "at most" if solves else "extrapolated", trial.cpu_s)


def _ahead(trial: Trial, checked: Mapping[str, Any]) -> float | None:
    """CPU time of the run after its trial; None if unknown."""

    def until(end: float) -> float | None:
        """CPU time until a share of the phase, at the pace of the second half of the trial."""
        done = trial.share - trial.half_share
        return (trial.cpu_s - trial.half_s) * (end - trial.share) / done if done > 0.0 else None

    if trial.phase == "solving":
        return until(1.0)
    if trial.phase != "simulating" or trial.run is None:
        return None
    resolved = toml.parse(checked["resolved"])
    if all("traffic" in job and job["traffic"]["name"] == "open" for job in resolved.get("job", [])):
        times = (picoseconds(resolved["engine"][key]) for key in ("warm_up", "measure", "drain"))
        warm_up, measure, drain = times
        return until((warm_up + measure) / (warm_up + measure + drain))
    delivered, packets = sum(trial.run.jobs["packets"].to_pylist()), checked["summary"].get("packets")
    if not delivered or not packets:
        return None
    rate = delivered / (trial.cpu_s - trial.start_s)
    return float((packets - delivered) / rate)
