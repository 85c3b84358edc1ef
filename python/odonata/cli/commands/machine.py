"""`odonata machine`: build, measure and verify a machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options
from odonata.cli.outcome import set_exit_code
from odonata.cli.output import terminal
from odonata.quantity import counted, quantity, scale

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from odonata.machines import Machine
    from odonata.prices import Bill


class Price(click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since click 8.3
    """`CLASS=AMOUNT`."""

    name = "price"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        """Splits at the equals sign."""
        if isinstance(value, tuple):
            return value
        link_class, equals, amount = str(value).partition("=")
        try:
            if not equals or not link_class:
                raise ValueError
            return link_class, float(amount)
        except ValueError:
            self.fail(f"{value!r} is no price; expected CLASS=AMOUNT, such as blue=200", param, ctx)


@click.command()
@click.argument("origin", metavar="NAME|FILE", shell_complete=options.machines)
@click.option(
    "-e",
    "--edit",
    metavar="EDIT",
    multiple=True,
    help="Edit of the cabling: -e-K, -e+B-K, -e'+2 global' or -e'fail 5% blue'. Replaces the edits of the "
    "file. May be repeated.",
)
@click.option(
    "--price",
    type=Price(),
    metavar="CLASS=AMOUNT",
    multiple=True,
    help="Price of one cable of a class; or of every switch, nic, copper or optical cable of the bill. "
    "May be repeated.",
)
@click.option("--prices", metavar="FILE", help="Also print the bill by a price list: a file, or `default`.")
@options.overrides
@options.threads
@options.as_json
def command(
    origin: str,
    edit: tuple[str, ...],
    price: tuple[tuple[str, float], ...],
    prices: str | None,
    changes: tuple[str, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Build and measure a machine; change its cabling.

    \b
    odonata machine edison -e-K --price black=80
    odonata machine dragonfly-1056 --prices default --price optical=300
    odonata machine dragonfly --set machine.p=8 --set machine.g=17
    odonata machine my-cables.csv

    NAME is a preset or a topology (odonata list), FILE an experiment file or a list of cables.

    The exit code is 1 if a check fails: the machine is not connected, not symmetric, or has other counts than
    declared.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import machines
    from odonata.cli.output.bill import bill_data, print_bill
    from odonata.prices.bill import KINDS

    of_kinds = {kind: amount for kind, amount in price if kind in KINDS}
    of_classes = {name: amount for name, amount in price if name not in KINDS}
    made = machines.build(machines.origin_of(origin, edit, of_classes).with_overrides(changes), threads)
    metrics = made.metrics
    found = _bill(made, prices, of_kinds)
    code = 0 if all(check["holds"] for check in metrics["checks"]) else 1
    set_exit_code(code)
    if as_json:
        terminal.print_json(metrics if found is None else {**metrics, "bill": bill_data(found)})
    else:
        screen = terminal.console()
        _print(screen, metrics)
        if found is not None:
            print_bill(screen, found)
        terminal.print_warnings(metrics["warnings"])
    sys.exit(code)


def _bill(made: Machine, prices: str | None, of_kinds: dict[str, float]) -> Bill | None:
    """The bill, if a list or the price of a kind of hardware is given."""
    from odonata.prices.bill import bill, with_prices
    from odonata.prices.price_list import DEFAULT, PriceList

    if prices is None and not of_kinds:
        return None
    return bill(made, with_prices(PriceList.load(prices or DEFAULT), of_kinds))


def _print(screen: Console, metrics: dict[str, Any]) -> None:
    from odonata.cli.output.machine import describe_machine

    screen.print(describe_machine(metrics["machine"]), style="bold")
    for line in _description(metrics):
        screen.print(line)
    for known in metrics["assumptions"]:
        screen.print(f"assumed: {known['key']} = {known['value']} ({known['reason']})", highlight=False)
    terminal.print_table(screen, _class_table(metrics), "Cables")
    screen.print()
    for check in metrics["checks"]:
        mark, style = ("ok", "green") if check["holds"] else ("WRONG", "bold red")
        screen.print(f"{mark:>5} ", style=style, end="")
        screen.print(f"{check['name']}: {check['found']}")


def _description(metrics: dict[str, Any]) -> list[str]:
    nodes, distances, bisection = metrics["nodes"], metrics["distances"], metrics["bisection"]
    storage = metrics["storage_nodes"]
    usable = (
        f"{metrics['nodes_up']:,} of {nodes - storage:,} nodes usable"
        if metrics["nodes_up"] < nodes - storage
        else counted(nodes - storage, "node")
    )
    down = metrics["routers"] - metrics["routers_up"]
    failed = f"; {counted(down, 'router')} failed" if down else ""
    cores = metrics["cores_per_node"]
    limit = "" if bisection["exact"] else "at most "
    lines = [
        f"{usable}, {counted(cores, 'core')} each, {counted(metrics['cores_up'], 'core')} in total{failed}"
    ]
    if storage:
        lines.append(f"{counted(storage, 'storage node')} for I/O ranks")
    rails, planes = metrics["machine"]["rails"], metrics["machine"]["planes"]
    nics = rails * planes
    in_planes = f", {rails} in each of {planes} planes" if planes > 1 else ""
    nic_rate = quantity(metrics["terminal"]["bandwidth_bytes_per_s"], "bytes-per-s")
    lines.append(
        f"{counted(nics, 'NIC')} per node{in_planes}, with a link of {nic_rate} each "
        f"(class {metrics['terminal']['class']})"
    )
    lines.append(
        f"diameter {counted(distances['diameter'], 'hop')}, "
        f"mean distance {distances['router_hops_mean']:.3f} hops "
        f"between routers, {distances['node_hops_mean']:.3f} between nodes"
    )
    lines.append(
        f"bisection {limit}{quantity(bisection['bytes_per_s'], 'bytes-per-s')} in each direction over "
        f"{counted(bisection['cables'], 'cable')} ({bisection['cut']})"
    )
    if distances["unreachable_pairs"]:
        lines.append(
            f"NOT CONNECTED: {metrics['connectivity']['components']} parts, "
            f"{distances['unreachable_pairs']:,} pairs of routers have no path"
        )
    if metrics["cost"] is not None:
        cost = metrics["cost"]
        without = f" without {', '.join(cost['without_price'])} (no price)" if cost["without_price"] else ""
        lines.append(f"cost of cables {cost['total']:,.0f}{without}")
    return lines


def _class_table(metrics: dict[str, Any]) -> Table:
    rows = [*metrics["classes"], _terminal(metrics["terminal"])]
    each = scale((row["bandwidth_max_bytes_per_s"] for row in rows), "bytes-per-s")
    total = scale((row["bandwidth_total_bytes_per_s"] for row in rows), "bytes-per-s")
    costs = {row["class"]: row["cost"] for row in (metrics["cost"] or {"classes": []})["classes"]}
    columns = [
        "class",
        "links",
        "cables",
        "parallel",
        each.heading("each"),
        total.heading("total"),
        "ports used",
        "per router",
        "free",
    ]
    shown = terminal.table([*columns, *(["cost"] if costs else [])], left=["class"])
    for row in rows:
        ports = row["ports"]
        shown.add_row(
            row["class"],
            f"{row['links']:,}",
            f"{row['cables']:,}",
            _range(row["parallel_min"], row["parallel_max"]),
            _range(
                row["bandwidth_min_bytes_per_s"] / each.size, row["bandwidth_max_bytes_per_s"] / each.size
            ),
            terminal.number(total.of(row["bandwidth_total_bytes_per_s"])),
            f"{ports['used']:,}",
            _range(ports["used_min"], ports["used_max"]) + _of(ports["per_router"]),
            "-" if ports["free"] is None else f"{ports['free']:,}",
            *([f"{costs[row['class']]:,.0f}" if row["class"] in costs else "-"] if costs else []),
        )
    ports = metrics["ports"]
    shown.add_section()
    shown.add_row(
        "all",
        f"{sum(row['links'] for row in rows):,}",
        f"{sum(row['cables'] for row in rows):,}",
        "",
        "",
        "",
        f"{ports['used']:,}",
        _range(ports["used_min"], ports["used_max"]) + _of(ports["per_router"]),
        "-" if ports["free"] is None else f"{ports['free']:,}",
        *([f"{metrics['cost']['total']:,.0f}"] if costs else []),
    )
    return shown


def _terminal(terminal: dict[str, Any]) -> dict[str, Any]:
    """The links between nodes and routers as a row; a NIC has one in each direction."""
    nics, bandwidth = terminal["nics"], terminal["bandwidth_bytes_per_s"]
    return {
        **terminal,
        "links": 2 * nics,
        "cables": nics,
        "parallel_min": 1,
        "parallel_max": 1,
        "bandwidth_min_bytes_per_s": bandwidth,
        "bandwidth_max_bytes_per_s": bandwidth,
        "bandwidth_total_bytes_per_s": 2 * nics * bandwidth,
    }


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"


def _of(most: int | None) -> str:
    return "" if most is None else f" of {most}"
