"""A stored run, and a server that shows it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import handmade
import pytest

from odonata.viewer import export as viewer_export
from odonata.viewer import server as viewer_server
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import ViewerServer


@pytest.fixture
def stored_run(tmp_path: Path) -> Path:
    path = tmp_path / "first"
    handmade.run().save(path)
    return path


@pytest.fixture
def page_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the built page, so that the tests need no Node.js."""
    files = {
        "index.html": b'<html><head><link rel="stylesheet" href="viewer.css" /><title>Odonata</title>'
        b'<script type="module" src="viewer.js"></script></head><body><div id="odonata"></div></body></html>',
        "viewer.js": b'console.log("</script><!-- x")',
        "viewer.css": b".odonata {}",
    }
    for module in (viewer_server, viewer_export):
        monkeypatch.setattr(module, "page_files", lambda: files)


@pytest.fixture
def server(stored_run: Path, page_files: None) -> Iterator[ViewerServer]:  # noqa: ARG001
    with ViewerServer(OpenRuns.from_directories([stored_run])) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join(timeout=10)
