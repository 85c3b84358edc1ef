"""The bill of a machine in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.cli.output import terminal

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.prices import Bill


def bill_data(bill: Bill) -> dict[str, Any]:
    """The bill as plain values."""
    return {
        "prices": bill.prices.name,
        "date": bill.prices.date,
        "currency": bill.prices.currency,
        "nodes": bill.nodes,
        "total": bill.total,
        "power_w": bill.power_w,
        "energy_price": bill.energy_price,
        "items": [vars(item) for item in bill.items],
    }


def print_bill(screen: Console, bill: Bill) -> None:
    """Prints the items, their sum, and power."""
    table = terminal.table(["item", "kind", "count", "mean m", "each", "price", "kW"], left=["item", "kind"])
    for item in bill.items:
        meters = terminal.number(item.meters / item.count) if item.meters else "-"
        each, kilowatts = f"{item.price / item.count:,.0f}", terminal.number(item.power_w / 1e3)
        table.add_row(item.kind, item.what, f"{item.count:,}", meters, each, f"{item.price:,.0f}", kilowatts)
    prices = bill.prices
    terminal.print_table(
        screen, table, f"Price in {prices.currency} by the list {prices.name} of {prices.date}", keys=2
    )
    energy = prices.energy
    screen.print(
        f"\nTotal {bill.total:,.0f} {prices.currency}, {bill.total / bill.nodes:,.0f} per node; "
        f"{bill.power_w / 1e3:,.1f} kW, energy of {energy.years:g} years {bill.energy_price:,.0f} "
        f"{prices.currency} (not in the total)",
        highlight=False,
    )
