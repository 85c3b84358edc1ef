"""How `run`, `show` and `check` print the number of path sets of a stated error."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from odonata.cli.output.path_sets import print_path_sets


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        (
            {"path_sets": {"count": 16384, "path_error": 0.01, "trial_error": 0.0042}},
            "16,384 path sets for path_error 0.01 (in trials 0.42 %)\n",
        ),
        ({}, ""),
    ],
)
def test_the_line(summary: dict[str, object], line: str) -> None:
    shown = StringIO()
    print_path_sets(Console(file=shown, width=100), summary)
    assert shown.getvalue() == line
