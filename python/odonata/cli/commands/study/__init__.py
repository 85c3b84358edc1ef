"""`odonata study`: studies with claims, run and judged."""

from __future__ import annotations

import click

from odonata.cli.group import Subgroup

_COMMANDS = {
    "list": "List the studies, their claims and their finished points.",
    "run": "Run the missing points, judge the claims and write the page.",
    "report": "Judge the claims and write the page from finished points.",
}


@click.group(name="study", cls=Subgroup, package="odonata.cli.commands.study", commands_by_name=_COMMANDS)
def command() -> None:
    """Run a study: a folder of experiments and published claims to judge.

    \b
    odonata study list
    odonata study run damselfly --quick
    odonata study report damselfly --quick

    Name a study in the directory `studies`, or give the path of its folder.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
