"""Writes a run directory whole or not at all.

All files go to a hidden directory next to the target, are forced to disk, and renamed. Readers refuse a
directory without `summary.json`, which is written last, so even a copy of the hidden directory does not load.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odonata import files
from odonata._core import peak_rss_bytes
from odonata.errors import StoreError
from odonata.store import columns, schema
from odonata.store.atomic import (
    exchange,
    remove_remains,
    store_errors,
    sync_to_disk,
    temporary_path,
    uninterrupted,
)
from odonata.store.checkpoint import STATE, CheckpointDirectory, check_no_checkpoint

COMPRESSION = "zstd"


def check_target(target: Path, *, force: bool = False) -> None:
    """Raises `StoreError` if a run may not be written to `target`.

    The target may be missing or an empty directory. An existing run is replaced only with `force`, anything
    else never.
    """
    if not os.path.lexists(target):
        ancestor = next(parent for parent in target.absolute().parents if parent.exists())
        if not ancestor.is_dir():
            raise StoreError(f"cannot create {target}: {ancestor} is not a directory")
        if not os.access(ancestor, os.W_OK | os.X_OK):
            raise StoreError(f"cannot create {target}: no permission to write in {ancestor}")
        return
    if not target.is_dir() or target.is_symlink():
        raise StoreError(f"{target} exists and is not a directory", hint="Choose another directory with -o.")
    if not any(target.iterdir()):
        return
    if not is_run(target):
        raise StoreError(
            f"{target} exists and is not a run directory, so it is not replaced",
            hint="Choose another directory with -o.",
        )
    if not force:
        raise StoreError(
            f"{target} already holds a run",
            hint="Replace it with --force, or choose another directory with -o.",
        )


def is_run(directory: Path) -> bool:
    """Whether `directory` is a run directory of any version, complete or not."""
    try:
        summary = files.read_json(directory / schema.SUMMARY)
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and summary.get("format") in (schema.FORMAT, schema.HIERARCHY_FORMAT)


class RunWriter:
    """Context manager that writes a run directory; `commit` moves it to its target.

    Leaving the context without `commit`, by an error or an interrupt, removes the written files.
    """

    def __init__(self, target: Path, *, force: bool = False) -> None:
        check_target(target, force=force)
        self.target = target.absolute()
        self._force = force
        self.directory = temporary_path(self.target)

    def __enter__(self) -> RunWriter:
        try:
            with uninterrupted(), store_errors(self.target):
                self.target.parent.mkdir(parents=True, exist_ok=True)
                remove_remains(self.target.parent)
                self.directory.mkdir()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def write_text(self, name: str, text: str) -> None:
        """Writes a text file."""
        with store_errors(self.target):
            (self.directory / name).write_text(text, encoding="utf-8")

    def write_table(self, name: str, table: pa.Table) -> None:
        """Writes one table as Parquet."""
        with store_errors(self.target):
            pq.write_table(table, self.directory / schema.table_file(name), compression=COMPRESSION)

    def commit(self, summary: Mapping[str, Any]) -> Path:
        """Writes the summary, forces all files to disk, and renames the directory to its target."""
        text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
        self.write_text(schema.SUMMARY, text + "\n")
        check_target(self.target, force=self._force)
        with store_errors(self.target):
            for path in self.directory.iterdir():
                sync_to_disk(path)
            sync_to_disk(self.directory)
            self._put_in_place()
            sync_to_disk(self.target.parent)
        return self.target

    def _put_in_place(self) -> None:
        """One operation if the file system can exchange; else there is a moment without old and new run."""
        replaced = self.target.with_name(f".{self.target.name}.replaced")
        if not self.target.exists():
            self.directory.rename(self.target)
        elif exchange(self.directory, self.target):
            # After the exchange this path holds the replaced run.
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            shutil.rmtree(replaced, ignore_errors=True)
            self.target.rename(replaced)
            try:
                self.directory.rename(self.target)
            except OSError:
                replaced.rename(self.target)
                raise
        # Also removes an old run that a killed process left.
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
        target: Directory to create.
        summary: Content of `summary.json`.
        tables: Tables by name. Tables of the format must be present with their columns; others are stored
            unchanged.
        experiment: The experiment file as written by the user.
        resolved: The experiment with every key and the value used.
        force: Whether to replace an existing run.

    Returns:
        The absolute path of the directory.

    Raises:
        StoreError: The target exists or cannot be written.
        ValueError: A table or a key of the summary is missing or does not match the format.
    """
    with RunWriter(target, force=force) as writer:
        return _write(writer, summary, dict(tables), experiment, resolved)


def _write(
    writer: RunWriter,
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    experiment: str,
    resolved: str,
    *,
    is_own: bool = False,
) -> Path:
    """Writes everything. The peak memory of this process's own run includes the writing of its tables."""
    check_content(summary, tables)
    writer.write_text(schema.EXPERIMENT, experiment)
    writer.write_text(schema.RESOLVED, resolved)
    for name, table in tables.items():
        writer.write_table(name, table)
    return writer.commit({**summary, "peak_rss_bytes": peak_rss_bytes()} if is_own else summary)


class GrowingTables:
    """Tables that grow while an engine works: a context manager whose `rows` appends rows.

    With a target, rows are written at once, so only a batch is in memory; without a target they stay in
    memory. Leaving the context without `commit` removes the written files except checkpoints.

    `parts` are the earlier parts of the tables of a resumed run.
    """

    def __init__(
        self, target: Path | None, *, force: bool = False, parts: Mapping[str, list[Path]] | None = None
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
        try:
            # On a full disk the ends of open tables cannot be written either. Nobody will read them.
            while self._files:
                with contextlib.suppress(OSError):
                    self._files.popitem()[1].close()
        finally:
            if self._writer is not None:
                self._writer.__exit__(kind, error, trace)

    @property
    def target(self) -> Path:
        """Path of the run directory to write."""
        assert self._target is not None, "tables without a target stay in memory"
        return self._target

    def rows(self, name: str, given: Mapping[str, Any]) -> None:
        """Appends rows to a table."""
        table = columns.table(name, given)
        if self._target is None:
            self._kept.setdefault(name, []).append(table)
            return
        # The partial results of a run that is interrupted here have the whole table.
        with uninterrupted(), store_errors(self._target):
            self._schemas[name] = table.schema
            if name not in self._files:
                path = self._open().directory / schema.table_file(name)
                self._files[name] = pq.ParquetWriter(path, table.schema, compression=COMPRESSION)
            elif table.num_rows == 0:
                # A resumed run joins its parts without empty row groups but the first: the same bytes.
                return
            self._files[name].write_table(table)

    def tables(self) -> dict[str, pa.Table]:
        """The tables in memory."""
        return {name: pa.concat_tables(parts) for name, parts in self._kept.items()}

    def commit(
        self, *, summary: Mapping[str, Any], tables: Mapping[str, pa.Table], experiment: str, resolved: str
    ) -> Path:
        """Writes all other files as `write_run` does, and moves the directory to its target."""
        grown = list(self._files)
        self._close()
        with store_errors(self._open().target):
            # The state of a checkpoint that was due in the moment in which the run ended.
            self.state_file().unlink(missing_ok=True)
        for name in {*self._parts, *grown} if self._parts else ():
            self._join(name)
        return _write(self._open(), summary, tables, experiment, resolved, is_own=True)

    def state_file(self) -> Path:
        """File to which the engine may write its state before `save_checkpoint`."""
        return self._open().directory / STATE

    def save_checkpoint(self, number: int) -> None:
        """Stores the written state, and the table rows since the last checkpoint, as checkpoint `number`."""
        assert self._target is not None, "without a target there are no checkpoints"
        directory, names = self._open().directory, list(self._files)
        self._close()
        kept = CheckpointDirectory(self._target)
        kept.save(number, directory / STATE, [directory / schema.table_file(name) for name in names])
        self._parts = kept.parts(number)

    def _join(self, name: str) -> None:
        """Joins the parts of a table, row group by row group, as if it had been written in one piece."""
        whole = self._open().directory / schema.table_file(name)
        tail = whole.with_name(f"{name}.tail")
        with store_errors(whole):
            last = [whole.rename(tail)] if whole.exists() else []
            files = [pq.ParquetFile(part) for part in [*self._parts.get(name, []), *last]]
            # Use the schema of the rows: a schema read from a file has additional metadata.
            schema_of = self._schemas[name]
            with pq.ParquetWriter(whole, schema_of, compression=COMPRESSION) as writer:
                for number, file in enumerate(files):
                    for group in range(file.num_row_groups):
                        rows = file.read_row_group(group)
                        # Each part starts with an empty row group. Only the first one belongs to the table.
                        if number == 0 or rows.num_rows > 0:
                            writer.write_table(rows.cast(schema_of))
                    file.close()
            tail.unlink(missing_ok=True)

    def _open(self) -> RunWriter:
        if self._writer is None:
            assert self._target is not None, "tables without a target stay in memory"
            with uninterrupted():
                self._writer = RunWriter(self._target, force=self._force).__enter__()
        return self._writer

    def _close(self) -> None:
        while self._files:
            _, file = self._files.popitem()
            with store_errors(self._target or Path()):
                file.close()


def check_content(summary: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
    """Raises `ValueError` if the data of an engine is not a valid run."""
    missing = [key for key in schema.SUMMARY_KEYS if key not in summary]
    missing += [f"table {name}" for name in schema.BASE_TABLES if name not in tables]
    if missing:
        raise ValueError("the run has no " + ", ".join(missing))
    axes = summary["machine"]["axes"]
    wrong = [
        f"table {name}: {problem}"
        for name, table in tables.items()
        for problem in columns.problems(name, table.schema, axes, summary["engine"])
    ]
    if wrong:
        raise ValueError("; ".join(wrong))
