"""`odonata prices`: print a price list, or the bill of a machine."""

from __future__ import annotations

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.cli.output.bill import bill_data, print_bill


@click.command()
@click.argument("origin", metavar="[NAME|FILE]", required=False, shell_complete=options.machines)
@click.option("--prices", metavar="FILE", default="default", help="A price list of your own.")
@options.overrides
@options.as_json
def command(origin: str | None, prices: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Print the default price list, or what a machine costs: switches, NICs, cables, power.

    \b
    odonata prices > mine.toml
    odonata prices dragonfly-1056
    odonata prices hyperx --set 'machine.dims=[8, 8]' --prices mine.toml

    The bill needs no classes of cables, so it compares families. Sources and assumptions are in the list.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import machines
    from odonata.files import read_text
    from odonata.prices import PriceList, bill
    from odonata.prices.price_list import DEFAULT, DEFAULT_FILE

    listed = PriceList.load(prices)
    if origin is None:
        from pathlib import Path

        path = DEFAULT_FILE if prices == DEFAULT else Path(prices)
        click.echo(read_text(path, "a price list"), nl=False)
        return
    made = machines.build(machines.origin_of(origin, (), {}).with_overrides(changes))
    found = bill(made, listed)
    if as_json:
        terminal.print_json(bill_data(found))
        return
    print_bill(terminal.console(), found)
