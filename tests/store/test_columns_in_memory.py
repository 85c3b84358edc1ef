"""Columns become Arrow arrays as they lie in memory, and without what `pyarrow.array` would load."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from odonata.store import columns

NUMBERS = ["?", "i1", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


@given(arrays.arrays(st.sampled_from(NUMBERS), st.integers(0, 40)))
def test_numbers_are_those_that_pyarrow_makes(values: np.ndarray) -> None:
    assert columns._numbers(values).equals(pa.array(values, from_pandas=True))
    assert columns._numbers(values[::2]).equals(pa.array(values[::2], from_pandas=True))


@pytest.mark.slow
@given(st.lists(st.text()))
def test_texts_are_those_that_pyarrow_makes(values: list[str]) -> None:
    array = columns._texts(values)
    array.validate(full=True)
    assert array.equals(pa.array(values, pa.string()))


@given(st.lists(st.integers(0, 5), max_size=20), st.lists(st.text(max_size=2), min_size=6, max_size=6))
def test_texts_of_codes_have_every_word_once(codes: list[int], words: list[str]) -> None:
    array = columns._array((np.array(codes, dtype=np.int32), words))
    array.validate(full=True)
    assert array.to_pylist() == [words[code] for code in codes]
    assert len(set(array.dictionary.to_pylist())) == len(array.dictionary)


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_a_run_loads_no_pandas(engine: str, tmp_path: str) -> None:
    script = f"""
import sys, odonata
text = '''
format = 3
machine = {{ preset = "dragonfly-1056" }}
job = [{{ name = "a", pattern = "uniform", ranks = 8, bytes = "1 kB" }}]
engine = {{ kind = "{engine}" }}
'''
odonata.run(text, out="{tmp_path}/run")
print("pandas" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True)
    assert run.stdout.strip() == "False"
