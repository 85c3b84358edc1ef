"""A search in the terminal: its best configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.cli.output import columns, terminal
from odonata.store.schema import declarations
from odonata.store.sweep import short_keys

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.optimization import Optimization


def as_data(found: Optimization) -> dict[str, Any]:
    """All trials, and the numbers of those on the front, as JSON has them."""
    return {"trials": found.trials.to_pylist(), "front": found.front["trial"].to_pylist()}


def print_search(screen: Console, found: Optimization) -> None:
    """Prints how many configurations were tried, and the Pareto front."""
    trials = found.trials
    stopped = trials.filter(trials["reason"].is_valid())
    beyond = sum(not may for may in trials["allowed"].to_pylist()) - stopped.num_rows
    screen.print(
        f"{trials.num_rows} configurations tried: {found.front.num_rows} on the front, "
        f"{beyond} violate a constraint, {stopped.num_rows} without a result",
        style="bold",
    )
    for reason in dict.fromkeys(stopped["reason"].to_pylist()):
        screen.print(f"  no result: {reason}", soft_wrap=True)
    if not found.front.num_rows:
        screen.print("No configuration has a result that meets the constraints.")
        return
    front, known = found.front, declarations(trials.schema)
    names = [name for name in trials.column_names if name not in ("trial", "allowed", "front", "reason")]
    texts = [name for name in names if known[name].type == "str"]
    numbers = columns.of_table(front, [name for name in names if name not in texts])
    keys = [
        columns.texts(short, front[name].to_pylist())
        for name, short in zip(texts, short_keys(texts), strict=True)
    ]
    number = columns.texts("trial", map(str, front["trial"].to_pylist()))
    title = "Pareto front" if len(found.objectives) > 1 else "Best configuration"
    terminal.print_table(screen, columns.joined([number, *keys, *numbers]), title)
    before, best = trials[found.objectives[0]][0].as_py(), found.best
    if before and best is not None:
        change = terminal.change(best[found.objectives[0]] / before - 1)
        screen.print(f"\n{found.objectives[0]}: {change} compared with the first values of the file")
    screen.print(f"Trials are in {found.path}. See one with: odonata show {found.path}/points/…")
