"""`odonata.view`: runs in the viewer, from Python."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.optimization import Optimization
from odonata.plot.still import still
from odonata.runs import Run
from odonata.store import is_run
from odonata.sweeps import Sweep
from odonata.viewer.bundles import all_bundled
from odonata.viewer.export import check_place, standalone_page, write_page
from odonata.viewer.runs import OpenRuns
from odonata.viewer.widget import widget

Shown = Run | Sweep | Optimization | str | Path


def view(*runs: Shown, html: str | Path | None = None, bundle: bool = False) -> Any:
    """Runs in the viewer: one, several to compare, a sweep or an optimization.

    Args:
        runs: Each as an object or its directory. A run that is in memory only is shown alone.
        html: Write a page that opens without a server instead of showing a widget.
        bundle: Join the cables between the same two routers: a large machine as a smaller, quicker page.

    Returns:
        The widget of a notebook, to be put last in a cell (needs `pip install 'odonata[notebook]'`); with
        `html` the path of the page.

    Raises:
        OdonataError: Nothing was given, something is no run, or the page cannot be written.

    Examples:
        >>> widget = odonata.view("runs/both", "runs/fewer")
        >>> odonata.view("runs/both", "runs/fewer", html="compared.html").name
        'compared.html'
    """
    if not runs:
        raise OdonataError("there is nothing to view", hint="Give runs, sweeps or their directories.")
    opened = _opened(runs)
    if bundle:
        opened = all_bundled(opened)
    if html is None:
        return widget(opened, lambda: _still(runs))
    path = Path(html)
    check_place(path)
    write_page(standalone_page(opened), path)
    return path


def _opened(runs: tuple[Shown, ...]) -> OpenRuns:
    paths = [Path(run) if isinstance(run, (str, Path)) else run.path for run in runs]
    stored = [path for path in paths if path is not None]
    if len(stored) == len(runs):
        return OpenRuns.from_directories(stored)
    if len(runs) == 1 and isinstance(runs[0], Run):
        return OpenRuns.from_run(runs[0])
    raise OdonataError(
        "a run that is in memory only cannot be viewed beside others", hint="Write it first: run.save(DIR)"
    )


def _still(runs: tuple[Shown, ...]) -> tuple[bytes | None, str]:
    """The picture of the first run, and of each its tables: for where no script runs."""
    found = [_still_of(run) for run in runs]
    return next((picture for picture, _ in found if picture), None), "\n".join(page for _, page in found)


def _still_of(shown: Shown) -> tuple[bytes | None, str]:
    if isinstance(shown, (str, Path)) and is_run(Path(shown)):
        shown = Run.from_directory(shown)
    if isinstance(shown, Run):
        return still(shown)
    return None, f"<p>{escape(shown if isinstance(shown, str) else repr(shown))}</p>"
