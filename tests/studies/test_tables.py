"""Numbers in the tables of a study's page."""

from __future__ import annotations

from pathlib import Path

from odonata.studies import Results, load, report
from odonata.studies.tables import mean_and_range

STUDY = """
title = "A study"
about = "What it asks."
[source]
book = "A book"
[derived]
numbers = "numbers"
[[table]]
name = "t"
caption = "Times"
table = "numbers"
rows = ["what"]
values = [{ column = "time", unit = "ms" }]
"""

FUNCTIONS = """
import pandas as pd

def numbers(results):
    times = [10.0, 12.0, 11.0, 15.0]
    return pd.DataFrame({"what": ["a", "a", "b", "b"], "seed": [1, 2, 1, 2], "time": times})
"""


def test_a_number_of_a_table_has_its_unit(tmp_path: Path) -> None:
    """The times are 10 s and 12 s of a, 11 s and 15 s of b."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "study.py").write_text(FUNCTIONS)
    report(Results(load(tmp_path), tmp_path / "out"))
    assert (tmp_path / "out" / "tables" / "t.csv").read_text().splitlines() == [
        'what,"time, ms"',
        "a,11000 (10000 to 12000)",
        "b,13000 (11000 to 15000)",
    ]


def test_a_cell_shows_the_range_where_it_can_be_seen() -> None:
    assert mean_and_range([0.4251, 0.4249, 0.4250], 3) == "0.425"
    assert mean_and_range([0.424, 0.425, 0.426], 3) == "0.425 (0.424 to 0.426)"
    assert mean_and_range([1234.4, 1234.4]) == "1,234"
    assert mean_and_range([0.0, 0.0]) == "0"
    assert mean_and_range([0.05, 0.15], 2, sign=True) == "+0.10 (+0.05 to +0.15)"
