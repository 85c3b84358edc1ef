"""Checkpoints of a run: when they are taken, and where a run goes on from."""

from __future__ import annotations

import contextlib
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import _core
from odonata.errors import CheckpointStop, StoreError
from odonata.store.checkpoint import CheckpointDirectory

if TYPE_CHECKING:
    from odonata.store import GrowingTables


def deaf_to_signal() -> contextlib.AbstractContextManager[None]:
    """SIGUSR1 means nothing: batch systems send it to all processes of a run, of which the first hears it."""
    return _on_signal(lambda *_: None)


@contextlib.contextmanager
def _on_signal(handler: Callable[..., Any], *, after: Any = None) -> Iterator[None]:
    """A handler of SIGUSR1, and then another, or the one before."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
        yield
        return
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before if after is None else after)


class Keeping:
    """The checkpoints of one run.

    Args:
        at_ps: Simulated times at which one is taken, beside those that the experiment asks for.
        resumed: The run directory that is to be, if the run goes on from its checkpoint.
        before: The number of that checkpoint.
    """

    def __init__(self, at_ps: Sequence[int] = (), *, resumed: Path | None = None, before: int = 0) -> None:
        self._number = 0
        self._stops = False
        self._growing: GrowingTables | None = None
        self._core = _core.Checkpoints(self._file, self._taken, list(at_ps))
        self.stopped: CheckpointStop | None = None
        """Why the run ended, if it ended with a checkpoint."""
        self.state: Path | None = None
        """The file that the run goes on from."""
        self.parts: dict[str, list[Path]] | None = None
        """The parts of growing tables that are there."""
        if resumed is not None:
            kept = CheckpointDirectory(resumed)
            self.state, self.parts = kept.state, kept.parts(before)

    def begin(self, growing: GrowingTables) -> _core.Checkpoints:
        """The run begins, and its tables grow here."""
        self._growing = growing
        return self._core

    def stop(self, *_: Any) -> None:
        """Asks for a checkpoint with which the run ends."""
        self._stops = True
        self._core.ask()

    @contextlib.contextmanager
    def on_signal(self) -> Iterator[None]:
        """SIGUSR1, which batch systems send before a time limit, means `stop`.

        From the run's end on it means nothing: a process that has its results has not failed.
        """
        with _on_signal(self.stop, after=getattr(signal, "SIG_IGN", None)):
            yield

    def _file(self, before: int) -> Path | None:
        self._number = before
        return None if self._growing is None else self._growing.state_file()

    def _taken(self, mistake: str | None) -> bool:
        assert self._growing is not None, "only a run that has begun is kept"
        stops, self._stops = self._stops, False
        if mistake is not None:
            if stops:
                raise StoreError(f"the checkpoint cannot be written: {mistake}")
            # The next one may do, and the run is worth more.
            warnings.warn(f"a checkpoint could not be written: {mistake}", stacklevel=2)
            return False
        self._growing.keep(self._number)
        if stops:
            self.stopped = CheckpointStop(self._growing.target)
        return stops
