"""Arguments and options of several commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from odonata import _core
from odonata._core import Experiment
from odonata.api import read

if TYPE_CHECKING:
    from odonata.sweeps.cluster import Cluster

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Adds an option to a command."""


def path(*names: str, **settings: Any) -> Decorator:
    """An option with a path."""
    return click.option(*names, type=click.Path(path_type=Path), **settings)


def output(metavar: str, help: str, **settings: Any) -> Decorator:  # noqa: A002 - as in click
    """The option -o."""
    return path("-o", "--output", metavar=metavar, help=help, **settings)


def count(*names: str, least: int = 1, metavar: str = "N", **settings: Any) -> Decorator:
    """An option with a number of at least `least`."""
    return click.option(*names, type=click.IntRange(min=least), metavar=metavar, **settings)


def processes(help: str) -> Decorator:  # noqa: A002 - as in click
    """The option -j."""
    return count("-j", "--processes", help=help)


def together(*parts: Decorator) -> Decorator:
    """Several options in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for part in reversed(parts):
            function = part(function)
        return function

    return decorate


class ExperimentFile(click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since click 8.3
    """An experiment file, or `-` for the standard input, as its text and path."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Experiment:  # noqa: ARG002
        """Reads the file."""
        if isinstance(value, Experiment):
            return value
        if value == "-":
            # One byte above the limit is enough to refuse the file, even an endless one.
            return Experiment(sys.stdin.read(_core.EXPERIMENT_BYTES_MAX + 1), "<stdin>")
        return read(Path(value))

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Lets the shell complete file names."""
        return [CompletionItem(incomplete, type="file")]


def _keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Keys of the schema that start with `incomplete`, each with its `=`."""
    found = []
    for section, of in json.loads(_core.schema())["properties"].items():
        # `*` stands for all jobs.
        start = f"{section}.*." if "items" in of else f"{section}."
        known = of.get("items", of).get("properties", {})
        found += [
            CompletionItem(f"{start}{key}=", help=about.get("description")) for key, about in known.items()
        ]
    return [item for item in found if item.value.startswith(incomplete)]


def machines(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Presets whose names start with `incomplete`; files if there is none."""
    found = [CompletionItem(one["name"], help=one["summary"]) for one in _core.presets()]
    return [item for item in found if item.value.startswith(incomplete)] or [
        CompletionItem(incomplete, type="file")
    ]


experiment = click.argument("experiment", metavar="FILE", type=ExperimentFile())

directory = click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))

overrides = click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=_keys,
    help="Change one key: engine.seed=2 or machine.edit='[\"-K\"]'. May be repeated.",
)

threads = count(
    "--threads", help="Number of threads; all processors by default. Results do not depend on it."
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Print only errors and warnings.")
quiet_progress = click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
force = click.option("-f", "--force", is_flag=True, help="Replace existing output.")
on = click.option(
    "--on",
    metavar="WHERE",
    help="Run the points on a Dask cluster: dask (this machine), slurm, pbs or lsf (settings in "
    "[cluster]), or a scheduler's address, such as tls://node17:8786. Needs odonata[cluster].",
)


def cluster(where: str | None, processes: int | None) -> Cluster | None:
    """The cluster of the option --on; None without it.

    Raises:
        OdonataError: `where` names no cluster.
        UsageError: --processes is given, but the number of workers is not ours to set.
    """
    from odonata.sweeps.cluster import LOCAL, Cluster

    if where is None:
        return None
    found = Cluster(where, print_line=lambda line: click.echo(line, err=True))
    if where != LOCAL and processes is not None:
        raise click.UsageError(
            f"--processes applies to this machine only. On {where} each worker runs one point."
        )
    return found
