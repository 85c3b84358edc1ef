"""Queries of a page: equal to the tables, closed to all else, bounded, and ended with the page."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import handmade
import pytest

from odonata.errors import OdonataError
from odonata.viewer import queries
from odonata.viewer.queries import Queries
from odonata.viewer.reruns import CancelError
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import ViewerServer

duckdb = pytest.importorskip("duckdb")

LONG = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"


@pytest.fixture
def asked(stored_run: Path) -> Queries:
    return Queries(OpenRuns.from_directories([stored_run]))


def answer(asked: Queries, sql: str) -> dict[str, Any]:
    return json.loads(asked.answer(0, sql, lambda: False))  # type: ignore[no-any-return]


def test_an_answer_has_the_rows_of_the_tables(asked: Queries) -> None:
    links = handmade.run().links
    found = answer(asked, "SELECT link, class, bytes FROM links ORDER BY bytes DESC, link LIMIT 3;")
    wanted = sorted(
        links.select(["link", "class", "bytes"]).to_pylist(), key=lambda row: (-row["bytes"], row["link"])
    )
    assert found["rows"] == [list(row.values()) for row in wanted[:3]]
    assert found["columns"] == [
        {"name": "link", "is_number": True},
        {"name": "class", "is_number": False},
        {"name": "bytes", "is_number": True},
    ]
    assert found["more"] is False
    joined = (
        "SELECT jobs.name, sum(link_jobs.bytes) FROM link_jobs JOIN jobs USING (job) GROUP BY ALL ORDER BY 1"
    )
    sums: dict[str, float] = {}
    names = handmade.run().jobs["name"].to_pylist()
    for row in handmade.run().table("link_jobs").to_pylist():
        sums[names[row["job"]]] = sums.get(names[row["job"]], 0.0) + row["bytes"]
    assert answer(asked, joined)["rows"] == [list(pair) for pair in sorted(sums.items())]


def test_tables_and_columns_are_listed(asked: Queries) -> None:
    assert {name for (name,) in answer(asked, "SHOW TABLES")["rows"]} == set(handmade.run().table_names)
    described = answer(asked, "DESCRIBE links -- and no more")["rows"]
    assert [row[0] for row in described] == handmade.run().links.column_names


def test_values_are_those_that_json_and_a_browser_can_hold(asked: Queries) -> None:
    row = answer(asked, "SELECT NULL, true, 'nan'::DOUBLE, 9007199254740993, [1, 2], repeat('x', 1000)")[
        "rows"
    ][0]
    assert row == [None, "true", "nan", "9007199254740993", "[1, 2]", "x" * 199 + "…"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT * FROM read_text('/etc/passwd')", "disabled by configuration"),
        ("SELECT * FROM '/etc/passwd'", "does not exist; the run has communication, "),
        ("FROM read_parquet('/tmp/*.parquet')", "disabled by configuration"),
        ("FROM glob('/*')", "disabled by configuration"),
        ("FROM asked", "does not exist"),
        ("COPY links TO '/tmp/copied.csv'", "expected one SELECT"),
        ("ATTACH '/tmp/other.db'", "expected one SELECT"),
        ("INSTALL httpfs", "expected one SELECT"),
        ("SET enable_external_access = true", "expected one SELECT"),
        ("CREATE TABLE x AS FROM links", "expected one SELECT"),
        ("FROM links; FROM links", "expected one SELECT"),
        ("", "expected one SELECT"),
        ("SELECT 1) x; SET threads = 1; FROM (SELECT 1", "syntax error"),
        ("SELECT byte FROM links", 'Candidate bindings: "bytes"'),
        ("SELECT " + ", ".join(f"{i} AS c{i}" for i in range(101)), "101 columns"),
    ],
)
def test_a_query_reads_nothing_but_the_tables_of_its_run(sql: str, reason: str, asked: Queries) -> None:
    with pytest.raises(OdonataError) as caught:
        answer(asked, sql)
    assert reason in caught.value.message


def test_rows_are_bounded(asked: Queries) -> None:
    found = answer(asked, "SELECT range AS i FROM range(100000)")
    assert (len(found["rows"]), found["rows"][-1], found["more"]) == (
        queries.ROWS_MAX,
        [queries.ROWS_MAX - 1],
        True,
    )
    assert answer(asked, f"FROM range({queries.ROWS_MAX})")["more"] is False


def test_time_and_memory_are_bounded(asked: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SECONDS_MAX", 0.2)
    with pytest.raises(OdonataError, match=r"took more than 0\.2 s"):
        answer(asked, LONG)
    monkeypatch.setattr(queries, "SECONDS_MAX", 60.0)
    monkeypatch.setattr(queries, "_SETTINGS", {**queries._SETTINGS, "memory_limit": "20MB"})
    with pytest.raises(OdonataError, match="Out of Memory"):
        answer(asked, "SELECT list(range) FROM range(100000000)")


def test_a_query_ends_with_its_page(asked: Queries) -> None:
    start = time.monotonic()
    with pytest.raises(CancelError):
        asked.answer(0, LONG, lambda: True)
    assert time.monotonic() - start < 10
    # The next one is answered.
    assert answer(asked, "SELECT 1")["rows"] == [[1]]


def test_without_duckdb_the_page_says_what_to_install(
    asked: Queries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "is_available", lambda: False)
    with pytest.raises(OdonataError) as caught:
        answer(asked, "SELECT 1")
    assert caught.value.hint == "pip install 'odonata[query]'"


def post(server: ViewerServer, body: object, **changes: str) -> tuple[int, dict[str, Any]]:
    path = f"/{changes.get('token', server.token)}/api/runs/{changes.get('run', '0')}/query"
    kind = {"Content-Type": changes.get("kind", "application/json")}
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)) as connection:
        connection.request("POST", path, json.dumps(body), kind)
        with connection.getresponse() as response:
            return response.status, json.loads(response.read())


def test_the_server_answers_only_with_its_token(server: ViewerServer) -> None:
    query = {"sql": "SELECT count(*) FROM links"}
    assert post(server, query) == (
        200,
        {"columns": [{"name": "count_star()", "is_number": True}], "rows": [[8]], "more": False},
    )
    assert json.loads(server.index)["answers_queries"] is True
    assert post(server, query, token="wrong")[0] == 403
    assert post(server, query, kind="text/plain")[0] == 415
    assert post(server, query, run="1")[0] == 404
    assert post(server, {"sql": 1})[0] == 400
    assert post(server, {"sql": "FROM nothing"})[0] == 422


def test_one_query_at_a_time_and_none_of_a_page_that_is_gone(server: ViewerServer) -> None:
    page = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    page.request(
        "POST",
        f"/{server.token}/api/runs/0/query",
        json.dumps({"sql": LONG}),
        {"Content-Type": "application/json"},
    )
    turn = server.queries._turn
    _wait(turn.locked)
    assert post(server, {"sql": "SELECT 1"}) == (
        409,
        {"error": "another query of this server is not finished"},
    )
    page.close()
    _wait(lambda: not turn.locked())
    assert post(server, {"sql": "SELECT 1"})[0] == 200


def _wait(is_so: Any) -> None:
    pause = threading.Event()
    for _ in range(200):
        if is_so():
            return
        pause.wait(0.05)
    pytest.fail("nothing happened in 10 s")
