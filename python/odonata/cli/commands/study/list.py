"""`odonata study list`: list the studies."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.options import study as options
from odonata.cli.output import terminal
from odonata.errors import OdonataError


@click.command()
@options.studies
@options.output
@options.quick
@common.as_json
def command(studies: Path, output: Path, quick: bool, as_json: bool) -> None:
    """List the studies, their claims and their finished points.

    \b
    odonata study list
    odonata study list --quick
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.studies import Results, available, count_started, load

    found = available(studies)
    if not found:
        raise OdonataError(
            f"there is no study in {studies}",
            hint="Give the directory with --studies, or the path of a study's folder.",
        )
    rows = []
    for path in found:
        study = load(path.parent, quick=quick)
        results = Results(study, options.directory(output, study))
        done, points = count_started(results)
        row = {"study": study.name, "title": study.title, "claims": len(study.claims)}
        rows.append({**row, "points": points, "finished": done})
    if as_json:
        terminal.print_json(rows)
        return
    shown = terminal.table(["study", "title", "claims", "points", "finished"], left=["study"], wrap=["title"])
    for row in rows:
        shown.add_row(*map(str, row.values()))
    terminal.console().print(shown)
