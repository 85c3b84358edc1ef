"""`odonata plot`: draw figures of a run, sweep or search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.optimization import Optimization
    from odonata.plot.style import Picture
    from odonata.runs import Run
    from odonata.sweeps.result import Sweep

SIZES = ("screen", "column", "page")
"""As `odonata.plot.style.SIZES`, which would import matplotlib for every help text."""

KINDS = (
    "overview",
    "links",
    "histogram",
    "groups",
    "jobs",
    "costs",
    "torus",
    "latency",
    "stall_map",
    "congestion",
    "series",
    "throughput",
    "load_curve",
    "interference",
    "times",
    "front",
)
SWEEP_KINDS = ("times", "load_curve", "interference", "throughput")
ONLY_SWEEPS = ("interference", "times")
SEARCH_KIND = "front"


@click.command()
@options.directory
@click.option(
    "-k",
    "--kind",
    type=click.Choice(KINDS),
    help="Figure to draw: of a run, overview, or costs without routing; of a sweep, interference, load_curve "
    "or times; of a search, front by default.",
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
    """Draw a figure of a run, sweep or search.

    \b
    odonata plot runs/first
    odonata plot runs/first -k histogram --job noise --log -o noise.svg
    odonata plot runs/packets -k throughput --alone runs/fft-alone
    odonata plot runs/sweep --size column -o figure.pdf
    odonata plot runs/best --size column

    Only runs of the model engine have costs. Only runs of the packet engine have latency, stall_map,
    congestion, series, throughput and load_curve. Of a sweep you can draw times, load_curve, interference
    and throughput, of a search the front. Fonts are embedded in PDF files.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import odonata
    from odonata.api import load_run
    from odonata.plot import size as drawn_for
    from odonata.store.atomic import atomic_file
    from odonata.store.optimization import DESCRIPTION

    if output is not None and not output.suffix:
        raise OdonataError(f"{output} has no extension", hint=f"Write {output}.png, .svg or .pdf.")
    is_search = (directory / DESCRIPTION).is_file()
    opened = odonata.Optimization.load(directory) if is_search else odonata.load(directory)
    kind = kind or _kind_of(opened)
    _check_kind(directory, opened, kind, has_alone=bool(alone))
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
        picture = _draw(opened, kind, settings)
        path = output or directory / f"{kind}.png"
        try:
            with atomic_file(path) as unfinished:
                picture.savefig(unfinished)
        except ValueError as error:
            raise OdonataError(f"{path}: {error}") from None
    click.echo(path)


def _check_kind(directory: Path, opened: Run | Sweep | Optimization, kind: str, *, has_alone: bool) -> None:
    """Refuses a figure that the directory does not have."""
    import odonata

    if isinstance(opened, odonata.Optimization):
        if kind != SEARCH_KIND:
            raise OdonataError(
                f"{directory} is a search, not a run",
                hint=f"Draw it with -k {SEARCH_KIND}, or draw a run in its directory points.",
            )
    elif kind == SEARCH_KIND:
        raise OdonataError(
            f"{directory} is no search, so it has no figure {kind}",
            hint="Choose the directory of `odonata optimize`.",
        )
    elif not isinstance(opened, odonata.Sweep):
        if kind in ONLY_SWEEPS:
            raise OdonataError(
                f"{directory} is a run, not a sweep, so it has no figure {kind}",
                hint="Choose the directory of a sweep.",
            )
    elif kind not in SWEEP_KINDS:
        raise OdonataError(
            f"{directory} is a sweep, not a run",
            hint=f"Draw it with -k {' or -k '.join(SWEEP_KINDS)}, or draw a run in its directory points.",
        )
    elif has_alone:
        raise OdonataError(
            "--alone does not apply to a sweep", hint="It takes the runs alone that [interference] makes."
        )


def _draw(opened: Run | Sweep | Optimization, kind: str, settings: Mapping[str, Any]) -> Picture:
    import odonata

    if isinstance(opened, odonata.Optimization):
        return opened.plot()
    if isinstance(opened, odonata.Sweep):
        picture: Picture = getattr(opened, "slowdowns" if kind == "interference" else kind)()
        return picture
    drawn: Picture = getattr(opened.plot, kind)(**settings)
    return drawn


def _kind_of(opened: Run | Sweep | Optimization) -> str:
    """The figure that answers what a run, a sweep or a search asks."""
    import odonata
    from odonata.sweeps.interference import is_interference

    if isinstance(opened, odonata.Optimization):
        return SEARCH_KIND
    if not isinstance(opened, odonata.Sweep):
        return "overview" if opened.routed else "costs"
    if is_interference(opened.axes):
        return "interference"
    loads = any(axis.key.endswith("traffic.load") and len(axis.values) > 1 for axis in opened.axes)
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
