"""`odonata amg`: algebraic multigrid on a network."""

from __future__ import annotations

import click

from odonata.cli.group import Subgroup

_COMMANDS = {
    "hierarchy": "Run the real BoomerAMG on virtual ranks and count what each level sends.",
    "import": "Count what ranks send of a hierarchy that PETSc, PyAMG or another code made.",
    "model": "Price a V-cycle level by level, phase by phase, term by term.",
    "redistribute": "Decide where to gather coarse grids on fewer ranks, and execute it.",
    "simulate": "Take each level's messages to the flow or packet engine, beside the model's terms.",
    "fit": "Find the scenario that explains measured times per level.",
    "calibrate": "Measure a machine's constants under mpirun and write a parameter file.",
    "tables": "List the hierarchies and machines that come with the package.",
}


@click.group(name="amg", cls=Subgroup, package="odonata.cli.amg", commands_by_name=_COMMANDS)
def command() -> None:
    """Algebraic multigrid on a network: hierarchies, the performance model, redistribution.

    \b
    odonata amg tables
    odonata amg model --problem laplace7 --ranks 1024 --points 50x50x25

    model, redistribute and tables work at once, from tables that come with the package; hierarchy and
    redistribute --execute run the real hypre (make hypre).
    """  # noqa: D301 - \b keeps click from filling the lines that follow
