"""`odonata study`: studies with claims, run and judged."""

from __future__ import annotations

import click

from odonata.cli.group import Subgroup

_COMMANDS = {
    "list": "List the studies, their claims, and what of them is finished.",
    "run": "Run the points that are missing, judge the claims, write the page.",
    "report": "Judge the claims and write the page from finished points, running nothing.",
}


@click.group(name="study", cls=Subgroup, package="odonata.cli.study", commands_by_name=_COMMANDS)
def command() -> None:
    """Run a study: a folder of experiments and published claims that are judged.

    \b
    odonata study list
    odonata study run damselfly --quick
    odonata study report damselfly --quick

    A study is given by its name below the directory `studies`, or by the path of its folder.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
