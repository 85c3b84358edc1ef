"""The points of a sweep and their names."""

import json
from pathlib import Path
from typing import Any

import pytest

from odonata.errors import DamagedRunError, NotARunError
from odonata.store.sweep import DESCRIPTION, Axis, describe, points, read_axes


def axis(key: str, *values: object) -> Axis:
    return Axis(key, values, tuple((f"{key}={value}",) for value in values))


def test_points_are_the_product_with_the_last_axis_fastest() -> None:
    found = points([axis("engine.routing", "min", "ugal"), axis("engine.seed", 1, 2, 3)])
    assert [point.values for point in found] == [
        ("min", 1),
        ("min", 2),
        ("min", 3),
        ("ugal", 1),
        ("ugal", 2),
        ("ugal", 3),
    ]
    assert [point.index for point in found] == list(range(6))
    assert found[4].overrides == ("engine.routing=ugal", "engine.seed=2")
    assert found[4].name == "routing=ugal,seed=2"


def test_a_name_depends_on_its_point_alone() -> None:
    """So that a sweep that has grown finds what it finished before."""
    before = points([axis("engine.seed", 1, 2)])
    after = points([axis("engine.seed", 0, 1, 2, 3)])
    assert {point.name for point in before} < {point.name for point in after}


def test_keys_that_end_alike_are_written_out() -> None:
    found = points([axis("packet.threshold", 1), axis("flow.threshold", 2)])
    assert found[0].name == "packet.threshold=1,flow.threshold=2"


def test_names_that_are_cut_or_cleaned_stay_distinct() -> None:
    values = ["a/b", "a b", "a*b", "x" * 200, "x" * 201, [], ["-K"], ["+B", "-K"]]
    names = [point.name for point in points([axis("machine.edit", *values)])]
    assert len(set(names)) == len(values)
    assert all(len(name) < 120 and "/" not in name and not name.startswith(".") for name in names)


AXES = [axis("engine.seed", 1, 2), axis("machine.edit", ["-K"], [])]


def test_axes_are_read_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / DESCRIPTION).write_text(describe(AXES, "1.0"))
    assert read_axes(tmp_path) == AXES


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format_version": "2"}, "format_version is not an integer"),
        ({"format_version": None}, "format_version is not an integer"),
        ({"axes": None}, "axes is not a list"),
        ({"axes": {}}, "axes is not a list"),
        ({"axes": [7]}, r"axes\[0\] has no key"),
        ({"axes": [{"key": 1}]}, r"axes\[0\] has no key"),
        ({"axes": [{"key": "a"}]}, r"axes\[0\] has no values"),
        ({"axes": [{"key": "a", "values": []}]}, r"axes\[0\] has no values"),
        ({"axes": [{"key": "a", "values": [1]}]}, "has no list of texts"),
        ({"axes": [{"key": "a", "values": [1], "overrides": ["a=1"]}]}, "has no list of texts"),
        ({"axes": [{"key": "a", "values": [1], "overrides": [[1]]}]}, "has no list of texts"),
        ({"axes": [{"key": "a", "values": [1, 2], "overrides": [["a=1"]]}]}, "has no list of texts"),
        ({"points": None}, "points are not"),
        ({"points": []}, "points are not"),
        ({"points": [{"point": 0, "directory": "../../elsewhere"}]}, "points are not"),
    ],
)
def test_a_damaged_description_is_said(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    description = json.loads(describe(AXES, "1.0")) | change
    (tmp_path / DESCRIPTION).write_text(json.dumps(description))
    with pytest.raises(DamagedRunError, match=rf"sweep\.json is damaged: .*{words}"):
        read_axes(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"format": "other"}'])
def test_another_file_is_no_description(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DESCRIPTION).write_bytes(content)
    with pytest.raises(NotARunError, match="is not a sweep directory"):
        read_axes(tmp_path)
