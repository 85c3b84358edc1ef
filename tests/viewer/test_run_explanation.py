"""The bottlenecks sent to the page equal the result of `odonata.explain`."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import odonata
from odonata.viewer.explanation import ROWS
from odonata.viewer.export import embedded
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

[[job]]
name = "fft"
pattern = "all-to-all"
ranks = 32
ranks_per_node = 1
placement = "random-nodes"

[engine]
kind = "flow"
"""
MODEL = FLOW.replace('kind = "flow"', 'kind = "model"')
OPEN = FLOW.replace(
    'kind = "flow"', 'kind = "packet"\nwarm_up = "1 us"\nmeasure = "2 us"\nrouting = "min"'
).replace("ranks_per_node = 1", 'ranks_per_node = 1\ntraffic = { name = "open", load = 0.1 }')


@pytest.mark.parametrize("text", [FLOW, MODEL, OPEN], ids=["flow", "model", "open traffic"])
def test_the_page_gets_the_result_of_explain(text: str, tmp_path: Path, page_files: None) -> None:  # noqa: ARG001
    """From the server, in a standalone page, and for a run in memory."""
    run = odonata.run(text)
    opened = OpenRuns.from_run(run)
    stored = OpenRuns.from_directories([run.save(tmp_path / "run").path])
    expected = json.loads(opened.explain(0))
    for one, name in zip(expected["jobs"], ("cfd", "fft"), strict=True):
        wanted = odonata.explain(run, name, blame=False, count=ROWS).to_dict()
        assert one["name"] == wanted["job"]
        for key in ("time_s", "terms", "slowest_rank", "bottlenecks", "sharers"):
            assert one[key] == wanted[key]
        flowing = odonata.explain(run, name, blame=False).open_traffic
        assert one["open_traffic"] == (None if flowing is None else flowing.sentence())
        assert (flowing is None) == (text != OPEN)
        assert one["bottlenecks"] or text == MODEL
    assert any(job["time_s"] for job in expected["jobs"]) == (text != OPEN)
    assert json.loads(stored.explain(0)) == expected
    assert embedded(stored)["explanations"] == {"0": expected}
    with ViewerServer(stored) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(server.url + "api/runs/0/explain.json") as answer:
            assert json.load(answer) == expected
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(server.url + "api/runs/1/explain.json")
        server.shutdown()
