"""Exports runs in the formats of other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.store.run import RunData


def export(run: RunData, format: str, to: str | Path) -> Path:  # noqa: A002 - as on the command line
    """Writes a run in another program's format.

    Args:
        run: Any run; `codes` needs a machine with groups.
        format: One of `FORMATS`.
        to: File to write; for `csv` and `codes` the directory to create.

    Raises:
        OdonataError: The format is unknown or cannot represent the run, or `to` exists or cannot be written.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> path = run.export("csv", "tables")
        >>> len(list(path.glob("*.csv"))) == len(run.table_names)
        True
    """
    if format not in FORMATS:
        raise OdonataError(f"unknown format {format}", hint=f"Use one of {', '.join(FORMATS)}.")
    to = Path(to)
    try:
        FORMATS[format](run, to)
    except FileExistsError:
        raise OdonataError(f"{to} exists and is not replaced") from None
    except OSError as error:
        raise OdonataError(f"{to} cannot be written: {error.strerror}") from None
    return to


def _damselfly(run: RunData, path: Path) -> None:
    from odonata.export import damselfly

    damselfly.export(run.links, run.link_jobs, run.jobs, path)


def _csv(run: RunData, directory: Path) -> None:
    import pyarrow.csv

    from odonata.store.columns import plain

    directory.mkdir(parents=True)
    for name in run.table_names:
        pyarrow.csv.write_csv(plain(run.table(name)), directory / f"{name}.csv")


def _machine(writer: str) -> Callable[[RunData, Path], None]:
    def write(run: RunData, path: Path) -> None:
        from odonata.export import machines

        getattr(machines, writer)(run.table, path)

    return write


FORMATS: dict[str, Callable[[RunData, Path], None]] = {
    "damselfly": _damselfly,
    "csv": _csv,
    "booksim": _machine("booksim"),
    "codes": _machine("codes"),
    "sst-macro": _machine("sst_macro"),
    "slurm": _machine("slurm"),
}
"""Formats by name: links in MiB (`damselfly`), all tables (`csv`), and the machine for other programs."""
