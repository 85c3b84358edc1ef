"""SQL over the tables of an open run, by DuckDB in this process.

A query reads the tables of one run and nothing else: no file, no network, no extension, no Python object.
It is one SELECT, bounded in time, memory, rows and columns, one at a time, and ends with its page.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from odonata.errors import OdonataError
from odonata.viewer.reruns import BusyError, CancelError
from odonata.viewer.runs import OpenRuns, RunSource

ROWS_MAX = 1000
"""Maximum number of rows in an answer: more than anyone reads, and the browser lays them out at once."""
COLUMNS_MAX = 100
"""Maximum number of columns in an answer."""
TEXT_MAX = 200
"""Characters of a cell; a longer text is cut."""
SECONDS_MAX = 20.0
"""Longer queries are ended: somebody waits for the answer."""
MEMORY = "1GB"
"""Memory that DuckDB may take, besides the tables that it reads."""

_LARGEST_EXACT = 2**53
"""Larger integers are sent as text, since a browser would round them."""

_SETTINGS: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # Else a query could read variables of this program.
    "python_enable_replacements": False,
    "memory_limit": MEMORY,
    "temp_directory": "",
    "threads": 2,
    "lock_configuration": True,
}


def is_available() -> bool:
    """Whether DuckDB is installed."""
    return importlib.util.find_spec("duckdb") is not None


class Queries:
    """Answers queries of pages, one at a time.

    Args:
        runs: The open runs.
    """

    def __init__(self, runs: OpenRuns) -> None:
        self._runs = runs
        self._turn = threading.Lock()

    def answer(self, number: int, sql: str, is_cancelled: Callable[[], bool]) -> bytes:
        """The answer as JSON: `columns` with `name` and `is_number`, `rows`, and whether there are `more`.

        Raises:
            KeyError: Unknown run.
            BusyError: Another query is not finished.
            CancelError: `is_cancelled` returned true.
            OdonataError: DuckDB is not installed, or it refused or ended the query.
        """
        if not is_available():
            raise OdonataError(
                "a query needs DuckDB, which is not installed", hint="pip install 'odonata[query]'"
            )
        if not 0 <= number < len(self._runs.runs):
            raise KeyError(f"run {number}")
        if not self._turn.acquire(blocking=False):
            raise BusyError("another query of this server is not finished")
        try:
            return json.dumps(_select(self._runs.runs[number], sql, is_cancelled)).encode()
        finally:
            self._turn.release()


def _select(run: RunSource, sql: str, is_cancelled: Callable[[], bool]) -> dict[str, Any]:
    import duckdb

    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        watch = _Watch(connection.interrupt, is_cancelled)
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise OdonataError("expected one SELECT, such as: FROM links ORDER BY bytes DESC LIMIT 10")
            _register(connection, run, statements[0].query)
            with watch:
                # Reads one row more than is sent, to know whether there are more.
                query = statements[0].query.strip().rstrip(";")
                found = connection.execute(f"SELECT * FROM (\n{query}\n) LIMIT {ROWS_MAX + 1}")
                columns = [(str(name), str(kind)) for name, kind, *_ in found.description]
                rows = found.fetchall()
        except duckdb.Error as error:
            watch.check()
            raise OdonataError(_reason(str(error), run)) from error
        watch.check()
    if len(columns) > COLUMNS_MAX:
        raise OdonataError(f"{len(columns)} columns; an answer has at most {COLUMNS_MAX}")
    return {
        "columns": [{"name": name, "is_number": _is_number(kind)} for name, kind in columns],
        "rows": [[_cell(value) for value in row] for row in rows[:ROWS_MAX]],
        "more": len(rows) > ROWS_MAX,
    }


def _register(connection: Any, run: RunSource, query: str) -> None:
    """Registers the tables of the run; those that the query does not name are not read, and are empty."""
    words = set(re.findall(r"\w+", query.lower()))
    for name in run.names:
        is_named = name.lower() in words
        connection.register(name, run.table(name) if is_named else run.describe(name)[1].empty_table())


def _reason(message: str, run: RunSource) -> str:
    """DuckDB's reason without the repeated query; of an unknown table or column, the names that there are."""
    first, *rest = (line.strip() for line in message.split("\n"))
    if "Table with name" in first:
        return f"{first.split('!')[0]}; the run has {', '.join(sorted(run.names))}"
    return " ".join([first, *(line for line in rest if line.startswith("Candidate bindings"))])


def _is_number(kind: str) -> bool:
    return kind.split("(")[0] in {
        "BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT",
        "HUGEINT", "UHUGEINT", "DOUBLE", "FLOAT", "DECIMAL",
    }  # fmt: skip


def _cell(value: object) -> str | int | float | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return value if abs(value) < _LARGEST_EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"


class _Watch:
    """Ends a query that takes too long or whose page has closed."""

    def __init__(self, interrupt: Callable[[], None], is_cancelled: Callable[[], bool]) -> None:
        self._interrupt = interrupt
        self._is_cancelled = is_cancelled
        self._finished = threading.Event()
        self._reason: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        self._thread.join()

    def check(self) -> None:
        """Raises the reason why the query was ended."""
        if self._reason is not None:
            raise self._reason

    def _run(self) -> None:
        end = time.monotonic() + SECONDS_MAX
        while not self._finished.wait(0.05):
            if self._is_cancelled():
                self._reason = CancelError()
            elif time.monotonic() > end:
                self._reason = OdonataError(f"the query took more than {SECONDS_MAX:g} s and was ended")
            if self._reason is not None:
                # Repeated until it ends: an interrupt between two of its steps is lost.
                self._interrupt()
