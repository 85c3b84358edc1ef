"""The notebooks run from their first cell to their last, and become the pages of the site."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from pages import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import notebook_pages

NOTEBOOKS = notebook_pages.notebooks()


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"cables", "packets"}
    pages = (ROOT / "mkdocs.yml").read_text()
    assert all(f"- notebooks/{path.stem}.md\n" in pages for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "clear all outputs before you save"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Jupyter's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_becomes_a_page(path: Path) -> None:
    text, pictures = notebook_pages.page(path)
    assert text.startswith("# ")
    assert f'href="{path.name}"' in text
    assert pictures
    for name, content in pictures.items():
        assert f"]({name})" in text
        assert content.startswith(b"\x89PNG")
    assert "<table" in text


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cell_that_fails_is_an_error(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("import odonata\nodonata.load('none')")]
    )
    nbformat.write(notebook, tmp_path / "wrong.ipynb")
    with pytest.raises(Exception, match="there is no directory none"):
        notebook_pages.page(tmp_path / "wrong.ipynb")
