"""`odonata import`: make an experiment file, or a table of counters, from files of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odonata.cli import options
from odonata.errors import OdonataError, nearest
from odonata.quantity import counted

if TYPE_CHECKING:
    from odonata.importers import ImportResult


@click.group()
def command() -> None:
    """Import files of batch systems and other simulators as experiments, or counters of LDMS."""


def _known_pattern(_context: click.Context, _option: click.Parameter, name: str) -> str:
    """Checks the name of a pattern; the error gives the nearest name, or all names."""
    from odonata.names import patterns

    known = [row["name"] for row in patterns()]
    if name in known:
        return name
    hint = nearest(name, known, f"Patterns: {', '.join(known)}.")
    raise OdonataError(f"--pattern: unknown pattern {name}", hint=hint)


TABLE = click.argument("table", metavar="FILE", type=click.Path(path_type=Path))
MACHINE = click.option(
    "--machine",
    metavar="PRESET|FILE",
    help="Machine of the experiment: a preset, a list of cables, or a TOML file with [machine].",
)
PATTERN = click.option(
    "--pattern",
    metavar="NAME",
    default="uniform",
    show_default=True,
    callback=_known_pattern,
    help="Pattern of jobs for which the file gives none.",
)
OUTPUT = options.output("FILE", "Output file instead of the terminal.")


@command.command()
@click.argument("table", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@MACHINE
@click.option("--node-names", metavar="LIST", help="Names of its nodes, such as nid[00001-05760].")
@click.option(
    "-e",
    "--edit",
    metavar="EDIT",
    multiple=True,
    help="Edit of its cabling, such as 'fail leaf03'; jobs on failed nodes are left out. May be repeated.",
)
@PATTERN
@options.count("--ranks-per-node", help="Ranks per node instead of the allocated cores.")
@click.option(
    "--at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"]),
    metavar="TIME",
    help="Time at which the jobs ran; needs a table with Start and End, or no FILE.",
)
@OUTPUT
def slurm(
    table: Path | None,
    machine: str | None,
    node_names: str | None,
    edit: tuple[str, ...],
    pattern: str,
    ranks_per_node: int | None,
    at: datetime | None,
    output: Path | None,
) -> None:
    """Import jobs and their nodes from Slurm, or from the output of squeue, sacct, PBS, LSF or Flux.

    \b
    odonata import slurm -o now.toml

    \b
    squeue -t R -o '%i|%j|%D|%C|%t|%N' > queue.txt
    odonata import slurm queue.txt --machine edison --node-names 'nid[00000-05759]'
    sacct -a -X -P -S 2026-11-21 -o JobID,JobName,State,NNodes,NCPUS,Start,End,NodeList > day.txt
    odonata import slurm day.txt --at 2026-11-21T14:00 --machine topology.conf -e 'fail leaf03'

    FILE is a table of squeue, sacct, bjobs -o or flux jobs, squeue --json, sacct --json, or qstat -f. Jobs
    that do not run are left out and counted. Without FILE, squeue is asked, or with --at sacct. Without
    --machine, scontrol is asked for the switches; they go to a file next to the output.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_slurm

    for option, given in (("--node-names", node_names), ("--edit", edit)):
        if given and machine is None and (table is not None or option == "--node-names"):
            raise click.UsageError(f"{option} needs --machine")
    saved = _live_topology(output) if table is None and machine is None else None
    try:
        found = from_slurm(
            table,
            machine=machine if saved is None else str(saved),
            node_names=node_names,
            edit=edit,
            pattern=pattern,
            ranks_per_node=ranks_per_node,
            at=at,
            directory=_folder(output),
        )
    except OdonataError:
        # The next try writes it again.
        if saved is not None:
            saved.unlink(missing_ok=True)
        raise
    _write(found, Path("Slurm") if table is None else table, output)


def _live_topology(output: Path | None) -> Path:
    """Saves the switches of this machine's Slurm next to the output, and returns their file."""
    from odonata.importers import slurm_topology

    if output is None:
        raise click.UsageError(
            "without FILE, give -o FILE, or --machine; the switches need a file next to it"
        )
    if output.exists():
        raise OdonataError(f"{output} exists and is not overwritten")
    path = output.with_suffix(".topology.conf")
    _give(slurm_topology(), path, f"{path}: switches and nodes of scontrol show topology")
    return path


@command.command()
@TABLE
@options.path("--alloc", metavar="FILE", help="File with the nodes of each job, one line per job.")
@MACHINE
@PATTERN
@click.option("--bytes", "message_bytes", metavar="SIZE", help="Size of each message, like --payload_sz.")
@OUTPUT
def codes(
    table: Path,
    alloc: Path | None,
    machine: str | None,
    pattern: str,
    message_bytes: str | None,
    output: Path | None,
) -> None:
    """Import the jobs of a CODES workload file, on the nodes of its allocation.

    \b
    odonata import codes workloads.conf --alloc allocation.conf --machine network.conf -o replay.toml
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_codes

    folder = _folder(output)
    found = from_codes(
        table, alloc=alloc, machine=machine, pattern=pattern, message_bytes=message_bytes, directory=folder
    )
    _write(found, table, output)


@command.command()
@TABLE
@MACHINE
@PATTERN
@OUTPUT
def tracer(table: Path, machine: str | None, pattern: str, output: Path | None) -> None:
    """Import the jobs of a TraceR configuration, placed by its global map.

    \b
    odonata import tracer tracer_config --machine network.conf --pattern stencil-2d -o jobs.toml
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_tracer

    _write(from_tracer(table, machine=machine, pattern=pattern, directory=_folder(output)), table, output)


@command.command()
@TABLE
@MACHINE
@PATTERN
@OUTPUT
def ember(table: Path, machine: str | None, pattern: str, output: Path | None) -> None:
    """Import the jobs of an Ember load file (SST), on the nodes of its lists.

    \b
    odonata import ember loadfile --machine network.toml -o jobs.toml

    Motifs with a program here are Halo2D, Sweep3D, PingPong and Allreduce; --pattern replaces others.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_ember

    _write(from_ember(table, machine=machine, pattern=pattern, directory=_folder(output)), table, output)


@command.command()
@TABLE
@MACHINE
@OUTPUT
def atlahs(table: Path, machine: str | None, output: Path | None) -> None:
    """Import the GOAL files of an ATLAHS merge file as jobs, on the nodes of its lists.

    \b
    odonata import atlahs merge.json --machine network.toml -o jobs.toml
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_atlahs

    _write(from_atlahs(table, machine=machine, directory=_folder(output)), table, output)


@command.command()
@TABLE
@options.count("--flit-bytes", default=16, help="Size of a flit (16).")
@click.option("--cycle", metavar="TIME", default="1 ns", show_default=True, help="Length of a cycle.")
@OUTPUT
def booksim(table: Path, flit_bytes: int, cycle: str, output: Path | None) -> None:
    """Import a configuration of BookSim: machine, traffic, routing, buffers and periods.

    \b
    odonata import booksim torus88 --flit-bytes 16 --cycle "1 ns" -o torus.toml
    odonata run torus.toml

    Keys without a counterpart are named. A link carries one flit in a cycle.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_booksim

    found = from_booksim(table, flit_bytes=flit_bytes, cycle=cycle, directory=_folder(output))
    _write(found, table, output)


@command.command()
@TABLE
@options.count("--phit-bytes", default=16, help="Size of a phit (16).")
@click.option("--cycle", metavar="TIME", default="1 ns", show_default=True, help="Length of a cycle.")
@OUTPUT
def caminos(table: Path, phit_bytes: int, cycle: str, output: Path | None) -> None:
    """Import a configuration of CAMINOS: machine, traffic, routing, buffers and periods.

    \b
    odonata import caminos main.cfg --phit-bytes 16 --cycle "1 ns" -o main.toml
    odonata sweep main.toml

    Lists of loads, seeds, patterns and routings become a sweep. Fields without a counterpart are named.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_caminos

    found = from_caminos(table, phit_bytes=phit_bytes, cycle=cycle, directory=_folder(output))
    _write(found, table, output)


@command.command()
@TABLE
@options.path("--trace", metavar="LIST", help="Time-independent trace: the list of its files, one per rank.")
@OUTPUT
def simgrid(table: Path, trace: Path | None, output: Path | None) -> None:
    """Import a platform of SimGrid with one cluster, and the trace of an SMPI program.

    \b
    odonata import simgrid cluster.xml --trace traces.txt -o replay.toml

    The speed of a host becomes the speed of a rank.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_simgrid

    _write(from_simgrid(table, trace=trace, directory=_folder(output)), table, output)


@command.command()
@TABLE
@OUTPUT
def sst(table: Path, output: Path | None) -> None:
    """Import a Python script of SST with a Merlin network: topology, routers, jobs and their nodes.

    \b
    odonata import sst dragonfly.py -o dragonfly.toml

    The script is read, not run: its values must be plain numbers, texts and arithmetic. Jobs are TestJob,
    OfferedLoadJob, IncastJob, and EmberMPIJob with motifs. Values without a counterpart are named.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import from_sst

    _write(from_sst(table, directory=_folder(output)), table, output)


@command.command()
@TABLE
@options.path("--links", required=True, metavar="FILE", help="Cable list of the machine, one line per tile.")
@OUTPUT
def ldms(table: Path, links: Path, output: Path | None) -> None:
    """Import counters of Aries routers from a CSV file of LDMS as a table for the viewer.

    \b
    odonata import ldms aries.csv --links edison-links.txt -o counters.csv
    odonata view counters.csv
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.importers import ldms as reader

    found = reader.read(table, links)
    shortest, longest = (f"{seconds:,.0f}" for seconds in found.seconds)
    time = shortest if shortest == longest else f"{shortest} to {longest}"
    _say(table, f"LDMS store_csv: {found.links} links of {found.routers} routers, {time} s", found.notes)
    _give(found.text(), output, str(output))


def _folder(output: Path | None) -> Path:
    return Path() if output is None else output.parent


def _write(found: ImportResult, table: Path, output: Path | None) -> None:
    """Prints or writes an experiment, and says how its file was understood."""
    if found.notes:
        _say(table, found.notes[0], found.notes[1:])
    _give(found.text, output, f"{output}: {counted(found.jobs, 'job')}")


def _say(table: Path, understood: str, notes: Sequence[str]) -> None:
    """Says how a file was understood, what was left out, and what was assumed."""
    click.echo(f"{table}: {understood}", err=True)
    for note in notes:
        click.echo(f"  {note}", err=True)


def _give(text: str, output: Path | None, message: str) -> None:
    """Prints a text, or writes it to a new file."""
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OdonataError(f"{output} exists and is not overwritten") from None
    except OSError as error:
        raise OdonataError(f"cannot write {output}: {error.strerror}") from None
    click.echo(message, err=True)
