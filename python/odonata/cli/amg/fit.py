"""`odonata amg fit`: which scenario explains measured cycles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.amg import options

if TYPE_CHECKING:
    from odonata.amg.fit import Fit
    from odonata.amg.hierarchy import Hierarchy


@click.command()
@click.argument("times", metavar="TIMES.csv", type=click.Path(path_type=Path))
@click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@options.problem
@options.machine
@common.as_json
def command(times: Path, directory: Path | None, machine_name: str, as_json: bool, **given: Any) -> None:
    """Find the scenario that explains measured times per level of a cycle, and how far each is off.

    \b
    odonata amg fit times.csv --machine mine.toml --problem laplace7 --ranks 1024 --points 50x50x25
    odonata amg fit times.csv hierarchy --machine mine.toml

    TIMES.csv has a row per level and configuration: the columns level and time_s, time_ms or time_us; tasks
    (per node) and threads where they differ; hierarchy, a directory beside the file or a name that comes with
    the package, where DIR or --problem does not say it for all rows.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.amg import fit
    from odonata.amg.machines import load
    from odonata.cli import terminal

    machine = load(machine_name)
    known: dict[str | None, Hierarchy] = {}

    def hierarchy_of(name: str | None) -> Hierarchy:
        if name not in known:
            known[name] = (
                options.hierarchy_of(directory, given) if name is None else _named(name, times.parent)
            )
        return known[name]

    fits = fit.fit(fit.read(times), hierarchy_of, machine)
    # Penalties stand for many messages meeting: the run with the most tasks per node tells which are needed.
    chosen = max(fits, key=lambda one: one.tasks).scenario
    if as_json:
        found = [{**vars(one), "measured": vars(one.measured), "closest": one.closest} for one in fits]
        terminal.print_json({"machine": machine.name, "scenario": chosen, "fits": found})
        return
    from odonata.cli.amg import titled

    screen = terminal.console()
    titled.show(screen, _table(fits))
    for one in fits:
        titled.show(screen, _levels(one))
    screen.print(f'scenario = "{chosen}"', style="bold")
    same = chosen == machine.scenario
    screen.print(
        f"{machine.name} has it already."
        if same
        else f"That line belongs into the machine file of {machine.name}."
    )


def _named(name: str, folder: Path) -> Hierarchy:
    """A hierarchy directory beside the file of times, or one that comes with the package."""
    import json
    from difflib import get_close_matches

    from odonata.amg import library, store
    from odonata.errors import OdonataError

    if (folder / name).is_dir():
        return store.read(folder / name)
    shipped = dict(library.files("hierarchies"))
    if name in shipped:
        return store.parse(json.loads(shipped[name].read_text("utf-8")))
    near = get_close_matches(name, shipped, n=1)
    raise OdonataError(
        f"there is no hierarchy {name!r}",
        hint=f"Did you mean {near[0]}?" if near else "`odonata amg tables` lists those of the package.",
    )


def _label(one: Fit) -> str:
    mix = f"{one.tasks} x {one.measured.threads}"
    return mix if one.measured.hierarchy is None else f"{one.measured.hierarchy}, {mix}"


def _table(fits: list[Fit]) -> Any:
    from odonata.cli.amg import titled

    names = list(fits[0].factors)
    table = titled.table(
        "How far a level is off, as a factor (1: not at all)",
        ["tasks x threads", *names, "explains it"],
        left=["tasks x threads", "explains it"],
    )
    for one in fits:
        note = "" if one.closest == one.scenario else f" ({one.closest} is closer, but has more penalties)"
        cells = (f"{one.factors[name]:.2f}" for name in names)
        table.add_row(_label(one), *cells, f"{one.scenario}{note}")
    return table


def _levels(one: Fit) -> Any:
    from odonata.cli.amg import titled

    table = titled.table(f"{_label(one)}, ms", ["level", "measured", one.scenario, "off by, %"])
    for level, seconds in one.measured.seconds.items():
        predicted = one.predicted_s[one.scenario][level]
        off = 100 * (predicted / seconds - 1)
        table.add_row(str(level), f"{1e3 * seconds:.3f}", f"{1e3 * predicted:.3f}", f"{off:+.0f}")
    return table
