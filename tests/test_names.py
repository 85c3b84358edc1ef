"""Names, exceptions and short texts of the Python interface."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType, ModuleType
from typing import get_type_hints

import handmade
import pytest

import odonata
from odonata import analysis, plot


def test_names_are_those_that_files_take() -> None:
    for name in (pattern["name"] for pattern in odonata.patterns()):
        if name in ("file", "amg", "adversarial"):
            continue
        job = {"pattern": name, "ranks": 16, "ranks_per_node": 1}
        assert odonata.check({"machine": {"preset": "dragonfly-1056"}, "job": [job]})
    assert {row["name"] for row in odonata.placements()} >= {"compact", "random-nodes"}
    assert {row["name"] for row in odonata.rank_programs()} >= {"halo-3d", "allreduce"}
    engines = {row["name"]: row["of"] for row in odonata.routings()}
    assert engines["optimal"] == "engine 'flow'"


def test_exceptions_are_standard_ones(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        odonata.load(tmp_path / "none")
    assert isinstance(missing.value, odonata.NotARunError)
    assert str(missing.value).startswith("there is no directory")
    with pytest.raises(ValueError, match="unknown preset"):
        odonata.check("[machine]\npreset = 'edisn'\n[[job]]\npattern = 'uniform'\nranks = 2\n")


def test_objects_have_short_texts() -> None:
    run = handmade.run()
    assert repr(run.plot).startswith(f"<odonata.RunPlots of {run.name}: links, histogram")
    level = {"unknowns": 1000.0}
    from odonata.amg import Hierarchy

    assert (
        repr(Hierarchy(8, [level])) == "<odonata.amg.Hierarchy of 1 levels, 1,000 unknowns on 8 ranks, given>"
    )


@pytest.mark.parametrize("module", [analysis, plot])
def test_types_of_figures_and_analyses_can_be_read(module: ModuleType) -> None:
    """Tools read them with `typing.get_type_hints`, which needs every name at run time."""
    functions = [value for name in module.__all__ if isinstance(value := getattr(module, name), FunctionType)]
    assert functions
    for function in functions:
        assert "return" in get_type_hints(function), function.__name__
