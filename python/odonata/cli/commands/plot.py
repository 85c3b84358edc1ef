"""`odonata plot`: draw figures of a run or sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from odonata.cli import options
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.sweeps.result import Sweep

SIZES = ("screen", "column", "page")
"""As `odonata.plot.style.SIZES`, which would import matplotlib for every help text."""

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
    "throughput",
    "load_curve",
    "interference",
    "times",
)
SWEEP_KINDS = ("times", "load_curve", "interference", "throughput")
ONLY_SWEEPS = ("interference", "times")


@click.command()
@options.directory
@click.option(
    "-k",
    "--kind",
    type=click.Choice(KINDS),
    help="Figure to draw: of a run, overview; of a sweep, interference, load_curve or times by default.",
)
@options.output("FILE", "Output file (.png, .svg or .pdf); <kind>.png in the run directory by default.")
@click.option("--job", metavar="NAME", help="Job whose traffic is drawn (histogram, groups and torus).")
@click.option(
    "--what",
    metavar="WORD",
    help="Quantity to draw. series: throughput, latency, non_minimal, load or stall. "
    "latency: total or network. torus: traffic or dynamic.",
)
@click.option("--log/--linear", default=None, help="Logarithmic or linear traffic axis (histogram and jobs).")
@click.option(
    "--alone",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Run of one of the jobs alone, drawn in grey (throughput). Repeatable.",
)
@click.option(
    "--size",
    type=click.Choice(SIZES),
    default="screen",
    help="Width and text: screen, or one column (3.5 inches) or the page (7.16 inches) of a paper.",
)
def command(
    directory: Path,
    kind: str | None,
    output: Path | None,
    job: str | None,
    what: str | None,
    log: bool | None,
    alone: tuple[Path, ...],
    size: str,
) -> None:
    """Draw a figure of a run or sweep.

    \b
    odonata plot runs/first
    odonata plot runs/first -k histogram --job noise --log -o noise.svg
    odonata plot runs/packets -k throughput --alone runs/fft-alone
    odonata plot runs/sweep --size column -o figure.pdf

    Only runs of the packet engine have latency, stall_map, congestion, series, throughput and load_curve. Of
    a sweep you can draw times, load_curve, interference and throughput. Fonts are embedded in PDF files.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import odonata
    from odonata.api import load_run
    from odonata.plot import size as drawn_for
    from odonata.store.atomic import atomic_file

    if output is not None and not output.suffix:
        raise OdonataError(f"{output} has no extension", hint=f"Write {output}.png, .svg or .pdf.")
    sweep = odonata.Sweep.load(directory) if (directory / "sweep.json").exists() else None
    kind = kind or ("overview" if sweep is None else _kind_of(sweep))
    _refuse_unused(kind, {"job": job, "log": log, "what": what, "alone": alone or None})
    settings: dict[str, object] = {}
    if what is not None:
        settings["part" if kind == "latency" else "what"] = what
    if job is not None:
        settings["job"] = job
    if log is not None:
        settings["log"] = log
    if alone:
        settings["alone"] = [load_run(path) for path in alone]
    with drawn_for(size):
        if sweep is None:
            if kind in ONLY_SWEEPS:
                raise OdonataError(
                    f"{directory} is a run, not a sweep, so it has no figure {kind}",
                    hint="Choose the directory of a sweep.",
                )
            picture = getattr(load_run(directory).plot, kind)(**settings)
        elif kind not in SWEEP_KINDS:
            raise OdonataError(
                f"{directory} is a sweep, not a run",
                hint=f"Draw it with -k {' or -k '.join(SWEEP_KINDS)}, or draw a run in its directory points.",
            )
        elif alone:
            raise OdonataError(
                "--alone does not apply to a sweep", hint="It takes the runs alone that [interference] makes."
            )
        else:
            picture = getattr(sweep, "slowdowns" if kind == "interference" else kind)()
        path = output or directory / f"{kind}.png"
        try:
            with atomic_file(path) as unfinished:
                picture.savefig(unfinished)
        except ValueError as error:
            raise OdonataError(f"{path}: {error}") from None
    click.echo(path)


def _kind_of(sweep: Sweep) -> str:
    """The figure that answers what a sweep asks."""
    from odonata.sweeps.interference import is_interference

    if is_interference(sweep.axes):
        return "interference"
    loads = any(axis.key.endswith("traffic.load") and len(axis.values) > 1 for axis in sweep.axes)
    return "load_curve" if loads else "times"


APPLIES = {
    "job": ("--job", ("histogram", "groups", "torus")),
    "log": ("--log and --linear", ("histogram", "jobs")),
    "what": ("--what", ("series", "latency", "torus")),
    "alone": ("--alone", ("throughput",)),
}
"""Options that only some figures take."""


def _refuse_unused(kind: str, given: dict[str, object]) -> None:
    for name, value in given.items():
        option, kinds = APPLIES[name]
        if value is not None and kind not in kinds:
            do, them = ("do", "them") if " and " in option else ("does", "it")
            raise OdonataError(
                f"{option} {do} not apply to the figure {kind}", hint=f"Use {them} with: {', '.join(kinds)}."
            )
