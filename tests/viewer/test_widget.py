"""`run.view()`: what a notebook's cell is given."""

from __future__ import annotations

import base64
import gzip
import sys

import handmade
import pytest
from test_blocks import decode

from odonata.errors import OdonataError
from odonata.viewer import server, widget


@pytest.fixture(autouse=True)
def _built(page_files: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(widget, "page_files", server.page_files)


def test_the_widget_holds_the_page_and_every_table() -> None:
    pytest.importorskip("anywidget")
    run = handmade.run()
    view = run.view()
    assert view._esm == server.page_files()["viewer.js"].decode()
    assert view._css == server.page_files()["viewer.css"].decode()
    # What goes to the browser, and into a notebook that is saved.
    data = view.get_state()["data"]
    assert [shown["label"] for shown in data["index"]["runs"]] == ["unsaved"]
    assert set(data["blocks"]) == {f"0/{name}" for name in run.table_names}
    links = decode(gzip.decompress(base64.b64decode(data["blocks"]["0/links"])))
    assert links["bytes"] == run.links["bytes"].to_pylist()


def test_without_anywidget_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(OdonataError, match="needs anywidget") as caught:
        handmade.run().view()
    assert "odonata[notebook]" in (caught.value.hint or "")
