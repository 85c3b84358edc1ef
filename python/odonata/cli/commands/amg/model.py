"""`odonata amg model`: price a cycle."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.cli.output import terminal
from odonata.quantity import percent, quantity

if TYPE_CHECKING:
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import ParameterSet
    from odonata.amg.model import Cycle


@click.command()
@options.hierarchy
@options.problem
@options.machine
@options.mix
@click.option(
    "--scenario", metavar="NAME", help="Show the terms of one scenario; by default compare all six."
)
@click.option(
    "--extrapolate",
    "small",
    metavar="DIR|P",
    help="Smaller hierarchy of a series (directory or number of ranks); bracket the next larger one.",
)
@click.option(
    "--from-points",
    "fewer",
    metavar="DIR|AxBxC",
    help="Fewer points per rank, to extrapolate from these and --points, ...",
)
@click.option("--to-points", "more", metavar="AxBxC", help="... to this number of points, on as many ranks.")
@common.as_json
def command(
    directory: Path | None,
    machine_name: str,
    threads: int,
    tasks: int | None,
    scenario: str | None,
    small: str | None,
    fewer: str | None,
    more: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Price a V-cycle of the hierarchy in DIR, or of a problem with a table in the package.

    \b
    odonata amg model --problem laplace7 --ranks 1024 --points 50x50x25
    odonata amg model --problem laplace7 --ranks 128 --points 100x100x50 --threads 8 --scenario alpha-beta
    odonata amg model --problem laplace7 --ranks 512 --points 60x30x30 --from-points 30x30x30 \
        --to-points 100x100x50
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.amg import model
    from odonata.amg.machines import load

    machine = load(machine_name)
    hierarchies = {"": options.hierarchy_of(directory, given)}
    options.warn_of_cycle(hierarchies[""])
    if small is not None:
        low, high = model.extrapolate(_smaller(small, given), hierarchies[""])
        hierarchies = {"low": low, "high": high}
    if fewer is not None or more is not None:
        hierarchies = {"": _more_points(hierarchies[""], fewer, more, given)}
    for end, hierarchy in hierarchies.items():
        _show(end, hierarchy, machine, threads, tasks, scenario, as_json)


def _more_points(large: Hierarchy, fewer: str | None, more: str | None, given: dict[str, Any]) -> Hierarchy:
    from math import prod

    from odonata.amg.larger import more_points
    from odonata.amg.problems import parse_points

    if fewer is None or more is None:
        raise click.UsageError("--from-points and --to-points must be used together")
    wanted = prod(parse_points(more))
    known = Path(fewer)
    small = options.hierarchy_of(known if known.is_dir() else None, {**given, "points": fewer})
    return more_points(small, large, wanted)


def _smaller(text: str, given: dict[str, Any]) -> Hierarchy:
    if text.isdigit():
        return options.hierarchy_of(None, {**given, "ranks": int(text)})
    return options.hierarchy_of(Path(text), {})


def _show(
    end: str,
    hierarchy: Hierarchy,
    machine: ParameterSet,
    threads: int,
    tasks: int | None,
    scenario: str | None,
    as_json: bool,
) -> None:
    from odonata.amg import model

    names = [scenario] if scenario else model.scenarios()
    cycles = [model.cycle(hierarchy, machine, threads=threads, tasks=tasks, scenario=name) for name in names]
    if as_json:
        terminal.print_json(
            {
                "end": end or None,
                "machine": machine.name,
                "source": hierarchy.source,
                "ranks": hierarchy.ranks,
                "threads": threads,
                "levels": hierarchy.levels,
                "scenarios": [
                    {"scenario": c.scenario, "seconds": c.seconds, "costs": [vars(cost) for cost in c.costs]}
                    for c in cycles
                ],
            }
        )
        return
    screen = terminal.console()
    mix = f"{tasks or model.default_tasks(machine, threads)} x {threads}"
    ending = f", {end} end of the bracket" if end else ""
    screen.print(
        f"{hierarchy.ranks:,} ranks ({mix} per node) on {machine.name}, {hierarchy.unknowns:,.0f} unknowns; "
        f"{hierarchy.source}{ending}"
    )
    terminal.print_table(screen, level_table(hierarchy), legend=LEVEL_LEGEND)
    terminal.print_table(screen, _terms(cycles[0]) if scenario else _scenarios(cycles))
    priced = {one.scenario: one for one in cycles}.get(scenario or machine.scenario, cycles[0])
    screen.print()
    screen.print(_most_expensive(priced, machine, is_best_fit=priced.scenario == machine.scenario))
    screen.print(_other_tasks(hierarchy, machine, threads, tasks, priced))


def _most_expensive(cycle: Cycle, machine: ParameterSet, *, is_best_fit: bool) -> str:
    """The level that takes most of a cycle."""
    seconds = cycle.level_seconds()
    level = max(range(len(seconds)), key=seconds.__getitem__)
    fit = f"the best fit to {machine.name}" if is_best_fit else "as chosen"
    most = f"{quantity(seconds[level], 's')}, {percent(seconds[level] / cycle.seconds)}"
    whole = quantity(cycle.seconds, "s")
    return f"By {cycle.scenario}, {fit}, a cycle takes {whole}. Level {level} takes most: {most}."


def _other_tasks(
    hierarchy: Hierarchy, machine: ParameterSet, threads: int, tasks: int | None, cycle: Cycle
) -> str:
    """The time of the cycle with a task per node more, or less on full nodes."""
    from odonata.amg import model

    limit = model.default_tasks(machine, threads)
    now = limit if tasks is None else tasks
    other = now + 1 if now < limit else now - 1
    if not other:
        return f"Nodes of {machine.cores_per_node} cores have room for no other number of tasks."
    again = model.cycle(hierarchy, machine, threads=threads, tasks=other, scenario=cycle.scenario)
    nodes = f"{ceil(hierarchy.ranks / other):,} instead of {ceil(hierarchy.ranks / now):,} nodes"
    change = again.seconds / cycle.seconds - 1
    effect = f"{100 * change:+.1f} %"
    if abs(change) < terminal.SMALLEST_CHANGE:
        effect = f"no change, since {cycle.scenario} charges nothing for a shared node"
    full = "" if other > now else f"Nodes are full with {now}. "
    return f"{full}With {other} tasks per node ({nodes}): {quantity(again.seconds, 's')}, {effect}."


LEVEL_LEGEND = (
    "C unknowns, s non-zeros per row, p and n maximum messages and values that a rank sends in one product; "
    "^ for interpolation"
)
"""Explains the headings of `level_table`."""


def level_table(hierarchy: Hierarchy) -> Any:
    """The table of the levels."""
    levels = [{"level": i, **level} for i, level in enumerate(hierarchy.levels)]
    columns = {
        "level": "{level}",
        "C": "{unknowns:,.0f}",
        "s": "{nonzeros_per_row:.2f}",
        "p": "{sends:,.0f}",
        "n": "{values_sent:,.0f}",
        "s^": "{interpolation_nonzeros_per_row:.2f}",
        "p^": "{interpolation_sends:,.0f}",
        "n^": "{interpolation_values_sent:,.0f}",
        "active": "{active_ranks:,.0f}",
        "messages": "{messages:,.0f}",
    }
    return terminal.listed(levels, columns, title="Levels")


def _scenarios(cycles: list[Any]) -> Any:
    table = terminal.table(
        title="Time per level and scenario, ms", columns=["level", *(c.scenario for c in cycles)]
    )
    per_cycle = [c.level_seconds() for c in cycles]
    for level in range(len(per_cycle[0])):
        table.add_row(str(level), *(f"{1e3 * seconds[level]:.3f}" for seconds in per_cycle))
    table.add_section()
    table.add_row("cycle", *(f"{1e3 * c.seconds:.3f}" for c in cycles))
    return table


def _terms(cycle: Any) -> Any:
    terms = list(dict.fromkeys(cost.term for cost in cycle.costs))
    sums = cycle.by("level", "phase", "term")
    table = terminal.table(
        title=f"Terms of {cycle.scenario}, ms", columns=["level", "phase", *terms, "sum"], left=["phase"]
    )
    for level, phase in dict.fromkeys((cost.level, cost.phase) for cost in cycle.costs):
        row = [sums[(level, phase, term)] for term in terms]
        if sum(row) > 0:
            table.add_row(str(level), phase, *(f"{1e3 * s:.4f}" for s in row), f"{1e3 * sum(row):.4f}")
    totals = cycle.by("term")
    table.add_section()
    table.add_row("", "cycle", *(f"{1e3 * totals[(t,)]:.4f}" for t in terms), f"{1e3 * cycle.seconds:.4f}")
    return table
