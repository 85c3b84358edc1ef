"""Arguments and options that several commands have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from odonata import _core
from odonata.api import Source

if TYPE_CHECKING:
    from odonata.sweeps.cluster import Cluster

_Command = TypeVar("_Command", bound=Callable[..., Any])


class ExperimentFile(click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since click 8.3
    """An experiment file, or `-` for the standard input, as its text and path."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Source:  # noqa: ARG002
        """Reads the file."""
        if isinstance(value, Source):
            return value
        if value == "-":
            # One more than it may have: the rest of an endless one is not read.
            return Source(sys.stdin.read(_core.EXPERIMENT_BYTES_MAX + 1), "<stdin>")
        return Source.of(Path(value))

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Leaves it to the shell, which knows the files."""
        return [CompletionItem(incomplete, type="file")]


def _keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Keys that begin so, each with its `=`, by what the schema says of them."""
    found = []
    for section, of in json.loads(_core.schema())["properties"].items():
        # Of jobs there are several: `*` is all of them.
        start = f"{section}.*." if "items" in of else f"{section}."
        known = of.get("items", of).get("properties", {})
        found += [
            CompletionItem(f"{start}{key}=", help=about.get("description")) for key, about in known.items()
        ]
    return [item for item in found if item.value.startswith(incomplete)]


def machines(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Presets whose names begin so; files where none does."""
    found = [CompletionItem(one["name"], help=one["summary"]) for one in _core.presets()]
    return [item for item in found if item.value.startswith(incomplete)] or [
        CompletionItem(incomplete, type="file")
    ]


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
        shell_complete=_keys,
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


def on(function: _Command) -> _Command:
    """The option --on."""
    return click.option(
        "--on",
        metavar="WHERE",
        help="Run the points on a Dask cluster: dask (this machine), slurm, pbs or lsf (as [cluster] says), "
        "or the address of a scheduler, as tcp://node17:8786. Takes odonata[cluster].",
    )(function)


def cluster(where: str | None, processes: int | None) -> Cluster | None:
    """What --on says.

    Raises:
        OdonataError: It is no such place.
        UsageError: --processes is given beside it, and others have started the workers.
    """
    from odonata.sweeps.cluster import LOCAL, Cluster

    if where is None:
        return None
    found = Cluster(where, say=lambda line: click.echo(line, err=True))
    if where != LOCAL and processes is not None:
        raise click.UsageError(
            f"--processes is of this machine; on {where} as many points run as there are workers."
        )
    return found
