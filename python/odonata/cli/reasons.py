"""Why a job takes as long as it does, in words and tables: what holds it up, and what others cost it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from odonata.analysis import Bottleneck
    from odonata.runs import Run
    from odonata.sweeps.blame import Blame

LONGEST_S = 60.0
"""CPU time that the runs of a blame may take without being asked for."""


NOTHING = 1e-6
"""Of a job's time: what the others cost less is rounding."""


def place(one: Bottleneck) -> str:
    """The link or the interface."""
    return f"{one.name} ({one.kind})" if one.is_link else f"the network interface of {one.name} ({one.kind})"


def plain(one: Bottleneck | None) -> dict[str, Any] | None:
    """For JSON."""
    return None if one is None else {**asdict(one), "busy_share": one.busy_share}


def overview(run: Run) -> Table:
    """By job its time and what holds it up."""
    from odonata.analysis import bottleneck
    from odonata.cli import columns, terminal

    names = run.jobs["name"].to_pylist()
    found = [bottleneck(run, number) for number in range(len(names))]
    times = run.jobs["time_s"].to_pylist() if "time_s" in run.jobs.column_names else [None] * len(names)
    time = columns.of_values("time", times, "s")
    words = ["held up by", "most of the rest"]
    headings = ["job", time.heading, words[0], "busy meanwhile", "its own part", words[1]]
    shown = terminal.table(headings, left=["job", *words])
    for name, took, one in zip(names, time.cells, found, strict=True):
        where = "-" if one is None else place(one)
        shown.add_row(name, took, where, _busy(one), *_shares(one, name))
    return shown


def _busy(one: Bottleneck | None) -> str:
    from odonata.quantity import percent

    share = None if one is None else one.busy_share
    return "-" if share is None else percent(share)


def _shares(one: Bottleneck | None, name: str) -> tuple[str, str]:
    """The share of a job in what holds it up, and the other that has most there."""
    from odonata.quantity import percent

    if one is None or one.jobs is None or not one.bytes:
        return "-", "-"
    others = {other: amount for other, amount in one.jobs.items() if other != name}
    first = next(iter(others), None)
    said = "-" if first is None else f"{first}, {percent(others[first] / one.bytes)}"
    return percent(one.jobs.get(name, 0.0) / one.bytes), said


def held_up(screen: Console, run: Run, number: int, name: str) -> None:
    """What holds a job up, and whose bytes are there."""
    from odonata.analysis import bottleneck
    from odonata.cli import columns, terminal
    from odonata.quantity import percent, quantity

    one = bottleneck(run, number)
    if one is None:
        screen.print(f"{name} sends nothing over the network.")
        return
    amount, rate = quantity(one.bytes, "bytes"), quantity(one.capacity_bytes_per_s, "bytes-per-s")
    took = "" if one.time_s is None else f"{name} takes {quantity(one.time_s, 's')}. "
    busy = "" if one.busy_share is None else f", busy {_busy(one)} of that time"
    screen.print(
        f"{took}Of what it uses {place(one)} is the busiest meanwhile{busy}: "
        f"{amount} at {rate} need {quantity(one.seconds, 's')}."
    )
    if one.jobs is None:
        screen.print("Several jobs share that node.")
        return
    parts = list(one.jobs.items())
    on = columns.of_values("bytes", [value for _, value in parts], "bytes")
    needs = columns.of_values("needs", [value / one.capacity_bytes_per_s for _, value in parts], "s")
    shown = terminal.table(["job", on.heading, needs.heading, "share"], left=["job"])
    for (job, value), cell, need in zip(parts, on.cells, needs.cells, strict=True):
        shown.add_row(f"{job}, its own" if job == name else job, cell, need, percent(value / one.bytes))
    terminal.print_table(screen, "Whose bytes it carries", shown)


def change(base: Run, other: Run, name: str) -> str | None:
    """Why a job's time changed from one run to another, in a sentence; None if nothing holds it up there."""
    from odonata.analysis import bottleneck, bytes_on, link_of_name
    from odonata.quantity import quantity

    before, after = (bottleneck(run, run.jobs["name"].to_pylist().index(name)) for run in (base, other))
    if before is None or after is None:
        return None
    same = (before.name, before.kind) == (after.name, after.kind)
    then = _busy(before) if same else f"{place(before)}, {_busy(before)}"
    words = f"the busiest of what it uses is {place(after)}, {_busy(after)} of its time; before {then}"
    if not after.is_link:
        return words
    link = link_of_name(base, after.name)
    if link is None:
        return f"{words}; the link is new"
    had = bytes_on(base, link)
    grown = {job: amount - had.get(job, 0.0) for job, amount in (after.jobs or {}).items()}
    most = max(grown, key=lambda job: grown[job], default=None)
    if most is None or grown[most] <= 0:
        return words
    whose = "its own traffic" if most == name else f"the traffic of {most}"
    return f"{words}; {whose} there grew by {quantity(grown[most], 'bytes')}"


def affordable(run: Run, others: int) -> str | None:
    """Says what the runs of a blame would take if that is long; None if it is not."""
    from odonata.cli import terminal
    from odonata.sweeps.blame import runs_needed

    needed = runs_needed(others)
    whole_s = needed * float(run.summary["cpu_s"])
    if whole_s <= LONGEST_S:
        return None
    return (
        f"What the others cost it takes {needed} run{'s'[: needed != 1]} without some of them, about "
        f"{terminal.seconds(whole_s)} of a processor: --rerun makes {'them' if needed != 1 else 'it'}."
    )


def _runs(found: Blame) -> str:
    return f"{found.runs} run{'s'[: found.runs != 1]}"


def show_blame(screen: Console, found: Blame) -> None:
    """What the others cost a job."""
    from odonata.cli import columns, terminal
    from odonata.quantity import digits, quantity
    from odonata.sweeps.blame import ORDERS

    if abs(found.time_s - found.alone_s) <= NOTHING * found.time_s:
        screen.print(
            f"The others cost it nothing: alone on its nodes it takes as long ({_runs(found)} without some)."
        )
        return
    names = list(found.costs_s)
    without, costs = ([values[name] for name in names] for values in (found.without_s, found.costs_s))
    lost_s = found.time_s - found.alone_s
    beside = [*without, *costs, lost_s]
    of_without = columns.of_values("time without it", without, "s", beside)
    of_costs = columns.of_values("costs", [*costs, lost_s], "s", beside)
    shown = terminal.table(["beside", of_without.heading, of_costs.heading, "share"], left=["beside"])
    for i in sorted(range(len(names)), key=lambda i: -costs[i]):
        share = f"{100 * costs[i] / lost_s:.0f} %" if lost_s else "-"
        shown.add_row(names[i], of_without.cells[i], of_costs.cells[i], share)
    shown.add_section()
    shown.add_row("together", "", of_costs.cells[-1], "")
    terminal.print_table(screen, "What the others cost it", shown)
    orders = "all orders" if found.exact else f"{ORDERS} random orders"
    screen.print(
        f"Alone on its nodes it takes {quantity(found.alone_s, 's')}, beside them "
        f"{quantity(found.time_s, 's')}: {digits(found.slowdown)} times as long. A cost is what a job adds "
        f"when it comes, the mean over {orders} in which they could come ({_runs(found)})."
    )
