"""`odonata amg`: algebraic multigrid on a network."""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = {
    "hierarchy": "Run the real BoomerAMG on virtual ranks and count what each level sends.",
    "model": "Price a V-cycle level by level, phase by phase, term by term.",
    "redistribute": "Decide where to gather coarse grids on fewer ranks, and execute it.",
    "simulate": "Each level's messages as traffic for the flow engine, beside the model's terms.",
    "report": "Set the paper's figures and tables beside the model's, as one HTML page.",
    "calibrate": "Measure a machine's constants under mpirun and write a parameter file.",
    "tables": "List the hierarchies and machines that come with the package.",
}


class _Group(click.Group):
    """Imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        found: click.Command = import_module(f"odonata.cli.amg.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(name="amg", cls=_Group)
def command() -> None:
    """Algebraic multigrid on a network: hierarchies, the performance model, redistribution."""
