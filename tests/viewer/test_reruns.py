"""Runs for a page: equal to `odonata run`, only where allowed, one at a time, cancelled with the page."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import odonata
from odonata.cli.commands.view import runner
from odonata.explanation import measure_changes
from odonata.store.run import RunData
from odonata.viewer import reruns
from odonata.viewer.reruns import Rerun, Runner
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import ViewerServer

FLOW = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[[job]]
name = "cfd"
pattern = "stencil-3d"
ranks = 27
ranks_per_node = 1
placement = "random-nodes"

[engine]
kind = "flow"
"""


@contextmanager
def serve(runs: OpenRuns, made_by: Runner | None) -> Iterator[ViewerServer]:
    with ViewerServer(runs, runner=made_by) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(timeout=10)


def connect(server: ViewerServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)


def post(
    server: ViewerServer, body: object, run: int = 0, path: str = "edited", **headers: str
) -> tuple[int, dict[str, object]]:
    named = {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
    text = body if isinstance(body, str) else json.dumps(body)
    with closing(connect(server)) as connection:
        connection.request("POST", f"/{server.token}/api/runs/{run}/{path}", text, named)
        with connection.getresponse() as response:
            return response.status, json.loads(response.read())


def get(server: ViewerServer, path: str) -> tuple[int, bytes]:
    with closing(connect(server)) as connection:
        connection.request("GET", f"/{server.token}/{path}")
        with connection.getresponse() as response:
            return response.status, response.read()


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odonata.run(FLOW, out=tmp_path_factory.mktemp("runs") / "small").path  # type: ignore[return-value]


@pytest.mark.usefixtures("page_files")
def test_an_edited_run_is_the_run_of_the_command(flow: Path) -> None:
    """Differential: the added run has the tables of `odonata.run` with the same edits, also an edit of it."""
    base = odonata.load(flow)
    edits = ["fail g0r1>g0r2:local.0", "global.bandwidth*=0.5"]
    opened = OpenRuns.from_directories([flow])
    with serve(opened, runner()) as server:
        status, answer = post(server, {"edits": edits[:1]})
        assert (status, answer["run"]) == (200, 1)
        status, answer = post(server, {"edits": edits[1:]}, run=1)
        assert (status, answer["run"]) == (200, 2)
        index = json.loads(get(server, "api/index.json")[1])
        assert answer["index"] == index
        assert index["allows_runs"] is True
        assert [run["label"] for run in index["runs"]] == [
            "small",
            f"small, {edits[0]}",
            f"small, {edits[0]}, {edits[1]}",
        ]
        assert [run.get("added") for run in index["runs"]] == [None, True, True]
        wanted = odonata.run(base.resolved, set=base.with_edits(*edits))
        assert opened.runs[2].table("links").equals(wanted.links)
        assert opened.runs[2].table("jobs").equals(wanted.jobs)
        assert not opened.runs[2].table("links").equals(base.links)
        assert get(server, "api/runs/2/headline.json")[0] == 200
        kept = list(Path(server.reruns._directory.name).iterdir())  # type: ignore[union-attr]
        assert len(kept) == 2
    assert not any(path.exists() for path in kept)


@pytest.mark.usefixtures("page_files")
def test_a_server_makes_runs_only_if_it_may(flow: Path) -> None:
    with serve(OpenRuns.from_directories([flow]), None) as server:
        status, answer = post(server, {"edits": ["-1 global"]})
        assert (status, answer["error"]) == (403, "this server makes no runs")
        assert get(server, "api/runs/0/what-if.json?job=cfd")[0] == 403
        assert "allows_runs" not in json.loads(get(server, "api/index.json")[1])


@pytest.mark.usefixtures("page_files")
@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"edits": []}, 422, "0 edits; expected 1 to 32"),
        ({"edits": ["-1 global"] * 33}, 422, "33 edits"),
        ({"edits": ["fail g99r0"]}, 422, "the machine cannot be changed so: .*g99r0"),
        ({"edits": ["nonsense"]}, 422, "the machine cannot be changed so"),
        ({"edits": [1]}, 400, "expected"),
        ({"edits": "-1 global"}, 400, "expected"),
        ([], 400, "expected"),
        ("{", 400, "expected"),
        ("[" * 50_000, 400, "expected"),
        (" " * 200_000, 400, "fewer than"),
    ],
)
def test_what_cannot_run_is_refused_in_words(body: object, status: int, reason: str, flow: Path) -> None:
    with serve(OpenRuns.from_directories([flow]), runner()) as server:
        found, answer = post(server, body)
        assert found == status
        assert re.search(reason, str(answer["error"]))
        # The server goes on.
        assert get(server, "api/index.json")[0] == 200


@pytest.mark.usefixtures("page_files")
def test_requests_of_other_sites_and_forms_run_nothing(flow: Path) -> None:
    def never(*_: object) -> None:
        pytest.fail("a run was started")

    with serve(OpenRuns.from_directories([flow]), Runner(never, never)) as server:  # type: ignore[arg-type]
        edit = {"edits": ["-1 global"]}
        assert post(server, edit, Origin="http://example.org")[0] == 403
        assert post(server, edit, Sec_Fetch_Site="cross-site")[0] == 403
        assert post(server, edit, Content_Type="text/plain")[0] == 415
        assert post(server, edit, run=7)[0] == 404
        assert post(server, edit, path="links")[0] == 404
        assert get(server, "api/runs/0/edited")[0] == 404


@pytest.mark.usefixtures("page_files")
def test_only_the_flow_engine_runs(tmp_path: Path) -> None:
    model = odonata.run(FLOW.replace('"flow"', '"model"'), out=tmp_path / "model")
    with serve(OpenRuns.from_directories([model.path]), runner()) as server:  # type: ignore[list-item]
        status, answer = post(server, {"edits": ["-1 global"]})
        assert status == 422
        assert answer["hint"] == "Use: odonata compare model --edit '-1 global'"


def blocking(started: threading.Event, ended: threading.Event) -> Rerun:
    """A run that lasts until it is cancelled."""

    def rerun(run: RunData, edits: Sequence[str], out: Path, progress: Callable[[str, float], None]) -> None:
        assert run.summary["engine"] == "flow"
        assert (list(edits), out.exists()) == (["-1 global"], False)
        started.set()
        try:
            for _ in range(1000):
                progress("", 0.0)
                time.sleep(0.01)
        finally:
            ended.set()

    return rerun


@pytest.mark.usefixtures("page_files")
def test_one_run_at_a_time_and_it_ends_with_its_page(flow: Path) -> None:
    started, ended = threading.Event(), threading.Event()
    opened = OpenRuns.from_directories([flow])
    with serve(opened, Runner(measure_changes, blocking(started, ended))) as server:
        page = connect(server)
        body = json.dumps({"edits": ["-1 global"]})
        page.request("POST", f"/{server.token}/api/runs/0/edited", body, {"Content-Type": "application/json"})
        assert started.wait(10)
        status, answer = post(server, {"edits": ["-1 global"]})
        assert (status, answer["error"]) == (409, "another run of this server is not finished")
        assert not ended.is_set()
        page.close()
        assert ended.wait(10)
        assert len(opened.runs) == 1


@pytest.mark.usefixtures("page_files")
def test_a_server_makes_a_limited_number_of_runs(flow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reruns, "RERUNS_MAX", 1)
    with serve(OpenRuns.from_directories([flow]), runner()) as server:
        assert post(server, {"edits": ["global.bandwidth*=2"]})[0] == 200
        status, answer = post(server, {"edits": ["global.bandwidth*=2"]})
        assert (status, answer["error"]) == (422, "this server has made 1 runs, the maximum")


@pytest.mark.usefixtures("page_files")
def test_the_time_of_a_job_on_other_machines(flow: Path) -> None:
    with serve(OpenRuns.from_directories([flow]), runner()) as server:
        status, body = get(server, "api/runs/0/what-if.json?job=cfd")
        assert status == 200
        wanted = odonata.explain(odonata.load(flow), "cfd", blame=False, what_if=True).what_if
        assert wanted is not None
        found = json.loads(body)["changes"]
        assert [row["change"] for row in found] == wanted["change"].to_pylist()
        assert [row["time_s"] for row in found] == wanted["time_s"].to_pylist()
