"""What binds each job, as the page is told it, is what `odonata.explain` finds."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import odonata
from odonata.viewer.export import embedded
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import ViewerServer
from odonata.viewer.explanation import ROWS

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
def test_the_page_is_told_what_explain_finds(text: str, tmp_path: Path, page_files: None) -> None:  # noqa: ARG001
    """By address, and in a page without a server; of a run in memory, too."""
    run = odonata.run(text)
    opened = OpenRuns.from_run(run)
    stored = OpenRuns.from_directories([run.save(tmp_path / "run").path])
    told = json.loads(opened.explain(0))
    for one, name in zip(told["jobs"], ("cfd", "fft"), strict=True):
        wanted = odonata.explain(run, name, blame=False, count=ROWS).to_dict()
        assert one["name"] == wanted["job"]
        for key in ("time_s", "decides", "bottlenecks", "sharers", "terms", "slowest_rank"):
            assert one[key] == wanted[key]
        if wanted["sensitivity"] is not None:
            assert [row["class"] for row in one["sensitivity"]] == [
                row["class"] for row in wanted["sensitivity"]
            ]
    assert any(job["time_s"] for job in told["jobs"]) == (text != OPEN)
    assert json.loads(stored.explain(0)) == told
    assert embedded(stored)["explanations"] == {"0": told}
    with ViewerServer(stored) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(server.url + "api/runs/0/explain.json") as answer:
            assert json.load(answer) == told
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(server.url + "api/runs/1/explain.json")
        server.shutdown()
