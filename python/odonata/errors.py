"""Mistakes that a user can make and mend; the command line prints them and ends with exit code 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class OdonataError(Exception):
    """A user's mistake: the message says what is wrong and where, `hint` what to do about it.

    Examples:
        >>> try:
        ...     odonata.load("runs/bothe")
        ... except odonata.OdonataError as error:
        ...     print(error)
        there is no directory runs/bothe
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class StoreError(OdonataError):
    """A run directory cannot be read or written.

    Examples:
        >>> try:
        ...     odonata.run("both.toml", out="runs/both")
        ... except odonata.StoreError as error:
        ...     print(error.message)
        runs/both already holds a run
    """


class NotARunError(StoreError):
    """The directory does not exist or is no run directory.

    Examples:
        >>> try:
        ...     odonata.load("both.toml")
        ... except odonata.StoreError as error:
        ...     print(type(error).__name__, error, sep=": ")
        NotARunError: both.toml is a file, not a run directory
    """


class DamagedRunError(StoreError):
    """A file of a run directory is missing, unreadable or not what the format says."""


class NewerRunError(StoreError):
    """The run directory was written by a newer Odonata, in a format that this one does not know."""


@dataclass(frozen=True)
class Problem:
    """One mistake in an experiment: what is wrong, where, and what to do about it.

    Examples:
        >>> try:
        ...     odonata.check("both.toml", set={"job.0.patern": "uniform"})
        ... except odonata.ExperimentError as error:
        ...     problem = error.problems[0]
        >>> problem.kind, problem.span, problem.help
        ('unknown-key', 'patern', "did you mean 'pattern'?")
    """

    kind: str
    """`syntax`, `unknown-key`, `missing-key`, `duplicate`, `type`, `unit`, `value`, `name`, `conflict`,
    `override`, `file`, `machine`, `workload` or `engine`."""
    file: str
    """The experiment file, or `--set` for an override."""
    line: int | None
    """From 1; None if the mistake has no place, as a missing file."""
    column: int | None
    """From 1, in characters."""
    source: str
    """The text of that line, or the override."""
    span: str
    """The part of `source` that is wrong."""
    message: str
    """What is wrong and what was expected."""
    help: str | None
    """What to write instead, with the nearest known name."""


class ExperimentError(OdonataError):
    """An experiment file, or an override, that cannot be run; the compiled module raises it.

    Examples:
        >>> try:
        ...     odonata.run("both.toml", set={"engine.routing": "adaptive-hibrid"})
        ... except odonata.ExperimentError as error:
        ...     [problem.help for problem in error.problems]
        ["did you mean 'adaptive-hybrid'?"]
    """

    def __init__(self, rendered: str, problems: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(rendered)
        self.problems = tuple(Problem(**problem) for problem in problems)
        """Every mistake that was found, in the order of the file."""


class CheckpointStop(OdonataError):  # noqa: N818 - no error: the run did as it was asked to
    """The run ended with a checkpoint, as it was asked to, and can go on from there."""

    def __init__(self, target: Path) -> None:
        super().__init__(f"the run of {target} ended with a checkpoint")
        self.target = target
        """The run directory that is to be."""


class ElsewhereError(Exception):
    """Of several processes that were to make one run, another one can't; it says why."""


class PartialRunWarning(UserWarning):
    """The run was stopped before its end: its tables hold what happened until then.

    Examples:
        >>> issubclass(odonata.PartialRunWarning, UserWarning)
        True
    """


class InternalError(Exception):
    """A defect of Odonata, not a mistake of the user; the text says how to report it.

    Examples:
        >>> issubclass(odonata.InternalError, odonata.OdonataError)
        False
    """
