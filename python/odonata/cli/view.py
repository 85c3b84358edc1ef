"""`odonata view`: runs in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from odonata.viewer.runs import OpenRuns


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page that opens without a server, to send to somebody.",
)
@click.option(
    "--bundle",
    is_flag=True,
    help="Join the cables between the same two routers: a large machine as a smaller, quicker page.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; a free one if not given."
)
@click.option(
    "--print-ssh",
    is_flag=True,
    help="On a machine without a browser: print the ssh line to enter on your own, and do not open one here.",
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@click.option(
    "--counter-jobs",
    type=click.Path(path_type=Path),
    metavar="CSV",
    help="Nodes of the jobs, for hardware counters.",
)
def command(
    runs: tuple[Path, ...],
    html: Path | None,
    bundle: bool,
    port: int,
    print_ssh: bool,
    no_open: bool,
    counter_jobs: Path | None,
) -> None:
    """Look at runs in the browser: one, several to compare, or a sweep.

    \b
    odonata view runs/first
    odonata view runs/all-cables runs/first --html compared.html
    odonata view links.csv.gz --counter-jobs jobs.csv.gz

    RUN may also be a table of hardware counters (.csv or .csv.gz) of a Cray XC.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    import webbrowser

    from odonata.errors import OdonataError
    from odonata.viewer.bundles import all_bundled
    from odonata.viewer.counters import is_counters, read_counters
    from odonata.viewer.runs import OpenRuns
    from odonata.viewer.server import ViewerServer

    if any(map(is_counters, runs)):
        if len(runs) > 1:
            raise OdonataError(
                "hardware counters are viewed alone", hint="Give one .csv file and no other run."
            )
        opened = OpenRuns([(runs[0].name.split(".")[0], read_counters(runs[0], counter_jobs))])
    elif counter_jobs is not None:
        raise OdonataError("--counter-jobs goes with a table of hardware counters, and none was given")
    else:
        opened = OpenRuns.from_directories(runs)
    for label, reason in opened.bad:
        click.echo(f"warning: {label} is left out: {reason}", err=True)
    if bundle:
        opened = all_bundled(opened)
    if html is not None:
        _write(opened, html, bundle)
        return
    with ViewerServer(opened, port) as server:
        if print_ssh:
            click.echo(f"On your own machine enter\n  {server.ssh}\nand open there")
        click.echo(f"{server.url}\nStop with Ctrl-C.")
        if not (no_open or print_ssh):
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("stopped")


LARGE = 10 * 2**20
"""Bytes of a page that many mail servers refuse, and that takes a browser a second and more to open."""


def _write(opened: OpenRuns, html: Path, bundle: bool) -> None:
    """The page without a server; of a large one the size is said before, and at a terminal asked for."""
    from odonata.viewer.bundles import bundle_count
    from odonata.viewer.export import check_place, standalone_page, write_page

    check_place(html)
    page = standalone_page(opened)
    size = f"{len(page.encode()) / 2**20:.1f} MiB"
    if len(page) > LARGE:
        links = sum(run.describe("links")[0] for run in opened.runs)
        bundles = links if bundle else sum(map(bundle_count, opened.runs))
        said = f"{html} will have {size} for {links:,} links"
        if bundles < links:
            said += f"; with --bundle, which joins cables between the same two routers, {bundles:,} bundles"
        click.echo(said)
        if sys.stdin.isatty() and not click.confirm("Write it?", default=True):
            click.echo("nothing was written")
            return
    write_page(page, html)
    click.echo(f"{html}: {size}, opens without a server")
