"""Which report directories have, and the file that it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from odonata.api import load_run
from odonata.errors import OdonataError
from odonata.optimization import Optimization
from odonata.report.content import Report
from odonata.report.html import html
from odonata.report.of_comparison import report_of_comparison
from odonata.report.of_run import report_of_run
from odonata.report.of_search import report_of_search
from odonata.report.of_sweep import report_of_sweep
from odonata.report.pdf import pdf
from odonata.store.atomic import atomic_file
from odonata.store.optimization import DESCRIPTION as SEARCH
from odonata.store.sweep import DESCRIPTION as SWEEP
from odonata.sweeps import Sweep
from odonata.viewer.runs import labels

COMPARED_MAX = 4
_WRITERS = {".html": html, ".pdf": pdf}


def check_file(path: Path) -> None:
    """Raises `OdonataError` if a report cannot be written there: another extension, or no such directory."""
    if path.suffix.lower() not in _WRITERS:
        raise OdonataError(f"cannot write a report as {path.name}", hint="Name a file .html or .pdf.")
    if not path.parent.is_dir():
        raise OdonataError(f"cannot write {path.name}: directory {path.parent} does not exist")


def report_of(directories: Sequence[Path]) -> Report:
    """The report of a run, a sweep or a search, or of two to four runs that are compared with the first.

    Raises:
        OdonataError: There are more, or one of several is not a run.
    """
    if len(directories) == 1:
        (directory,) = directories
        if (directory / SWEEP).is_file():
            return report_of_sweep(Sweep.load(directory))
        if (directory / SEARCH).is_file():
            return report_of_search(Optimization.load(directory))
        return report_of_run(load_run(directory))
    if len(directories) > COMPARED_MAX:
        raise OdonataError(
            f"a report compares two to {COMPARED_MAX} runs, not {len(directories)}",
            hint="Name fewer, or the directory of a sweep.",
        )
    return report_of_comparison([load_run(one) for one in directories], labels(directories))


def write_report(report: Report, path: Path) -> None:
    """Writes a report as `.html` (one file that loads nothing) or `.pdf`.

    Raises:
        OdonataError: The file has another extension, or cannot be written.
    """
    check_file(path)
    content = _WRITERS[path.suffix.lower()](report)
    with atomic_file(path) as unfinished:
        unfinished.write_bytes(content)
