"""The progress bar of a run in a notebook, in a kernel of Jupyter."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = """\
import odonata
from odonata import notebook
notebook.QUIET_S = notebook.REDRAW_S = {quiet}
text = '''
[machine]
preset = "dragonfly-1056"
[[job]]
ranks = 1056
pattern = "uniform"
[engine]
kind = "{engine}"
'''
run = odonata.run(text{given})
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Jupyter's own packages
@pytest.mark.parametrize(
    ("quiet", "given", "has_bar"),
    [(0, "", True), (1000, "", False), (0, ", progress=lambda *_: None", False)],
)
def test_a_long_run_shows_a_bar_and_removes_it(quiet: int, given: str, has_bar: bool) -> None:
    code = CELLS.format(quiet=quiet, given=given, engine="packet")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    shown = [output.data.get("text/html") for output in notebook.cells[0].outputs if "data" in output]
    assert shown == ([""] if has_bar else [])


def test_the_bar_shows_phase_and_share() -> None:
    from odonata import notebook

    shown: list[str] = []

    class Cell:
        def update(self, html: str) -> None:
            shown.append(html)

    class Display:
        HTML = staticmethod(str)

        @staticmethod
        def display(html: str, display_id: bool) -> Cell:
            assert display_id
            shown.append(html)
            return Cell()

    bar = notebook._Bar(Display)
    bar("running", 0.1)
    assert shown == [], "no bar in the first second"
    bar._next = 0.0
    bar("running", 0.256)
    bar.close()
    assert re.search(r'running <progress value="0.256" max="1"></progress> 26 %', shown[0])
    assert shown[1:] == [""]
