"""`odonata import`: what other programs say of a machine's state, as an experiment file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click


@click.group()
def command() -> None:
    """Make an experiment file of what other programs say."""


@command.command()
@click.argument("table", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--machine",
    metavar="PRESET|FILE",
    help="Write a whole experiment on this machine: a preset, a file of cables, or [machine] of a TOML file.",
)
@click.option("--node-names", metavar="LIST", help="Names of its nodes, as nid[00001-05760].")
@click.option(
    "--pattern",
    metavar="NAME",
    default="uniform",
    show_default=True,
    help="What each job sends; Slurm does not know.",
)
@click.option(
    "--ranks-per-node",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead of the cores that Slurm gave a node.",
)
@click.option(
    "--at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"]),
    metavar="TIME",
    help="Jobs that ran then, of a table with Start and End.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write here instead of to the terminal.",
)
def slurm(
    table: Path,
    machine: str | None,
    node_names: str | None,
    pattern: str,
    ranks_per_node: int | None,
    at: datetime | None,
    output: Path | None,
) -> None:
    """Jobs and their nodes from what squeue or sacct print.

    \b
    squeue -t R -o '%i|%j|%D|%C|%t|%N' > queue.txt
    odonata import slurm queue.txt --machine edison --node-names 'nid[00000-05759]' -o now.toml
    sacct -a -X -P -S 2026-11-21 -o JobID,JobName,NNodes,NCPUS,Start,End,NodeList > day.txt
    odonata import slurm day.txt --at 2026-11-21T14:00 --machine edison.csv -o then.toml
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.errors import OdonataError
    from odonata.importers import slurm as reader

    if node_names is not None and machine is None:
        raise click.UsageError("--node-names needs --machine: names are the machine's")
    jobs, others = reader.read(table, at)
    if not jobs:
        raise OdonataError(f"no job of {table} runs; {others} do not, or have no nodes")
    hardware = None
    if machine is not None:
        hardware = reader.machine_of(machine, Path() if output is None else output.parent)
        if node_names is not None:
            hardware["node_names"] = node_names
    text = reader.experiment(jobs, pattern=pattern, ranks_per_node=ranks_per_node, machine=hardware)
    _write(text, output, f"{len(jobs)} jobs, {others} left out that do not run or have no nodes")


def _write(text: str, output: Path | None, what: str) -> None:
    """Writes an experiment to a new file, or to the terminal."""
    from odonata.errors import OdonataError

    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OdonataError(f"{output} exists; it is left as it is") from None
    except OSError as error:
        raise OdonataError(f"{output} cannot be written: {error.strerror}") from None
    click.echo(f"{output}: {what}", err=True)


_MACHINE = click.option(
    "--machine",
    metavar="PRESET|FILE",
    help="Write a whole experiment on this machine: a preset, network.conf, or [machine] of a TOML file.",
)
_PATTERN = click.option(
    "--pattern",
    metavar="NAME",
    default="uniform",
    show_default=True,
    help="What each job sends; its trace is not read.",
)
_OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write here instead of to the terminal.",
)


@command.command()
@click.argument("workloads", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--alloc",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The allocation: a line of nodes for each job.",
)
@_MACHINE
@_PATTERN
@_OUTPUT
def codes(
    workloads: Path, alloc: Path | None, machine: str | None, pattern: str, output: Path | None
) -> None:
    """Jobs of a workload file of CODES (--workload_conf_file), and where they run.

    \b
    odonata import codes workloads.conf --alloc allocation.conf --machine network.conf -o replay.toml
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.importers import replay, slurm

    beside = Path() if output is None else output.parent
    jobs = replay.codes(workloads, alloc, beside)
    hardware = None if machine is None else slurm.machine_of(machine, beside)
    _write(replay.experiment(jobs, pattern=pattern, machine=hardware), output, f"{len(jobs)} jobs")


@command.command()
@click.argument("configuration", metavar="FILE", type=click.Path(path_type=Path))
@_MACHINE
@_PATTERN
@_OUTPUT
def tracer(configuration: Path, machine: str | None, pattern: str, output: Path | None) -> None:
    """Jobs of a configuration of TraceR (tracer_config), placed by its global map.

    \b
    odonata import tracer tracer_config --machine network.conf -o replay.toml
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.importers import replay, slurm

    beside = Path() if output is None else output.parent
    jobs = replay.tracer(configuration, beside)
    hardware = None if machine is None else slurm.machine_of(machine, beside)
    _write(replay.experiment(jobs, pattern=pattern, machine=hardware), output, f"{len(jobs)} jobs")
