"""Output of `odonata explain` for a job: bottleneck, sharers, costs and sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.explanation import Difference, Explanation
    from odonata.runs import Run

SENSITIVITY = {
    "class": "class",
    "elasticity": "bandwidth +1 %",
    "slower": "-10 %",
    "faster": "+10 %",
    "cable_more": "+1 cable",
    "cable_less": "-1 cable",
}


def explained(
    run: Run, job: str, against: Run | None, *, blame: bool | None, count: int, quiet: bool
) -> Explanation:
    """`odonata.explain` with a progress bar for its runs."""
    from odonata.cli.output import terminal
    from odonata.explanation import explain

    with terminal.progress(quiet=quiet) as (report, _):

        def runs(made: int, needed: int) -> None:
            if report is not None:
                report("running", made / needed)

        return explain(run, job, against=against, blame=blame, count=count, progress=runs)


def show_all(run: Run, *, as_json: bool) -> None:
    """Prints the bottleneck of each job of a run.

    Raises:
        OdonataError: No job has a time.
    """
    from odonata.cli.output import columns, terminal
    from odonata.errors import OdonataError
    from odonata.explanation import job_of, overview
    from odonata.quantity import percent

    if not run.routed:
        job_of(run, None)
    table = overview(run)
    if not any(table["time_s"].to_pylist()):
        raise OdonataError(
            f"no job of {run.name} has a time, so no job has a bottleneck",
            hint="Open traffic has no time. See other records of a job with --job NAME.",
        )
    if as_json:
        terminal.print_json({"directory": str(run.path), "jobs": table.to_pylist()})
        return
    time = columns.of_values("time", table["time_s"].to_pylist(), "s")
    words = ["job", "bottleneck", "class", "main competitor"]
    shown = terminal.table(
        [words[0], time.heading, words[1], words[2], "busy", "own share", words[3]], left=words
    )
    for row, took in zip(table.to_pylist(), time.cells, strict=True):
        busy, own = ("-" if row[name] is None else percent(row[name]) for name in ("busy_share", "own_share"))
        competitor = row["main_competitor"]
        most = "-" if competitor is None else f"{competitor}, {percent(row['competitor_share'])}"
        shown.add_row(row["name"], took, row["bottleneck"] or "-", row["class"] or "-", busy, own, most)
    screen = terminal.console()
    terminal.print_table(screen, f"Bottlenecks of the jobs of {run.name}", shown)
    screen.print("Explain one job with --job NAME.")


def show(screen: Console, run: Run, found: Explanation) -> None:
    """Prints an explanation; the answer comes first."""
    from odonata.cli.output import terminal

    screen.print(f"Job {found.job} of {run.name}", style="bold")
    screen.print(sentence(found))
    if found.against is not None:
        _show_difference(screen, found.against)
    if found.bottlenecks is not None and found.bottlenecks.num_rows:
        columns = {"name": "link or port", "class": "class", "busy_s": "busy", "share": "share of time"}
        _table(screen, "Busiest links and ports of the job while it runs", found.bottlenecks, columns)
    if found.terms is not None:
        _show_terms(screen, found)
    if found.sharers is not None:
        columns = {"name": "job", "busy_s": "busy", "share": "share"}
        _table(screen, "Busy time of the bottleneck by job", found.sharers, columns)
    if found.blame is not None and found.blame.num_rows:
        columns = {
            "cause": "job",
            "cost_s": "cost",
            "share": "share",
            "first_s": "as the only one",
            "last_s": "saved without it",
        }
        _table(
            screen, "Cost of each competing job (sum: its time minus its time alone)", found.blame, columns
        )
    if found.sensitivity is not None and found.sensitivity.num_rows:
        shown = terminal.table(list(SENSITIVITY.values()), left=["class"])
        for row in found.sensitivity.to_pylist():
            cells = [
                terminal.change(row[name]) for name in SENSITIVITY if name not in ("class", "elasticity")
            ]
            shown.add_row(
                row["class"], f"{row['elasticity']:+.0f} %" if row["elasticity"] else "no change", *cells
            )
        condition = "" if found.decides else " (if its busiest link were the bottleneck)"
        title = f"Change of the job's time with bandwidth and cables of a class{condition}"
        terminal.print_table(screen, title, shown)


def _show_terms(screen: Console, found: Explanation) -> None:
    """Prints the terms of a closed form's time."""
    from odonata.cli.output import columns, terminal
    from odonata.quantity import percent

    assert found.terms is not None
    rows = found.terms.to_pylist()
    own = columns.of_values("time", found.terms["term_time_s"].to_pylist(), "s")
    mean = columns.of_values("mean of all ranks", found.terms["mean_s"].to_pylist(), "s")
    heads = ["term", own.heading, "share", mean.heading, "-10 %", "+10 %", "meaning"]
    shown = terminal.table(heads, left=["term", "meaning"])
    for row, takes, average in zip(rows, own.cells, mean.cells, strict=True):
        changes = [terminal.change(row[word]) for word in ("less", "more")]
        shown.add_row(row["term"], takes, percent(row["share"]), average, *changes, row["meaning"])
    title = f"Time of the slowest rank, {found.slowest_rank}, by term; effect of -10 % and +10 % of a term"
    terminal.print_table(screen, title, shown)


def _show_difference(screen: Console, found: Difference) -> None:
    """Prints why the time differs from the other run."""
    from odonata.quantity import quantity

    change = found.time_s / found.time_s_base - 1.0 if found.time_s_base else 0.0
    times = f"{quantity(found.time_s_base, 's')} in the other run: {100 * change:+.1f} %"
    screen.print(
        f"{times}. {found.reason[:1].upper()}{found.reason[1:]}{'.' if found.reason else ''}".strip()
    )
    if found.blame is not None and found.blame.num_rows:
        columns = {
            "cause": "change",
            "cost_s": "cost",
            "share": "share",
            "first_s": "as the only one",
            "last_s": "saved without it",
        }
        _table(
            screen,
            "Cost of each change (sum: its time minus its time in the other run)",
            found.blame,
            columns,
        )
        none = [row["cause"] for row in found.blame.to_pylist() if not any((row["first_s"], row["last_s"]))]
        if none:
            screen.print(f"Changes without effect on its time: {', '.join(none)}")
    elif found.changed:
        screen.print(f"Changed: {', '.join(found.changed)}. See the cost of each change with --blame.")


def sentence(found: Explanation) -> str:
    """The answer in one line."""
    from odonata.quantity import percent, quantity

    if found.time_s is None:
        return "The job has no end, so it has no time to explain."
    time = quantity(found.time_s, "s")
    if found.time_alone_s:
        slowdown = found.time_s / found.time_alone_s
        time += f", slowdown {slowdown:.2f} ({quantity(found.time_alone_s, 's')} alone)"
    if found.terms is not None:
        largest = found.terms.slice(0, 1).to_pylist()[0]
        return f"{time}. {largest['term']} is {percent(largest['share'])} of the time of its slowest rank."
    if found.bottlenecks is None or not found.bottlenecks.num_rows:
        return f"{time}."
    first = found.bottlenecks.slice(0, 1).to_pylist()[0]
    label = "Bottleneck" if found.decides else "No bottleneck. Busiest"
    return f"{time}. {label}: {first['name']}, {percent(first['share'])} busy."


def _table(screen: Console, title: str, table: pa.Table, headings: dict[str, str]) -> None:
    from odonata.cli.output import columns, terminal

    parts: list[Any] = []
    together = [value for name in headings if name.endswith("_s") for value in table[name].to_pylist()]
    for name, heading in headings.items():
        values = table[name].to_pylist()
        if name.endswith("_s") or name == "share":
            scale_by, unit = (together, "s") if name.endswith("_s") else (None, "share")
            shown = columns.of_values(heading, values, unit, scale_by)
            parts.append((shown.heading, shown.cells, False))
        else:
            parts.append((heading, values, True))
    made = terminal.table([part[0] for part in parts], left=[part[0] for part in parts if part[2]])
    for row in zip(*(part[1] for part in parts), strict=True):
        made.add_row(*row)
    terminal.print_table(screen, title, made)
