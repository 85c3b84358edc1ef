"""`odonata amg simulate`: simulate the messages of each level in the flow or packet engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.errors import OdonataError
from odonata.quantity import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from odonata.amg.ends import Parts
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import Ends, ParameterSet
    from odonata.amg.simulate import Findings

Progress = Callable[..., None] | None
"""Called with level and phase."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@options.machine
@options.mix
@click.option("--preset", metavar="NAME", help="Preset of the simulated machine; as --machine by default.")
@click.option(
    "--engine",
    type=click.Choice(["flow", "packet"]),
    help="Engine of the simulation (flow; packet with --cycle).",
)
@click.option("--routing", metavar="NAME", help="Routing algorithm; the engine's default by default.")
@click.option(
    "--experiment",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Experiment with the machine, engine and other jobs to simulate with.",
)
@click.option("--placement", metavar="NAME", default="compact", help="Placement of the ranks (compact).")
@click.option(
    "--cycle",
    is_flag=True,
    help="Simulate one whole cycle, with the costs at the ends of --machine, by mechanism.",
)
@click.option("--regrouped", is_flag=True, help="Simulate the levels after the redistribution in DIR.")
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", default=1, help="Seed of the simulation (1)."
)
@common.quiet
@common.as_json
def command(
    directory: Path,
    machine_name: str,
    threads: int,
    tasks: int | None,
    preset: str | None,
    engine: str | None,
    routing: str | None,
    experiment: Path | None,
    placement: str,
    cycle: bool,
    regrouped: bool,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Simulate every exchange of a cycle of the hierarchy in DIR and compare with the model.

    \b
    odonata amg simulate amg-laplace7-512
    odonata amg simulate amg-laplace7-512 --engine packet --placement random-nodes
    odonata amg simulate amg-laplace7-512 --cycle
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.amg import boomeramg, machines, model, simulate, store
    from odonata.api import Source
    from odonata.cli.output import terminal, titled

    machine = machines.load(machine_name)
    whole = store.read(directory)
    if cycle:
        if experiment is not None or regrouped:
            raise OdonataError("--cycle cannot be combined with --experiment or --regrouped")
        keys = {"preset": preset or machine.name, "routing": routing, "placement": placement, "seed": seed}
        one = _Cycle(directory, whole, machine, tasks or model.default_tasks(machine, threads), threads, keys)
        one.show(engine or "packet", quiet=quiet, as_json=as_json)
        return
    engine = engine or "flow"
    source = (
        Source.of(experiment)
        if experiment is not None
        else Source(simulate.experiment(preset or machine.name, engine, routing, seed), "<text>")
    )
    prefix = "regrouped_" if regrouped else ""
    moved = (boomeramg.redistributed(directory)[0], whole.ranks) if regrouped else None
    progress = terminal.error_console()
    found = simulate.simulate(
        directory,
        store.read(directory, prefix),
        store.read_table(directory, f"{prefix}messages"),
        machine,
        source.text,
        path=source.path,
        per_node=tasks or model.default_tasks(machine, threads),
        threads=threads,
        placement=placement,
        regrouped=moved,
        progress=None if quiet else lambda level, phase: progress.print(f"  level {level}: {phase}"),
    )
    if as_json:
        terminal.print_json(as_data(found))
        return
    screen = terminal.console()
    titled.show(screen, exchange_table(found), legend=EXCHANGE_LEGEND)
    titled.show(screen, level_table(found))
    screen.print(
        f"With the simulated network a cycle takes {1e3 * found.seconds:.3f} ms; "
        f"the network takes {percent(found.network_share)} of it."
    )
    screen.print(f"Closest scenario: {found.best_fit}. Verdicts on the model's terms:")
    for term, verdict in found.verdicts().items():
        screen.print(f"  {term}: {verdict}")


@dataclass(frozen=True)
class _Cycle:
    """A whole cycle by mechanism, simulated and by formula."""

    directory: Path
    hierarchy: Hierarchy
    machine: ParameterSet
    per_node: int
    threads: int
    keys: dict[str, Any]
    """Settings of the simulation: preset, routing, placement, seed."""

    def show(self, engine: str, *, quiet: bool, as_json: bool) -> None:
        from odonata.amg import ends, store
        from odonata.amg.ranked import RankModel
        from odonata.cli.output import amg_parts as parts
        from odonata.cli.output import terminal, titled

        costs = self.machine.ends
        if costs is None:
            raise OdonataError(
                f"the parameter set {self.machine.name} has no costs at the ends",
                hint="Add a table [ends]; `odonata amg fit` finds its values from measured whole cycles.",
            )
        messages = store.read_table(self.directory, "messages")
        counted = RankModel(self.hierarchy, messages, self.machine, self.threads, self.per_node)
        by_ranks = ends.total(ends.parts_of_messages(counted, costs))
        screen = terminal.error_console()
        progress = None if quiet else lambda *what: screen.print(f"  with {' '.join(map(str, what))}")
        simulated = (
            self._by_flows(messages, by_ranks, progress)
            if engine == "flow"
            else self._by_packets(costs, progress)
        )
        accounts = {
            "simulated": simulated,
            "rank by rank": by_ranks,
            "by the level table": ends.total(
                ends.parts_of_levels(
                    self.hierarchy, self.machine, costs, threads=self.threads, tasks=self.per_node
                )
            ),
        }
        if as_json:
            terminal.print_json(
                {name: {**found.named, "cycle": found.seconds} for name, found in accounts.items()}
            )
            return
        title = f"One cycle of {self.hierarchy.ranks:,} ranks, ms"
        titled.show(terminal.console(), parts.by_mechanism(title, accounts), legend=parts.LEGEND)

    def _by_packets(self, costs: Ends, progress: Progress) -> Parts:
        """Simulates the program `amg`; the engine's hosts and NICs charge the costs."""
        from odonata.amg import whole

        return whole.simulate(
            self.directory,
            self.hierarchy.ranks,
            self.machine,
            costs,
            per_node=self.per_node,
            threads=self.threads,
            progress=progress,
            **self.keys,
        )

    def _by_flows(self, messages: pa.Table, by_ranks: Parts, progress: Progress) -> Parts:
        """Simulates the network of each exchange; the flow engine has no hosts, whose costs are by rank."""
        from odonata.amg import simulate

        preset, routing, seed = (self.keys[key] for key in ("preset", "routing", "seed"))
        found = simulate.simulate(
            self.directory,
            self.hierarchy,
            messages,
            self.machine,
            simulate.experiment(preset, "flow", routing, seed),
            path="<text>",
            per_node=self.per_node,
            threads=self.threads,
            placement=self.keys["placement"],
            progress=progress,
        )
        return replace(by_ranks, network=sum(level.network_s for level in found.levels))


def as_data(found: Findings) -> dict[str, Any]:
    """All findings as plain values."""
    return {
        "cycle_s": found.seconds,
        "network_share": found.network_share,
        "best_fit": found.best_fit,
        "verdicts": found.verdicts(),
        "levels": [
            {**vars(level), "seconds": level.seconds, "network_share": level.network_share}
            for level in found.levels
        ],
        "exchanges": [vars(exchange) for exchange in found.exchanges],
    }


EXCHANGE_LEGEND = (
    "NIC: minimum time of the busiest NIC; x: simulated time over that; other columns: terms of the model"
)
"""Explains the headings of `exchange_table`."""


def exchange_table(found: Findings) -> Any:
    """One row per exchange."""
    from odonata.cli.output import titled

    columns = ["level", "phase", "messages", "kB", "simulated", "NIC", "x"]
    columns += ["n beta", "penalty", "p hops", "p alpha"]
    table = titled.table("One exchange, us", columns, left=["phase"])
    for e in found.exchanges:
        factor = f"{e.simulated_s / e.nic_s:.2f}" if e.nic_s else "-"
        times = (e.bandwidth_s, e.bandwidth_penalty_s, e.hops_s, e.startup_s)
        table.add_row(
            str(e.level),
            e.phase,
            f"{e.messages:,}",
            f"{e.bytes / 1e3:,.0f}",
            f"{1e6 * e.simulated_s:.2f}",
            f"{1e6 * e.nic_s:.2f}",
            factor,
            *(f"{1e6 * seconds:.2f}" for seconds in times),
        )
    return table


def _short(scenario: str) -> str:
    """`alpha-beta-penalties` as `a-b-pen.`."""
    for name in ("alpha", "beta", "gamma"):
        scenario = scenario.replace(name, name[0])
    return scenario.replace("penalties", "pen.").replace("penalty", "pen.")


def level_table(found: Findings) -> Any:
    """One row per level: with the simulated network, and in each scenario."""
    from odonata.cli.output import titled

    names = list(found.levels[0].scenarios)
    columns = ["level", "compute", "start-up", "network", "share", "sum", *(_short(name) for name in names)]
    title = (
        "A cycle's time per level, ms: with the simulated network, and by scenario (a alpha, b beta, g gamma)"
    )
    table = titled.table(title, columns)
    for level in found.levels:
        parts = (level.compute_s, level.startup_s, level.network_s)
        table.add_row(
            str(level.level),
            *(f"{1e3 * seconds:.4f}" for seconds in parts),
            percent(level.network_share),
            f"{1e3 * level.seconds:.4f}",
            *(f"{1e3 * level.scenarios[name]:.4f}" for name in names),
        )
    return table
