"""The standalone page, the notebook's data and the command."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import handmade
import pytest
from test_blocks import decode

from odonata.viewer import export
from odonata.viewer.runs import OpenRuns, differing_keys

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.usefixtures("page_files")
def test_the_page_holds_script_style_and_every_table(
    stored_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from odonata.viewer import server

    monkeypatch.setattr(export, "page_files", server.page_files)
    page = export.standalone_page(OpenRuns.from_directories([stored_run]))
    # A script that holds "</script>" would end its own element; nothing may be loaded from elsewhere.
    assert len(re.findall("</script>", page)) == 2
    assert "src=" not in page
    assert "<title>Odonata: first</title>" in page
    found = re.search(r'<script type="application/json" id="odonata-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    tables = {"routers", "links", "link_jobs", "nodes", "jobs", "placement", "communication"}
    assert set(data["blocks"]) == {f"0/{name}" for name in tables}
    links = decode(gzip.decompress(base64.b64decode(data["blocks"]["0/links"])))
    assert links["bytes"] == [4.0, 9.0, 3.0, 12.0, 12.0, 0.0, 0.0, 0.0]


def test_the_same_run_gives_the_same_page(stored_run: Path) -> None:
    runs = OpenRuns.from_directories([stored_run])
    assert json.dumps(export.embedded(runs)) == json.dumps(export.embedded(runs))


def test_a_run_that_was_never_stored_can_be_viewed() -> None:
    runs = OpenRuns.from_run(handmade.run())
    assert runs.labels == ["unsaved"]
    assert decode(runs.block(0, "jobs", ["name"]))["name"] == ["a", "b"]


def test_a_sweep_is_ordered_by_what_differs() -> None:
    base = dict(handmade.run().summary)
    other = {**base, "seed": 2, "sweep": {"edit": "-K"}}
    assert differing_keys([{**base, "seed": 1, "sweep": {"edit": "none"}}, other]) == {
        "seed": [1, 2],
        "edit": ["none", "-K"],
    }


def test_the_command_says_what_is_wrong(odonata_command: Command, tmp_path: Path) -> None:
    result = odonata_command("view", tmp_path / "nothing", "--no-open")
    assert result.returncode == 2
    assert "there is no directory" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_takes_counters_alone(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("sg,sr\n0,0\n")
    result = odonata_command("view", tmp_path / "c.csv", "--no-open")
    assert result.returncode == 2
    assert "lacks the column sc" in result.stderr
