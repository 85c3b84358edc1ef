"""`odonata amg simulate`: simulate the messages of each level in the flow or packet engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.cli.output import terminal
from odonata.errors import OdonataError
from odonata.quantity import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from odonata.amg.ends import Parts
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import Ends, ParameterSet
    from odonata.amg.simulate import Exchange, Findings, LevelTimes

Progress = Callable[..., None] | None
"""Called with level and phase."""


@click.command()
@common.directory
@options.machine
@options.mix
@click.option("--preset", metavar="NAME", help="Preset of the simulated machine; as --machine by default.")
@click.option(
    "--engine",
    type=click.Choice(["flow", "packet"]),
    help="Engine of the simulation (flow; packet with --cycle).",
)
@click.option("--routing", metavar="NAME", help="Routing algorithm; the engine's default by default.")
@common.path(
    "--experiment",
    metavar="FILE",
    help="Experiment with the machine, engine and other jobs to simulate with.",
)
@click.option("--placement", metavar="NAME", default="compact", help="Placement of the ranks (compact).")
@click.option(
    "--cycle",
    is_flag=True,
    help="Simulate one whole cycle, with the costs at the ends of --machine, by mechanism.",
)
@click.option(
    "--setup",
    "set_up",
    is_flag=True,
    help="Simulate the recorded set-up, with the costs at the ends of --machine, and compare with its model.",
)
@click.option("--regrouped", is_flag=True, help="Simulate the levels after the redistribution in DIR.")
@common.count("--seed", least=0, default=1, help="Seed of the simulation (1).")
@common.quiet_progress
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
    set_up: bool,
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
    odonata amg simulate amg-laplace7-512 --setup
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.amg import boomeramg, machines, model, simulate, store

    machine = machines.load(machine_name)
    whole = store.read(directory)
    per_node = tasks or model.default_tasks(machine, threads)
    if cycle or set_up:
        word = "--cycle" if cycle else "--setup"
        if experiment is not None or regrouped or (cycle and set_up):
            raise OdonataError(f"{word} cannot be combined with --experiment, --regrouped or --setup")
        keys = {"preset": preset or machine.name, "routing": routing, "placement": placement, "seed": seed}
        if set_up:
            _show_set_up(directory, machine, per_node, engine or "packet", keys, as_json=as_json)
            return
        one = _Cycle(directory, whole, machine, per_node, threads, keys)
        one.show(engine or "packet", quiet=quiet, as_json=as_json)
        return
    engine = engine or "flow"
    network = experiment or simulate.experiment(preset or machine.name, engine, routing, seed)
    prefix = "regrouped_" if regrouped else ""
    moved = (boomeramg.redistributed(directory)[0], whole.ranks) if regrouped else None
    progress = terminal.error_console()
    found = simulate.simulate(
        directory,
        store.read(directory, prefix),
        store.read_table(directory, f"{prefix}messages"),
        machine,
        network,
        per_node=per_node,
        threads=threads,
        placement=placement,
        regrouped=moved,
        progress=None if quiet else lambda level, phase: progress.print(f"  level {level}: {phase}"),
    )
    if as_json:
        terminal.print_json(as_data(found))
        return
    screen = terminal.console()
    terminal.print_table(screen, exchange_table(found), legend=EXCHANGE_LEGEND)
    terminal.print_table(screen, level_table(found))
    screen.print(
        f"With the simulated network a cycle takes {1e3 * found.seconds:.3f} ms; "
        f"the network takes {percent(found.network_share)} of it."
    )
    screen.print(f"Closest scenario: {found.best_fit}. Verdicts on the model's terms:")
    for term, verdict in found.verdicts().items():
        screen.print(f"  {term}: {verdict}")


def _show_set_up(
    directory: Path,
    machine: ParameterSet,
    per_node: int,
    engine: str,
    keys: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """The set-up's communication by level and kernel, simulated and modelled."""
    from odonata.amg import setup, setup_simulation
    from odonata.cli.output import amg_setup

    if engine != "packet":
        raise OdonataError("--setup needs the packet engine: the flow engine has no hosts")
    recorded = setup.load(directory)
    found = setup_simulation.simulate(directory, recorded, machine, per_node=per_node, **keys)
    costs = setup.price(recorded, setup.Pricing(machine, per_node=per_node))
    if as_json:
        kernels = [
            {
                **vars(one),
                "model_s": found.modelled[one.level, one.kernel],
                "simulated_s": found.kernels.get((one.level, one.kernel), 0.0),
            }
            for one in costs
        ]
        levels = [{**vars(one), "off": one.off} for one in found.levels]
        terminal.print_json({"distance_s": found.distance_s, "kernels": kernels, "levels": levels})
        return
    screen = terminal.console()
    terminal.print_table(screen, amg_setup.kernels(costs, found))
    terminal.print_table(screen, amg_setup.levels(found))
    total = [sum(getattr(one, name) for one in found.levels) for name in ("simulated_s", "model_s")]
    screen.print(
        f"The set-up communicates for {1e3 * total[0]:.3f} ms; by the model {1e3 * total[1]:.3f} ms."
    )


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
        terminal.print_table(terminal.console(), parts.by_mechanism(title, accounts), legend=parts.LEGEND)

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

    def us(name: str) -> Callable[[Exchange], str]:
        return lambda e: f"{1e6 * getattr(e, name):.2f}"

    columns: dict[str, Any] = {
        "level": "{level}",
        "phase": "{phase}",
        "messages": "{messages:,}",
        "kB": lambda e: f"{e.bytes / 1e3:,.0f}",
        "simulated": us("simulated_s"),
        "NIC": us("nic_s"),
        "x": lambda e: f"{e.simulated_s / e.nic_s:.2f}" if e.nic_s else "-",
        "n beta": us("bandwidth_s"),
        "penalty": us("bandwidth_penalty_s"),
        "p hops": us("hops_s"),
        "p alpha": us("startup_s"),
    }
    return terminal.listed(found.exchanges, columns, title="One exchange, us", left=["phase"])


def _short(scenario: str) -> str:
    """`alpha-beta-penalties` as `a-b-pen.`."""
    for name in ("alpha", "beta", "gamma"):
        scenario = scenario.replace(name, name[0])
    return scenario.replace("penalties", "pen.").replace("penalty", "pen.")


def level_table(found: Findings) -> Any:
    """One row per level: with the simulated network, and in each scenario."""

    def ms(value: Callable[[LevelTimes], float]) -> Callable[[LevelTimes], str]:
        return lambda level: f"{1e3 * value(level):.4f}"

    columns: dict[str, Any] = {
        "level": "{level}",
        "compute": ms(lambda level: level.compute_s),
        "start-up": ms(lambda level: level.startup_s),
        "network": ms(lambda level: level.network_s),
        "share": lambda level: percent(level.network_share),
        "sum": ms(lambda level: level.seconds),
    }
    for name in found.levels[0].scenarios:
        columns[_short(name)] = ms(lambda level, name=name: level.scenarios[name])  # type: ignore[misc]
    title = (
        "A cycle's time per level, ms: with the simulated network, and by scenario (a alpha, b beta, g gamma)"
    )
    return terminal.listed(found.levels, columns, title=title)
