"""The standalone page: viewer and runs in one HTML file that needs no server."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.store.atomic import atomic_file
from odonata.viewer.runs import OpenRuns
from odonata.viewer.server import page_files


def embedded(runs: OpenRuns) -> dict[str, Any]:
    """All tables of the runs as gzip in base64, in the format that the page reads without a server."""
    blocks = {
        f"{run}/{table}": base64.b64encode(gzip.compress(runs.block(run, table), 6, mtime=0)).decode()
        for run, shown in enumerate(runs.runs)
        for table in shown.names
    }
    explanations = {str(run): json.loads(runs.explain(run)) for run in range(len(runs.runs))}
    headlines = {str(run): json.loads(runs.headline(run)) for run in range(len(runs.runs))}
    return {"index": runs.index(), "blocks": blocks, "explanations": explanations, "headlines": headlines}


def standalone_page(runs: OpenRuns) -> str:
    """The HTML text."""
    files = {name: content.decode() for name, content in page_files().items()}
    # "</" would end the script element, and "<!--<script" would hide its end: escape all tags.
    data = json.dumps(embedded(runs), ensure_ascii=False).replace("<", "\\u003c")
    page = re.sub(r"<script\b[^>]*\bsrc=[^>]*></script>\s*", "", files["index.html"])
    page = re.sub(r"<link\b[^>]*\brel=\"stylesheet\"[^>]*>\s*", "", page)
    script = files["viewer.js"].replace("</script", "<\\/script").replace("<!--", "<\\!--")
    title = ", ".join(runs.labels).replace("&", "&amp;").replace("<", "&lt;")
    page = page.replace("<title>Odonata</title>", f"<title>Odonata: {title}</title>")
    head, tail = page.split("</body>")
    return (
        head.replace("</head>", f"<style>{files.get('viewer.css', '')}</style></head>")
        + f'<script type="application/json" id="odonata-data">{data}</script>\n'
        + f'<script type="module">{script}</script>\n</body>'
        + tail
    )


def check_place(path: Path) -> None:
    """Raises `OdonataError` if the parent directory is missing."""
    if not path.parent.is_dir():
        raise OdonataError(f"cannot write {path.name}: directory {path.parent} does not exist")


def write_page(page: str, path: Path) -> int:
    """Writes the page atomically and returns its size in bytes."""
    content = page.encode()
    with atomic_file(path) as unfinished:
        unfinished.write_bytes(content)
    return len(content)
