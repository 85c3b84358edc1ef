"""What the local server serves, and to whom."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import struct
import threading
import time
from contextlib import closing
from pathlib import Path

import handmade
import pytest
from block_reader import decode, decode_several

from odonata.errors import DamagedRunError, NewerRunError, NotARunError
from odonata.store import schema
from odonata.viewer.runs import OpenRuns, labels
from odonata.viewer.server import ViewerServer


def ask(
    server: ViewerServer, path: str, *, method: str = "GET", token: str | None = None, **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """Sends one request without normalizing the path."""
    token = server.token if token is None else token
    named = {"Connection": "close", **{name.replace("_", "-"): value for name, value in headers.items()}}
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)) as connection:
        connection.request(method, f"/{token}/{path}" if token else path, headers=named)
        with connection.getresponse() as response:
            return response.status, response.read(), response.headers


def test_the_page_and_its_data(server: ViewerServer) -> None:
    status, page, headers = ask(server, "")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"odonata" in page
    index = json.loads(ask(server, "api/index.json")[1])
    assert [run["label"] for run in index["runs"]] == ["first"]
    links = index["runs"][0]["tables"]["links"]
    assert links["rows"] == 8
    described = index["columns"][links["columns"]]
    assert {name: column["type"] for name, column in described.items()} == {
        **dict.fromkeys(("link", "source", "target", "port", "reverse"), "u32"),
        **{f"{end}_{axis}": "u32" for end in ("source", "target") for axis in ("group", "row")},
        "class": "str",
        "parallel": "u16",
        "capacity_bytes_per_s": "f64",
        "latency_ps": "f64",
        "bytes": "f64",
    }
    assert described["bytes"] == {
        "type": "f64",
        "unit": "bytes",
        "merge": "sum",
        "label": "Traffic",
        "meaning": schema.TABLES["links"].expand([])["bytes"].meaning,
        "headline": True,
    }
    status, block, _ = ask(server, "api/runs/0/links?columns=source,class,bytes")
    assert status == 200
    assert decode(block) == {
        "source": [0, 0, 0, 1, 2, 2, 2, 3],
        "class": ["green", "blue", "blue", "green", "green", "blue", "blue", "green"],
        "bytes": [4.0, 9.0, 3.0, 12.0, 12.0, 0.0, 0.0, 0.0],
    }


def test_the_page_contains_its_index_and_preloads_the_first_picture(server: ViewerServer) -> None:
    _, page, _ = ask(server, "")
    assert b'<link rel="preload" as="fetch" crossorigin href="api/runs/0/first">' in page
    _, _, data = page.partition(b'id="odonata-index">')
    assert json.loads(data.partition(b"</script>")[0]) == json.loads(ask(server, "api/index.json")[1])


def test_the_first_picture_has_its_tables_in_one_answer(server: ViewerServer, stored_run: Path) -> None:
    status, answer, _ = ask(server, "api/runs/0/first")
    assert status == 200
    tables = decode_several(answer)
    assert list(tables) == ["routers", "links", "link_jobs", "nodes", "jobs"]
    for name, columns in tables.items():
        sent = ",".join(columns)
        assert columns == decode(ask(server, f"api/runs/0/{name}?columns={sent}")[1])
    assert set(tables["links"]) == {"source", "target", "class", "parallel", "capacity_bytes_per_s", "bytes"}
    assert set(tables["link_jobs"]) == {"link", "job", "bytes"}
    assert {"name", "group", "row"} <= set(tables["routers"])
    assert ask(server, "api/runs/1/first")[0] == 404
    # Cached until the run changes.
    (stored_run / "nodes.parquet").write_bytes(b"PAR1 not really")
    status, body, _ = ask(server, "api/runs/0/first")
    assert status == 500
    assert "nodes.parquet" in json.loads(body)["error"]


def test_a_table_of_all_runs_is_one_answer(page_files: None, tmp_path: Path) -> None:  # noqa: ARG001
    """Runs without the table or the column, or with a damaged one, are left out."""
    for name in ("a", "b", "c", "damaged"):
        jobs = handmade.tables()["jobs"]
        if name == "b":
            jobs = jobs.drop_columns(["slowdown"])
        handmade.run(jobs=jobs).save(tmp_path / name)
    opened = OpenRuns.from_directories([tmp_path / name for name in ("a", "b", "c", "damaged")])
    with ViewerServer(opened) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "damaged" / "jobs.parquet").write_bytes(b"PAR1 damaged")
        status, content, _ = ask(server, "api/runs/all/jobs?columns=name,slowdown")
        assert status == 200
        found = decode_several(content)
        assert set(found) == {"0", "2"}
        assert found["0"]["slowdown"] == pytest.approx(handmade.JOBS["slowdown"], nan_ok=True)
        assert decode_several(ask(server, "api/runs/all/nothing?columns=name")[1]) == {}
        server.shutdown()


def test_several_runs_are_not_preloaded(
    stored_run: Path,
    page_files: None,  # noqa: ARG001
) -> None:
    with ViewerServer(OpenRuns.from_directories([stored_run, stored_run])) as server:
        assert b"preload" not in server.page


def test_it_listens_on_the_loopback_only(server: ViewerServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.url.startswith(f"http://127.0.0.1:{server.server_port}/")
    assert len(server.token) >= 32


@pytest.mark.parametrize("token", ["wrong", "x" * 32, "%00"])
def test_the_token_is_required(server: ViewerServer, token: str) -> None:
    status, body, _ = ask(server, "api/index.json", token=token)
    assert status == 403
    assert b"first" not in body


@pytest.mark.parametrize("path", ["/", "/index.html", "/api/index.json", "//", "/../"])
def test_paths_without_any_token(server: ViewerServer, path: str) -> None:
    assert ask(server, path, token="")[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "viewer.js/../../server.py",
        "api/runs/0/../../../summary.json",
        "api/runs/0/..%2Fsummary.json",
        "api/runs/0/summary.json",
        "api/runs/0/%2Fetc%2Fpasswd",
        "api/runs/-1/links",
        "api/runs/1/links?columns=link",
        "api/runs/99999/links",
        "api/runs/0/links%00?columns=link",
        "api/runs/0/nothing?columns=x",
        "api/runs/0/links?columns=nothing",
        "api/runs/0/links",
        "server.py",
    ],
)
def test_only_tables_and_columns_are_served(server: ViewerServer, path: str) -> None:
    status, body, _ = ask(server, path)
    assert status == 404, body
    assert set(json.loads(body)) <= {"error", "hint"}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "127.0.0.2:80",
        "127.0.0.1:x",
        "",
    ],
)
def test_a_foreign_host_header_is_refused(server: ViewerServer, host: str) -> None:
    assert ask(server, "api/index.json", Host=host)[0] == 421


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:8888", "[::1]:9000", "localhost"])
def test_an_ssh_tunnel_is_served(server: ViewerServer, host: str) -> None:
    assert ask(server, "api/index.json", Host=host)[0] == 200
    assert ask(server, "api/index.json", Host=host, Origin=f"http://{host}")[0] == 200
    # A page on another port is another site.
    assert ask(server, "api/index.json", Host=host, Origin="http://127.0.0.1:2")[0] == 403


def test_a_disconnecting_browser_is_no_error(server: ViewerServer, capfd: pytest.CaptureFixture[str]) -> None:
    server.files = {**server.files, "viewer.js": b" " * 2**24}
    for _ in range(3):
        with closing(socket.create_connection(("127.0.0.1", server.server_port))) as connection:
            # Reset the connection after the first bytes.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line = f"GET /{server.token}/viewer.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
            connection.sendall(line.encode())
            assert connection.recv(64)
    deadline = time.monotonic() + 10
    while any("process_request" in t.name for t in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ask(server, "")[0] == 200
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "script"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
    ],
)
def test_cross_site_requests_are_refused(server: ViewerServer, headers: dict[str, str]) -> None:
    assert ask(server, "api/index.json", **headers)[0] == 403


def test_links_from_other_sites_work(server: ViewerServer) -> None:
    headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert ask(server, "", **headers)[0] == 200


@pytest.mark.parametrize(
    ("method", "status"), [("POST", 404), *((name, 501) for name in ("PUT", "DELETE", "OPTIONS", "PATCH"))]
)
def test_the_server_is_read_only(server: ViewerServer, method: str, status: int) -> None:
    """A run on request is a POST to one address (tests/viewer/test_reruns.py)."""
    assert ask(server, "api/index.json", method=method)[0] == status


def test_head_has_no_body(server: ViewerServer) -> None:
    status, body, headers = ask(server, "", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 0


def test_security_headers(server: ViewerServer) -> None:
    _, _, headers = ask(server, "")
    rules = dict(rule.strip().split(" ", 1) for rule in headers["Content-Security-Policy"].split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        # The drawing thread is a blob of the page's own script; blobs are allowed only for workers.
        "worker-src": "blob:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_garbage_does_not_stop_the_server(server: ViewerServer) -> None:
    for garbage in (
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\xff\xfe\x00" * 40 + b"\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(4096)
    assert ask(server, "api/index.json")[0] == 200


def test_a_symlink_out_of_the_run_is_not_opened(stored_run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.parquet"
    (stored_run / "links.parquet").rename(outside)
    (stored_run / "links.parquet").symlink_to(outside)
    with pytest.raises(NotARunError, match="outside the run directory"):
        OpenRuns.from_directories([stored_run]).index()


def test_a_file_replaced_by_a_symlink_is_not_opened(
    server: ViewerServer, stored_run: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere.parquet"
    (stored_run / "links.parquet").rename(outside)
    (stored_run / "links.parquet").symlink_to(outside)
    status, body, _ = ask(server, "api/runs/0/links?columns=bytes")
    assert status == 500
    assert "outside the run directory" in json.loads(body)["error"]


def test_a_damaged_table_is_an_error(server: ViewerServer, stored_run: Path) -> None:
    (stored_run / "links.parquet").write_bytes(b"PAR1 not really")
    status, body, _ = ask(server, "api/runs/0/links?columns=bytes")
    assert status == 500
    assert "links.parquet" in json.loads(body)["error"]


def test_damage_is_found_before_the_server_starts(stored_run: Path) -> None:
    (stored_run / "nodes.parquet").write_bytes(b"")
    with pytest.raises(DamagedRunError, match=r"cannot read .*nodes\.parquet"):
        OpenRuns.from_directories([stored_run]).index()


def test_a_newer_run_is_refused(stored_run: Path) -> None:
    summary = json.loads((stored_run / "summary.json").read_text())
    (stored_run / "summary.json").write_text(json.dumps({**summary, "format_version": 99}))
    with pytest.raises(NewerRunError, match="format 99"):
        OpenRuns.from_directories([stored_run])


def test_labels_are_as_short_as_possible() -> None:
    assert labels([Path("/a/x"), Path("/a/y")]) == ["x", "y"]
    assert labels([Path("/a/x"), Path("/b/x")]) == ["a/x", "b/x"]
    assert labels([Path("/a/x"), Path("/a/x")]) == ["x", "x (2)"]
    assert labels([]) == []


def test_one_bad_run_in_a_directory_is_listed_and_the_others_open(tmp_path: Path, stored_run: Path) -> None:
    directory = tmp_path / "many"
    for name in ("a", "b", "c", "d"):
        shutil.copytree(stored_run, directory / name)
    (directory / "b" / "links.parquet").write_bytes(b"PAR1 not really")
    (directory / "c" / "summary.json").write_text('{"format": "odonata-run", ')
    (directory / "d" / "jobs.parquet").unlink()
    runs = OpenRuns.from_directories([directory])
    assert runs.labels == ["a"]
    assert [label for label, _ in runs.bad] == ["b", "c", "d"]
    assert runs.index()["bad"][0]["label"] == "b"
    assert "links.parquet" in runs.index()["bad"][0]["reason"]
    assert "jobs" in runs.bad[2][1]
    # A damaged run named directly, or a directory without a readable run, is an error.
    with pytest.raises(DamagedRunError):
        OpenRuns.from_directories([directory, directory / "c"])
    shutil.rmtree(directory / "a")
    with pytest.raises(DamagedRunError):
        OpenRuns.from_directories([directory])
