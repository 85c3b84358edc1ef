"""The standalone page, the notebook's data and the command."""

from __future__ import annotations

import base64
import gzip
import json
import re
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import handmade
import pytest
from block_reader import decode

from odonata.errors import OdonataError
from odonata.viewer import export
from odonata.viewer.runs import MemoryRun, OpenRuns, differing_keys

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.usefixtures("page_files")
def test_the_page_contains_script_style_and_all_tables(stored_run: Path) -> None:
    page = export.standalone_page(OpenRuns.from_directories([stored_run]))
    # "</script>" inside a script would end its element; nothing may be loaded from other hosts.
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


@pytest.mark.usefixtures("page_files")
def test_nothing_in_the_data_looks_like_a_tag() -> None:
    run = handmade.run()
    names = ["<!--<script>", "</script><b>"]
    jobs = [{**job, "name": name} for job, name in zip(run.summary["jobs"], names, strict=True)]
    shown = MemoryRun({**run.summary, "jobs": jobs}, {name: run.table(name) for name in run.table_names})
    page = export.standalone_page(OpenRuns([("<!--<script>", shown)]))
    data = re.search(r'id="odonata-data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert "<" not in data[1]
    summary = json.loads(data[1])["index"]["runs"][0]["summary"]
    assert [job["name"] for job in summary["jobs"]] == names
    assert "<title>Odonata: &lt;!--&lt;script></title>" in page


@pytest.mark.usefixtures("page_files")
def test_a_full_disk_leaves_no_partial_page(stored_run: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages" / "page.html"
    target.parent.mkdir()
    page = export.standalone_page(OpenRuns.from_directories([stored_run]))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(OdonataError, match=r"cannot write .*page\.html"):
            export.write_page(page, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert list(target.parent.iterdir()) == []
    # An older page is kept until the new one is complete.
    assert export.write_page(page, target) == target.stat().st_size
    assert list(target.parent.iterdir()) == [target]


def test_the_same_run_gives_the_same_page(stored_run: Path) -> None:
    runs = OpenRuns.from_directories([stored_run])
    assert json.dumps(export.embedded(runs)) == json.dumps(export.embedded(runs))


def test_a_run_without_a_directory_can_be_viewed() -> None:
    runs = OpenRuns.from_run(handmade.run())
    assert runs.labels == ["unsaved"]
    assert decode(runs.block(0, "jobs", ["name"]))["name"] == ["a", "b"]


def test_a_sweep_is_ordered_by_differing_keys() -> None:
    base = dict(handmade.run().summary)
    other = {**base, "seed": 2, "sweep": {"edit": "-K"}}
    assert differing_keys([{**base, "seed": 1, "sweep": {"edit": "none"}}, other]) == {
        "seed": [1, 2],
        "edit": ["none", "-K"],
    }


def test_the_command_reports_errors(odonata_command: Command, tmp_path: Path) -> None:
    result = odonata_command("view", tmp_path / "nothing", "--no-open")
    assert result.returncode == 2
    assert "there is no directory" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_accepts_only_counters(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("sg,sr\n0,0\n")
    result = odonata_command("view", tmp_path / "c.csv", "--no-open")
    assert result.returncode == 2
    assert "has no column sc" in result.stderr
