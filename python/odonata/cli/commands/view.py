"""`odonata view`: view runs in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odonata.cli import options
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.viewer.reruns import Runner
    from odonata.viewer.runs import OpenRuns


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.path(
    "--html", metavar="FILE", help="Write one page that opens without a server, for example to mail it."
)
@options.path(
    "--report",
    metavar="FILE",
    help="Write a report, .html or .pdf: the result in a sentence, up to four figures, tables, the method.",
)
@click.option(
    "--bundle",
    is_flag=True,
    help="Draw parallel cables as one bundle; pages of large machines become smaller and faster.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; any free port by default."
)
@click.option(
    "--print-ssh", is_flag=True, help="Print the ssh command for your own machine and open no browser here."
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@click.option(
    "--allow-runs",
    is_flag=True,
    help="Let the page run the experiments of its runs again, on machines that you change in the picture.",
)
@options.path("--counter-jobs", metavar="CSV", help="Nodes of each job, for a table of hardware counters.")
def command(
    runs: tuple[Path, ...],
    html: Path | None,
    report: Path | None,
    bundle: bool,
    port: int,
    print_ssh: bool,
    no_open: bool,
    allow_runs: bool,
    counter_jobs: Path | None,
) -> None:
    """View runs in the browser: one run, several to compare, or a sweep.

    \b
    odonata view runs/first
    odonata view runs/all-cables runs/first --html compared.html
    odonata view links.csv.gz --counter-jobs jobs.csv.gz

    RUN may also be a table (.csv or .csv.gz) of hardware counters of a Cray XC.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import webbrowser

    from odonata.viewer.bundles import all_bundled
    from odonata.viewer.counters import is_counters, read_counters
    from odonata.viewer.runs import OpenRuns
    from odonata.viewer.server import ViewerServer

    if report is not None:
        if any(map(is_counters, runs)) or html is not None or allow_runs:
            raise OdonataError("--report takes runs or the directory of a study, and no other output")
        from odonata.report import check_file, report_of, write_report

        check_file(report)
        write_report(report_of(runs), report)
        click.echo(f"{report}: written")
        return
    if allow_runs and (html is not None or bundle or any(map(is_counters, runs))):
        raise OdonataError("--allow-runs needs runs, and neither --html nor --bundle")
    if any(map(is_counters, runs)):
        if len(runs) > 1:
            raise OdonataError(
                "a table of hardware counters cannot be compared with runs", hint="Give one .csv file only."
            )
        opened = OpenRuns([(runs[0].name.split(".")[0], read_counters(runs[0], counter_jobs))])
    elif counter_jobs is not None:
        raise OdonataError("--counter-jobs needs a table of hardware counters")
    else:
        opened = OpenRuns.from_directories(runs)
    for label, reason in opened.bad:
        click.echo(f"warning: {label} is ignored: {reason}", err=True)
    if bundle:
        opened = all_bundled(opened)
    if html is not None:
        _write(opened, html, bundle)
        return
    with ViewerServer(opened, port, runner() if allow_runs else None) as server:
        if print_ssh:
            click.echo(f"Enter on your own machine:\n  {server.ssh}\nThen open there:")
        click.echo(f"{server.url}\nStop with Ctrl-C.")
        if not (no_open or print_ssh):
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("stopped")


def runner() -> Runner:
    """Makes the runs that the page asks for."""
    from collections.abc import Callable, Sequence

    from odonata import api
    from odonata.explanation import measure_changes
    from odonata.store.run import RunData
    from odonata.viewer.reruns import Runner

    def rerun(run: RunData, edits: Sequence[str], out: Path, progress: Callable[[str, float], None]) -> None:
        api.run(run.resolved, set=run.with_edits(*edits), out=out, progress=progress)

    return Runner(measure_changes, rerun)


LARGE = 10 * 2**20
"""Size limit, in bytes, above which many mail servers refuse a page and browsers open it slowly."""


def _write(opened: OpenRuns, html: Path, bundle: bool) -> None:
    """Writes the page; a large page is announced with its size and, at a terminal, confirmed."""
    from odonata.viewer.bundles import bundle_count
    from odonata.viewer.export import check_place, standalone_page, write_page

    check_place(html)
    page = standalone_page(opened)
    size = f"{len(page.encode()) / 2**20:.1f} MiB"
    if len(page) > LARGE:
        links = sum(run.describe("links")[0] for run in opened.runs)
        bundles = links if bundle else sum(map(bundle_count, opened.runs))
        message = f"{html} will have {size} for {links:,} links."
        if bundles < links:
            message += f" With --bundle it has {bundles:,} bundles of parallel cables instead."
        click.echo(message)
        if sys.stdin.isatty() and not click.confirm("Write it?", default=True):
            click.echo("Nothing was written.")
            return
    write_page(page, html)
    click.echo(f"{html}: {size}; it opens without a server.")
