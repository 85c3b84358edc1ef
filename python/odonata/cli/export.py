"""`odonata export`: a run in another program's format."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "kind",
    type=click.Choice(["damselfly", "csv", "booksim", "codes", "sst-macro", "slurm"]),
    required=True,
    help="damselfly: its viewers' link file, in MiB. csv: every table, in the units of the run directory. "
    "booksim: the machine as a listing of anynet. codes: a machine with groups as its configuration and "
    "wiring files, with the nodes of each job. sst-macro: the machine as a file topology (JSON). "
    "slurm: its switches as topology.conf.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write, or for csv and codes the directory to make.",
)
def command(directory: Path, kind: str, output: Path) -> None:
    """Write a run in another program's format.

    \b
    odonata export runs/first -f csv -o first-csv
    odonata export runs/first -f damselfly -o links.txt
    odonata export runs/first -f codes -o codes
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.api import load_run
    from odonata.errors import OdonataError

    run = load_run(directory)
    try:
        if kind == "damselfly":
            from odonata.export import damselfly

            damselfly.export(run.links, run.link_jobs, run.jobs, output)
        elif kind in ("booksim", "codes", "sst-macro", "slurm"):
            from odonata.export import machines

            writers = {
                "booksim": machines.booksim,
                "codes": machines.codes,
                "slurm": machines.slurm,
                "sst-macro": machines.sst_macro,
            }
            writers[kind](run.table, output)
        else:
            import pyarrow.csv

            from odonata.store.columns import plain

            output.mkdir(parents=True)
            for name in run.table_names:
                pyarrow.csv.write_csv(plain(run.table(name)), output / f"{name}.csv")
    except FileExistsError:
        raise OdonataError(f"{output} exists; it is left as it is") from None
    except OSError as error:
        raise OdonataError(f"{output} cannot be written: {error.strerror}") from None
    click.echo(output)
