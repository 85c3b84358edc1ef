"""`run.view()`: content of a notebook cell."""

from __future__ import annotations

import base64
import gzip
import sys

import handmade
import pytest
from block_reader import decode

import odonata
from odonata.errors import OdonataError
from odonata.viewer import server, widget


@pytest.fixture(autouse=True)
def _built(page_files: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(widget, "page_files", server.page_files)


def test_the_widget_contains_the_page_and_all_tables() -> None:
    pytest.importorskip("anywidget")
    run = handmade.run()
    view = run.view()
    assert view._esm == server.page_files()["viewer.js"].decode()
    assert view._css == server.page_files()["viewer.css"].decode()
    # Sent to the browser, and saved with the notebook.
    data = view.get_state()["data"]
    assert [shown["label"] for shown in data["index"]["runs"]] == ["unsaved"]
    assert set(data["blocks"]) == {f"0/{name}" for name in run.table_names}
    links = decode(gzip.decompress(base64.b64decode(data["blocks"]["0/links"])))
    assert links["bytes"] == run.links["bytes"].to_pylist()


def test_a_cell_has_a_picture_and_tables_for_readers_without_scripts() -> None:
    pytest.importorskip("anywidget")
    run = handmade.run()
    bundle, _ = run.view()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    picture = base64.b64decode(bundle["image/png"])
    assert picture.startswith(b"\x89PNG")
    page = bundle["text/html"]
    assert bundle["image/png"] in page
    assert "<script" not in page
    for job in run.jobs["name"].to_pylist():
        assert f">{job}</td>" in page
    hottest = run.links["bytes"].to_numpy().argmax()
    rows = page.split("Hottest links")[1].split("<tr>")
    assert str(run.links["class"][hottest]) in rows[2]


def test_a_run_without_traffic_on_links_has_tables_only() -> None:
    pytest.importorskip("anywidget")
    run = odonata.run("""
[machine]
topology = "dragonfly"
[[job]]
pattern = "uniform"
ranks = 4
[engine]
kind = "model"
""")
    bundle, _ = run.view()._repr_mimebundle_()
    assert "image/png" not in bundle
    assert ">Jobs<" in bundle["text/html"]


def test_without_anywidget_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(OdonataError, match="needs anywidget") as caught:
        handmade.run().view()
    assert "odonata[notebook]" in (caught.value.hint or "")
