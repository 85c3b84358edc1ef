"""What a report says, apart from how it is written: its sentence, figures, tables and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from odonata.errors import OdonataError
from odonata.plot.style import Picture
from odonata.quantity import counted, quantity
from odonata.store.run import RunData

FIGURES = 4
ROWS_MAX = 30
"""Rows of a table, the first of more: a page has no room for all jobs or settings of a large run or sweep."""
JOBS_ACROSS = 5
"""Jobs with a column of their own, the first of more: as many fit the width of a page."""
WARNINGS_MAX = 5

Maker = tuple[str, Callable[[], Picture]]
"""Title of a figure, and what draws it or raises `OdonataError` without data for it."""

METHODS = {
    "flow": "The flow engine computes the steady state of all links, without packets and queues "
    "(docs/models/flow.md).",
    "packet": "The packet engine moves every packet through routers, links, buffers and credits "
    "(docs/models/packet.md).",
    "model": "The model engine predicts times with closed forms; links carry no traffic (docs/models/amg.md, "
    "docs/models/mpi.md).",
    "loggops": "The LogGOPS model runs programs without a network (docs/models/loggops.md).",
}


@dataclass(frozen=True)
class Table:
    """Rows of texts; the first column names the row."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """A report, without its layout."""

    name: str
    headline: str
    figures: tuple[tuple[str, Picture], ...]
    """At most `FIGURES`, each with its title."""
    tables: tuple[Table, ...]
    method: tuple[str, ...]
    """How the numbers were computed, a paragraph each."""
    experiment: str
    """The experiment file; empty if there is none."""


def drawn(makers: Iterable[Maker]) -> tuple[tuple[str, Picture], ...]:
    """The first figures that have data."""
    found: list[tuple[str, Picture]] = []
    for title, make in makers:
        try:
            found.append((title, make()))
        except OdonataError:
            continue  # There is no such data, for example no groups.
        if len(found) == FIGURES:
            break
    return tuple(found)


def first_rows(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of the first rows; its title says if there are more."""
    shown = title if len(rows) <= ROWS_MAX else f"{title}, the first {ROWS_MAX} of {len(rows):,}"
    return Table(shown, tuple(heads), tuple(map(tuple, rows[:ROWS_MAX])))


def shown(value: float | None, unit: str) -> str:
    """A value with its unit; a dash without one."""
    return "–" if value is None else quantity(value, unit)


def changed(before: float | None, after: float | None) -> str:
    """A relative change; a dash without one."""
    return f"{100 * (after / before - 1):+.1f} %" if before and after is not None else "–"


def machine_and_engine(runs: Sequence[RunData]) -> list[str]:
    """Engines, machines and routings of runs, each once."""
    engines = dict.fromkeys(run.summary["engine"] for run in runs)
    lines = [METHODS.get(engine, f"Engine: {engine}.") for engine in engines]
    places = dict.fromkeys(_machine(run) for run in runs)
    lines += [f"Machine {place}." for place in list(places)[:WARNINGS_MAX]]
    if len(places) > WARNINGS_MAX:
        lines.append(f"{len(places) - WARNINGS_MAX} more machines.")
    routings = ", ".join(dict.fromkeys(run.summary["routing"] for run in runs))
    seeds = list(dict.fromkeys(str(run.summary["seed"]) for run in runs))
    many = f"{len(seeds)} seeds" if len(seeds) > WARNINGS_MAX else f"seed {', '.join(seeds)}"
    lines.append(f"Routing {routings}, {many}.")
    return lines


def _machine(run: RunData) -> str:
    machine = run.summary["machine"]
    return (
        f"{machine['name']}: {counted(machine['routers'], 'router')}, {counted(machine['nodes'], 'node')} "
        f"and {counted(machine['links'], 'link')}"
    )


def reservations(runs: Sequence[RunData]) -> list[str]:
    """What limits the trust in the figures of runs: convergence, accuracy, endings and warnings."""
    lines = []
    states = [state for run in runs if "iterations" in (state := run.summary.get("convergence") or {})]
    if states:
        converged = sum(bool(state["converged"]) for state in states)
        many = sorted(int(state["iterations"]) for state in states)
        after = (
            f"{many[0]} to {counted(many[-1], 'iteration')}"
            if many[0] != many[-1]
            else counted(many[0], "iteration")
        )
        if len(states) == 1:
            word = "converged" if converged else "did not converge"
            lines.append(f"The steady state {word} after {after}.")
        else:
            lines.append(f"The steady state of {converged} of {len(states)} runs converged; {after}.")
    accuracy = [
        of for run in runs if (of := (run.summary.get("completion_times") or {}).get("accuracy")) is not None
    ]
    lines += [f"Completion times: {one}." for one in dict.fromkeys(accuracy)]
    endings = Counter(
        run.summary.get("ending", "unknown reason") for run in runs if not run.summary["complete"]
    )
    for ending, many_runs in endings.items():
        which = "The run is" if len(runs) == 1 else f"{many_runs} of {len(runs)} runs are"
        lines.append(f"{which} not complete: {ending}.")
    warnings = Counter(warning for run in runs for warning in run.summary["warnings"])
    for warning, count in warnings.most_common(WARNINGS_MAX):
        lines.append(f"Warning{'' if count == 1 else f' of {count} runs'}: {warning}")
    if len(warnings) > WARNINGS_MAX:
        lines.append(f"{counted(len(warnings) - WARNINGS_MAX, 'more warning')}.")
    return lines


def versions(runs: Sequence[RunData]) -> str:
    """The versions that made runs."""
    return f"Odonata {', '.join(dict.fromkeys(run.summary['odonata_version'] for run in runs))}"
