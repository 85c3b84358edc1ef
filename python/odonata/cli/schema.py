"""`odonata schema`: every key of an experiment file."""

from __future__ import annotations

import click


@click.command()
@click.option("--page", is_flag=True, help="Print the reference page, in Markdown, instead.")
def command(page: bool) -> None:
    """Every key of an experiment file. As JSON Schema for editors, or as a page for people."""
    from odonata import _core

    click.echo((_core.reference() if page else _core.schema()).rstrip("\n"))
