"""Tables on a narrow screen: no width cuts anything off."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from odonata.cli.output import terminal

COLUMNS = ["job", "pattern", "offered load", "latency mean, ns", "latency 99 %, ns", "non-minimal share"]
ROWS = [
    ("adversary", "adversarial", "0.300", "1,027", "2,007", "0.636"),
    ("background", "uniform", "0.300", "639", "1,012", "0.021"),
]


def printed(width: int) -> str:
    screen = Console(file=io.StringIO(), width=width, color_system=None)
    shown = terminal.table(COLUMNS, left=["job", "pattern"])
    for row in ROWS:
        shown.add_row(*row)
    terminal.print_table(screen, shown, "Jobs")
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize("width", [200, 90, 80, 70, 60, 50, 40, 30])
def test_every_cell_is_whole_and_every_line_fits(width: int) -> None:
    text = printed(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for row in ROWS:
        for cell in row:
            assert cell in text.split()
    for word in " ".join(COLUMNS).replace("non-minimal", "non- minimal").split():
        assert word in text.replace("non-minimal", "non- minimal").split()


def test_parts_repeat_what_a_row_is() -> None:
    text = printed(40)
    assert text.count("background") == text.count("adversary") > 1


def test_a_wide_terminal_has_headings_on_one_line() -> None:
    heading = printed(200).splitlines()[2]
    assert [name for name in COLUMNS if name in heading] == COLUMNS
