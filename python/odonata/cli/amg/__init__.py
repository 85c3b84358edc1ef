"""`odonata amg`: algebraic multigrid on a network."""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = {
    "hierarchy": "Run the real BoomerAMG on virtual ranks and count what each level sends.",
    "model": "Price a V-cycle level by level, phase by phase, term by term.",
    "redistribute": "Decide where to gather coarse grids on fewer ranks, and execute it.",
    "simulate": "Take each level's messages to the flow or packet engine, beside the model's terms.",
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from odonata.cli.group import check_name

        check_name(ctx, args[0], _COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(name="amg", cls=_Group)
def command() -> None:
    """Algebraic multigrid on a network: hierarchies, the performance model, redistribution.

    \b
    odonata amg tables
    odonata amg model --problem laplace7 --ranks 1024 --points 50x50x25
    odonata amg report

    model, redistribute, report and tables work at once, from tables that come with the package; hierarchy and
    redistribute --execute run the real hypre (make hypre).
    """  # noqa: D301 - \b keeps click from filling the lines that follow
