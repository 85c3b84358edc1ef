"""`odonata explain`: what binds a job, who shares it, what each other job costs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.explanation import Difference, Explanation
    from odonata.runs import Run

SENSITIVITY = {
    "class": "class",
    "elasticity": "per 1 % of bandwidth",
    "slower": "10 % less",
    "faster": "10 % more",
    "cable_more": "one cable more",
    "cable_less": "one less",
}


def explained(
    run: Run, job: str, against: Run | None, *, blame: bool | None, count: int, quiet: bool
) -> Explanation:
    """`odonata.explain` with a bar for the runs that it makes."""
    from odonata.cli import terminal
    from odonata.explanation import explain

    with terminal.progress(quiet=quiet) as (report, _):

        def runs(made: int, needed: int) -> None:
            if report is not None:
                report("runs again", made / needed)

        return explain(run, job, against=against, blame=blame, count=count, progress=runs)


def show_all(run: Run, *, as_json: bool) -> None:
    """Prints what binds each job of a run.

    Raises:
        OdonataError: No job has a time, so nothing can bind it.
    """
    from odonata.cli import columns, terminal
    from odonata.errors import OdonataError
    from odonata.explanation import job_of, overview
    from odonata.quantity import percent

    if not run.routed:
        job_of(run, None)
    table = overview(run)
    if not any(table["time_s"].to_pylist()):
        raise OdonataError(
            f"no job of {run.name} has a time, so nothing binds one",
            hint="Open traffic has none. --job NAME says what else the run recorded.",
        )
    if as_json:
        terminal.print_json({"directory": str(run.path), "jobs": table.to_pylist()})
        return
    time = columns.of_values("time", table["time_s"].to_pylist(), "s")
    words = ["job", "bound by", "class", "most of the rest"]
    shown = terminal.table(
        [words[0], time.heading, words[1], words[2], "busy meanwhile", "its own", words[3]], left=words
    )
    for row, took in zip(table.to_pylist(), time.cells, strict=True):
        busy, own = ("-" if row[name] is None else percent(row[name]) for name in ("busy", "own"))
        most = "-" if row["most_of"] is None else f"{row['most_of']}, {percent(row['most'])}"
        shown.add_row(row["name"], took, row["bottleneck"] or "-", row["class"] or "-", busy, own, most)
    screen = terminal.console()
    terminal.print_table(screen, f"Jobs of {run.name}: the busiest of what each uses, while it runs", shown)
    screen.print("--job NAME says more.")


def show(screen: Console, run: Run, found: Explanation) -> None:
    """Prints an explanation, the answer first."""
    from odonata.cli import terminal

    screen.print(f"Job {found.job} of {run.name}", style="bold")
    screen.print(sentence(found))
    if found.against is not None:
        _show_difference(screen, found.against)
    if found.bottlenecks is not None and found.bottlenecks.num_rows:
        columns = {"name": "link or interface", "class": "class", "busy_s": "busy", "share": "of its time"}
        _table(screen, "Busy while the job runs, with its bytes and others'", found.bottlenecks, columns)
    if found.terms is not None:
        _show_terms(screen, found)
    if found.sharers is not None:
        columns = {"name": "job", "busy_s": "busy with it", "share": "share"}
        _table(screen, "Whose bytes the first of these passes meanwhile", found.sharers, columns)
    if found.blame is not None and found.blame.num_rows:
        columns = {
            "cause": "job",
            "cost_s": "costs",
            "share": "share",
            "first_s": "alone beside it",
            "last_s": "saved without it",
        }
        _table(screen, "What other jobs cost it: its time less that alone", found.blame, columns)
    if found.sensitivity is not None and found.sensitivity.num_rows:
        shown = terminal.table(list(SENSITIVITY.values()), left=["class"])
        for row in found.sensitivity.to_pylist():
            cells = [
                terminal.change(row[name]) for name in SENSITIVITY if name not in ("class", "elasticity")
            ]
            shown.add_row(row["class"], f"{row['elasticity']:+.0f} %" if row["elasticity"] else "=", *cells)
        how = "" if found.decides else ", if its busiest link decided"
        terminal.print_table(screen, f"How its time would change with the machine{how}", shown)


def _show_terms(screen: Console, found: Explanation) -> None:
    """Prints what a closed form's time is made of."""
    from odonata.cli import columns, terminal
    from odonata.quantity import percent

    assert found.terms is not None
    rows = found.terms.to_pylist()
    own = columns.of_values("takes", found.terms["term_time_s"].to_pylist(), "s")
    mean = columns.of_values("mean of all", found.terms["mean_s"].to_pylist(), "s")
    heads = ["term", own.heading, "share", mean.heading, "10 % less of it", "10 % more", "what it is"]
    shown = terminal.table(heads, left=["term", "what it is"])
    for row, takes, average in zip(rows, own.cells, mean.cells, strict=True):
        changes = [terminal.change(row[word]) for word in ("less", "more")]
        shown.add_row(row["term"], takes, percent(row["share"]), average, *changes, row["meaning"])
    terminal.print_table(
        screen, f"What the time of its slowest rank, {found.slowest_rank}, is made of", shown
    )


def _show_difference(screen: Console, found: Difference) -> None:
    """Prints why the time is another than in the other run."""
    from odonata.quantity import quantity

    change = found.time_s / found.time_s_base - 1.0 if found.time_s_base else 0.0
    what = f"{quantity(found.time_s_base, 's')} in the other run, so {100 * change:+.1f} %"
    screen.print(f"{what}{': ' if found.reason else ''}{found.reason}.")
    if found.blame is not None and found.blame.num_rows:
        columns = {
            "cause": "change",
            "cost_s": "costs",
            "share": "share",
            "first_s": "as the only one",
            "last_s": "saved without it",
        }
        _table(screen, "What each change costs it: its time less that in the other run", found.blame, columns)
        none = [row["cause"] for row in found.blame.to_pylist() if not any((row["first_s"], row["last_s"]))]
        if none:
            screen.print(f"No effect on its time: {', '.join(none)}")
    elif found.changed:
        screen.print(f"Changed: {', '.join(found.changed)}. What each costs is said with --blame.")


def sentence(found: Explanation) -> str:
    """The answer in a line."""
    from odonata.quantity import percent, quantity

    if found.time_s is None:
        return "It has no end, so no time to explain."
    said = quantity(found.time_s, "s")
    if found.time_alone_s:
        times = found.time_s / found.time_alone_s
        said += f", {times:.3g} times as long as alone ({quantity(found.time_alone_s, 's')})"
    if found.terms is not None:
        most = found.terms.slice(0, 1).to_pylist()[0]
        return f"{said}. {percent(most['share'])} of its slowest rank's is {most['term']}."
    if found.bottlenecks is None or not found.bottlenecks.num_rows:
        return f"{said}."
    first = found.bottlenecks.slice(0, 1).to_pylist()[0]
    busy = f"{first['name']}, busy for {percent(first['share'])} of its time"
    return (
        f"{said}. Bound by {busy}." if found.decides else f"{said}. No link is always busy; most is {busy}."
    )


def _table(screen: Console, title: str, table: pa.Table, headings: dict[str, str]) -> None:
    from odonata.cli import columns, terminal

    parts: list[Any] = []
    together = [value for name in headings if name.endswith("_s") for value in table[name].to_pylist()]
    for name, heading in headings.items():
        values = table[name].to_pylist()
        if name.endswith("_s") or name == "share":
            beside, unit = (together, "s") if name.endswith("_s") else (None, "share")
            shown = columns.of_values(heading, values, unit, beside)
            parts.append((shown.heading, shown.cells, False))
        else:
            parts.append((heading, values, True))
    made = terminal.table([part[0] for part in parts], left=[part[0] for part in parts if part[2]])
    for row in zip(*(part[1] for part in parts), strict=True):
        made.add_row(*row)
    terminal.print_table(screen, title, made)
