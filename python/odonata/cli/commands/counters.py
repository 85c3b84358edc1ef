"""`odonata counters`: hardware counters, and which of them predicts a job's time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.errors import OdonataError

if TYPE_CHECKING:
    import pyarrow as pa

    from odonata.counters import Prediction


@click.command()
@click.argument("path", metavar="RUN|SWEEP|TABLE", type=click.Path(path_type=Path))
@click.option(
    "--against",
    type=click.Choice(["time"]),
    help="For a sweep: how well each counter predicts the time of a job.",
)
@click.option("--job", metavar="NAME", help="Job to predict; by default the last job to end.")
@click.option(
    "--leave-out",
    metavar="AXIS",
    help="Hold out the runs of one value of this axis at a time, not ten random parts.",
)
@options.count("-n", "--count", default=15, help="Number of counters to list (15).")
@options.as_json
def command(
    path: Path, against: str | None, job: str | None, leave_out: str | None, count: int, as_json: bool
) -> None:
    """Show hardware counters, or find the counter that predicts a job's time.

    \b
    odonata counters runs/pf3d
    odonata counters bgp_links.yaml
    odonata counters aries_rtr_mmr.csv
    odonata counters sweeps/mappings --against time
    odonata counters sweeps/mappings --against time --leave-out job.app.pattern

    RUN is a run of the packet engine on a Blue Gene; its counters have the names of the hardware. TABLE is a
    Boxfish table with counters of a real Blue Gene, or an LDMS table of a Cray XC.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import counters
    from odonata.api import load_run
    from odonata.sweeps import Sweep

    if against is not None:
        sweep = Sweep.load(path)
        finished = list(sweep.runs.items())
        table, times = counters.features_and_times([run for _, run in finished], job)
        groups = None
        if leave_out is not None:
            axes = [axis.key for axis in sweep.axes]
            if leave_out not in axes:
                raise OdonataError(f"unknown axis {leave_out}", hint=f"Axes of the sweep: {', '.join(axes)}.")
            groups = [point.values[axes.index(leave_out)] for point, _ in finished]
        found = counters.predictions(table, times, groups)
        if as_json:
            terminal.print_json([_json(one) for one in found])
            return
        _print_predictions(found, len(times), leave_out, count)
        return
    if job is not None or leave_out is not None:
        raise OdonataError("--job and --leave-out need --against time")
    shown = _of_table(path) if path.is_file() else counters.hardware_counters(load_run(path))
    if as_json:
        terminal.print_json(shown.to_pylist())
        return
    _print_counters(path, shown)


def _json(one: Prediction) -> dict[str, Any]:
    """Replaces NaN, which stands for undefined values of combined counters, by null."""
    return {name: None if value != value else value for name, value in vars(one).items()}


def _of_table(path: Path) -> pa.Table:
    import pyarrow as pa

    from odonata.counters import read_columns, statistics

    rows: list[dict[str, Any]] = [
        {"counter": name, **statistics(values)} for name, values in read_columns(path).items()
    ]
    return pa.Table.from_pylist(rows)


def _print_counters(path: Path, shown: pa.Table) -> None:
    statistics = ["sum", "mean", "p50", "p90", "p99", "worst", "max"]
    headings = ["counter", "sum", "mean", "50 %", "90 %", "99 %", "10 % worst", "max"]
    table = terminal.table(headings, left=["counter"])
    for row in shown.to_pylist():
        table.add_row(row["counter"], *(f"{row[name]:,.0f}" for name in statistics))
    terminal.print_table(terminal.console(), table, f"Counters of {path}")


def _print_predictions(found: list[Prediction], runs: int, leave_out: str | None, count: int) -> None:
    single, together = found[:-2], found[-2:]
    table = terminal.table(["counter", "concordant", "Spearman", "95 %", "error held out"], left=["counter"])
    for one in single[:count]:
        interval = f"{one.spearman_low:.2f} to {one.spearman_high:.2f}"
        table.add_row(
            one.counter, f"{one.concordant:.1%}", f"{one.spearman:.3f}", interval, f"{one.error:.1%}"
        )
    table.add_section()
    for one in together:
        table.add_row(one.counter, "", "", "", f"{one.error:.1%}")
    held = f"each value of {leave_out}" if leave_out else "one run in ten"
    screen = terminal.console()
    terminal.print_table(screen, table, f"Prediction of the job's time in {runs} runs, {held} held out")
    if len(single) > count:
        screen.print(
            f"{len(single) - count} counters with lower concordance are not listed; use -n to list more."
        )
