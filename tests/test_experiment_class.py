"""Experiments as objects: types for all declared keys, and the text of a file."""

from __future__ import annotations

import inspect
import json
import os
import typing
from pathlib import Path
from typing import Any

import pytest
import section_types

import odonata
from odonata import _core, toml

EXPERIMENT = odonata.Experiment(
    machine={"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9, "class": {"global": {"price": 900}}},
    jobs=[
        {"name": "cfd", "pattern": "stencil-3d", "ranks": 32, "ranks_per_node": 1},
        {
            "name": "fft",
            "pattern": {"name": "all-to-all", "bytes": "4 KiB"},
            "ranks": 32,
            "ranks_per_node": 1,
        },
    ],
    engine={"routing": "adaptive-hybrid", "seed": 3},
    sweep={"engine.seed": [1, 2]},
)


def test_sections_are_the_declared_ones() -> None:
    """Written with ODONATA_WRITE_REFERENCE=1."""
    files = section_types.files()
    if os.environ.get("ODONATA_WRITE_REFERENCE"):
        for name, text in files.items():
            (section_types.FOLDER / name).write_text(text)
    assert {path.name for path in section_types.FOLDER.glob("*.py")} == files.keys()
    for name, text in files.items():
        assert (section_types.FOLDER / name).read_text() == text, f"{name} is out of date"


def test_every_key_has_a_type() -> None:
    for name, rule in section_types.sections().items():
        kind = getattr(odonata.sections, section_types.class_name(name))
        assert typing.get_type_hints(kind).keys() == rule["properties"].keys()


def test_every_section_is_an_argument() -> None:
    plural = {"job": "jobs", "traffic_class": "traffic_classes"}
    declared = json.loads(_core.schema())["properties"].keys() - {"format"}
    arguments = inspect.signature(odonata.Experiment).parameters
    assert arguments.keys() == {plural.get(name, name) for name in declared}


def test_the_text_is_that_of_a_file(tmp_path: Path) -> None:
    assert toml.parse(EXPERIMENT.toml) == EXPERIMENT
    path = EXPERIMENT.save(tmp_path / "both.toml")
    of_file, of_object = odonata.check(path), odonata.check(EXPERIMENT)
    assert of_file["resolved"] == of_object["resolved"]
    assert [job["name"] for job in of_object["summary"]["jobs"]] == ["cfd", "fft"]


def test_a_mistake_has_its_line_in_the_text() -> None:
    wrong: Any = {"name": "a", "patern": "uniform", "ranks": 8}
    experiment = odonata.Experiment(machine={"preset": "dragonfly-1056"}, jobs=[wrong])
    with pytest.raises(odonata.ExperimentError) as caught:
        odonata.run(experiment)
    [problem] = [problem for problem in caught.value.problems if problem.kind == "unknown-key"]
    assert problem.line is not None
    assert experiment.toml.splitlines()[problem.line - 1] == 'patern = "uniform"'
    assert problem.help == "did you mean 'pattern'?"


def test_it_can_be_changed_and_has_a_short_text() -> None:
    other = odonata.Experiment(machine={"preset": "edison"}, jobs=EXPERIMENT["job"])
    other["engine"] = {"seed": 5}
    assert odonata.check(other)["summary"]["seed"] == 5
    assert repr(EXPERIMENT) == "<odonata.Experiment of cfd, fft on dragonfly>"
    assert repr(odonata.Experiment(machine={})) == "<odonata.Experiment of no job on no machine>"
