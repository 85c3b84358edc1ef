"""Names, exceptions and short texts of the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import get_origin, get_type_hints

import handmade
import pyarrow as pa
import pytest

import odonata


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


EXPERIMENT = {"machine": {"preset": "dragonfly-1056"}, "job": [{"pattern": "uniform", "ranks": 8}]}

# What users import besides the names of `odonata`, and what methods give them.
MODULES = ("amg", "counters", "errors", "mapping", "plot.run_plots", "programs", "studies", "viewer")


def public_functions() -> dict[str, Callable[..., object]]:
    """Every public function, constructor, method and property, by its full name."""
    modules = [odonata, *(import_module(f"odonata.{name}") for name in MODULES)]
    modules += [value for name in odonata.__all__ if isinstance(value := getattr(odonata, name), ModuleType)]
    found: dict[str, Callable[..., object]] = {}
    for module in modules:
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            value = getattr(module, name)
            if isinstance(value, FunctionType):
                found[f"{value.__module__}.{name}"] = value
            elif isinstance(value, type) and value.__module__.startswith("odonata"):
                found |= {f"{value.__module__}.{name}.{key}": of for key, of in members(value)}
    return found


def members(owner: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for base in owner.__mro__:
        for name, value in vars(base).items():
            if name.startswith("_") and name != "__init__":
                continue
            # Static and class methods, properties, cached properties.
            inner = next(
                (of for key in ("__func__", "fget", "func") if (of := getattr(value, key, None)) is not None),
                value,
            )
            if isinstance(inner, FunctionType) and inner.__module__.startswith("odonata"):
                yield name, inner


def test_types_of_public_names_can_be_read() -> None:
    """Tools read them with `typing.get_type_hints`, which needs every name at run time."""
    functions = public_functions()
    assert {"odonata.api.run", "odonata.runs.Run.plot", "odonata.machines.Machine.__init__"} <= set(functions)
    assert len(functions) > 250
    unreadable = {}
    for name, function in functions.items():
        try:
            hints = get_type_hints(function)
        except NameError as error:
            unreadable[name] = str(error)
        else:
            assert hints.keys() >= function.__annotations__.keys(), name
    assert unreadable == {}


def test_types_of_fields_can_be_read() -> None:
    assert get_type_hints(odonata.Machine)["links"] is pa.Table
    assert get_type_hints(odonata.run)["return"] is odonata.Run
    assert get_type_hints(odonata.check)["return"] is odonata.CheckResult


@pytest.mark.parametrize(
    ("record", "made"),
    [
        (odonata.CheckResult, lambda: odonata.check(EXPERIMENT)),
        (odonata.Preset, lambda: odonata.presets()[0]),
        (odonata.Choice, lambda: odonata.patterns()[0]),
        (odonata.RoutingChoice, lambda: odonata.routings()[0]),
    ],
)
def test_records_have_the_declared_fields(record: type, made: Callable[[], dict[str, object]]) -> None:
    declared, given = get_type_hints(record), made()
    assert given.keys() == declared.keys()
    for name, kind in declared.items():
        assert isinstance(given[name], get_origin(kind) or kind), name
