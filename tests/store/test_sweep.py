"""The points of a sweep and their names."""

from odonata.store.sweep import Axis, points


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
