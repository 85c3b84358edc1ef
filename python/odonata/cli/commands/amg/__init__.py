"""`odonata amg`: algebraic multigrid on a network."""

from __future__ import annotations

import click

from odonata.cli.group import Subgroup

_COMMANDS = {
    "hierarchy": "Run BoomerAMG on virtual ranks and count the messages of each level.",
    "import": "Import a hierarchy of PETSc, PyAMG or AmgX and count its messages.",
    "model": "Price a V-cycle by level, phase and term.",
    "redistribute": "Find the level at which to gather coarse grids on fewer ranks.",
    "simulate": "Simulate the messages of each level and compare with the model.",
    "fit": "Fit the model to measured times.",
    "calibrate": "Measure a machine's parameters under mpirun and write them to a file.",
    "tables": "List the hierarchies and machines of the package.",
}


@click.group(name="amg", cls=Subgroup, package="odonata.cli.commands.amg", commands_by_name=_COMMANDS)
def command() -> None:
    """Predict and improve algebraic multigrid on a network.

    \b
    odonata amg tables
    odonata amg model --problem laplace7 --ranks 1024 --points 50x50x25

    model, redistribute and tables need no further software: they use tables of the package. hierarchy and
    redistribute --execute run hypre; build it with make hypre.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
