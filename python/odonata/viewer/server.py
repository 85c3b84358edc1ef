"""The local server of `odonata view`: one machine, one user, read-only.

It listens on 127.0.0.1 only. Every path starts with a random token, so other users of the machine and
web pages cannot guess an address; a foreign Host header (DNS rebinding) and requests that another site
causes are refused as well. Paths are looked up in tables made at the start and never turned into file
names.
"""

from __future__ import annotations

import getpass
import hmac
import json
import re
import secrets
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from odonata.errors import OdonataError
from odonata.viewer.runs import OpenRuns

STATIC = Path(__file__).with_name("static")

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}

_HEADERS = {
    # data: pictures, blob: downloads and the thread that draws are made by the page itself.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


_LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?")
"""The Host headers that are answered. The port may be another: that of a tunnel's end."""


def page_files() -> dict[str, bytes]:
    """The built page by file name.

    Raises:
        OdonataError: The page has not been built.
    """
    files = {path.name: path.read_bytes() for path in sorted(STATIC.glob("*")) if path.suffix in _TYPES}
    if "index.html" not in files:
        raise OdonataError(
            "the viewer's page is not part of this installation",
            hint="In a source tree, build it: make viewer",
        )
    return files


class ViewerServer(ThreadingHTTPServer):
    """Serves the page and its runs until it is shut down.

    Args:
        runs: What is shown.
        port: A free one if 0.
    """

    daemon_threads = True

    def __init__(self, runs: OpenRuns, port: int = 0) -> None:
        self.runs = runs
        self.token = secrets.token_urlsafe(24)
        self.files = page_files()
        self.index = json.dumps(runs.index(), ensure_ascii=False).encode()
        # Of several runs the address, which is not sent here, says which one is looked at.
        self._ready = _Ready(runs) if len(runs.runs) == 1 else None
        self.page = _page(self.files["index.html"], self.index, preload=self._ready is not None)
        super().__init__(("127.0.0.1", port), _Handler)

    def first(self, run: int) -> bytes:
        """What the first picture of a run is made from."""
        return self.runs.first(run) if self._ready is None or run != 0 else self._ready.first()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    @property
    def ssh(self) -> str:
        """The command that brings this server to the machine where it is entered."""
        there = f"{getpass.getuser()}@{socket.getfqdn()}"
        return f"ssh -N -L {self.server_port}:127.0.0.1:{self.server_port} {there}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves before it has read everything is nothing to speak of."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Ready:
    """What the first picture of the only run needs: begun before a browser asks, kept while it holds."""

    def __init__(self, runs: OpenRuns) -> None:
        self._runs = runs
        self._pool = ThreadPoolExecutor(1, "first picture")
        self._begin()

    def _begin(self) -> None:
        self._version = self._runs.runs[0].version()
        self._made = self._pool.submit(self._runs.first, 0)

    def first(self) -> bytes:
        if self._runs.runs[0].version() != self._version:
            self._begin()
        return self._made.result()


INDEX_MAX = 2**18
"""An index of more bytes is asked for by the page: a browser would wait for it before it reads on."""


def _page(html: bytes, index: bytes, *, preload: bool) -> bytes:
    """The page with the index in it; it asks for the first picture before its script has been read."""
    head = b'<link rel="preload" as="fetch" crossorigin href="api/runs/0/first">' if preload else b""
    # Nothing in it may look like a tag.
    data = b'<script type="application/json" id="odonata-index">%s</script>' % index.replace(b"<", b"\\u003c")
    page = html.replace(b"<title>", head + b"<title>")
    return page.replace(b"</body>", data + b"</body>") if len(index) <= INDEX_MAX else page


class _RefusalError(Exception):
    def __init__(self, status: HTTPStatus, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.hint = hint


class _Handler(BaseHTTPRequestHandler):
    server: ViewerServer
    protocol_version = "HTTP/1.1"
    server_version = "odonata"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        self._respond(body=True)

    def do_HEAD(self) -> None:
        self._respond(body=False)

    def _respond(self, *, body: bool) -> None:
        try:
            self._check_origin()
            status, (kind, content) = HTTPStatus.OK, self._content()
        except _RefusalError as refusal:
            answer = {"error": str(refusal), **({"hint": refusal.hint} if refusal.hint else {})}
            status, kind, content = refusal.status, "application/json", json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def _check_origin(self) -> None:
        host = self.headers.get("Host", "")
        if _LOOPBACK.fullmatch(host) is None:
            raise _RefusalError(HTTPStatus.MISDIRECTED_REQUEST, "this address is not served here")
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            raise _RefusalError(HTTPStatus.FORBIDDEN, "requests from other sites are refused")
        site = self.headers.get("Sec-Fetch-Site", "none")
        # A link to the page may stand anywhere; only a navigation to the page itself may come from elsewhere.
        navigates = (
            self.headers.get("Sec-Fetch-Mode") == "navigate"
            and self.headers.get("Sec-Fetch-Dest") == "document"
        )
        if site not in {"none", "same-origin"} and not navigates:
            raise _RefusalError(HTTPStatus.FORBIDDEN, "requests from other sites are refused")

    def _content(self) -> tuple[str, bytes]:
        address = urlsplit(self.path)
        token, _, path = address.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _RefusalError(
                HTTPStatus.FORBIDDEN,
                "the address lacks the right token",
                "Use the whole address that `odonata view` printed when it was started.",
            )
        if path in {"", "index.html"}:
            return _TYPES[".html"], self.server.page
        if path in self.server.files:
            return _TYPES[Path(path).suffix], self.server.files[path]
        if path == "api/index.json":
            return "application/json", self.server.index
        first = re.fullmatch(r"api/runs/(\d{1,4})/first", path)
        if first is not None:
            return "application/octet-stream", self._read(lambda: self.server.first(int(first[1])))
        asked = re.fullmatch(r"api/runs/(\d{1,4})/explain\.json", path)
        if asked is not None:
            return "application/json", self._read(lambda: self.server.runs.explain(int(asked[1])))
        match = re.fullmatch(r"api/runs/(\d{1,4})/([A-Za-z0-9_%-]+)", path)
        if match is None:
            raise _RefusalError(HTTPStatus.NOT_FOUND, "there is nothing at this address")
        columns = parse_qs(address.query).get("columns", [""])[0]
        run, table, names = int(match[1]), unquote(match[2]), columns.split(",")
        return "application/octet-stream", self._read(lambda: self.server.runs.block(run, table, names))

    def _read(self, read: Callable[[], bytes]) -> bytes:
        try:
            return read()
        except KeyError as error:
            raise _RefusalError(HTTPStatus.NOT_FOUND, f"the run has no {error.args[0]}") from None
        except OdonataError as error:
            raise _RefusalError(HTTPStatus.INTERNAL_SERVER_ERROR, error.message, error.hint) from error

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Says nothing: the address with its token does not belong into a log."""
