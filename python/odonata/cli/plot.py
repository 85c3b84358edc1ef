"""`odonata plot`: figures of a run."""

from __future__ import annotations

from pathlib import Path

import click

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
OF_SWEEPS = ("load_curve", "interference")


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-k", "--kind", type=click.Choice(KINDS), default="overview", help="Which figure; an overview by default."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file to write, .png, .svg or .pdf; <kind>.png in the run directory by default.",
)
@click.option("--job", metavar="NAME", help="Only the traffic of this job (histogram, groups and torus).")
@click.option(
    "--what",
    metavar="WORD",
    help="series: throughput, latency, non_minimal, load or stall. latency: total or network. "
    "torus: traffic or dynamic.",
)
@click.option("--log/--linear", default=None, help="The axis of traffic (histogram and jobs).")
def command(
    directory: Path, kind: str, output: Path | None, job: str | None, what: str | None, log: bool | None
) -> None:
    """Draw a figure of a run; load_curve also of a sweep, interference only of one.

    \b
    odonata plot runs/first
    odonata plot runs/first -k histogram --job noise --log -o noise.svg
    odonata plot runs/packets -k series --what latency

    Of runs of the packet engine only: latency, stall_map, congestion, series, load_curve.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    import odonata
    from odonata.api import load_run
    from odonata.errors import OdonataError
    from odonata.store.whole import replacing

    takes_job, takes_log = ("histogram", "groups", "torus"), ("histogram", "jobs")
    takes_what = ("series", "latency", "torus")
    if job is not None and kind not in takes_job:
        raise OdonataError(
            f"--job does not apply to the figure {kind}", hint=f"It does to {', '.join(takes_job)}."
        )
    if log is not None and kind not in takes_log:
        raise OdonataError(
            f"--log and --linear do not apply to the figure {kind}",
            hint=f"They do to {' and '.join(takes_log)}.",
        )
    if what is not None and kind not in takes_what:
        raise OdonataError(
            f"--what does not apply to the figure {kind}", hint=f"It does to {', '.join(takes_what)}."
        )
    settings: dict[str, object] = {}
    if what is not None:
        settings["part" if kind == "latency" else "what"] = what
    if job is not None:
        settings["job"] = job
    if log is not None:
        settings["log"] = log
    if (directory / "sweep.json").exists():
        if kind not in OF_SWEEPS:
            raise OdonataError(
                f"{directory} is a sweep, not a run",
                hint=f"Draw it with -k {' or -k '.join(OF_SWEEPS)}, or a run of its directory points.",
            )
        sweep = odonata.Sweep.load(directory)
        picture = sweep.load_curve() if kind == "load_curve" else sweep.slowdowns()
    elif kind == "interference":
        raise OdonataError(
            f"{directory} is a run", hint="A sweep of an experiment with [interference] has this figure."
        )
    else:
        picture = getattr(load_run(directory).plot, kind)(**settings)
    path = output or directory / f"{kind}.png"
    try:
        with replacing(path) as unfinished:
            picture.savefig(unfinished)
    except ValueError as error:
        raise OdonataError(f"{path}: {error}") from None
    click.echo(path)
