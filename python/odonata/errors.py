"""Mistakes of users. The command line prints them and exits with code 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class OdonataError(Exception):
    """A user's mistake: `message` gives reason and place, `hint` a correction.

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


class MissingFileError(OdonataError, FileNotFoundError):
    """There is no such file.

    Examples:
        >>> try:
        ...     odonata.run("nowhere.toml")
        ... except FileNotFoundError as error:
        ...     print(error)
        there is no file nowhere.toml
    """


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
    """The hint for an unknown name: the nearest one, our name for a word of others, or another text."""
    from odonata import _core

    near, note = _core.nearest_name(name, list(known))
    if near is None:
        return otherwise if note is None else f"{note[0].upper()}{note[1:]}."
    return f"Did you mean {near}?" + (f" ({note})" if note else "")


class StoreError(OdonataError):
    """A run directory cannot be read or written.

    Examples:
        >>> try:
        ...     odonata.run("both.toml", out="runs/both")
        ... except odonata.StoreError as error:
        ...     print(error.message)
        runs/both already holds a run
    """


class NotARunError(StoreError, FileNotFoundError):
    """The directory does not exist or is not a run directory.

    Examples:
        >>> try:
        ...     odonata.load("both.toml")
        ... except odonata.StoreError as error:
        ...     print(type(error).__name__, error, sep=": ")
        NotARunError: both.toml is a file, not a run directory
    """


class DamagedRunError(StoreError, ValueError):
    """A file of a run directory is missing, unreadable or violates the format."""


class NewerRunError(StoreError):
    """A newer version of Odonata wrote the run directory, in an unknown format."""


@dataclass(frozen=True)
class Problem:
    """One mistake in an experiment: its reason, place and correction.

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
    """Line from 1; None if the mistake has no line, such as a missing file."""
    column: int | None
    """Column from 1, in characters."""
    source: str
    """The text of that line, or the override."""
    span: str
    """The wrong part of `source`."""
    message: str
    """Reason and expected value."""
    help: str | None
    """Correction, with the nearest known name."""


class ExperimentError(OdonataError, ValueError):
    """Mistakes in an experiment file or an override.

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
        """All mistakes, in the order of the file."""


class CheckpointStop(OdonataError):  # noqa: N818 - it is no error: the run stopped on request
    """The run ended with a requested checkpoint and can resume from it."""

    def __init__(self, target: Path) -> None:
        super().__init__(f"the run of {target} ended with a checkpoint")
        self.target = target
        """The run directory to write."""


class OtherProcessError(Exception):
    """Another process of a run of several processes failed; it reports the reason."""


class PartialRunWarning(UserWarning):
    """The run stopped before its end; its tables hold the results until then.

    Examples:
        >>> issubclass(odonata.PartialRunWarning, UserWarning)
        True
    """


class InternalError(Exception):
    """A defect of Odonata, not a mistake of the user. The message explains how to report it.

    Examples:
        >>> issubclass(odonata.InternalError, odonata.OdonataError)
        False
    """
