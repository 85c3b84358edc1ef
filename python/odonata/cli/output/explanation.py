"""Output of `odonata explain` for a job: busiest links, sharers, costs and what-ifs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from odonata.cli.output import columns, listing, terminal
from odonata.cli.output.absent import print_absent
from odonata.errors import OdonataError
from odonata.explanation import SENSITIVITY_ACCURACY, explain, job_of, overview
from odonata.explanation.blame import other_jobs
from odonata.quantity import percent, quantity

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.explanation import Difference, Explanation
    from odonata.runs import Run

ONE_SEED = (
    "All runs have one seed. With other nodes, partners and paths, the change differs: "
    "--seeds 5 shows how much."
)
COSTS = {"cost_s": "cost", "share": "share", "first_s": "as the only one", "last_s": "saved without it"}


def explained(
    run: Run,
    job: str,
    against: Run | None,
    *,
    blame: bool | None,
    what_if: bool,
    seeds: int,
    count: int,
    quiet: bool,
) -> Explanation:
    """`odonata.explain` with a progress bar for its runs."""
    with terminal.progress(quiet=quiet) as (report, _):

        def runs(made: int, needed: int) -> None:
            if report is not None:
                report("running", made / needed)

        return explain(
            run,
            job,
            against=against,
            blame=blame,
            what_if=what_if,
            seeds=seeds,
            count=count,
            progress=runs,
        )


def show_all(run: Run, *, as_json: bool, details: bool) -> None:
    """Prints the busiest link of each job of a run; of many jobs the slowest, without `details`.

    Raises:
        OdonataError: No job has a time.
    """
    if not run.routed:
        job_of(run, None)
    table = overview(run)
    if not any(table["time_s"].to_pylist()):
        if _show_open_jobs(run, as_json=as_json):
            return
        raise OdonataError(
            f"no job of {run.name} has a time, so no link is busiest while it runs",
            hint="See other records of a job with --job NAME.",
        )
    if as_json:
        jobs = {"jobs": table.to_pylist(), "absent_jobs": run.absent_jobs}
        terminal.print_json({"directory": str(run.path), **jobs})
        return
    chosen = listing.listed_jobs(table["time_s"].to_pylist(), details=details)
    rows = columns.rows_of(table, chosen).to_pylist()

    def share(name: str) -> list[str]:
        return ["-" if row[name] is None else percent(row[name]) for row in rows]

    competitors = (
        f"{row['main_competitor']}, {percent(row['competitor_share'])}" if row["main_competitor"] else None
        for row in rows
    )
    shown = columns.joined(
        [
            columns.texts("job", (row["name"] for row in rows)),
            columns.of_values("time", [row["time_s"] for row in rows], "s"),
            columns.texts("busiest link or port", (row["busiest"] or None for row in rows)),
            columns.texts("class", (row["class"] or None for row in rows)),
            columns.ShownColumn("busy", share("busy_share")),
            columns.ShownColumn("own share", share("own_share")),
            columns.texts("main competitor", competitors),
        ]
    )
    screen = terminal.console()
    terminal.print_table(screen, shown, f"Jobs of {run.name}, and the busiest link of each while it runs")
    listing.print_omitted(screen, table.num_rows - len(rows), "explain")
    print_absent(screen, run.absent_jobs)
    _print_accuracy(screen, run)
    screen.print("Explain one job with --job NAME.")


def _show_open_jobs(run: Run, *, as_json: bool) -> bool:
    """Prints loads, latency and busiest link of each job with open traffic; says whether there is one."""
    found = [explain(run, name, blame=False, count=1) for name in run.jobs["name"].to_pylist()]
    jobs = [(one, one.open_traffic) for one in found if one.open_traffic is not None]
    if not jobs:
        return False
    if as_json:
        terminal.print_json({"directory": str(run.path), "jobs": [one.to_dict() for one, _ in jobs]})
        return True
    busiest = [None if one.bottlenecks is None else one.bottlenecks.to_pylist()[:1] for one, _ in jobs]
    shown = columns.joined(
        [
            columns.texts("job", (one.job for one, _ in jobs)),
            columns.ShownColumn("offered", [percent(flow.offered_load) for _, flow in jobs]),
            columns.ShownColumn("accepted", [percent(flow.accepted_load) for _, flow in jobs]),
            columns.of_values("mean latency", [flow.latency_mean_s for _, flow in jobs], "s"),
            columns.texts("busiest link or port", (rows[0]["name"] if rows else None for rows in busiest)),
            columns.ShownColumn("busy", [percent(rows[0]["share"]) if rows else "-" for rows in busiest]),
        ]
    )
    screen = terminal.console()
    terminal.print_table(screen, shown, f"Open traffic of {run.name}, and the busiest link of each job")
    screen.print("Explain one job with --job NAME.")
    return True


def show(screen: Console, run: Run, found: Explanation) -> None:
    """Prints an explanation; the answer comes first."""
    in_class = f", traffic class {found.traffic_class}" if found.traffic_class else ""
    screen.print(f"Job {found.job} of {run.name}{in_class}", style="bold")
    screen.print(sentence(found))
    _print_accuracy(screen, run)
    if found.against is not None:
        _show_difference(screen, found.against)
    if found.bottlenecks is not None and found.bottlenecks.num_rows:
        headings = {"name": "link or port", "class": "class", "busy_s": "busy", "share": "share of time"}
        when = "while it runs" if found.open_traffic is None else "in the measurement"
        _table(screen, f"Busiest links and ports of the job {when}", found.bottlenecks, headings)
    if found.terms is not None:
        _show_terms(screen, found)
    if found.sharers is not None:
        headings = {"name": "job", "busy_s": "busy", "share": "share"}
        _table(screen, "Busy time of the first of these by job", found.sharers, headings)
    if found.blame is not None and found.blame.num_rows:
        title = "Cost of each competing job (sum: its time minus its time alone)"
        _table(screen, title, found.blame, {"cause": "job", **COSTS})
    if found.what_if is not None:
        _show_what_if(screen, found.what_if)
        if found.sensitivity is not None:
            _show_sensitivity(screen, found.sensitivity)
    elif found.time_s is not None and found.bottlenecks is not None and found.bottlenecks.num_rows:
        screen.print("\nEffect of other bandwidths or cables, each by a run: add --what-if.")
    # Competitors at the busiest link are not all: a job may wait for others elsewhere.
    packets = found.time_s is not None and run.summary["engine"] == "packet"
    if packets and found.blame is None and (others := len(other_jobs(run, found.job))):
        each, it = ("the other job", "it") if others == 1 else (f"each of the {others} other jobs", "them")
        screen.print(f"Cost of {each}, by runs without {it}: add --blame.")


def _print_accuracy(screen: Console, run: Run) -> None:
    if "completion_times" in run.summary:
        screen.print(f"Times are estimates: {run.summary['completion_times']['accuracy']}.")


def _show_what_if(screen: Console, table: pa.Table) -> None:
    rows = table.to_pylist()
    shown = [
        columns.texts("change of the machine", (row["change"] for row in rows)),
        columns.of_values("time", [row["time_s"] for row in rows], "s"),
        *columns.changes(rows),
    ]
    title = "Time of the job on another machine, each by a run"
    if (seeds := max((row["seeds"] for row in rows), default=1)) > 1:
        title += f" with each of {seeds} seeds"
    terminal.print_table(screen, columns.joined(shown), title)
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["reason"] is not None:
            reasons.setdefault(row["reason"], []).append(row["change"])
    for reason, edits in reasons.items():
        screen.print(f"{', '.join(edits)}: {reason}.", markup=False)
    if seeds == 1:
        screen.print(ONE_SEED)


def _show_sensitivity(screen: Console, table: pa.Table) -> None:
    rows = table.to_pylist()
    if not rows:
        return

    def by_percent(end: str) -> list[str]:
        step = 1.01 if end == "more" else 0.99
        changes = (100.0 * (step ** row[end] - 1.0) for row in rows)
        return [f"{change:+.2f} %" if abs(change) >= 0.005 else "no change" for change in changes]

    shown = [
        columns.texts("class", (row["class"] for row in rows)),
        columns.ShownColumn("1 % less bandwidth", by_percent("less")),
        columns.ShownColumn("1 % more bandwidth", by_percent("more")),
    ]
    terminal.print_table(screen, columns.joined(shown), "Change of its time per 1 % of bandwidth, up to 10 %")
    screen.print(f"Interpolated between runs: {SENSITIVITY_ACCURACY}.")


def _show_terms(screen: Console, found: Explanation) -> None:
    assert found.terms is not None
    terms = {name: found.terms[name].to_pylist() for name in found.terms.column_names}
    shown = columns.joined(
        [
            columns.texts("term", terms["term"]),
            columns.of_values("time", terms["term_time_s"], "s"),
            columns.ShownColumn("share", [percent(share) for share in terms["share"]]),
            columns.of_values("mean of all ranks", terms["mean_s"], "s"),
            columns.ShownColumn("-10 %", [terminal.change(change) for change in terms["less"]]),
            columns.ShownColumn("+10 %", [terminal.change(change) for change in terms["more"]]),
            columns.texts("meaning", terms["meaning"]),
        ]
    )
    title = f"Time of the slowest rank, {found.slowest_rank}, by term; effect of -10 % and +10 % of a term"
    terminal.print_table(screen, shown, title)


def _show_difference(screen: Console, found: Difference) -> None:
    change = found.time_s / found.time_s_base - 1.0 if found.time_s_base else 0.0
    times = f"{quantity(found.time_s_base, 's')} in the other run: {terminal.change(change)}"
    screen.print(
        f"{times}. {found.reason[:1].upper()}{found.reason[1:]}{'.' if found.reason else ''}".strip()
    )
    if found.blame is not None and found.blame.num_rows:
        title = "Cost of each change (sum: its time minus its time in the other run)"
        _table(screen, title, found.blame, {"cause": "change", **COSTS})
        none = [row["cause"] for row in found.blame.to_pylist() if not any((row["first_s"], row["last_s"]))]
        if none:
            screen.print(f"Changes without effect on its time: {', '.join(none)}")
    elif found.changed:
        screen.print(f"Changed: {', '.join(found.changed)}. See the cost of each change with --blame.")


def sentence(found: Explanation) -> str:
    """The answer in one line."""
    if found.open_traffic is not None:
        return f"{found.open_traffic.sentence()}{_busiest(found)}"
    if found.time_s is None:
        return "The job has no time to explain: it did not end, has no end, or sent nothing between nodes."
    time = quantity(found.time_s, "s")
    if found.time_alone_s:
        slowdown = found.time_s / found.time_alone_s
        time += f", slowdown {slowdown:.2f} ({quantity(found.time_alone_s, 's')} alone)"
    if found.terms is not None:
        largest = found.terms.slice(0, 1).to_pylist()[0]
        return f"{time}. {largest['term']} is {percent(largest['share'])} of the time of its slowest rank."
    return f"{time}.{_busiest(found)}"


def _busiest(found: Explanation) -> str:
    if found.bottlenecks is None or not found.bottlenecks.num_rows:
        return ""
    first = found.bottlenecks.slice(0, 1).to_pylist()[0]
    return f" Busiest: {first['name']}, {percent(first['share'])} busy."


def _table(screen: Console, title: str, table: pa.Table, headings: dict[str, str]) -> None:
    terminal.print_table(screen, columns.joined(columns.of_arrow(table, headings, one_scale=True)), title)
