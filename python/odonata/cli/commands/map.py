"""`odonata map`: price the mapping of a job on a torus and search for a better one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata._core import Experiment
from odonata.cli import options
from odonata.cli.output import terminal
from odonata.errors import OdonataError, nearest
from odonata.quantity import counted

if TYPE_CHECKING:
    from odonata.mapping import Job, MeasuredMapping, SearchResult


@click.command()
@options.experiment
@options.overrides
@click.option("--job", "job_name", metavar="NAME", help="Job to map; required if there are several.")
@options.count("--orders", help="Also show the N best orders of the axes.")
@click.option("--search", is_flag=True, help="Search for a better mapping.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the search.")
@click.option(
    "--tries",
    type=click.IntRange(min=0),
    default=500,
    show_default=True,
    help="Exchanges that the search tries per rank.",
)
@click.option("--time", "timed", is_flag=True, help="Also simulate each listed mapping in the packet engine.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the best listed mapping to a map file.",
)
@options.as_json
def command(
    experiment: Experiment,
    changes: tuple[str, ...],
    job_name: str | None,
    orders: int | None,
    search: bool,
    seed: int,
    tries: int,
    timed: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Price a job's mapping on a torus by hops and hottest link; search for a better one.

    \b
    odonata map examples/pf3d-mapping.toml --orders 5
    odonata map examples/pf3d-mapping.toml --search -o better.map

    Link traffic assumes dimension-order routing, as in the flow engine. The lower bound of the hops holds for
    every mapping; the mean link holds for every routing of a mapping. To use a map file, write
    placement = { name = "mapping", file = "better.map" }.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import mapping

    _check_writable(output)
    experiment = experiment.with_overrides(changes)
    job, alone = _job(mapping.jobs(experiment), job_name)
    if not alone and (orders or search or timed):
        raise OdonataError(
            "--orders, --search and --time need the whole machine, but there are other jobs",
            hint="Remove the other jobs from the file.",
        )
    shown = [mapping.MeasuredMapping("as in the file", job.place_of_rank, mapping.measure(job))]
    shown += mapping.best_orders(job, orders) if orders else []
    found = None
    if search:
        found = mapping.search(job, seed=seed, tries_per_rank=tries)
        shown += [] if orders else [found.order]
        shown += [found.bisection, found.best]
    times = [_time_s(experiment, job, tried) for tried in shown] if timed else None
    best = min(shown, key=lambda tried: (tried.figures.hops_per_byte, tried.figures.largest_link_bytes))
    if output is not None:
        mapping.write_map_file(job, best.place_of_rank, output)
    if as_json:
        terminal.print_json(_json(job, shown, times, found))
        return
    _print(job, shown, times, found)
    if output is not None:
        terminal.console().print(f"Mapping '{best.name}' written to {output}.")


def _check_writable(output: Path | None) -> None:
    """Checks the output directory before the search, which may take long."""
    if output is not None and not output.parent.is_dir():
        raise OdonataError(f"cannot write {output.name}: there is no directory {output.parent}")


def _job(jobs: list[Job], name: str | None) -> tuple[Job, bool]:
    """The requested job, and whether it is the only one."""
    names = [job.name for job in jobs]
    if not jobs:
        raise OdonataError("no job of the file sends messages", hint="Jobs with idle = true do not count.")
    if name is None and len(jobs) > 1:
        raise OdonataError("the file has several jobs", hint=f"Choose one with --job: {', '.join(names)}.")
    if name is not None and name not in names:
        hint = nearest(name, names, f"Jobs of the file: {', '.join(names)}.")
        raise OdonataError(f"unknown job {name}", hint=hint)
    return (jobs[0] if name is None else jobs[names.index(name)]), len(jobs) == 1


def _time_s(experiment: Experiment, job: Job, tried: MeasuredMapping) -> float:
    """The job's time in the packet engine."""
    import tempfile

    from odonata import mapping, toml
    from odonata.api import run

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "tried.map"
        mapping.write_map_file(job, tried.place_of_rank, path)
        placement = toml.value({"name": "mapping", "file": str(path)})
        mapped = experiment.with_overrides(["engine.kind=packet", f"job.{job.name}.placement={placement}"])
        timed = run(mapped)
    times = timed.table("jobs").to_pydict()
    return float(times["completion_time_s"][times["name"].index(job.name)])


def _json(
    job: Job, shown: list[MeasuredMapping], times: list[float] | None, found: SearchResult | None
) -> dict[str, Any]:
    rows = [
        {
            "mapping": tried.name,
            "hops_per_byte": tried.figures.hops_per_byte,
            "largest_link_bytes": tried.figures.largest_link_bytes,
            "mean_link_bytes": tried.figures.mean_link_bytes,
            "time_s": None if times is None else times[number],
        }
        for number, tried in enumerate(shown)
    ]
    return {
        "job": job.name,
        "ranks": job.ranks,
        "bytes": job.total_bytes,
        "bound_hops_per_byte": job.hop_bytes_bound / max(job.total_bytes, 1.0),
        "mappings": rows,
        "saved_share": None if found is None else found.saved_share,
    }


def _print(
    job: Job, shown: list[MeasuredMapping], times: list[float] | None, found: SearchResult | None
) -> None:
    from odonata.cli.output import columns, terminal

    figures = [tried.figures for tried in shown]
    table = columns.joined(
        [
            columns.texts("mapping", (tried.name for tried in shown)),
            columns.ShownColumn("hops per byte", [f"{each.hops_per_byte:.4f}" for each in figures]),
            columns.of_values("hottest link", [each.largest_link_bytes for each in figures], "bytes"),
            columns.of_values("mean link", [each.mean_link_bytes for each in figures], "bytes"),
            *([] if times is None else [columns.of_values("time", times, "s")]),
        ]
    )
    box = " x ".join(f"{letter}{size}" for letter, size in zip(job.letters, job.box, strict=True))
    terminal.print_table(
        terminal.console(), table, f"Mappings of {job.name}: {counted(job.ranks, 'rank')} on {box}"
    )
    bound = job.hop_bytes_bound / max(job.total_bytes, 1.0)
    screen = terminal.console()
    screen.print(f"Lower bound for all mappings: {bound:.4f} hops per byte.")
    if found is not None:
        best, order = found.best.figures, found.order.figures
        if found.saved_share <= 0:
            screen.print(
                f"The search found no mapping with fewer hops than the best order, {found.order.name}."
            )
            return
        link = 1 - best.largest_link_bytes / max(order.largest_link_bytes, 1.0)
        above = f"; {best.hops_per_byte / bound - 1:.1%} above the lower bound" if bound > 0 else ""
        screen.print(
            f"The search saves {found.saved_share:.1%} of the hops of the best order, {found.order.name}, "
            f"and {link:.1%} of the bytes on its hottest link{above}."
        )
