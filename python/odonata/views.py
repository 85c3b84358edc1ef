"""`odonata.view`: open runs in the viewer from Python."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.optimization import Optimization
from odonata.plot.still import still
from odonata.runs import Run
from odonata.store.writer import is_run
from odonata.sweeps import Sweep
from odonata.viewer.bundles import all_bundled
from odonata.viewer.export import check_place, standalone_page, write_page
from odonata.viewer.runs import OpenRuns
from odonata.viewer.widget import widget

Viewable = Run | Sweep | Optimization | str | Path


def view(*runs: Viewable, html: str | Path | None = None, bundle: bool = False) -> Any:
    """Show runs in the viewer: one run, several runs, a sweep or an optimization.

    Args:
        runs: Objects or directories. A run without a directory can only be shown alone.
        html: Path of a standalone page to write, instead of showing a widget.
        bundle: Merge parallel cables. Makes the page of a large machine smaller and faster.

    Returns:
        A notebook widget (needs `pip install 'odonata[notebook]'`); with `html`, the path of the page.

    Raises:
        OdonataError: No run was given, a path is not a run, or the page cannot be written.

    Examples:
        >>> widget = odonata.view("runs/both", "runs/fewer")
        >>> odonata.view("runs/both", "runs/fewer", html="compared.html").name
        'compared.html'
    """
    if not runs:
        raise OdonataError("no run to view", hint="Pass runs, sweeps or their directories.")
    opened = _opened(runs)
    if bundle:
        opened = all_bundled(opened)
    if html is None:
        return widget(opened, lambda: _still(runs))
    path = Path(html)
    check_place(path)
    write_page(standalone_page(opened), path)
    return path


def _opened(runs: tuple[Viewable, ...]) -> OpenRuns:
    paths = [Path(run) if isinstance(run, (str, Path)) else run.path for run in runs]
    stored = [path for path in paths if path is not None]
    if len(stored) == len(runs):
        return OpenRuns.from_directories(stored)
    if len(runs) == 1 and isinstance(runs[0], Run):
        return OpenRuns.from_run(runs[0])
    raise OdonataError(
        "a run without a directory cannot be viewed together with others", hint="Save it first: run.save(DIR)"
    )


def _still(runs: tuple[Viewable, ...]) -> tuple[bytes | None, str]:
    """Fallback without scripts: a picture of the first run and tables of all runs."""
    found = [_still_of(run) for run in runs]
    return next((picture for picture, _ in found if picture), None), "\n".join(page for _, page in found)


def _still_of(run: Viewable) -> tuple[bytes | None, str]:
    if isinstance(run, (str, Path)) and is_run(Path(run)):
        run = Run.from_directory(run)
    if isinstance(run, Run):
        return still(run)
    return None, f"<p>{escape(run if isinstance(run, str) else repr(run))}</p>"
