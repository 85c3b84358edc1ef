"""The progress bars of runs and sweeps in a notebook, in a kernel of Jupyter."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from odonata import notebook

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


def html_shown(code: str) -> list[str | None]:
    """What is left in a cell that runs `code`."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(made, timeout=120, store_widget_state=False).execute()
    return [output.data.get("text/html") for output in made.cells[0].outputs if "data" in output]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Jupyter's own packages
@pytest.mark.parametrize(
    ("quiet", "given", "has_bar"),
    [(0, "", True), (1000, "", False), (0, ", progress=lambda *_: None", False)],
)
def test_a_long_run_shows_a_bar_and_removes_it(quiet: int, given: str, has_bar: bool) -> None:
    code = CELLS.format(quiet=quiet, given=given, engine="packet")
    assert html_shown(code) == ([""] if has_bar else [])


SWEEP = """\
import odonata
text = '''
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
ranks = 72
pattern = "uniform"
[sweep]
"engine.seed" = [1, 2]
'''
odonata.sweep(text, out="{out}", processes=1{given})
None
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Jupyter's own packages
@pytest.mark.parametrize(("given", "has_bar"), [("", True), (", progress=lambda *_: None", False)])
def test_a_sweep_shows_a_bar_and_removes_it(tmp_path: Path, given: str, has_bar: bool) -> None:
    code = SWEEP.format(out=tmp_path / "sweep", given=given)
    assert html_shown(code) == ([""] if has_bar else [])


class Display:
    """`IPython.display`: what a cell shows, one after another."""

    HTML = staticmethod(str)

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, html: str, display_id: bool) -> Display:
        assert display_id
        self.update(html)
        return self

    def update(self, html: str) -> None:
        self.shown.append(html)


def test_the_bar_shows_phase_and_share() -> None:
    display = Display()
    bar, shown = notebook._Bar(display), display.shown
    bar("running", 0.1)
    assert shown == [], "no bar in the first second"
    bar._next = 0.0
    bar("running", 0.256)
    bar.close()
    assert re.search(r'running <progress value="0.256" max="1"></progress> 26 %', shown[0])
    assert shown[1:] == [""]


def test_the_bar_of_runs_starts_at_once_and_draws_a_hundred_times() -> None:
    display = Display()
    bar = notebook._Bar(display)
    for done in range(4001):
        bar.count("running", done, 4000)
    assert len(display.shown) == 101
    assert 'running <progress value="0.000" max="1"></progress> 0 of 4,000' in display.shown[0]
    assert "4,000 of 4,000" in display.shown[-1]
