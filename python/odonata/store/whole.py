"""Files and directories that are there whole or not at all.

What is written lies beside its place, under a hidden name with the host and process that write it, and is put
in its place by one step of the file system. What a killed process left is found by that name and removed by
the next writer in the same directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from odonata.errors import StoreError


def _host() -> str:
    """Where the number of a process means what it means here: a host, and on it a container."""
    try:
        space = Path("/proc/self/ns/pid").readlink().name
    except OSError:
        space = ""
    return re.sub(r"[^A-Za-z0-9]+", "_", socket.gethostname() + space.removeprefix("pid:"))


_HOST = _host()

_UNFINISHED = re.compile(rf"\..*\.writing-{_HOST}-(\d+)-[0-9a-f]{{8}}(\..*)?")

_AT_CURRENT_DIRECTORY = -100
"""`AT_FDCWD` of fcntl.h."""

_EXCHANGE = 2
"""`RENAME_EXCHANGE` of renameat2(2)."""


@contextlib.contextmanager
def said(target: Path) -> Iterator[None]:
    """Makes a `StoreError` of what the system refuses: no space, no permission, no disk."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {target}: {error.strerror or error}", hint="Nothing was left there."
        ) from error


def unfinished(target: Path) -> Path:
    """A path beside `target` where this process may write what it will be; the ending is the same."""
    mark = f"writing-{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"
    return target.with_name(f".{target.name}.{mark}{target.suffix}")


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path to write a file to, which is put at `target` at the end; after an error nothing has changed.

    Raises:
        StoreError: The system refuses.
    """
    path = unfinished(target)
    try:
        with said(target):
            yield path
            path.replace(target)
    finally:
        path.unlink(missing_ok=True)
    sweep_litter(target.parent)


def exchange(one: Path, other: Path) -> bool:
    """Exchanges what is at two paths in one step; False where system or file system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    paths = [os.fsencode(path) for path in (one, other)]
    if renameat2(_AT_CURRENT_DIRECTORY, paths[0], _AT_CURRENT_DIRECTORY, paths[1], _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))


def to_disk(path: Path) -> None:
    """Forces a file, or what a directory lists, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_litter(directory: Path) -> None:
    """Removes what processes of this host that are no more have left unfinished in a directory."""
    with contextlib.suppress(OSError):
        for path in directory.iterdir():
            found = _UNFINISHED.fullmatch(path.name)
            if found is None or _lives(int(found[1])):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # It is somebody else's, or no number of a process.
        return True
    return True
