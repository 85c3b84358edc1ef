"""Keeps one broken TLS connection from breaking the others of a process.

OpenSSL has a queue of errors for each thread. Python does not empty it before it reads
(https://github.com/python/cpython/issues/148594). If a connection breaks, its error stays in the queue, and
reads of healthy connections fail with it. Seen with Python 3.13.5 and OpenSSL 3.5: when a worker of a batch
system ended, the scheduler lost all others and the client.
"""

from __future__ import annotations

import contextlib
import ssl

from tornado.iostream import SSLIOStream

_CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def forget_errors() -> None:
    """Empties OpenSSL's queue of errors of this thread: Python does so after a list of ciphers is refused."""
    with contextlib.suppress(ssl.SSLError):
        _CONTEXT.set_ciphers("none")


def forget_errors_of_closed_connections() -> None:
    """Empties the queue whenever Tornado, which carries Dask's messages, closes a TLS connection."""
    close = SSLIOStream.close_fd
    if close.__module__ == __name__:
        return

    def close_fd(self: SSLIOStream) -> None:
        close(self)
        forget_errors()

    SSLIOStream.close_fd = close_fd  # type: ignore[method-assign, assignment]
