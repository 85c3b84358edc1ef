"""What a run will take, from its first seconds on this machine."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from odonata import toml
from odonata.api import Source, run_until_interrupted
from odonata.quantity import picoseconds

if TYPE_CHECKING:
    from odonata.runs import Run

SECONDS = 5.0
"""Processor time for which a run is tried."""


@dataclass(frozen=True)
class Foretold:
    """Processor time of a run, with one thread."""

    cpu_s: float | None
    """In seconds; None if nothing is known of what is ahead."""
    by: Literal["measured", "extrapolated", "at most", "unknown"]
    """`measured`: the run ended while it was tried. `at most`: if the solver needs all iterations it may."""
    tried_s: float
    """Processor time of the trial."""

    def in_words(self) -> str:
        """A sentence of it."""
        trial = f"{self.tried_s:.3g} s of one processor"
        if self.cpu_s is None:
            return f"It was not at its end after {trial}; how much is ahead is not known."
        if self.by == "measured":
            return f"It takes {trial}: that is a whole run."
        about = "at most" if self.by == "at most" else "about"
        return f"It takes {about} {self.cpu_s:.3g} s of one processor, by the first {self.tried_s:.3g} s."


class Enough(KeyboardInterrupt):
    """The time is over: ends a run as Ctrl-C does, so that it says how far it is."""


@dataclass(frozen=True)
class Trial:
    """The first seconds of a run."""

    run: Run | None
    """How far it came; None if its phase did not hear that it was to stop."""
    whole: bool
    """Whether it came to its end."""
    begun_s: float
    """Processor time before the engine began."""
    cpu_s: float
    """Processor time of all."""
    half_s: float
    half_share: float
    """Processor time to the middle of the trial, and the share that was done by then."""
    phase: str
    share: float
    """The phase in which it was stopped, and the share of it that was done."""


class Bell:
    """Raises `Enough` once: when it is rung, or after some processor time, since a phase may say nothing.

    Signals reach the main thread alone; in others it has to be rung.
    """

    def __init__(self) -> None:
        self._rung = False
        self._hears = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Bell:
        if self._hears:
            self._before = signal.signal(signal.SIGPROF, self.ring)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._rung = True
        if self._hears:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, self._before or signal.SIG_DFL)

    def set(self, cpu_s: float) -> None:
        """Has it ring after that much more processor time."""
        if self._hears:
            signal.setitimer(signal.ITIMER_PROF, cpu_s)

    def ring(self, *_: object) -> None:
        """Ends what runs within it."""
        if not self._rung:
            self._rung = True
            raise Enough


def tried(source: Source, changes: list[str], seconds: float) -> Trial:
    """Runs an experiment for some seconds, with one thread, in memory."""
    first = time.process_time()
    begun_s: float | None = None
    half = (0.0, 0.0)
    last = ("building", 0.0)

    def report(phase: str, share: float) -> None:
        nonlocal begun_s, half, last
        last = (phase, share)
        if phase == "building":
            return
        now_s = time.process_time() - first
        if begun_s is None:
            begun_s, half = now_s, (now_s, share)
            bell.set(seconds)
        if now_s - begun_s < seconds / 2:
            half = (now_s, share)
        if now_s - begun_s > seconds:
            bell.ring()

    run: Run | None = None
    interrupt: BaseException | None
    with Bell() as bell:
        try:
            run, interrupt = run_until_interrupted(source, changes, threads=1, progress=report)
        except Enough as enough:
            interrupt = enough
    if interrupt is not None and not isinstance(interrupt, Enough):
        raise interrupt
    cpu_s = time.process_time() - first
    return Trial(run, interrupt is None, cpu_s if begun_s is None else begun_s, cpu_s, *half, *last)


def foretell(source: Source, changes: list[str], checked: Mapping[str, Any]) -> Foretold:
    """Tries a run for some seconds and says what the whole of it takes.

    A run of the packet engine takes about as long for each packet of its programs, or, if all of its traffic
    is open, for each unit of simulated time once the network has filled up: the second half of the trial
    counts. Of a phase that does not say how far it is (paths of `optimal`) nothing is foretold.

    Args:
        source: The experiment.
        changes: Overrides.
        checked: What `odonata._core.check` said of both.
    """
    trial = tried(source, changes, SECONDS)
    if trial.whole:
        return Foretold(trial.cpu_s, "measured", trial.cpu_s)
    ahead_s = _ahead(trial, checked)
    if ahead_s is None:
        return Foretold(None, "unknown", trial.cpu_s)
    solves = trial.phase == "solving"
    return Foretold(trial.cpu_s + max(ahead_s, 0.0), "at most" if solves else "extrapolated", trial.cpu_s)


def _ahead(trial: Trial, checked: Mapping[str, Any]) -> float | None:
    """Processor time that a run takes after its trial, if that can be said."""

    def until(end: float) -> float | None:
        """At the pace of the second half of the trial."""
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
    arrived, packets = sum(trial.run.jobs["packets"].to_pylist()), checked["summary"].get("packets")
    if not arrived or not packets:
        return None
    rate = arrived / (trial.cpu_s - trial.begun_s)
    return float((packets - arrived) / rate)
