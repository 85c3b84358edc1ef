"""Arguments and options that several commands have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from odonata.api import Source

_Command = TypeVar("_Command", bound=Callable[..., Any])


class ExperimentFile(click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since click 8.3
    """An experiment file, or `-` for the standard input, as its text and path."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Source:  # noqa: ARG002
        """Reads the file."""
        if isinstance(value, Source):
            return value
        if value == "-":
            return Source(sys.stdin.read(), "<stdin>")
        return Source.of(Path(value))


def experiment(function: _Command) -> _Command:
    """The argument FILE."""
    return click.argument("experiment", metavar="FILE", type=ExperimentFile())(function)


def overrides(function: _Command) -> _Command:
    """The option --set."""
    return click.option(
        "--set",
        "changes",
        metavar="KEY=VALUE",
        multiple=True,
        help="Change one key, as in engine.seed=2 or machine.edit='[\"-K\"]'. May be repeated.",
    )(function)


def threads(function: _Command) -> _Command:
    """The option --threads."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Threads to use; all processors by default. The result does not depend on it.",
    )(function)


def quiet(function: _Command) -> _Command:
    """The option --quiet."""
    return click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")(function)


def as_json(function: _Command) -> _Command:
    """The option --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(function)


def force(function: _Command) -> _Command:
    """The option --force."""
    return click.option("-f", "--force", is_flag=True, help="Replace what is already there.")(function)
