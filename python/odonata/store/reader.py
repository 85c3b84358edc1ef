"""Reads a run directory. Errors name the cause and the remedy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from odonata import files
from odonata.errors import DamagedRunError, NewerRunError, NotARunError
from odonata.store import columns, integrity, optimization, schema, sweep

_KINDS = {sweep.DESCRIPTION: "sweep", optimization.DESCRIPTION: "search", "gpcnet.json": "GPCNeT measurement"}
"""File that marks a directory of several runs, and what the directory holds."""
_RERUN = "Run the experiment again: odonata run {experiment} -o {directory} --force"


def check_inside(directory: Path, name: str) -> None:
    """Raises `NotARunError` if a file of a run is a link to a place outside its directory."""
    # `Path.resolve` raises an error for cyclic links.
    if not Path(os.path.realpath(directory / name)).is_relative_to(os.path.realpath(directory)):
        raise NotARunError(f"{directory / name} is a link to a place outside the run directory")


class RunReader:
    """An opened run directory. The summary is read at once, each table on first access.

    Raises:
        NotARunError: There is no run directory, or its format is too old.
        DamagedRunError: A file of it is missing or unreadable.
        NewerRunError: It was written by a newer version.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self._shown = directory
        self.summary = self._read_summary()
        self.names = self._find_tables()

    def table(self, name: str, names: Sequence[str] | None = None) -> pa.Table:
        """Reads one table, or only the given columns."""
        path = self._inside(schema.table_file(name))
        try:
            file = files.open_parquet(path)
            table = file.read(None if names is None else list(names))
        except FileNotFoundError:
            known = ", ".join(self.names)
            raise NotARunError(f"{self._shown} has no table {name}", hint=f"It has: {known}.") from None
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(f"{path.name} cannot be read: {error}") from error
        axes, engine = self.summary["machine"]["axes"], self.summary["engine"]
        found = columns.problems(name, file.schema_arrow, axes, engine)
        found = found or integrity.table_problems(name, table, self.summary)
        if found:
            raise self._damaged(f"{path.name} does not match the format: {'; '.join(found)}")
        return table

    def text(self, name: str) -> str:
        """Reads a text file of the run."""
        path = self._inside(name)
        try:
            return files.read_utf8(path)
        except (OSError, ValueError) as error:
            raise self._damaged(f"{name} cannot be read: {error}") from error

    def _inside(self, name: str) -> Path:
        check_inside(self.directory, name)
        return self.directory / name

    def _read_summary(self) -> dict[str, Any]:
        if not self._shown.exists():
            raise NotARunError(f"there is no directory {self._shown}")
        if not self._shown.is_dir():
            raise NotARunError(f"{self._shown} is a file, not a run directory")
        path = self._inside(schema.SUMMARY)
        try:
            summary = files.read_json(path)
        except FileNotFoundError:
            raise self._not_a_run() from None
        except (OSError, ValueError) as error:
            raise self._damaged(f"{schema.SUMMARY} cannot be read: {error}") from error
        if not isinstance(summary, dict) or summary.get("format") != schema.FORMAT:
            raise NotARunError(
                f"{self._shown} is not a run directory",
                hint=f'{schema.SUMMARY} does not contain "format": "{schema.FORMAT}".',
            )
        self._check_version(summary)
        missing = [key for key in schema.SUMMARY_KEYS if key not in summary]
        if missing:
            raise self._damaged(f"{schema.SUMMARY} lacks {', '.join(missing)}")
        wrong = integrity.summary_problems(summary)
        if wrong:
            raise self._damaged(f"{schema.SUMMARY} does not match the format at {', '.join(wrong)}")
        return summary

    def _not_a_run(self) -> NotARunError:
        """The error for a directory without a summary, with what it holds instead."""
        kind = next((kind for name, kind in _KINDS.items() if (self._shown / name).exists()), None)
        points = sorted(
            path.parent
            for pattern in ("points/*", "*")
            for path in self._shown.glob(f"{pattern}/{schema.SUMMARY}")
        )
        if kind is not None:
            hint = (
                f"Choose one of its runs, such as {points[0]}."
                if points
                else "None of its runs has finished."
            )
            return NotARunError(f"{self._shown} is a {kind}, not a run", hint=hint)
        hint = f"A run directory holds {schema.SUMMARY}. Make one with `odonata run`."
        if any((self._shown / schema.table_file(name)).exists() for name in schema.BASE_TABLES):
            hint = f"It has tables but no {schema.SUMMARY}: the run or a copy is not complete."
        elif points:
            hint = f"It holds run directories. Choose one, such as {points[0]}."
        return NotARunError(f"{self._shown} is not a run directory", hint=hint)

    def _check_version(self, summary: dict[str, Any]) -> None:
        version = summary.get("format_version")
        if not isinstance(version, int):
            raise self._damaged(f"{schema.SUMMARY} has no format_version")
        if version > schema.FORMAT_VERSION:
            writer = summary.get("odonata_version", "a newer version")
            raise NewerRunError(
                f"{self._shown} was written by Odonata {writer} in format {version}; "
                f"this version reads format {schema.FORMAT_VERSION}",
                hint="Update Odonata, or run the experiment again with this version.",
            )
        if version < schema.FORMAT_VERSION:
            experiment = self._shown / schema.EXPERIMENT
            raise NotARunError(
                f"{self._shown} has format {version} of run directories, which is no longer supported",
                hint=_RERUN.format(experiment=experiment, directory=self._shown),
            )

    def _find_tables(self) -> list[str]:
        present = {path.stem for path in self.directory.glob("*.parquet")}
        missing = [schema.table_file(name) for name in schema.BASE_TABLES if name not in present]
        if missing:
            raise self._damaged(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        return [name for name in schema.TABLES if name in present] + sorted(present - schema.TABLES.keys())

    def _damaged(self, what: str) -> DamagedRunError:
        experiment = self._shown / schema.EXPERIMENT
        return DamagedRunError(
            f"{self._shown} is damaged: {what}",
            hint=_RERUN.format(experiment=experiment, directory=self._shown) if experiment.exists() else None,
        )
