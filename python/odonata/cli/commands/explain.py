"""`odonata explain`: explain the time of a job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from odonata.cli import options
from odonata.cli.output import terminal

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from odonata.cli.output import path as of_path
    from odonata.runs import Run

CALLS = ("send", "receive", "wait", "collective")


@click.command()
@options.directory
@click.option("--job", "job", metavar="NAME", help="Job to explain; optional if there is only one.")
@options.count("-n", "--rows", default=10, help="Number of links, ranks and intervals to list (10).")
@click.option(
    "--path", "path", is_flag=True, help="Show the critical path through ranks and messages instead."
)
@options.count("--call", "call", help="With --path: only the Nth call of every rank, such as a collective.")
@options.count("--iteration", "iteration", help="With --path: only the Nth iteration of the job's programs.")
@click.option("--phase", "phase", metavar="NAME", help="With --path: only a phase that the program marks.")
@options.count("--time", "time", default=1, help="With --phase: its Nth occurrence (1).")
@options.path(
    "--against",
    "against",
    metavar="BASE",
    help="Other run to compare with: which change of the experiment costs how much time.",
)
@click.option(
    "--blame/--no-blame",
    "blame",
    default=None,
    help="Whether to measure the cost of each job or change by extra runs without it (default: flow engine).",
)
@click.option(
    "--what-if",
    "what_if",
    is_flag=True,
    help="Also measure the job's time with other bandwidths and cables, by one run for each.",
)
@options.count("--seeds", "seeds", default=1, help="With --what-if: number of seeds of each run (1).")
@click.option("--details", is_flag=True, help="Without --job: list every job.")
@options.as_json
def command(
    directory: Path,
    job: str | None,
    rows: int,
    against: Path | None,
    blame: bool | None,
    path: bool,
    call: int | None,
    iteration: int | None,
    phase: str | None,
    time: int,
    what_if: bool,
    seeds: int,
    details: bool,
    as_json: bool,
) -> None:
    """Explain a job's time: busiest links, competing jobs and their cost.

    \b
    odonata explain runs/wd1-edison
    odonata explain runs/wd1-edison --job fft
    odonata explain runs/first --job fft --against runs/all-cables
    odonata explain runs/first --job fft --what-if
    odonata explain runs/first --job fft --what-if --seeds 5

    \b
    odonata run examples/programs.toml -o runs/both --set engine.record_job_waits=true
    odonata explain runs/both --job fft
    odonata explain runs/both --job fft --path
    odonata explain runs/both --job fft --path --iteration 2

    Some answers need records of the packet engine. Waits at links need `record_job_waits`. Intervals need
    `interval`. Ranks and calls need a job with a program. A critical path needs `record_calls`; its links
    need `record_packets` and `record_paths`.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.analysis import congestion_roots, congestion_sentence
    from odonata.cli.output import explanation as of_job
    from odonata.cli.output import path as of_path
    from odonata.cli.output.fast_forward import print_skipped
    from odonata.cli.output.summary import print_ending
    from odonata.explanation import job_of
    from odonata.runs import Run

    given = [name for name in ("call", "iteration", "phase") if click.get_current_context().params[name]]
    if len(given) > 1:
        raise click.UsageError(f"--{given[0]} and --{given[1]} cannot be combined")
    if seeds > 1 and not what_if:
        raise click.UsageError("--seeds needs --what-if")
    run = Run.from_directory(directory)
    roots = congestion_roots(run.summary, run.links, run.nodes)
    if not as_json:
        print_ending(terminal.console(), run)
        print_skipped(terminal.console(), run.summary)
        if (sentence := congestion_sentence(roots)) is not None:
            terminal.console().print(sentence)
    if job is None and run.jobs.num_rows > 1 and not (path or given or against or blame or what_if):
        of_job.show_all(run, as_json=as_json, details=details)
        return
    number, name = job_of(run, job)
    if path or given:
        _path(run, number, name, of_path.Part(call, iteration, phase, time), rows, as_json)
        return
    found = _found(run, number, rows)
    base = None if against is None else Run.from_directory(against)
    explanation = of_job.explained(
        run, name, base, blame=blame, what_if=what_if, seeds=seeds, count=rows, quiet=as_json
    )
    if as_json:
        known = {key: value for key, value in explanation.to_dict().items() if value is not None}
        tables = found | {"congestion_roots": roots if roots.num_rows else None}
        data = known | {key: table.to_pylist() for key, table in tables.items() if table is not None}
        terminal.print_json({"directory": str(directory), "job": name, **data})
        return
    screen = terminal.console()
    of_job.show(screen, run, explanation)
    _print(screen, found, simulated=run.summary["engine"] == "packet")


def _path(run: Run, job: int, name: str, part: of_path.Part, rows: int, as_json: bool) -> None:
    from odonata.cli.output import path as of_path

    found = of_path.found(run, job, part, rows)
    if as_json:
        data = {"job": name, "path": found.pieces.to_pylist(), "sums": found.sums.to_pylist()}
        links = {} if found.links is None else {"links": found.links.to_pylist()}
        terminal.print_json(data | links)
        return
    of_path.show(terminal.console(), run, job, f"{part} {name}", found, rows)


def _found(run: Run, job: int, count: int) -> dict[str, pa.Table | None]:
    """Tables of waits and times by topic; None if the run has no such record."""
    from odonata.analysis import held_pairs
    from odonata.analysis.waits import waits_by_blocking_job, waits_by_class, waits_by_link

    found: dict[str, pa.Table | None] = dict.fromkeys(
        ("calls", "ranks", "held", "blocking_jobs", "classes", "links", "times")
    )
    if (ranks := _table(run, "ranks")) is not None:
        found["calls"], found["ranks"] = _calls(ranks, job), _slowest(run, ranks, job, count)
    if (held := _table(run, "control_pairs")) is not None:
        found["held"] = held_pairs(held, run.nodes, job, count=count)
    if (waits := _table(run, "job_waits")) is not None:
        found["blocking_jobs"] = waits_by_blocking_job(waits, run.jobs, job)
        found["classes"] = waits_by_class(waits, run.links, run.jobs, job)
        found["links"] = waits_by_link(waits, run.links, run.routers, run.jobs, job, count=count)
    if (series := _table(run, "series")) is not None:
        found["times"] = _worst_times(series, job, count)
    return found


def _table(run: Run, name: str) -> pa.Table | None:
    return run.table(name) if name in run.table_names else None


def _calls(ranks: pa.Table, job: int) -> pa.Table | None:
    """Mean time per rank in each kind of call, and mean blocked time."""
    import pyarrow as pa

    frame = ranks.to_pandas()
    frame = frame[frame["job"] == job]
    if frame.empty:
        return None
    whole = float(frame["communication_ps"].mean()) or 1.0
    rows = [
        {"kind": kind, "mean_s": value / 1e12, "share": value / whole}
        for kind in (*CALLS, "blocked")
        for value in [float(frame[f"{kind}_ps"].mean())]
    ]
    return pa.Table.from_pylist(rows)


def _slowest(run: Run, ranks: pa.Table, job: int, count: int) -> pa.Table:
    """The ranks with the longest communication time."""
    import pyarrow as pa

    frame = ranks.to_pandas()
    frame = (
        frame[frame["job"] == job].sort_values("communication_ps", ascending=False, kind="stable").head(count)
    )
    return pa.table(
        {
            "rank": pa.array(frame["rank"]),
            "node": run.nodes["name"].take(pa.array(frame["node"])),
            "communication_s": pa.array(frame["communication_ps"] / 1e12, pa.float64()),
            "blocked_s": pa.array(frame["blocked_ps"] / 1e12, pa.float64()),
            "compute_s": pa.array(frame["compute_ps"] / 1e12, pa.float64()),
        }
    )


def _worst_times(series: pa.Table, job: int, count: int) -> pa.Table:
    """The intervals with the highest packet latency, and the delivered bytes of the job and of others."""
    import pyarrow as pa

    frame = series.to_pandas()
    own = frame[(frame["job"] == job) & (frame["packets"] > 0)]
    worst = (
        own.sort_values("latency_mean_ns", ascending=False, kind="stable").head(count).sort_values("start_ps")
    )
    others = frame[frame["job"] != job].groupby("start_ps")["wire_bytes_per_s"].sum()
    return pa.table(
        {
            "start_s": pa.array(worst["start_ps"] / 1e12, pa.float64()),
            "latency_mean_s": pa.array(worst["latency_mean_ns"] / 1e9, pa.float64()),
            "bytes_per_s": pa.array(worst["wire_bytes_per_s"], pa.float64()),
            "others_bytes_per_s": pa.array(
                [float(others.get(at, 0.0)) for at in worst["start_ps"]], pa.float64()
            ),
        }
    )


SHOWN = {
    "calls": ("Mean time per rank in calls", {"kind": "call", "mean_s": "time", "share": "share of calls"}),
    "ranks": (
        "Ranks with the longest time in calls",
        {
            "rank": "rank",
            "node": "node",
            "communication_s": "in calls",
            "blocked_s": "blocked",
            "compute_s": "computing",
        },
    ),
    "held": (
        "Pairs of nodes whose packets of the job the congestion control held longest",
        {
            "source": "source",
            "destination": "destination",
            "held_s": "held",
            "held_packets": "packets",
            "holds": "holds",
            "marks": "marks",
        },
    ),
    "blocking_jobs": (
        "Waits of the job's packets at links, by the job ahead of them (sum over packets)",
        {"blocking_job": "blocking job", "wait_s": "waited", "share": "share"},
    ),
    "classes": (
        "Waits by link class",
        {"class": "class", "blocking_job": "blocking job", "wait_s": "waited", "share": "share"},
    ),
    "links": (
        "Links with the longest waits",
        {
            "name": "link",
            "wait_s": "waited",
            "share": "share of waits",
            "blocking_job": "main blocking job",
            "blocking_job_share": "its share",
        },
    ),
    "times": (
        "Intervals with the highest packet latency",
        {
            "start_s": "start",
            "latency_mean_s": "mean latency",
            "bytes_per_s": "delivered, job",
            "others_bytes_per_s": "delivered, others",
        },
    ),
}
"""Title, columns and headings by topic."""

NEEDED = {
    "calls": "ranks (a job with a program)",
    "blocking_jobs": "record_job_waits = true",
    "times": "interval",
}
"""What an experiment needs for each topic."""


def _print(screen: Console, found: dict[str, pa.Table | None], *, simulated: bool) -> None:
    from odonata.cli.output import columns

    for key, (title, headings) in SHOWN.items():
        table = found[key]
        if table is None:
            continue
        if not table.num_rows:
            screen.print(f"\n{title}: none")
            continue
        terminal.print_table(screen, columns.joined(columns.of_arrow(table, headings)), title)
    missing = [setting for key, setting in NEEDED.items() if found[key] is None]
    if simulated and missing:
        screen.print(f"\nFor more details, record: {', '.join(missing)}")
