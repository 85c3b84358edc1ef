"""One broken TLS connection breaks no other one."""

from __future__ import annotations

import asyncio
import ctypes
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed.security import Security
from tornado.iostream import SSLIOStream

from odonata.sweeps import tls

SYSTEM_LIBRARY, BROKEN_PIPE = 2, 32
"""`ERR_LIB_SYS` and `EPIPE`: what a read of a broken connection leaves with OpenSSL 3.4 and newer."""


@pytest.fixture
def crypto() -> ctypes.CDLL:
    """The OpenSSL library that Python's `ssl` has loaded."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    names = sorted({line.split()[-1] for line in lines if "libcrypto" in line})
    library = ctypes.CDLL(names[0]) if names else None
    if not hasattr(library, "ERR_new"):
        pytest.skip("OpenSSL is linked into Python here, or older than 3")
    library.ERR_peek_error.restype = ctypes.c_ulong
    library.ERR_clear_error()
    return library


def leave_error(crypto: ctypes.CDLL) -> None:
    crypto.ERR_new()
    crypto.ERR_set_error(SYSTEM_LIBRARY, BROKEN_PIPE, None)
    assert crypto.ERR_peek_error() != 0


@pytest.fixture
def connection() -> Iterator[tuple[ssl.SSLSocket, ssl.SSLSocket]]:
    """Two ends of a connection that do not block."""
    keys = Security.temporary()
    server, client = keys.get_listen_args("scheduler"), keys.get_connection_args("client")
    ends = socket.socketpair()
    first = server["ssl_context"].wrap_socket(ends[0], server_side=True, do_handshake_on_connect=False)
    second = client["ssl_context"].wrap_socket(ends[1], do_handshake_on_connect=False)
    for end in (first, second):
        end.setblocking(False)
    left = [second, first]
    while left:
        end = left.pop(0)
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            left.append(end)
    yield first, second
    first.close()
    second.close()


def test_a_left_error_breaks_a_healthy_connection_until_it_is_forgotten(
    crypto: ctypes.CDLL, connection: tuple[ssl.SSLSocket, ssl.SSLSocket]
) -> None:
    first, second = connection
    leave_error(crypto)
    with pytest.raises(OSError) as failed:  # noqa: PT011 - the class depends on Python's version
        first.recv(1)
    if isinstance(failed.value, ssl.SSLWantReadError):
        pytest.skip("this Python empties the queue itself")
    leave_error(crypto)
    tls.forget_errors()
    with pytest.raises(ssl.SSLWantReadError):
        first.recv(1)
    second.send(b"x")
    assert first.recv(1) == b"x"


def test_a_closed_stream_leaves_no_error(
    crypto: ctypes.CDLL, connection: tuple[ssl.SSLSocket, ssl.SSLSocket]
) -> None:
    tls.forget_errors_of_closed_connections()
    tls.forget_errors_of_closed_connections()

    async def close() -> None:
        stream = SSLIOStream(connection[0])
        leave_error(crypto)
        stream.close()

    asyncio.run(close())
    assert crypto.ERR_peek_error() == 0
