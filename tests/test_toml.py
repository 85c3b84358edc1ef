"""Python values as TOML: what is written is what a TOML parser reads."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
keys = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=20)


@pytest.mark.slow
@given(st.dictionaries(keys, values))
def test_a_document_is_read_back(content: dict[str, object]) -> None:
    assert tomllib.loads(toml.document(content)) == content


def test_numpy_numbers_are_numbers() -> None:
    assert toml.value([np.int64(3), np.float64(0.5), np.bool_(True)]) == "[3, 0.5, true]"
    assert toml.value(np.array([[4, 2], [3, 1]])) == "[[4, 2], [3, 1]]"


def test_paths_are_texts() -> None:
    assert toml.value({"file": Path("cables.csv")}) == '{file = "cables.csv"}'


def test_what_toml_lacks_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot contain None; omit the key"):
        toml.value({"seed": None})
    with pytest.raises(TypeError, match="TOML has no type"):
        toml.value({"seed": {1}})
    with pytest.raises(TypeError, match="keys of an experiment must be texts, not int"):
        toml.value({1: "seed"})
