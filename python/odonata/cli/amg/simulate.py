"""`odonata amg simulate`: each level's messages as traffic for the flow engine."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.amg import options


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@options.machine
@click.option("--preset", help="Machine of the simulation; as --machine by default.")
@click.option("--routing", default="adaptive-hybrid", help="Routing of the flow engine (adaptive-hybrid).")
@click.option(
    "--experiment",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="An experiment to join instead: its machine, engine and other jobs.",
)
@click.option("--ranks-per-node", type=click.IntRange(min=1), help="As many as a node has cores by default.")
@click.option("--placement", default="compact", help="Placement of the ranks (compact).")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of the simulation (1).")
@common.as_json
def command(
    directory: Path,
    machine_name: str,
    preset: str | None,
    routing: str,
    experiment: Path | None,
    ranks_per_node: int | None,
    placement: str,
    seed: int,
    as_json: bool,
) -> None:
    """Simulates one product with each operator of each level of the hierarchy in DIR.

    odonata amg simulate amg-laplace7-512 --machine eos
    """
    from odonata.amg import machines, simulate, store
    from odonata.api import Source
    from odonata.cli import terminal
    from odonata.cli.amg import titled

    machine = machines.load(machine_name)
    source = (
        Source.of(experiment)
        if experiment is not None
        else Source(simulate.experiment(preset or machine.name, routing, seed), "<text>")
    )
    found = simulate.exchanges(
        store.read(directory),
        store.read_table(directory, "messages"),
        machine,
        source.text,
        path=source.path,
        per_node=ranks_per_node or machine.cores_per_node,
        placement=placement,
    )
    if as_json:
        terminal.print_json([vars(exchange) for exchange in found])
        return
    columns = [
        "level",
        "operator",
        "messages",
        "kB",
        "simulated",
        "interface",
        "x",
        "n beta",
        "+ penalty",
        "p alpha(D)",
    ]
    table = titled.table("One exchange, us", columns, left=["operator"])
    for e in found:
        factor = f"{e.simulated_s / e.interface_s:.2f}" if e.interface_s else "-"
        times = (e.model_bandwidth_s, e.model_penalty_s, e.model_startup_s)
        table.add_row(
            str(e.level),
            e.operator,
            f"{e.messages:,}",
            f"{e.bytes / 1e3:,.0f}",
            f"{1e6 * e.simulated_s:.2f}",
            f"{1e6 * e.interface_s:.2f}",
            factor,
            *(f"{1e6 * seconds:.2f}" for seconds in times),
        )
    terminal.console().print(table)
