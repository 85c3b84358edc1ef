"""`odonata gpcnet`: the benchmark of network congestion."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options
from odonata.cli.commands.run import RUNS, free_directory
from odonata.cli.outcome import code_of, set_exit_code
from odonata.cli.output import terminal

_CONGESTORS = ("all-to-all", "incast", "put-incast", "get-broadcast")


@click.command()
@click.argument("origin", metavar="MACHINE|FILE", shell_complete=options.machines)
@options.output("DIR", "Directory to write; runs/gpcnet-<machine> by default, with a number if it exists.")
@click.option(
    "--control", metavar="NAME", help="Congestion control: none, pair or window. It sets engine.control.name."
)
@click.option(
    "--congestor",
    "congestors",
    type=click.Choice(_CONGESTORS),
    multiple=True,
    help="Use this congestor only. May be repeated.",
)
@options.count("--rings", default=3, help="Number of random rings (3). The benchmark has 30.")
@options.count("--ranks-per-node", default=1, help="Ranks on each node (1); all do the same.")
@options.overrides
@options.threads
@options.force
@options.quiet
@options.as_json
def command(
    origin: str,
    output: Path | None,
    control: str | None,
    congestors: tuple[str, ...],
    rings: int,
    ranks_per_node: int,
    changes: tuple[str, ...],
    threads: int | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run GPCNeT: tests of the network alone, then with congestors.

    \b
    odonata gpcnet dragonfly-1056 --control pair
    odonata gpcnet machine.toml --set engine.routing=min --congestor incast

    MACHINE is a preset, a topology or a file of cables. FILE is an experiment file; its jobs are replaced. A
    fifth of the nodes run the tests, the others the congestors.

    If a run is interrupted or does not complete, the tables have the samples that ended, marked with *, and
    the exit code is as for `odonata run`.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import toml
    from odonata.cli.output.gpcnet import text
    from odonata.gpcnet import CONGESTORS, Settings, experiment, run_both
    from odonata.store.schema import ENDINGS

    if control is not None:
        changes = (*changes, f"engine.control.name={toml.value(control)}")
    settings = Settings(congestors or CONGESTORS, ranks_per_node, rings)
    with terminal.progress(quiet=quiet) as (progress, _):
        both = experiment(
            origin,
            congestors=settings.congestors,
            ranks_per_node=ranks_per_node,
            rings=rings,
            set=changes,
        )
        result, interrupt = run_both(
            both,
            settings,
            out=output or free_directory(RUNS, f"gpcnet-{Path(origin).stem}"),
            threads=threads,
            force=force,
            progress=progress,
        )
    set_exit_code(code_of(interrupt, ENDINGS[result.ending].exit_code))
    if as_json:
        terminal.print_json(result.as_data())
    elif not quiet:
        click.echo(text(result))
        compare = f" Compare the runs with: odonata compare {result.path}/*" if result.partial is None else ""
        click.echo(f"\nTables are in {result.path}.{compare}")
    if interrupt is not None:
        raise interrupt
    if code := ENDINGS[result.ending].exit_code:
        raise click.exceptions.Exit(code)
