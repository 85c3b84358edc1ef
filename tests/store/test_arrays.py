"""Columns of Arrow as arrays of NumPy, and commands that need no pandas for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pyarrow as pa
import pytest

from odonata import analysis
from odonata.analysis.links import link_name
from odonata.store.arrays import coded, numbers, table_of

COLUMNS = {
    "whole": pa.chunked_array([[1, 2], [], [3]], pa.uint32()),
    "missing": pa.chunked_array([[1.5, None], [None, 2.5]], pa.float64()),
    "counts": pa.chunked_array([[1, None, 3]], pa.uint32()),
    "truth": pa.chunked_array([[True, False], [True]]),
    "none": pa.chunked_array([], pa.int64()),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_equal_the_values_of_pyarrow(name: str) -> None:
    column = COLUMNS[name]
    for part in (column, column.slice(1)):
        np.testing.assert_array_equal(numbers(part), part.to_numpy())


def test_a_missing_truth_value_is_false() -> None:
    assert numbers(pa.chunked_array([[True, None, False]])).tolist() == [True, False, False]


@pytest.mark.parametrize("is_dictionary", [False, True])
def test_codes_stand_for_the_texts(is_dictionary: bool) -> None:
    texts = ["b", None, "a", "b"]
    column = pa.chunked_array([texts, ["c"]])
    values, codes = coded(column.dictionary_encode() if is_dictionary else column)
    assert [None if code < 0 else values[code] for code in codes.tolist()] == [*texts, "c"]


def test_the_name_of_one_link_is_that_of_the_list() -> None:
    run = handmade.run()
    names = analysis.link_names(run.links, run.routers).to_pylist()
    assert [link_name(run.links, run.routers, link) for link in range(len(names))] == names


@pytest.mark.slow
@pytest.mark.parametrize("words", [("show", "run"), ("compare", "run", "other")])
def test_a_run_is_shown_and_compared_without_pandas(words: tuple[str, ...], tmp_path: Path) -> None:
    """Its import would be a quarter of the time of `show`, and more of `compare`."""
    for name in words[1:]:
        handmade.run().save(tmp_path / name)
    program = (
        "import sys; from odonata.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


ROWS = pa.schema(
    [
        ("name", pa.string()),
        ("link", pa.uint32()),
        ("share", pa.float64()),
        ("is_own", pa.bool_()),
        ("lost", pa.list_(pa.string())),
        ("links", pa.list_(pa.uint32())),
    ]
)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{}],
        [{"name": "é", "link": 2**32 - 1, "share": -0.0, "is_own": True, "lost": ["a", ""], "links": [3]}],
        [
            {"name": "", "share": float("nan"), "lost": [], "links": [1, 2]},
            {"name": None, "link": 7, "lost": None, "unknown": 1},
            {"name": "x", "is_own": False, "lost": [None, "n1"], "links": None},
        ],
    ],
)
def test_a_table_of_rows_is_that_of_arrow(rows: list[dict[str, Any]]) -> None:
    made = table_of(rows, ROWS)
    made.validate(full=True)
    assert str(made.to_pylist()) == str(pa.Table.from_pylist(rows, schema=ROWS).to_pylist())
    assert made.schema == ROWS
