"""Columns of Arrow as arrays of NumPy, and commands that need no pandas for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import handmade
import numpy as np
import pyarrow as pa
import pytest

from odonata import analysis
from odonata.analysis.links import link_name
from odonata.store.arrays import coded, numbers

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
def test_show_does_not_import_pandas(tmp_path: Path) -> None:
    """That would be a quarter of its time."""
    handmade.run().save(tmp_path / "run")
    program = (
        "import sys; from odonata.cli import main; sys.argv[1:] = ['show', sys.argv[1]]\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "run")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
