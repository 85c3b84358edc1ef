"""Writing a run directory so that it is there whole or not at all.

Everything is written into a hidden directory beside the target, forced to the disk, and renamed. A reader
refuses a directory without `summary.json`, which is written last, so even a copy of the hidden directory
does not load.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odonata.errors import StoreError
from odonata.store import columns, schema
from odonata.store.checkpoint import STATE, CheckpointDirectory, check_no_checkpoint
from odonata.store.whole import exchange, said, sweep_litter, to_disk, unfinished

COMPRESSION = "zstd"


def check_target(target: Path, *, force: bool = False) -> None:
    """Raises `StoreError` if a run may not be written to `target`.

    A path that does not exist and an empty directory are free. An existing run is replaced only with
    `force`, and anything else never.
    """
    if not os.path.lexists(target):
        ancestor = next(parent for parent in target.absolute().parents if parent.exists())
        if not ancestor.is_dir():
            raise StoreError(f"cannot make {target}: {ancestor} is not a directory")
        if not os.access(ancestor, os.W_OK | os.X_OK):
            raise StoreError(f"cannot make {target}: no permission to write in {ancestor}")
        return
    if not target.is_dir() or target.is_symlink():
        raise StoreError(f"{target} exists and is not a directory", hint="Choose another place with -o.")
    if not any(target.iterdir()):
        return
    if not is_run(target):
        raise StoreError(
            f"{target} exists and is not a run directory; it is left as it is",
            hint="Choose another place with -o.",
        )
    if not force:
        raise StoreError(
            f"{target} already holds a run", hint="Replace it with --force, or choose another place with -o."
        )


def is_run(directory: Path) -> bool:
    """Whether `directory` is a run directory of any version, complete or not."""
    try:
        summary = json.loads((directory / schema.SUMMARY).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and summary.get("format") in (schema.FORMAT, schema.HIERARCHY_FORMAT)


class RunWriter:
    """A run directory in the making: a context manager whose `commit` puts it in its place.

    Leaving the context without `commit`, by an error or an interrupt, removes what was written.
    """

    def __init__(self, target: Path, *, force: bool = False) -> None:
        check_target(target, force=force)
        self.target = target.absolute()
        self._force = force
        self.directory = unfinished(self.target)
        with said(target):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            sweep_litter(self.target.parent)
            self.directory.mkdir()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def write_text(self, name: str, text: str) -> None:
        """Writes one text file."""
        with said(self.target):
            (self.directory / name).write_text(text, encoding="utf-8")

    def write_table(self, name: str, table: pa.Table) -> None:
        """Writes one table as Parquet."""
        with said(self.target):
            pq.write_table(table, self.directory / schema.table_file(name), compression=COMPRESSION)

    def commit(self, summary: Mapping[str, Any]) -> Path:
        """Writes the summary, forces everything to the disk, and renames the directory to its final name."""
        text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
        self.write_text(schema.SUMMARY, text + "\n")
        check_target(self.target, force=self._force)
        with said(self.target):
            for path in self.directory.iterdir():
                to_disk(path)
            to_disk(self.directory)
            self._put_in_place()
            to_disk(self.target.parent)
        return self.target

    def _put_in_place(self) -> None:
        """One step where the file system can exchange; else there is a moment without old and new run."""
        replaced = self.target.with_name(f".{self.target.name}.replaced")
        if not self.target.exists():
            self.directory.rename(self.target)
        elif exchange(self.directory, self.target):
            # What is there now is what was replaced.
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            shutil.rmtree(replaced, ignore_errors=True)
            self.target.rename(replaced)
            try:
                self.directory.rename(self.target)
            except OSError:
                replaced.rename(self.target)
                raise
        # Or what an earlier one was killed before removing.
        shutil.rmtree(replaced, ignore_errors=True)


def write_run(
    target: Path,
    *,
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table] | Iterable[tuple[str, pa.Table]],
    experiment: str,
    resolved: str,
    force: bool = False,
) -> Path:
    """Writes a whole run directory at once.

    Args:
        target: The directory to make.
        summary: What `summary.json` will hold.
        tables: By name; those that the format asks for must be there and have its columns, others are stored
            as they are.
        experiment: The experiment file as the user gave it.
        resolved: The same with every key and the value that was used.
        force: Whether a run that is already there is replaced.

    Returns:
        The absolute path of the directory.

    Raises:
        StoreError: The target is taken or cannot be written.
        ValueError: A table or a key of the summary is missing or not as the format says.
    """
    with RunWriter(target, force=force) as writer:
        return _write(writer, summary, dict(tables), experiment, resolved)


def _write(
    writer: RunWriter,
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    experiment: str,
    resolved: str,
) -> Path:
    check_content(summary, tables)
    writer.write_text(schema.EXPERIMENT, experiment)
    writer.write_text(schema.RESOLVED, resolved)
    for name, table in tables.items():
        writer.write_table(name, table)
    return writer.commit(summary)


class GrowingTables:
    """Tables that grow while an engine works: a context manager whose `rows` takes their next rows.

    With a target they are written at once, so that no more than a batch is in memory; without one they are
    kept. Leaving the context without `commit` removes what was written, but for checkpoints.

    `parts` are those of a run that goes on from a checkpoint: what its tables grew before.
    """

    def __init__(
        self,
        target: Path | None,
        *,
        force: bool = False,
        parts: Mapping[str, list[Path]] | None = None,
    ) -> None:
        if target is not None:
            check_target(target, force=force)
            if parts is None:
                check_no_checkpoint(target, force=force)
        self._parts = dict(parts or {})
        self._schemas: dict[str, pa.Schema] = {}
        self._target = target
        self._force = force
        self._writer: RunWriter | None = None
        self._files: dict[str, pq.ParquetWriter] = {}
        self._kept: dict[str, list[pa.Table]] = {}

    def __enter__(self) -> GrowingTables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._writer is not None:
            self._writer.__exit__(kind, error, trace)

    @property
    def target(self) -> Path:
        """The run directory that is to be."""
        assert self._target is not None, "tables without a target are kept"
        return self._target

    def rows(self, name: str, given: Mapping[str, Any]) -> None:
        """Takes the next rows of a table."""
        table = columns.table(name, given)
        if self._target is None:
            self._kept.setdefault(name, []).append(table)
            return
        self._schemas[name] = table.schema
        if name not in self._files:
            path = self._open().directory / schema.table_file(name)
            with said(self._target):
                self._files[name] = pq.ParquetWriter(path, table.schema, compression=COMPRESSION)
        with said(self._target):
            self._files[name].write_table(table)

    def tables(self) -> dict[str, pa.Table]:
        """The tables that were kept."""
        return {name: pa.concat_tables(parts) for name, parts in self._kept.items()}

    def commit(
        self, *, summary: Mapping[str, Any], tables: Mapping[str, pa.Table], experiment: str, resolved: str
    ) -> Path:
        """Writes everything else, as `write_run`, and puts the directory in its place."""
        grown = list(self._files)
        self._close()
        for name in {*self._parts, *grown} if self._parts else ():
            self._join(name)
        return _write(self._open(), summary, tables, experiment, resolved)

    def state_file(self) -> Path:
        """Where the state of the engine may be written that is then kept."""
        return self._open().directory / STATE

    def keep(self, number: int) -> None:
        """Keeps the state that was written, and what tables grew since, as checkpoint `number`."""
        assert self._target is not None, "without a target nothing is kept"
        directory, names = self._open().directory, list(self._files)
        self._close()
        kept = CheckpointDirectory(self._target)
        kept.keep(number, directory / STATE, [directory / schema.table_file(name) for name in names])
        self._parts = kept.parts(number)

    def _join(self, name: str) -> None:
        """Makes one table of its parts, group of rows by group of rows, as if it had never been parted."""
        whole = self._open().directory / schema.table_file(name)
        tail = whole.with_name(f"{name}.tail")
        with said(whole):
            last = [whole.rename(tail)] if whole.exists() else []
            files = [pq.ParquetFile(part) for part in [*self._parts.get(name, []), *last]]
            # As rows are handed over: what is read from a file also says what only files say.
            schema_of = self._schemas[name]
            with pq.ParquetWriter(whole, schema_of, compression=COMPRESSION) as writer:
                for number, file in enumerate(files):
                    for group in range(file.num_row_groups):
                        rows = file.read_row_group(group)
                        # Each part begins with a group of no rows, that of the first is the table's own.
                        if number == 0 or rows.num_rows > 0:
                            writer.write_table(rows.cast(schema_of))
                    file.close()
            tail.unlink(missing_ok=True)

    def _open(self) -> RunWriter:
        if self._writer is None:
            assert self._target is not None, "tables without a target are kept"
            self._writer = RunWriter(self._target, force=self._force)
        return self._writer

    def _close(self) -> None:
        while self._files:
            _, file = self._files.popitem()
            with said(self._target or Path()):
                file.close()


def check_content(summary: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
    """Raises `ValueError` if an engine handed over something that is not a run."""
    missing = [key for key in schema.SUMMARY_KEYS if key not in summary]
    missing += [f"table {name}" for name in schema.BASE_TABLES if name not in tables]
    if missing:
        raise ValueError("the run lacks " + ", ".join(missing))
    axes = summary["machine"]["axes"]
    wrong = [
        f"table {name}: {problem}"
        for name, table in tables.items()
        for problem in columns.problems(name, table.schema, axes, summary["engine"])
    ]
    if wrong:
        raise ValueError("; ".join(wrong))
