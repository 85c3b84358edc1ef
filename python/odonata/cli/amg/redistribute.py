"""`odonata amg redistribute`: the decision with its reasons, and its execution."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.amg import options

if TYPE_CHECKING:
    from odonata.amg.boomeramg import Built
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import Machine
    from odonata.amg.model import Decision


@click.command()
@click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@options.problem
@options.machine
@options.mix
@click.option(
    "--execute", is_flag=True, help="Gather that level for real, coarsen on, count, price and solve."
)
@click.option(
    "--alternatives", "most", type=click.IntRange(min=0), default=5, metavar="N", help="Best others (5)."
)
@common.quiet
@common.as_json
def command(
    directory: Path | None,
    machine_name: str,
    threads: int,
    tasks: int | None,
    execute: bool,
    most: int,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Decides as the paper does where to gather a coarse grid on fewer ranks, and says why, level by level.

    odonata amg redistribute --problem laplace7 --ranks 512 --points 30x30x30 --execute
    """
    from odonata.amg import model
    from odonata.amg.machines import load
    from odonata.cli import terminal

    machine = load(machine_name)
    hierarchy = options.hierarchy_of(directory, given)
    decision = model.decide(hierarchy, machine, threads=threads, tasks=tasks)
    others = model.alternatives(hierarchy, machine, threads=threads, tasks=tasks)
    plain_s = model.cycle(hierarchy, machine, threads=threads, tasks=tasks).seconds
    executed = None
    if execute and decision.switch is not None:
        executed = _execute(decision.switch, hierarchy, machine, threads, tasks, quiet=quiet)
    if as_json:
        terminal.print_json(
            {
                "cores": hierarchy.ranks * threads,
                "threads": threads,
                "switch": decision.switch,
                "cycle_s": plain_s,
                "levels": [_plain(level) for level in decision.levels],
                "alternatives": [vars(a) for a in others[:most]],
                "executed": executed,
            }
        )
        return
    screen = terminal.console()
    screen.print(_decision_table(decision))
    if decision.switch is None:
        screen.print("no redistribution")
    else:
        screen.print(f"redistribute level {decision.switch[0]} to {decision.switch[1]} ranks")
    if most:
        screen.print(_alternatives_table(others[:most], decision))
    if executed is not None:
        screen.print(_executed_table(executed))
        screen.print(_node_aware_table(executed["node_aware"]))


def _plain(level: Any) -> dict[str, Any]:
    return {
        **vars(level),
        "candidates": [vars(c) for c in level.candidates],
        "best": None if level.best is None else vars(level.best),
    }


def _decision_table(decision: Decision) -> Any:
    from odonata.cli.amg import titled

    columns = ["level", "no switch", "switch", "C", "cache", "cycle so far", "because"]
    table = titled.table("Redistribution, ms", columns, left=["cache", "because"])
    for level in decision.levels:
        best = level.best
        table.add_row(
            str(level.level),
            f"{1e3 * level.noswitch_s:.3f}",
            "-" if best is None else f"{1e3 * best.switch_s:.3f}",
            "-" if best is None else str(best.groups),
            level.category if best is None else f"{level.category} -> {best.category}",
            f"{1e3 * level.running_s:.3f}",
            level.reason,
        )
    return table


def _alternatives_table(others: list[Any], decision: Decision) -> Any:
    from odonata.cli.amg import titled

    table = titled.table(
        "Best of all levels and C by the same formulas", ["level", "C", "cycle, ms", "note"], left=["note"]
    )
    for a in others:
        notes = ["the paper's choice"] if (a.level, a.groups) == decision.switch else []
        notes += [] if a.allowed else ["ruled out by the cache"]
        table.add_row(str(a.level), str(a.groups), f"{1e3 * a.cycle_s:.3f}", ", ".join(notes))
    return table


def _execute(
    switch: tuple[int, int],
    hierarchy: Hierarchy,
    machine: Machine,
    threads: int,
    tasks: int | None,
    *,
    quiet: bool,
) -> dict[str, Any]:
    from odonata.amg import boomeramg, model, problems
    from odonata.cli import terminal

    problem = problems.of_settings(hierarchy.settings)
    screen = terminal.error_console()
    report = None if quiet else lambda level, rows: screen.print(f"  level {level}: {rows:,} unknowns")
    per_node = tasks or model.default_tasks(machine, threads)
    plain = boomeramg.build(problem, solve=True, ranks_per_node=per_node, progress=report)
    moved = boomeramg.build(
        problem, solve=True, redistribute=switch, ranks_per_node=per_node, progress=report
    )
    assert moved.regrouped is not None
    before = model.cycle(plain.hierarchy, machine, threads=threads, tasks=tasks)
    after = model.regrouped_seconds(
        plain.hierarchy, moved.regrouped, switch[0], machine, threads=threads, tasks=tasks
    )
    return {
        "before_s": before.seconds,
        "after_s": after,
        "speedup": before.seconds / after,
        "levels": moved.regrouped.levels,
        "iterations": [plain.summary["pcg"]["iterations"], moved.summary["pcg"]["iterations"]],
        "node_aware": _node_aware(plain, moved, per_node, machine),
    }


def _node_aware(plain: Built, moved: Built, per_node: int, machine: Machine) -> list[dict[str, Any]]:
    """Per level one product's communication by each route, before and after redistribution."""
    from odonata.amg import node_aware

    nodes = node_aware.block_placement(plain.hierarchy.ranks, per_node)
    rows = []
    after = {} if moved.regrouped is None else {level["level"] for level in moved.regrouped.levels}
    for level in range(len(plain.hierarchy.levels)):
        row: dict[str, Any] = {"level": level}
        for route in node_aware.ROUTES:
            row[route] = node_aware.product_seconds(plain.tables["messages"], level, nodes, machine, route)
            if level in after:
                table = moved.tables["regrouped_messages"]
                row[f"regrouped {route}"] = node_aware.product_seconds(table, level, nodes, machine, route)
        rows.append(row)
    return rows


def _executed_table(executed: dict[str, Any]) -> Any:
    from odonata.cli.amg import titled

    table = titled.table("Executed", ["", "before", "after"], left=[""])
    table.add_row("cycle, ms", f"{1e3 * executed['before_s']:.3f}", f"{1e3 * executed['after_s']:.3f}")
    table.add_row("iterations to 1e-8", *(str(n) for n in executed["iterations"]))
    for level in executed["levels"]:
        table.add_row(f"level {level['level']}: C, p", "", f"{level['unknowns']:,.0f}, {level['sends']:.0f}")
    return table


def _node_aware_table(rows: list[dict[str, Any]]) -> Any:
    from odonata.cli.amg import titled

    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name != "level"]
    table = titled.table("Communication of one product, rank by rank, us", ["level", *names])
    for row in rows:
        cells = [f"{1e6 * row[name]:.1f}" if name in row else "" for name in names]
        table.add_row(str(row["level"]), *cells)
    return table
