"""`odonata schema`: all keys of experiment files and all columns of tables."""

from __future__ import annotations

import click


@click.command()
@click.option("--tables", is_flag=True, help="Print tables and columns of run directories instead of keys.")
@click.option("--page", is_flag=True, help="Print the reference page in Markdown instead of JSON.")
def command(tables: bool, page: bool) -> None:
    """Print all keys of experiment files as JSON Schema, which editors understand, or as a page.

    With --tables, print all columns of run directories: type, unit, aggregation and meaning.
    """
    from odonata import _core

    if tables:
        text = _core.tables_reference() if page else _core.tables()
    else:
        text = _core.reference() if page else _core.schema()
    click.echo(text.rstrip("\n"))
