"""`odonata plot`: draw figures of a run or sweep."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options
from odonata.errors import OdonataError

KINDS = (
    "overview",
    "links",
    "histogram",
    "groups",
    "jobs",
    "torus",
    "latency",
    "stall_map",
    "congestion",
    "series",
    "load_curve",
    "interference",
)
SWEEP_KINDS = ("load_curve", "interference")


@click.command()
@options.directory
@click.option("-k", "--kind", type=click.Choice(KINDS), default="overview", help="Figure to draw (overview).")
@options.output("FILE", "Output file (.png, .svg or .pdf); <kind>.png in the run directory by default.")
@click.option("--job", metavar="NAME", help="Job whose traffic is drawn (histogram, groups and torus).")
@click.option(
    "--what",
    metavar="WORD",
    help="Quantity to draw. series: throughput, latency, non_minimal, load or stall. "
    "latency: total or network. torus: traffic or dynamic.",
)
@click.option("--log/--linear", default=None, help="Logarithmic or linear traffic axis (histogram and jobs).")
def command(
    directory: Path, kind: str, output: Path | None, job: str | None, what: str | None, log: bool | None
) -> None:
    """Draw a figure of a run or sweep.

    \b
    odonata plot runs/first
    odonata plot runs/first -k histogram --job noise --log -o noise.svg
    odonata plot runs/packets -k series --what latency

    Only runs of the packet engine have latency, stall_map, congestion, series and load_curve. Of a sweep you
    can draw load_curve and interference.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import odonata
    from odonata.api import load_run
    from odonata.store.atomic import atomic_file

    if output is not None and not output.suffix:
        raise OdonataError(f"{output} has no extension", hint=f"Write {output}.png, .svg or .pdf.")
    takes_job, takes_log = ("histogram", "groups", "torus"), ("histogram", "jobs")
    takes_what = ("series", "latency", "torus")
    if job is not None and kind not in takes_job:
        raise OdonataError(
            f"--job does not apply to the figure {kind}", hint=f"Use it with: {', '.join(takes_job)}."
        )
    if log is not None and kind not in takes_log:
        raise OdonataError(
            f"--log and --linear do not apply to the figure {kind}",
            hint=f"Use them with: {', '.join(takes_log)}.",
        )
    if what is not None and kind not in takes_what:
        raise OdonataError(
            f"--what does not apply to the figure {kind}", hint=f"Use it with: {', '.join(takes_what)}."
        )
    settings: dict[str, object] = {}
    if what is not None:
        settings["part" if kind == "latency" else "what"] = what
    if job is not None:
        settings["job"] = job
    if log is not None:
        settings["log"] = log
    if (directory / "sweep.json").exists():
        if kind not in SWEEP_KINDS:
            raise OdonataError(
                f"{directory} is a sweep, not a run",
                hint=f"Draw it with -k {' or -k '.join(SWEEP_KINDS)}, or draw a run in its directory points.",
            )
        sweep = odonata.Sweep.load(directory)
        picture = sweep.load_curve() if kind == "load_curve" else sweep.slowdowns()
    elif kind == "interference":
        raise OdonataError(
            f"{directory} is a run, not a sweep with [interference]", hint="Choose the directory of a sweep."
        )
    else:
        picture = getattr(load_run(directory).plot, kind)(**settings)
    path = output or directory / f"{kind}.png"
    try:
        with atomic_file(path) as unfinished:
            picture.savefig(unfinished)
    except ValueError as error:
        raise OdonataError(f"{path}: {error}") from None
    click.echo(path)
