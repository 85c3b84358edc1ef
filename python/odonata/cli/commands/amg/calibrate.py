"""`odonata amg calibrate`: measure a machine's parameters."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.output import terminal
from odonata.errors import OdonataError


@click.command()
@click.option(
    "--like",
    default="eos",
    metavar="NAME|FILE",
    help="Machine from which network and cores are copied (eos).",
)
@click.option("--name", metavar="NAME", default="mine", help="Name of the new parameter set (mine).")
@common.count("--cores", help="Cores per node; as in --like by default.")
@common.output("FILE", "Parameter file to write (machine.toml).", default=Path("machine.toml"))
@common.force
def command(like: str, name: str, cores: int | None, output: Path, force: bool) -> None:
    """Measure a machine's parameters under mpirun: alpha, beta, gamma, time per flop, thread bandwidths.

    \b
    mpirun -np 64 --map-by node odonata amg calibrate -o mycluster.toml
    odonata amg model --machine mycluster.toml --problem laplace7 --ranks 1024 --points 50x50x25
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from dataclasses import replace

    import odonata.amg as amg
    from odonata.amg import calibrate, machines

    if output.exists() and not force:
        raise OdonataError(
            f"{output} exists", hint="Replace it with --force, or choose another file with -o."
        )
    machine = machines.load(like)
    if cores is not None:
        machine = replace(machine, constants={**machine.constants, "cores_per_node": cores})
    measured = calibrate.measure(machine, amg.shipped("laplace7", 1024, "50x50x25"))
    if measured is None:
        return
    text = calibrate.to_toml(name, measured, machine)
    output.write_text(text, encoding="utf-8")
    machines.load(str(output))  # checks that the file can be read
    screen = terminal.console()
    screen.print(text)
    screen.print(f"written: {output}")
