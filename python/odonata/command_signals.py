"""Signals that the command `odonata` gets before it can handle them, while Python imports its modules."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

_requested_checkpoint = False


def hold_signals() -> None:
    """If this process is the command, Ctrl-C ends it without a traceback, and SIGUSR1 does not end it.

    Nothing was written so far that would have to be removed.
    """
    is_command = os.path.basename(sys.argv[0] if sys.argv else "") == "odonata"  # noqa: PTH119 - pathlib is slow
    if not is_command or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGUSR1") and signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL:
        signal.signal(signal.SIGUSR1, _note_checkpoint)


def release_interrupts() -> None:
    """From now on Ctrl-C is an exception, so that unfinished output is removed."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def has_requested_checkpoint() -> bool:
    """Whether SIGUSR1 came before a run could take it."""
    return _requested_checkpoint


def _note_checkpoint(*_: Any) -> None:
    global _requested_checkpoint
    _requested_checkpoint = True
