"""`odonata amg redistribute`: where to gather a coarse grid on fewer ranks, and what it saves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.cli.output import terminal
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from odonata.amg.advice import Advice, Adviser
    from odonata.amg.boomeramg import ExecutedRedistribution
    from odonata.amg.comparison import Variant
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import ParameterSet
    from odonata.amg.model import Candidate, LevelDecision
    from odonata.amg.problems import Problem


@click.command()
@options.hierarchy
@options.problem
@options.matrix
@options.machine
@options.mix
@options.solver
@click.option(
    "--account",
    type=click.Choice(["ranked", "paper"]),
    help="Price cycles by each rank's messages (default if they are counted) or by the paper's formulas.",
)
@click.option("--scenario", metavar="NAME", help="Scenario of the penalties; the machine's own by default.")
@click.option(
    "--execute",
    is_flag=True,
    help="Run the redistribution with hypre: coarsen, count messages, price and solve.",
)
@click.option(
    "--beyond", is_flag=True, help="Also execute the best choice among all levels and numbers of ranks."
)
@click.option(
    "--objective",
    type=click.Choice(["solve", "setup", "both"]),
    help="Time to shorten: the solve's, the set-up's or both (needs DIR of `amg hierarchy --record`).",
)
@common.count("--iterations", metavar="N", default=20, help="Cycles of a solve, with --objective (20).")
@click.option(
    "--work-factor",
    type=float,
    default=1.0,
    metavar="X",
    help="Time of the set-up's computation on the machine over the recorded one, with --objective (1).",
)
@common.count("--alternatives", "most", least=0, default=5, help="Number of next best choices to list (5).")
@common.output("DIR", "Write the executed hierarchies and their messages to DIR.")
@common.force
@common.quiet_progress
@common.as_json
def command(
    directory: Path | None,
    matrix: Path | None,
    machine_name: str,
    threads: int,
    tasks: int | None,
    account: str | None,
    scenario: str | None,
    solver: str | None,
    execute: bool,
    beyond: bool,
    objective: str | None,
    iterations: int,
    work_factor: float,
    most: int,
    output: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Find the level at which to gather a coarse grid on fewer ranks, with reasons per level.

    \b
    odonata amg redistribute --problem laplace7 --ranks 512 --points 30x30x30
    odonata amg redistribute --problem laplace7 --ranks 512 --points 30x30x30 --execute --beyond
    odonata amg redistribute --problem laplace7 --ranks 1024 --points 50x50x25 --account paper

    --execute and --beyond need hypre.

    \b
    odonata amg redistribute DIR --objective both --iterations 20
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import tempfile

    from odonata.amg.machines import load
    from odonata.store.writer import check_target

    machine = load(machine_name)
    if output is not None:
        if not execute:
            raise OdonataError("-o needs --execute", hint="Add --execute.")
        check_target(output, force=force)
    mix: dict[str, Any] = {"threads": threads, "tasks": tasks, "scenario": scenario}
    if objective is not None:
        if directory is None or execute or beyond:
            raise OdonataError("--objective needs DIR, without --execute and --beyond")
        one = _Objective(directory, machine, account, mix, objective, iterations, work_factor)
        one.show(most, as_json=as_json)
        return
    with tempfile.TemporaryDirectory(prefix="odonata-amg-") as folder:
        problem, path, hierarchy, messages = _source(
            directory, matrix, given, Path(folder), execute or beyond, solver, quiet=quiet
        )
        options.warn_of_cycle(hierarchy)
        adviser, advice = _advise(hierarchy, messages, machine, account, mix)
        switches = [advice.switch] if execute and advice.switch is not None else []
        if beyond and advice.predictions and advice.predictions[0].switch not in switches:
            switches.append(advice.predictions[0].switch)
        executed = []
        if switches:
            assert problem is not None
            executed = [
                _execute(problem, path, switch, machine, mix, solver, quiet=quiet) for switch in switches
            ]
    if output is not None and executed:
        from odonata.amg.boomeramg import save_executed

        save_executed(executed[0], output, force=force)
    results = [_result(done, adviser, advice) for done in executed]
    variants = _variants(executed, machine, mix)
    if as_json:
        _print_json(adviser, advice, threads, results, variants, most)
        return
    _show(adviser, advice, results, variants, most=most)
    _show_what_counts(directory)
    if output is not None:
        written = f"written: {output}" if executed else "Nothing was executed, so nothing was written."
        terminal.console().print(written)


def _show_what_counts(directory: Path | None) -> None:
    """Says that a recorded set-up did not count. It can cost more than all cycles gain."""
    from odonata.amg import store

    if directory is not None and store.has_table(directory, "recorded_messages"):
        terminal.console().print("This counts cycles only. With the recorded set-up: --objective both")


@dataclass(frozen=True)
class _Objective:
    """A decision that can count the set-up."""

    directory: Path
    machine: ParameterSet
    account: str | None
    mix: dict[str, Any]
    objective: str
    iterations: int
    work_factor: float

    def show(self, most: int, *, as_json: bool) -> None:
        from odonata.amg import model, objective, setup, store
        from odonata.cli.output import amg_setup

        recorded = setup.load(self.directory)
        messages = store.read_table(self.directory, "messages")
        adviser, advice = _advise(recorded.hierarchy, messages, self.machine, self.account, self.mix)
        per_node = self.mix["tasks"] or model.default_tasks(self.machine, self.mix["threads"])
        pricing = setup.Pricing(self.machine, advice.account, per_node, self.work_factor)
        compared = objective.compare(adviser, recorded, pricing)
        found = compared.decision(self.objective, self.iterations)
        best = found.best
        if as_json:
            choices = [vars(one) for one in found.choices[:most]]
            plain = {"objective": self.objective, "iterations": self.iterations, "account": advice.account}
            chosen = None if best is None else vars(best)
            terminal.print_json({**plain, "before": vars(found.before), "best": chosen, "choices": choices})
            return
        screen = terminal.console()
        terminal.print_table(screen, amg_setup.decision(found, most))
        if best is None:
            screen.print("no redistribution: no choice gains 5 %", style="bold")
            return
        gain = 100 * (1 - best.total_s / found.before.total_s)
        ranks = f"{best.groups} rank{'s'[: best.groups > 1]}"
        screen.print(f"redistribute level {best.level} to {ranks}: {gain:.1f} % less time", style="bold")


def _advise(
    hierarchy: Hierarchy,
    messages: pa.Table | None,
    machine: ParameterSet,
    account: str | None,
    mix: dict[str, Any],
) -> tuple[Adviser, Advice]:
    """The adviser, and the advice of the requested account; by default of the messages if known."""
    from odonata.amg.advice import Adviser
    from odonata.amg.ranked import RankModel

    if account == "ranked" and messages is None:
        raise OdonataError(
            "this hierarchy has no messages, so it cannot be priced rank by rank",
            hint="Count messages with `odonata amg hierarchy -o DIR` (needs hypre), or use --account paper.",
        )
    ranked = None if messages is None else RankModel(hierarchy, messages, machine, **mix)
    adviser = Adviser(hierarchy, machine, ranked, **mix)
    return adviser, adviser.advice(account or ("paper" if ranked is None else "ranked"))


def _print_json(
    adviser: Adviser,
    advice: Advice,
    threads: int,
    results: list[dict[str, Any]],
    variants: list[Variant],
    most: int,
) -> None:
    def plain(one: Advice) -> dict[str, Any]:
        return {
            "account": one.account,
            "cycle_s": one.before_s,
            "switch": one.switch,
            "predicted_s": None if one.switch is None else one.predicted_s(one.switch),
            "reason": one.reason,
        }

    paper = adviser.advice("paper")
    terminal.print_json(
        {
            "cores": adviser.hierarchy.ranks * threads,
            "threads": threads,
            "scenario": adviser.scenario or adviser.machine.scenario,
            **plain(advice),
            "alternatives": [vars(p) for p in advice.predictions[:most]],
            "paper": {**plain(paper), "levels": [_plain(level) for level in adviser.decision.levels]},
            "executed": results[0] if results else None,
            "also_executed": results[1:],
            "variants": [vars(variant) for variant in variants],
        }
    )


def _show(
    adviser: Adviser, advice: Advice, results: list[dict[str, Any]], variants: list[Variant], *, most: int
) -> None:
    screen = terminal.console()
    paper = advice.account == "paper"
    terminal.print_table(screen, _paper_table(adviser) if paper else _ranked_table(adviser, advice))
    scenario = adviser.scenario or adviser.machine.scenario
    basis = "by the paper's formulas" if paper else "rank by rank"
    screen.print(f"A cycle {basis}, {scenario}: {1e3 * advice.before_s:.3f} ms")
    if advice.switch is None:
        screen.print(f"no redistribution: {advice.reason}", style="bold")
    else:
        screen.print(f"redistribute {_outcome(advice)}", style="bold")
    if adviser.ranked is None:
        screen.print("This hierarchy has no messages, so ranks cannot be priced one by one.")
    elif not paper:
        screen.print(_difference(adviser.advice("paper")))
    if most and advice.predictions:
        terminal.print_table(screen, _alternatives_table(advice, adviser, most))
    for result in results:
        terminal.print_table(screen, _executed_table(result, advice))
    if variants:
        terminal.print_table(screen, _variants_table(variants))
        screen.print("Set-up: only its communication, from the counted messages.")


def _outcome(advice: Advice) -> str:
    assert advice.switch is not None
    after_s = advice.predicted_s(advice.switch)
    assert after_s is not None
    level, groups = advice.switch
    gain = 100 * (1 - after_s / advice.before_s)
    return (
        f"level {level} to {groups} rank{'s'[: groups > 1]}: a cycle of {1e3 * advice.before_s:.3f} ms "
        f"would take {1e3 * after_s:.3f} ms, {gain:.1f} % less"
    )


def _difference(paper: Advice) -> str:
    """The advice of the closed formulas."""
    if paper.switch is None:
        return f"By the paper's formulas a cycle takes {1e3 * paper.before_s:.3f} ms: {paper.reason}."
    return (
        f"The paper's formulas (--account paper) assume the maximum counts for every rank. They advise "
        f"{_outcome(paper)}."
    )


def _source(
    directory: Path | None,
    matrix: Path | None,
    given: dict[str, Any],
    folder: Path,
    needs_problem: bool,
    solver: str | None,
    *,
    quiet: bool,
) -> tuple[Problem | None, Path | None, Hierarchy, pa.Table | None]:
    """The problem, its matrix file, its hierarchy and its messages; None where unknown."""
    from odonata.amg import boomeramg, problems, store

    if options.is_matrix(matrix, given):
        problem, path = options.prepared(matrix, given, folder, quiet=quiet)
        built = boomeramg.build(problem, matrix=path, solve=True, solver=solver, progress=_report(quiet))
        boomeramg.refuse_unsolved(built)
        return problem, path, built.hierarchy, built.tables["messages"]
    if directory is not None:
        hierarchy = store.read(directory)
        messages = store.read_table(directory, "messages") if store.has_table(directory, "messages") else None
        again = problems.from_settings(hierarchy.settings) if needs_problem else None
        return again, None, hierarchy, messages
    problem = options.problem_of(given)
    found = store.find_shipped(problem.as_dict())
    if found is None and needs_problem:
        built = boomeramg.build(problem, progress=_report(quiet))
        return problem, None, built.hierarchy, built.tables["messages"]
    hierarchy = found if found is not None else options.hierarchy_of(None, given)
    return problem, None, hierarchy, store.shipped_messages(hierarchy)


def _report(quiet: bool) -> Any:
    screen = terminal.error_console()
    return None if quiet else lambda level, rows: screen.print(f"  level {level}: {rows:,} unknowns")


def _execute(
    problem: Problem,
    path: Path | None,
    switch: tuple[int, int],
    machine: ParameterSet,
    mix: dict[str, Any],
    solver: str | None,
    *,
    quiet: bool,
) -> ExecutedRedistribution:
    from odonata.amg import boomeramg, model

    per_node = mix["tasks"] or model.default_tasks(machine, mix["threads"])
    return boomeramg.execute(
        problem, switch, matrix=path, ranks_per_node=per_node, solver=solver, progress=_report(quiet)
    )


def _result(done: ExecutedRedistribution, adviser: Adviser, advice: Advice) -> dict[str, Any]:
    after_s = adviser.executed_s(advice.account, done)
    return {
        "switch": done.switch,
        "before_s": advice.before_s,
        "predicted_s": advice.predicted_s(done.switch),
        "after_s": after_s,
        "speedup": advice.before_s / after_s,
        "levels": done.regrouped.levels,
        "iterations": list(done.iterations),
        "solver": done.solver,
        "solved": list(done.solved),
    }


def _variants(
    executed: list[ExecutedRedistribution], machine: ParameterSet, mix: dict[str, Any]
) -> list[Variant]:
    from odonata.amg import comparison

    return comparison.variants(executed, machine, **mix) if executed else []


def _plain(level: Any) -> dict[str, Any]:
    return {
        **vars(level),
        "candidates": [vars(c) for c in level.candidates],
        "best": None if level.best is None else vars(level.best),
    }


def _paper_table(adviser: Adviser) -> Any:
    def of_best(text: Callable[[Candidate], str]) -> Callable[[LevelDecision], str]:
        return lambda level: "-" if level.best is None else text(level.best)

    columns: dict[str, Any] = {
        "level": "{level}",
        "no switch": lambda level: f"{1e3 * level.noswitch_s:.3f}",
        "switch": of_best(lambda best: f"{1e3 * best.switch_s:.3f}"),
        "to ranks": of_best(lambda best: str(best.groups)),
        "cache": lambda level: level.category + ("" if level.best is None else f" -> {level.best.category}"),
        "cycle so far": lambda level: f"{1e3 * level.running_s:.3f}",
        "reason": "{reason}",
    }
    title = "Redistribution by the paper's formulas, ms"
    return terminal.listed(adviser.decision.levels, columns, title=title, left=["cache"], wrap=["reason"])


def _ranked_table(adviser: Adviser, advice: Advice) -> Any:
    """Cost of each level, and the best cycle if it is gathered."""
    assert adviser.ranked is not None
    columns = ["level", "active ranks", "time per cycle", "best ranks", "cycle", "saving, %"]
    table = terminal.table(title="Redistribution rank by rank, ms", columns=columns)
    for number, seconds in enumerate(adviser.ranked.level_seconds):
        best = next((p for p in advice.predictions if p.level == number and p.allowed), None)
        table.add_row(
            str(number),
            f"{adviser.hierarchy.levels[number]['active_ranks']:,.0f}",
            f"{1e3 * seconds:.3f}",
            "-" if best is None else str(best.groups),
            "-" if best is None else f"{1e3 * best.cycle_s:.3f}",
            "-" if best is None else f"{100 * (1 - best.cycle_s / advice.before_s):.1f}",
        )
    return table


def _alternatives_table(advice: Advice, adviser: Adviser, most: int) -> Any:
    table = terminal.table(
        title="Best choices of level and ranks",
        columns=["level", "to ranks", "cycle, ms", "note"],
        left=["note"],
    )
    for p in advice.predictions[:most]:
        notes = ["the paper's choice"] if p.switch == adviser.decision.switch else []
        notes += [] if p.allowed else ["excluded by the cache"]
        table.add_row(str(p.level), str(p.groups), f"{1e3 * p.cycle_s:.3f}", ", ".join(notes))
    return table


def _executed_table(executed: dict[str, Any], advice: Advice) -> Any:
    level, groups = executed["switch"]
    basis = "by the paper's formulas" if advice.account == "paper" else "rank by rank"
    table = terminal.table(
        title=f"Executed: level {level} to {groups} ranks", columns=["", "before", "after"], left=[""]
    )
    predicted_s = executed["predicted_s"]
    if predicted_s is not None:
        table.add_row(f"cycle predicted, {basis}, ms", "", f"{1e3 * predicted_s:.3f}")
    table.add_row(
        f"cycle executed, {basis}, ms",
        f"{1e3 * executed['before_s']:.3f}",
        f"{1e3 * executed['after_s']:.3f}",
    )
    counts = zip(executed["iterations"], executed["solved"], strict=True)
    iterations = (str(n) if solved else f"not solved in {n}" for n, solved in counts)
    table.add_row(f"iterations of {executed['solver']} to 1e-8", *iterations)
    for entry in executed["levels"]:
        table.add_row(f"level {entry['level']}: C, p", "", f"{entry['unknowns']:,.0f}, {entry['sends']:.0f}")
    return table


_SHORT = {"direct": "1", "two-steps": "2", "three-steps": "3"}
"""Number of steps by scheme."""


def _variants_table(variants: list[Variant]) -> Any:
    columns = ["scheme", "switch", "steps per level", "by formula", "rank by rank", "set-up"]
    table = terminal.table(
        title="All schemes, ms per cycle", columns=columns, left=["scheme", "switch", "steps per level"]
    )
    for variant in variants:
        switch = "-" if variant.switch is None else f"{variant.switch[0]} to {variant.switch[1]}"
        times = (variant.formula_s, variant.ranked_s, variant.setup_s)
        name = f"{variant.name}, node-aware" if variant.node_aware else variant.name
        steps = " ".join(_SHORT[route] for route in variant.routes)
        table.add_row(name, switch, steps or "-", *("-" if s is None else f"{1e3 * s:.3f}" for s in times))
    return table
