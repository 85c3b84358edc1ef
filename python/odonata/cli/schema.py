"""`odonata schema`: every key of an experiment file, every column of a run directory."""

from __future__ import annotations

import click


@click.command()
@click.option("--tables", is_flag=True, help="The tables and columns of a run directory instead of the keys.")
@click.option("--page", is_flag=True, help="Print the reference page, in Markdown, instead of JSON.")
def command(tables: bool, page: bool) -> None:
    """Every key of an experiment file. As JSON Schema for editors, or as a page for people.

    With --tables every column of a run directory: type, unit, how rows merge, meaning.
    """
    from odonata import _core

    if tables:
        text = _core.tables_reference() if page else _core.tables()
    else:
        text = _core.reference() if page else _core.schema()
    click.echo(text.rstrip("\n"))
