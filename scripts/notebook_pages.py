"""Notebooks as pages of the site: executed when the site is built, so what they show is what they give."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbclient
import nbconvert
import nbformat

FOLDER = Path(__file__).resolve().parents[1] / "docs/notebooks"
SECONDS_MAX = 300
"""For one cell."""
PANDAS = '<table border="1" class="dataframe">'
"""How pandas begins a table; the site has its own looks for those without a class."""


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with its outputs, run from an empty directory. A cell that fails is an error."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as scratch:
        where = {"metadata": {"path": scratch}}
        nbclient.NotebookClient(
            notebook, timeout=SECONDS_MAX, kernel_name="python3", resources=where
        ).execute()
    return notebook


def page(path: Path) -> tuple[str, dict[str, bytes]]:
    """The text of its page, in Markdown, and its pictures by file name."""
    notebook = executed(path)
    names = {"unique_key": path.stem, "output_files_dir": ""}
    text, given = nbconvert.MarkdownExporter().from_notebook_node(notebook, resources=names)
    title, _, rest = text.lstrip().partition("\n")
    rest = rest.replace(PANDAS, "<table>")
    return f'{title}\n\n<a href="{path.name}">This page as a notebook</a>\n\n{rest}', given["outputs"]
