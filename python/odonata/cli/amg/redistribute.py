"""`odonata amg redistribute`: the decision with its reasons, its execution, and what else could be done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.amg import options

if TYPE_CHECKING:
    from odonata.amg.beyond import Way
    from odonata.amg.boomeramg import Executed
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import ParameterSet
    from odonata.amg.model import Decision
    from odonata.amg.problems import Problem


@click.command()
@click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@options.problem
@options.matrix
@options.machine
@options.mix
@click.option(
    "--execute", is_flag=True, help="Gather that level for real, coarsen on, count, price and solve."
)
@click.option("--beyond", is_flag=True, help="Execute the best of all levels and numbers of ranks, too.")
@click.option(
    "--alternatives",
    "most",
    type=click.IntRange(min=0),
    default=5,
    metavar="N",
    help="How many of the next best to list (5).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the executed hierarchies and their messages.",
)
@common.force
@common.quiet
@common.as_json
def command(
    directory: Path | None,
    matrix: Path | None,
    functions: int,
    refinement: int,
    machine_name: str,
    threads: int,
    tasks: int | None,
    execute: bool,
    beyond: bool,
    most: int,
    output: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Decide as the paper does where to gather a coarse grid on fewer ranks, and say why, level by level.

    \b
    odonata amg redistribute --problem laplace7 --ranks 512 --points 30x30x30
    odonata amg redistribute --problem laplace7 --ranks 512 --points 30x30x30 --execute --beyond

    --execute and --beyond need hypre.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    import tempfile

    from odonata.amg import model
    from odonata.amg.machines import load
    from odonata.cli import terminal
    from odonata.errors import OdonataError
    from odonata.store.writer import check_target

    machine = load(machine_name)
    if output is not None:
        if not execute:
            raise OdonataError("-o keeps what was executed", hint="Add --execute.")
        check_target(output, force=force)
    mix: dict[str, Any] = {"threads": threads, "tasks": tasks}
    with tempfile.TemporaryDirectory(prefix="odonata-amg-") as folder:
        problem, path, hierarchy = _source(
            directory, matrix, given, functions, refinement, Path(folder), execute or beyond, quiet=quiet
        )
        decision = model.decide(hierarchy, machine, **mix)
        others = model.alternatives(hierarchy, machine, **mix)
        plain_s = model.cycle(hierarchy, machine, **mix).seconds
        switches = [decision.switch] if execute and decision.switch is not None else []
        if beyond and others and (others[0].level, others[0].groups) not in switches:
            switches.append((others[0].level, others[0].groups))
        executed = []
        if switches:
            assert problem is not None
            executed = [_execute(problem, path, switch, machine, mix, quiet=quiet) for switch in switches]
    if output is not None and executed:
        from odonata.amg.boomeramg import save_executed

        save_executed(executed[0], output, force=force)
    results = [_priced(done, machine, mix) for done in executed]
    ways = _ways(executed, machine, mix)
    if as_json:
        terminal.print_json(
            {
                "cores": hierarchy.ranks * threads,
                "threads": threads,
                "switch": decision.switch,
                "cycle_s": plain_s,
                "levels": [_plain(level) for level in decision.levels],
                "alternatives": [vars(a) for a in others[:most]],
                "executed": results[0] if results else None,
                "also_executed": results[1:],
                "ways": [vars(way) for way in ways],
            }
        )
        return
    _show(decision, others, plain_s, results, ways, most=most)
    if output is not None:
        written = f"written: {output}" if executed else "nothing was executed, nothing written"
        terminal.console().print(written)


def _show(
    decision: Decision,
    others: list[Any],
    plain_s: float,
    results: list[dict[str, Any]],
    ways: list[Way],
    *,
    most: int,
) -> None:
    """Prints the decision, its price and reasons, the next best, and what was executed."""
    from odonata.cli import terminal
    from odonata.cli.amg import titled

    screen = terminal.console()
    titled.show(screen, _decision_table(decision))
    if decision.switch is None:
        screen.print("no redistribution")
    else:
        level, groups = decision.switch
        priced = next((a.cycle_s for a in others if (a.level, a.groups) == decision.switch), None)
        gain = (
            "" if priced is None else f": a cycle of {1e3 * plain_s:.3f} ms would take {1e3 * priced:.3f} ms"
        )
        screen.print(f"redistribute level {level} to {groups} ranks{gain}", style="bold")
    if most:
        titled.show(screen, _alternatives_table(others[:most], decision))
    for result in results:
        titled.show(screen, _executed_table(result))
    if ways:
        titled.show(screen, _ways_table(ways))
        screen.print("Set-up: its communication alone, from the messages that were counted.")


def _source(
    directory: Path | None,
    matrix: Path | None,
    given: dict[str, Any],
    functions: int,
    refinement: int,
    folder: Path,
    needs_problem: bool,
    *,
    quiet: bool,
) -> tuple[Problem | None, Path | None, Hierarchy]:
    """The problem, the file of its matrix if it has one, and its hierarchy."""
    from odonata.amg import boomeramg, matrices, problems, store

    if matrix is not None or given.get("problem_name") in ("elasticity", "file"):
        settings = options.settings_of(given)
        problem, path = matrices.prepare(
            matrix, given.get("ranks"), settings, functions=functions, refinement=refinement, folder=folder
        )
        return problem, path, boomeramg.build(problem, matrix=path, progress=_report(quiet)).hierarchy
    if directory is not None:
        hierarchy = store.read(directory)
        return (problems.of_settings(hierarchy.settings) if needs_problem else None), None, hierarchy
    problem = options.problem_of(given)
    found = store.find_shipped(problem.described())
    if found is None and needs_problem:
        return problem, None, boomeramg.build(problem, progress=_report(quiet)).hierarchy
    return problem, None, found if found is not None else options.hierarchy_of(None, given)


def _report(quiet: bool) -> Any:
    from odonata.cli import terminal

    screen = terminal.error_console()
    return None if quiet else lambda level, rows: screen.print(f"  level {level}: {rows:,} unknowns")


def _execute(
    problem: Problem,
    path: Path | None,
    switch: tuple[int, int],
    machine: ParameterSet,
    mix: dict[str, Any],
    *,
    quiet: bool,
) -> Executed:
    from odonata.amg import boomeramg, model

    per_node = mix["tasks"] or model.default_tasks(machine, mix["threads"])
    return boomeramg.execute(problem, switch, matrix=path, ranks_per_node=per_node, progress=_report(quiet))


def _priced(done: Executed, machine: ParameterSet, mix: dict[str, Any]) -> dict[str, Any]:
    """The executed redistribution by the paper's formulas."""
    from odonata.amg import model

    before_s = model.cycle(done.plain, machine, **mix).seconds
    after_s = model.regrouped_seconds(done.plain, done.regrouped, done.switch[0], machine, **mix)
    return {
        "switch": done.switch,
        "before_s": before_s,
        "after_s": after_s,
        "speedup": before_s / after_s,
        "levels": done.regrouped.levels,
        "iterations": list(done.iterations),
    }


def _ways(executed: list[Executed], machine: ParameterSet, mix: dict[str, Any]) -> list[Way]:
    from odonata.amg import beyond

    return beyond.ways(executed, machine, **mix) if executed else []


def _plain(level: Any) -> dict[str, Any]:
    return {
        **vars(level),
        "candidates": [vars(c) for c in level.candidates],
        "best": None if level.best is None else vars(level.best),
    }


def _decision_table(decision: Decision) -> Any:
    from odonata.cli.amg import titled

    columns = ["level", "no switch", "switch", "to ranks", "cache", "cycle so far", "because"]
    table = titled.table("Redistribution, ms", columns, left=["cache"], wrap=["because"])
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
        "Best of all levels and numbers of ranks by the same formulas",
        ["level", "to ranks", "cycle, ms", "note"],
        left=["note"],
    )
    for a in others:
        notes = ["the paper's choice"] if (a.level, a.groups) == decision.switch else []
        notes += [] if a.allowed else ["ruled out by the cache"]
        table.add_row(str(a.level), str(a.groups), f"{1e3 * a.cycle_s:.3f}", ", ".join(notes))
    return table


def _executed_table(executed: dict[str, Any]) -> Any:
    from odonata.cli.amg import titled

    level, groups = executed["switch"]
    title = f"Executed: level {level} to {groups} ranks"
    table = titled.table(title, ["", "before", "after"], left=[""])
    table.add_row("cycle, ms", f"{1e3 * executed['before_s']:.3f}", f"{1e3 * executed['after_s']:.3f}")
    table.add_row("iterations to 1e-8", *(str(n) for n in executed["iterations"]))
    for entry in executed["levels"]:
        table.add_row(f"level {entry['level']}: C, p", "", f"{entry['unknowns']:,.0f}, {entry['sends']:.0f}")
    return table


_SHORT = {"direct": "1", "two-steps": "2", "three-steps": "3"}
"""The routes as numbers of steps."""


def _ways_table(ways: list[Way]) -> Any:
    from odonata.cli.amg import titled

    columns = ["way", "switch", "steps per level", "by formula", "rank by rank", "set-up"]
    table = titled.table("All ways, ms per cycle", columns, left=["way", "switch", "steps per level"])
    for way in ways:
        switch = "-" if way.switch is None else f"{way.switch[0]} to {way.switch[1]}"
        times = (way.formula_s, way.ranked_s, way.setup_s)
        name = f"{way.name}, node-aware" if way.node_aware else way.name
        steps = " ".join(_SHORT[route] for route in way.routes)
        table.add_row(name, switch, steps or "-", *("-" if s is None else f"{1e3 * s:.3f}" for s in times))
    return table
