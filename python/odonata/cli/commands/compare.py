"""`odonata compare`: differences between runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.quantity import scale

if TYPE_CHECKING:
    from rich.table import Table

    from odonata.analysis import LinkPairs
    from odonata.comparison import Comparison
    from odonata.quantity import Scale


@click.command()
@click.argument("base", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("others", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.count("-n", "--links", least=0, default=5, help="Number of links to list (5).")
@options.as_json
def command(base: Path, others: tuple[Path, ...], links: int, as_json: bool) -> None:
    """Compare runs with the first one, by link class, job and link.

    \b
    odonata compare runs/all-cables runs/first

    Links are paired by name, so machines with different cabling can be compared.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import odonata
    from odonata.api import load_run
    from odonata.comparison import not_comparable

    first = load_run(base)
    rest = [load_run(other) for other in others]
    found = [odonata.compare(first, run) for run in rest]
    results = [plain(one, links) for one in found]
    if as_json:
        terminal.print_json({"base": str(base), "comparisons": results})
        return
    screen = terminal.console()
    for i, (run, one, result) in enumerate(zip(rest, found, results, strict=True)):
        if i:
            screen.print()
        screen.print(f"{first.name} → {run.name}", style="bold")
        for line in one.settings:
            screen.print(f"  {line}")
        if result["times"]:
            times = scale(
                (row[f"time_s_{side}"] for row in result["times"] for side in ("base", "other")), "s"
            )
            terminal.print_table(screen, _times_table(result["times"], times), times.heading("Job time"))
            _print_reasons(screen, result["times"])
        if result["no_effect"]:
            screen.print(
                f"\nAll tables are equal. These keys have no effect: {', '.join(result['no_effect'])}"
            )
        if one.links is None:
            for reason in dict.fromkeys(filter(None, map(not_comparable, (first, run)))):
                screen.print(f"\n{reason}.")
            continue
        on = scale(
            (row[f"bytes_max_{side}"] for row in result["classes"] for side in ("base", "other")), "bytes"
        )
        classes = _statistics_table(result["classes"], ["class"], ["mean", "p99", "max"], on)
        terminal.print_table(screen, classes, on.heading("Traffic per link"))
        jobs = _statistics_table(result["jobs"], ["name", "class"], ["mean", "max"], on)
        terminal.print_table(screen, jobs, on.heading("Traffic per link and job"), keys=2)
        screen.print()
        _print_links(screen, result, on)


def plain(found: Comparison, links: int) -> dict[str, Any]:
    """A comparison as plain values, with the links that changed most."""
    return {
        "directory": str(found.other.path),
        "times": found.times.to_pylist(),
        "no_effect": found.no_effect,
        "classes": found.classes.to_pylist(),
        "jobs": found.jobs.to_pylist(),
        "links": None if found.links is None else _plain_links(found.links, links),
    }


def _plain_links(pairs: LinkPairs, count: int) -> dict[str, Any]:
    from odonata.analysis.links import floats

    difference = floats(pairs.pairs, "difference")
    order = (-abs(difference)).argsort(kind="stable")[:count]
    order = order[difference[order] != 0]
    return {
        "paired": pairs.pairs.num_rows,
        "more": int((difference > 0).sum()),
        "less": int((difference < 0).sum()),
        "only_base": pairs.only_base.num_rows,
        "only_other": pairs.only_other.num_rows,
        "largest": pairs.pairs.take(order).to_pylist(),
    }


def _times_table(rows: list[dict[str, Any]], on: Scale) -> Table:
    shown = terminal.table(["job", "time", "→", "change"], left=["job"])
    for row in rows:
        times = (terminal.number(on.of(row[f"time_s_{side}"])) for side in ("base", "other"))
        shown.add_row(row["name"], *times, terminal.change(row["time_s_change"]))
    return shown


def _print_reasons(screen: Any, rows: list[dict[str, Any]]) -> None:
    """One line per job: why its time changed."""
    changed = [row for row in rows if abs(row["time_s_change"] or 0.0) >= terminal.SMALLEST_CHANGE]
    explained = [row for row in changed if row["reason"]]
    if explained:
        screen.print()
    for row in explained:
        screen.print(f"{row['name']} {100 * row['time_s_change']:+.1f} %: {row['reason']}")


_HEADINGS = {"mean": "mean", "p99": "99 %", "max": "max", "name": "job"}


def _statistics_table(rows: list[dict[str, Any]], keys: list[str], statistics: list[str], on: Scale) -> Table:
    """Before, after and relative change of each statistic; repeated keys are left blank."""
    headings = [_HEADINGS.get(key, key) for key in keys]
    numbers = [text for name in statistics for text in (_HEADINGS[name], "→", "change")]
    shown = terminal.table([*headings, *numbers], left=headings)
    previous = None
    for row in rows:
        first = "" if len(keys) > 1 and row[keys[0]] == previous else row[keys[0]]
        previous = row[keys[0]]
        cells: list[Any] = [first, *(row[key] for key in keys[1:])]
        for name in statistics:
            for side in ("base", "other"):
                cells.append(terminal.number(on.of(row[f"bytes_{name}_{side}"])))
            cells.append(terminal.change(row[f"bytes_{name}_change"]))
        shown.add_row(*cells)
    return shown


def _print_links(screen: Any, result: dict[str, Any], on: Scale) -> None:
    links = result["links"]
    screen.print(
        f"{links['paired']:,} links in both runs: {links['more']:,} carry more, {links['less']:,} less. "
        f"{links['only_base']:,} links only in the first run, {links['only_other']:,} only in the other."
    )
    if links["largest"]:
        shown = terminal.table(["link", "class", "before", "after", "difference"], left=["link", "class"])
        for row in links["largest"]:
            amounts = (row["bytes_base"], row["bytes_other"])
            difference = f"{'+' if row['difference'] > 0 else ''}{terminal.number(on.of(row['difference']))}"
            shown.add_row(
                row["name"], row["class"], *(terminal.number(on.of(amount)) for amount in amounts), difference
            )
        terminal.print_table(screen, shown, on.heading("Links with the largest change"))
