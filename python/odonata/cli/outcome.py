"""The exit code of a command, known before it prints: a reader that closes the pipe does not change it."""

from __future__ import annotations

import signal

import click

_EXIT_CODE = "odonata.exit_code"
"""Key in the context's `meta`."""


def set_exit_code(code: int) -> None:
    """Sets the code with which the command ends if nobody reads its output."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_EXIT_CODE] = code


def exit_code(context: click.Context) -> int:
    """The code that was set, or 0."""
    code: int = context.meta.get(_EXIT_CODE, 0)
    return code


def code_of(interrupt: BaseException | None, code: int) -> int:
    """The exit code of a run: of the interrupt that stopped it, or its own."""
    if interrupt is None:
        return code
    if isinstance(interrupt, SystemExit) and isinstance(interrupt.code, int):
        return interrupt.code
    return 128 + signal.SIGINT
