"""Files and directories that are written whole or not at all.

Data goes to a hidden name next to the target first. The name contains the host and process. One file system
operation then moves it to the target. The next writer in the directory finds the remains of killed processes
by that name and removes them.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odonata.errors import StoreError


def _host() -> str:
    """The scope of process numbers: a host, and a container on it."""
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
def store_errors(target: Path) -> Iterator[None]:
    """Turns refusals of the system (no space, no permission, no disk) into a `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {target}: {error.strerror or error}", hint="No partial files are left there."
        ) from error


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM take effect after the block, so that what it writes is whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before: dict[int, Any] = {}

    def hold(number: int, _frame: object) -> None:
        held.append(number)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            # A handler that was not set from Python cannot be set again.
            if signal.getsignal(number) is not None:
                before[number] = signal.getsignal(number)
                signal.signal(number, hold)
        yield
    finally:
        for held_back, handler in before.items():
            signal.signal(held_back, handler)
        for came in held:
            signal.raise_signal(came)


def temporary_path(target: Path) -> Path:
    """A path next to `target` for this process to write to; the suffix is the same."""
    mark = f"writing-{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"
    return target.with_name(f".{target.name}.{mark}{target.suffix}")


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A path to write a file to, which replaces `target` at the end; after an error nothing has changed.

    Raises:
        StoreError: The system refuses to write.
    """
    path = temporary_path(target)
    try:
        with store_errors(target):
            yield path
            path.replace(target)
    finally:
        path.unlink(missing_ok=True)
    remove_remains(target.parent)


def exchange(one: Path, other: Path) -> bool:
    """Exchanges two paths in one operation; False if the system or file system cannot."""
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


def sync_to_disk(path: Path) -> None:
    """Forces a file, or the entries of a directory, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_unused(directory: Path) -> bool:
    """Whether a directory is missing or empty, after the removal of what killed processes left."""
    if not os.path.lexists(directory):
        return True
    if not directory.is_dir():
        return False
    remove_remains(directory)
    return not any(directory.iterdir())


def remove_remains(directory: Path) -> None:
    """Removes unfinished files in a directory that dead processes of this host left."""
    with contextlib.suppress(OSError):
        for path in directory.iterdir():
            found = _UNFINISHED.fullmatch(path.name)
            if found is None or _is_alive(int(found[1])):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # The process belongs to another user, or the number is not a process.
        return True
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    """Whether a process has ended, and its parent has not asked for its exit code."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return fields[:1] == [b"Z"]
