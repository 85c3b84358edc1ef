"""`odonata compare`: differences between runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.quantity import counted, scale

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console
    from rich.table import Table

    from odonata._core import Experiment
    from odonata.analysis import LinkPairs
    from odonata.comparison import Comparison
    from odonata.quantity import Scale
    from odonata.runs import Run


JOBS_IN_ORDER = 12
"""Most jobs that are listed in their order, changed or not; more fill a screen."""


@click.command()
@click.argument("base", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.argument("others", metavar="DIR...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-e",
    "--edit",
    "edits",
    metavar="EDIT",
    multiple=True,
    help="Run the first experiment again with this edit of its machine, such as 'fail leaf03', and compare. "
    "May be repeated.",
)
@options.output("DIR", "Run directory to write for the run with the edits.")
@options.count("--seeds", "seeds", default=1, help="With --edit: number of seeds of each run (1).")
@options.count("-n", "--links", least=0, default=5, help="Number of links to list (5).")
@options.threads
@options.quiet_progress
@options.as_json
def command(
    base: Path,
    others: tuple[Path, ...],
    edits: tuple[str, ...],
    output: Path | None,
    seeds: int,
    links: int,
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compare runs with the first one, by link class, job and link.

    \b
    odonata compare runs/all-cables runs/first
    odonata compare runs/now --edit 'fail leaf03'
    odonata compare jobs.toml --edit 'fail leaf03'
    odonata compare jobs.toml --edit '-1 blue' --seeds 5

    Links are paired by name, so machines with different cabling can be compared. With --edit, the experiment
    of the first run, or an experiment file, is run without and with the edits. Jobs whose nodes fail are
    listed. With --seeds, both runs are repeated with further seeds, and the change of a job's time has an
    interval.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import odonata
    from odonata.api import load_run, read
    from odonata.runs import Run
    from odonata.store.writer import check_target

    if not (others or edits):
        raise click.UsageError("Missing argument 'DIR...', or --edit EDIT.")
    if output is not None and not edits:
        raise click.UsageError("--output needs --edit")
    if seeds > 1 and not edits:
        raise click.UsageError("--seeds needs --edit")
    # Everything that can be wrong is found before the first run.
    given = read(base) if base.is_file() else load_run(base)
    rest = [load_run(other) for other in others]
    edited = _edited(given, edits, seeds) if edits else None
    if output is not None:
        check_target(output)
    first = given if isinstance(given, Run) else _run(given, None, threads, quiet)
    names = {id(first): base.stem if first.path is None else first.name}
    if edited is not None:
        rest.append(_run(edited, output, threads, quiet))
        names[id(rest[-1])] = ", ".join(edits)
    found = [odonata.compare(first, run) for run in rest]
    results = [plain(one, links) for one in found]
    repeated = _repeat(first, rest[-1], edits, seeds, quiet) if seeds > 1 else None
    if as_json:
        over = {} if repeated is None else {"seeds": repeated.to_pylist()}
        terminal.print_json({"base": str(base), "comparisons": results, **over})
        return
    screen = terminal.console()
    for i, (run, one, result) in enumerate(zip(rest, found, results, strict=True)):
        if i:
            screen.print()
        screen.print(f"{names[id(first)]} → {names.get(id(run), run.name)}", style="bold", markup=False)
        _print(screen, one, result)
    if repeated is not None:
        _print_seeds(screen, repeated.to_pylist(), seeds)


def _edited(given: Experiment | Run, edits: tuple[str, ...], seeds: int) -> Experiment:
    """The experiment with further edits, after a check with every seed."""
    from odonata import toml
    from odonata.explanation import edited
    from odonata.runs import Run

    if isinstance(given, Run):
        return edited(given.resolved, given.settings, edits, seeds)
    resolved = given.check()["resolved"]
    return edited(resolved, toml.parse(resolved), edits, seeds)


def _repeat(base: Run, other: Run, edits: tuple[str, ...], seeds: int, quiet: bool) -> pa.Table:
    from odonata.explanation import changes_by_seed

    with terminal.progress(quiet=quiet) as (report, _):

        def runs(made: int, needed: int) -> None:
            if report is not None:
                report("running", made / needed)

        return changes_by_seed(base, other, edits, seeds, runs)


def _print_seeds(screen: Console, rows: list[dict[str, Any]], seeds: int) -> None:
    from odonata.cli.output import columns

    times = [row[name] for row in rows for name in ("time_before_s", "time_s")]
    shown = [
        columns.texts("job", (row["name"] for row in rows)),
        columns.of_values("before", [row["time_before_s"] for row in rows], "s", times),
        columns.of_values("after", [row["time_s"] for row in rows], "s", times),
        *columns.changes(rows),
    ]
    terminal.print_table(screen, columns.joined(shown), f"Job time, mean of {seeds} seeds")


def _run(experiment: Experiment, target: Path | None, threads: int | None, quiet: bool) -> Run:
    from odonata.api import run_until_interrupted

    with terminal.progress(quiet=quiet) as (progress, pace):
        run, interrupt = run_until_interrupted(
            experiment, out=target, threads=threads, progress=progress, pace=pace
        )
    if interrupt is not None:
        raise interrupt
    terminal.print_warnings(run.summary["warnings"])
    return run


def _print(screen: Console, one: Comparison, result: dict[str, Any]) -> None:
    from odonata.cli.output.absent import print_absent, print_moved
    from odonata.cli.output.settings import print_settings
    from odonata.comparison import not_comparable

    print_settings(screen, one)
    for side, title in (
        ("other", "Jobs that end, since nodes fail"),
        ("base", "Jobs only in the second run"),
    ):
        print_absent(screen, [row for row in result["absent"] if row["absent_in"] == side], title)
    print_moved(screen, result["moved"])
    if result["times"]:
        times = scale((row[f"time_s_{side}"] for row in result["times"] for side in ("base", "other")), "s")
        shown, unchanged = _most_changed(result["times"])
        terminal.print_table(screen, _times_table(shown, times), times.heading("Job time"))
        if unchanged:
            screen.print(f"{counted(unchanged, 'other job')}: no change")
        _print_reasons(screen, shown)
    if result["no_effect"]:
        screen.print(f"\nAll tables are equal. These keys have no effect: {', '.join(result['no_effect'])}")
    if one.links is None:
        for reason in dict.fromkeys(filter(None, map(not_comparable, (one.base, one.other)))):
            screen.print(f"\n{reason}.")
        return
    on = scale((row[f"bytes_max_{side}"] for row in result["classes"] for side in ("base", "other")), "bytes")
    classes = _statistics_table(result["classes"], ["class"], ["mean", "p99", "max"], on)
    terminal.print_table(screen, classes, on.heading("Traffic per link"))
    # Of many jobs only those whose times are shown.
    few = {row["name"] for row in _most_changed(result["times"])[0]}
    of_jobs = [row for row in result["jobs"] if len(result["times"]) <= JOBS_IN_ORDER or row["name"] in few]
    jobs = _statistics_table(of_jobs, ["name", "class"], ["mean", "max"], on)
    terminal.print_table(screen, jobs, on.heading("Traffic per link and job"), keys=2)
    screen.print()
    _print_links(screen, result, on)


def plain(found: Comparison, links: int) -> dict[str, Any]:
    """A comparison as plain values, with the links that changed most."""
    return {
        "directory": str(found.other.path),
        "times": found.times.to_pylist(),
        "absent": found.absent.to_pylist(),
        "moved": found.moved.to_pylist(),
        "no_effect": found.no_effect,
        "classes": found.classes.to_pylist(),
        "jobs": found.jobs.to_pylist(),
        "links": None if found.links is None else _plain_links(found.links, links),
    }


def _plain_links(pairs: LinkPairs, count: int) -> dict[str, Any]:
    import pyarrow as pa

    from odonata.analysis.links import floats
    from odonata.store.arrays import array_of

    difference = floats(pairs.pairs, "difference")
    order = (-abs(difference)).argsort(kind="stable")[:count]
    order = order[difference[order] != 0]
    return {
        "paired": pairs.pairs.num_rows,
        "more": int((difference > 0).sum()),
        "less": int((difference < 0).sum()),
        "only_base": pairs.only_base.num_rows,
        "only_other": pairs.only_other.num_rows,
        "largest": pairs.pairs.take(array_of(order.tolist(), pa.int64())).to_pylist(),
    }


def _most_changed(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """All jobs of a few; of many those that changed, from the slowest, and the number of others."""
    if len(rows) <= JOBS_IN_ORDER:
        return rows, 0
    changed = [row for row in rows if abs(row["time_s_change"] or 0.0) >= terminal.SMALLEST_CHANGE]
    changed.sort(key=lambda row: -row["time_s_change"])
    return changed, len(rows) - len(changed)


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
    both, first = (counted(links[name], "link") for name in ("paired", "only_base"))
    screen.print(
        f"{both} in both runs: {links['more']:,} carry more, {links['less']:,} less. "
        f"{first} only in the first run, {links['only_other']:,} only in the other."
    )
    if links["largest"]:
        shown = terminal.table(["link", "class", "before", "after", "difference"], left=["link", "class"])
        for row in links["largest"]:
            base, other, more = (on.of(row[name]) for name in ("bytes_base", "bytes_other", "difference"))
            cells = [terminal.number(base), terminal.number(other)]
            cells.append(terminal.difference(more, base, plus=True))
            shown.add_row(row["name"], row["class"], *cells)
        terminal.print_table(screen, shown, on.heading("Links with the largest change"))
