"""The local server of `odonata view`: one machine, one user, read-only unless it may make runs.

It listens on 127.0.0.1 only. Every path starts with a random token, so other users and web pages cannot
guess an address. Foreign Host headers (DNS rebinding) and cross-site requests are refused. Paths are looked
up in fixed tables and never become file names.
"""

from __future__ import annotations

import getpass
import hmac
import json
import re
import secrets
import select
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from odonata.errors import OdonataError
from odonata.viewer.queries import Queries, is_available
from odonata.viewer.reruns import BusyError, CancelError, Reruns, Runner
from odonata.viewer.runs import OpenRuns

_Made = TypeVar("_Made")

STATIC = Path(__file__).with_name("static")

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}

_HEADERS = {
    # data: pictures; blob: downloads and the drawing thread, both created by the page.
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
"""Accepted Host headers. The port may differ, because of an SSH tunnel."""


def page_files() -> dict[str, bytes]:
    """The built page by file name.

    Raises:
        OdonataError: The page has not been built.
    """
    files = {path.name: path.read_bytes() for path in sorted(STATIC.glob("*")) if path.suffix in _TYPES}
    if "index.html" not in files:
        raise OdonataError(
            "this installation lacks the viewer's page", hint="In a source tree, run: make viewer"
        )
    return files


class ViewerServer(ThreadingHTTPServer):
    """Serves the page and its runs until shutdown.

    Args:
        runs: Runs to show.
        port: Port number; 0 picks a free one.
        runner: Makes runs that the page asks for; without it, the server runs nothing.
    """

    daemon_threads = True

    def __init__(self, runs: OpenRuns, port: int = 0, runner: Runner | None = None) -> None:
        self.runs = runs
        self.reruns = None if runner is None else Reruns(runs, runner)
        self.queries = Queries(runs)
        self.token = secrets.token_urlsafe(24)
        self.files = page_files()
        # With several runs, the URL fragment selects the run; the server does not see it.
        self._prepared = _FirstPicture(runs) if len(runs.runs) == 1 else None
        self.describe()
        super().__init__(("127.0.0.1", port), _Handler)

    def describe(self) -> None:
        """Makes the index, and the page that contains it: at the start and after each added run."""
        can = {"allows_runs": self.reruns is not None, "answers_queries": is_available()}
        index = {**self.runs.index(), **{name: True for name, is_able in can.items() if is_able}}
        self.index = json.dumps(index, ensure_ascii=False).encode()
        self.page = _page(self.files["index.html"], self.index, preload=self._prepared is not None)

    def server_close(self) -> None:
        """Also removes the runs that pages asked for."""
        super().server_close()
        if self.reruns is not None:
            self.reruns.close()

    def first(self, run: int) -> bytes:
        """Tables of the first picture of a run."""
        return self.runs.first(run) if self._prepared is None or run != 0 else self._prepared.first()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    @property
    def ssh(self) -> str:
        """SSH command that forwards this server to the user's machine."""
        there = f"{getpass.getuser()}@{socket.getfqdn()}"
        return f"ssh -N -L {self.server_port}:127.0.0.1:{self.server_port} {there}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that disconnect early."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _FirstPicture:
    """Prepares the first picture of a single run before a browser asks, and caches it."""

    def __init__(self, runs: OpenRuns) -> None:
        self._runs = runs
        self._pool = ThreadPoolExecutor(1, "first picture")
        self._start()

    def _start(self) -> None:
        self._version = self._runs.runs[0].version()
        self._made = self._pool.submit(self._runs.first, 0)

    def first(self) -> bytes:
        if self._runs.runs[0].version() != self._version:
            self._start()
        return self._made.result()


INDEX_MAX = 2**18
"""A larger index is fetched by the page: inlined, it would delay parsing."""


def _page(html: bytes, index: bytes, *, preload: bool) -> bytes:
    """The page with the inlined index. The preload starts before the script is parsed."""
    head = b'<link rel="preload" as="fetch" crossorigin href="api/runs/0/first">' if preload else b""
    # Escape everything that looks like a tag.
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

    def do_POST(self) -> None:
        self._respond(body=True)

    def _respond(self, *, body: bool) -> None:
        try:
            self._check_origin()
            status, (kind, content) = HTTPStatus.OK, self._content()
        except CancelError:
            self.close_connection = True
            return
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
            raise _RefusalError(HTTPStatus.MISDIRECTED_REQUEST, "unknown host")
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            raise _RefusalError(HTTPStatus.FORBIDDEN, "requests from other sites are refused")
        site = self.headers.get("Sec-Fetch-Site", "none")
        # Other sites may link to the page, but not load anything from it.
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
                "wrong or missing token in the address",
                "Use the complete address that `odonata view` printed.",
            )
        if self.command == "POST":
            return "application/json", self._posted(path)
        if path in {"", "index.html"}:
            return _TYPES[".html"], self.server.page
        if path in self.server.files:
            return _TYPES[Path(path).suffix], self.server.files[path]
        if path == "api/index.json":
            return "application/json", self.server.index
        first = re.fullmatch(r"api/runs/(\d{1,4})/first", path)
        if first is not None:
            return "application/octet-stream", self._read(lambda: self.server.first(int(first[1])))
        asked = re.fullmatch(r"api/runs/(\d{1,4})/(explain|headline)\.json", path)
        if asked is not None:
            answer = self.server.runs.explain if asked[2] == "explain" else self.server.runs.headline
            return "application/json", self._read(lambda: answer(int(asked[1])))
        changed = re.fullmatch(r"api/runs/(\d{1,4})/what-if\.json", path)
        if changed is not None:
            job = parse_qs(address.query).get("job", [""])[0]
            return "application/json", self._run(
                lambda reruns: reruns.what_if(int(changed[1]), job, self._is_gone)
            )
        match = re.fullmatch(r"api/runs/(all|\d{1,4})/([A-Za-z0-9_%-]+)", path)
        if match is None:
            raise _RefusalError(HTTPStatus.NOT_FOUND, "unknown address")
        columns = parse_qs(address.query).get("columns", [""])[0]
        of, table, names = match[1], unquote(match[2]), columns.split(",")
        runs = self.server.runs
        return "application/octet-stream", self._read(
            lambda: runs.blocks(table, names) if of == "all" else runs.block(int(of), table, names)
        )

    def _posted(self, path: str) -> bytes:
        """A query of a run, or its experiment again with edits of its machine."""
        # Whatever is not read would be taken for the next request.
        self.close_connection = True
        match = re.fullmatch(r"api/runs/(\d{1,4})/(edited|query)", path)
        if match is None:
            raise _RefusalError(HTTPStatus.NOT_FOUND, "unknown address")
        run = int(match[1])
        if match[2] == "query":
            sql = self._body("sql", '{"sql": text}', lambda sql: isinstance(sql, str))
            answer = self.server.queries.answer
            return self._asked(lambda: answer(run, sql, self._is_gone))
        edits = self._body(
            "edits",
            '{"edits": [text, ...]}',
            lambda edits: isinstance(edits, list) and all(isinstance(edit, str) for edit in edits),
        )
        return self._edited(run, edits)

    def _body(self, name: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        """The only field of a request's JSON."""
        # A form of another site cannot have this type.
        if self.headers.get("Content-Type") != "application/json":
            raise _RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected application/json")
        size = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,5}", size):
            raise _RefusalError(HTTPStatus.BAD_REQUEST, "expected fewer than 100,000 bytes")
        try:
            value = json.loads(self.rfile.read(int(size)))[name]
        except (ValueError, TypeError, LookupError, RecursionError):
            value = None
        if not fits(value):
            raise _RefusalError(HTTPStatus.BAD_REQUEST, f"expected {expected}")
        return value

    def _edited(self, base: int, edits: list[str]) -> bytes:
        """Runs an experiment with edits of its machine: the number of the new run, and the index."""
        run = self._run(lambda reruns: reruns.add(base, edits, self._is_gone))
        self.server.describe()
        return b'{"run": %d, "index": %s}' % (run, self.server.index)

    def _run(self, make: Callable[[Reruns], _Made]) -> _Made:
        """Makes a run, if this server may."""
        if self.server.reruns is None:
            raise _RefusalError(
                HTTPStatus.FORBIDDEN,
                "this server makes no runs",
                "Start it with: odonata view --allow-runs RUN",
            )
        reruns = self.server.reruns
        return self._asked(lambda: make(reruns))

    def _asked(self, make: Callable[[], _Made]) -> _Made:
        """What a page asks this server to compute."""
        try:
            return self._read(make, refused=HTTPStatus.UNPROCESSABLE_ENTITY)
        except BusyError as error:
            raise _RefusalError(HTTPStatus.CONFLICT, error.message, error.hint) from error

    def _is_gone(self) -> bool:
        """Whether the page has closed the connection of this request."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except ConnectionError:
            return True

    def _read(
        self, read: Callable[[], _Made], refused: HTTPStatus = HTTPStatus.INTERNAL_SERVER_ERROR
    ) -> _Made:
        try:
            return read()
        except KeyError as error:
            raise _RefusalError(HTTPStatus.NOT_FOUND, f"the run has no {error.args[0]}") from None
        except BusyError:
            raise
        except OdonataError as error:
            raise _RefusalError(refused, error.message, error.hint) from error

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """No log: addresses contain the token."""
