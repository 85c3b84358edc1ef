"""Opens files that others may have written: the only place that does.

A path in a run directory may be a pipe, which never ends, a file larger than the memory, or text that is
nested without end. Each is refused with a reason before it is read. `tests/structure/test_files.py` refuses
other calls that open a file to read it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from odonata import _core, toml
from odonata.errors import OdonataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

TEXT_BYTES_MAX = 256 << 20
"""Longest text. A summary of 10,000 jobs has 20 MB."""

DEPTH_MAX = 64
"""Deepest nesting of JSON. A summary has 6."""

ROWS_MAX = 10_000_000
"""Most rows of a table that becomes Python objects: points of a sweep, trials, levels."""

_BYTES_PER_VALUE = 8

_SMALL = 1 << 20
"""Tables that always fit, in bytes."""

_KINDS = {
    stat.S_ISDIR: "a directory",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


class UnreadableError(ValueError):
    """A file that is there but is not read; the text says why, without its path."""


def read_bytes(path: Path, most: int = TEXT_BYTES_MAX) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        OSError: It cannot be opened or read.
        UnreadableError: It is no regular file, or too long.
    """
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most:
            content = file.read(most + 1)
            if len(content) <= most:
                return content
    raise UnreadableError(f"it has {size:,} bytes; expected at most {most:,}")


def sha256(path: Path) -> str:
    """The digest of a regular file of any length.

    Raises:
        OSError: It cannot be opened or read.
        UnreadableError: It is no regular file.
    """
    digest = hashlib.sha256()
    with _open(path) as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def read_utf8(path: Path, most: int = TEXT_BYTES_MAX) -> str:
    """The text of a file in UTF-8, without a byte-order mark.

    Raises:
        OSError: It cannot be opened or read.
        UnreadableError: It is no regular file, too long, or not text.
    """
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it is not UTF-8 text: {error.reason} at byte {error.start}") from None


def read_json(path: Path, most: int = TEXT_BYTES_MAX) -> Any:
    """The content of a JSON file.

    Raises:
        OSError: It cannot be opened or read.
        UnreadableError: It is no regular file, too long, nested too deeply, or not JSON.
    """
    text = read_utf8(path, most)
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise UnreadableError(f"it is nested more than {DEPTH_MAX} levels deep") from None
    except json.JSONDecodeError as error:
        raise UnreadableError(f"it is not JSON: {error}") from None
    _check_depth(content)
    # It is no character and cannot be printed.
    if "\\ud" in text.lower() and re.search("[\ud800-\udfff]", json.dumps(content, ensure_ascii=False)):
        raise UnreadableError("it is not Unicode text: it has half a surrogate pair")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML document that others may have written.

    Raises:
        UnreadableError: It is nested too deeply, or not TOML.
    """
    try:
        content = toml.parse(text)
    except RecursionError:
        raise UnreadableError(f"it is nested more than {DEPTH_MAX} levels deep") from None
    except toml.DecodeError as error:
        raise UnreadableError(f"it is not TOML: {error}") from None
    _check_depth(content)
    return content


def open_parquet(path: Path) -> pq.ParquetFile:
    """A Parquet file whose values fit in memory; a few bytes can stand for 10^9 of them.

    Raises:
        OSError: It cannot be opened.
        UnreadableError: It is no regular file, not Parquet, or too large for the memory that is free.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    _check_kind(path.stat())
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowException as error:
        raise UnreadableError(str(error)) from None
    rows, columns = file.metadata.num_rows, file.metadata.num_columns
    needed = rows * columns * _BYTES_PER_VALUE
    # To ask takes 1 ms, and a sweep has thousands of small tables.
    left = _core.available_memory() if needed > _SMALL else None
    if left is not None and needed > left[0]:
        raise UnreadableError(
            f"its {rows:,} rows of {columns} columns need about {needed:,} bytes, "
            f"but only {left[0]:,} of {left[1]} are free"
        )
    return file


def read_parquet(path: Path, columns: Sequence[str] | None = None, rows: int | None = None) -> pa.Table:
    """A table, or some of its columns.

    Args:
        path: The file. Directories named `key=value` in its path add no columns.
        columns: Names of the columns; all by default.
        rows: Most rows, for tables that become Python objects.

    Raises:
        OSError: It cannot be opened or read.
        UnreadableError: It is no regular file, not Parquet, or too large.
    """
    import pyarrow as pa

    file = open_parquet(path)
    found = file.metadata.num_rows
    if rows is not None and found > rows:
        raise UnreadableError(f"it has {found:,} rows; expected at most {rows:,}")
    try:
        return file.read(None if columns is None else list(columns))
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(str(error)) from None


def read_csv(path: Path, expected: str) -> pa.Table:
    """A table of comma-separated values, also compressed with gzip.

    Raises:
        OdonataError: It cannot be read, or is no such table; `expected` says what it should hold.
    """
    import pyarrow as pa
    import pyarrow.csv as pc

    try:
        _check_kind(path.stat())
        table = pc.read_csv(path)
        _ = table.column_names  # Arrow decodes them now.
        return table
    except FileNotFoundError:
        raise OdonataError(f"there is no file {path}; expected {expected}") from None
    except UnicodeDecodeError as error:
        raise OdonataError(f"{path} is not UTF-8 text: {error.reason}; expected {expected}") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise OdonataError(f"{path} cannot be read: {error}; expected {expected}") from None


def read_text(path: str | Path, expected: str = "", *, hint: str | None = None) -> str:
    """The text of a file of another program in UTF-8; `expected` says what it should hold.

    Raises:
        OdonataError: The file cannot be read, or is not text.
    """
    try:
        return _core.read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        wanted = f"; expected {expected}" if expected else ""
        raise OdonataError(f"{path} is not a text file{wanted}", hint=hint) from None


def read_lines(path: Path, expected: str) -> list[str]:
    """The lines of a text file, or of a pipe that the user names.

    Raises:
        OdonataError: It cannot be read, or is not text; `expected` says what it should hold.
    """
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise OdonataError(f"{path} is not a text file; expected {expected}") from None
    except OSError as error:
        raise OdonataError(f"{path} cannot be read: {error.strerror}") from None


def lock(path: Path) -> BinaryIO:
    """Opens a file and waits for its lock, which ends when the file is closed or its process is killed."""
    file = _open(path)
    # Some network file systems have no locks.
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _open(path: Path) -> BinaryIO:
    # Without a writer, a pipe would block already while it is opened.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _check_kind(os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except (UnreadableError, OSError):
        os.close(descriptor)
        raise


def _check_kind(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((noun for is_kind, noun in _KINDS.items() if is_kind(status.st_mode)), "no file")
        raise UnreadableError(f"it is {kind}; expected a file")


def _check_depth(content: Any) -> None:
    level, depth = [content], 0
    while level:
        if depth > DEPTH_MAX:
            raise UnreadableError(f"it is nested more than {DEPTH_MAX} levels deep")
        inside = [value for value in level if isinstance(value, dict | list)]
        level = [one for value in inside for one in (value.values() if isinstance(value, dict) else value)]
        depth += 1


def _refuse_constant(name: str) -> Any:
    raise UnreadableError(f"it is not JSON: it has {name}, which is no number")
