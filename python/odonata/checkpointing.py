"""Checkpoints of a run: when to write them, and from which one to resume."""

from __future__ import annotations

import contextlib
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import _core
from odonata.command_signals import has_requested_checkpoint
from odonata.errors import CheckpointStop, StoreError
from odonata.store.checkpoint import CheckpointDirectory

if TYPE_CHECKING:
    from odonata.store.writer import GrowingTables


def ignore_checkpoint_signal() -> contextlib.AbstractContextManager[None]:
    """Ignores SIGUSR1. Batch systems send it to all processes of a run, but only the first one handles it."""
    return _on_signal(lambda *_: None)


@contextlib.contextmanager
def _on_signal(handler: Callable[..., Any], *, after: Any = None) -> Iterator[None]:
    """Installs a handler of SIGUSR1; at the end installs `after`, or the previous handler."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
        yield
        return
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before if after is None else after)


class CheckpointControl:
    """The checkpoints of one run.

    Args:
        at_ps: Simulated times of checkpoints, in addition to the experiment's own.
        resumed: Run directory of a run that resumes from its checkpoint.
        before: Number of that checkpoint.
    """

    def __init__(self, at_ps: Sequence[int] = (), *, resumed: Path | None = None, before: int = 0) -> None:
        self._number = 0
        self._stops = False
        self._growing: GrowingTables | None = None
        self._core = _core.Checkpoints(self._file, self._taken, list(at_ps))
        self.stopped: CheckpointStop | None = None
        """The error to raise if the run ended with a checkpoint."""
        self.state: Path | None = None
        """The checkpoint file to resume from."""
        self.parts: dict[str, list[Path]] | None = None
        """Existing parts of growing tables."""
        if resumed is not None:
            kept = CheckpointDirectory(resumed)
            self.state, self.parts = kept.state, kept.parts(before)

    def start(self, growing: GrowingTables) -> _core.Checkpoints:
        """Starts the run, whose tables grow in `growing`."""
        self._growing = growing
        return self._core

    def stop(self, *_: Any) -> None:
        """Requests a checkpoint, after which the run ends."""
        self._stops = True
        self._core.ask()

    @contextlib.contextmanager
    def on_signal(self) -> Iterator[None]:
        """Maps SIGUSR1, which batch systems send before a time limit, to `stop`.

        After the run, the signal is ignored: a process that has its results has not failed.
        """
        with _on_signal(self.stop, after=getattr(signal, "SIG_IGN", None)):
            if has_requested_checkpoint():
                self.stop()
            yield

    def _file(self, before: int) -> Path | None:
        self._number = before
        return None if self._growing is None else self._growing.state_file()

    def _taken(self, mistake: str | None) -> bool:
        assert self._growing is not None, "only a started run writes checkpoints"
        stops, self._stops = self._stops, False
        if mistake is not None:
            if stops:
                raise StoreError(f"cannot write the checkpoint: {mistake}")
            # Continue: a later checkpoint may succeed, and the run is worth more.
            warnings.warn(f"cannot write a checkpoint: {mistake}", stacklevel=2)
            return False
        self._growing.save_checkpoint(self._number)
        if stops:
            self.stopped = CheckpointStop(self._growing.target)
        return stops
