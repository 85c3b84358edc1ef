"""Boxes of ranks against results worked out by hand, and against the script of the placement."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odonata import mapping
from odonata.errors import OdonataError
from odonata.mapping import box, div, mod


def places(ranks: mapping.Box, count: int) -> list[str]:
    """The cells of the first ranks, digit by digit."""
    order = np.argsort(ranks.ranks, axis=None)[:count]
    cells = np.stack(np.unravel_index(order, ranks.shape), axis=1)
    return ["".join(map(str, cell)) for cell in cells]


def test_two_tilts() -> None:
    """Rubik's example: (Z, X, 1) and (X, Y, 1) of 4 x 4 x 4, axes Z Y X."""
    ranks = box([4, 4, 4])
    ranks.tilt(0, 2, 1)
    ranks.tilt(2, 1, 1)
    assert places(ranks, 6) == ["000", "101", "202", "303", "011", "112"]


def test_tiles_onto_tiles() -> None:
    """Rubik's example: 9 x 3 x 8 in tiles of 9 x 3 x 1 onto 6 x 6 x 6 in tiles of 3 x 3 x 3."""
    app, net = box([9, 3, 8]), box([6, 6, 6])
    app.tile([9, 3, 1])
    net.tile([3, 3, 3])
    net.map(app)
    assert places(net, 5) == ["000", "003", "030", "033", "300"]


def test_planes_onto_slabs(tmp_path: Path) -> None:
    """Rubik's tutorial: pF3D's planes; ranks 0, 1, 127 and 128 by hand."""
    app, net = box([16, 8, 16]), box([8, 8, 32])
    app.tile([1, 8, 16])
    net.tile([8, 8, 2])
    net.map(app)
    net.write_map_file(tmp_path / "pf3d.map")
    lines = (tmp_path / "pf3d.map").read_text().splitlines()
    assert len(lines) == 2048
    assert [lines[rank] for rank in (0, 1, 127, 128)] == ["0 0 0", "0 0 1", "7 7 1", "0 0 2"]


def test_z_order() -> None:
    """Index 0 in the lowest bit; of 3 x 2 the codes of 20 and 21 are 4 and 6."""
    ranks, flat = box([2, 2, 2]), box([3, 2])
    ranks.zorder()
    flat.zorder()
    assert places(ranks, 5) == ["000", "100", "010", "110", "001"]
    assert places(flat, 6) == ["00", "10", "01", "11", "20", "21"]


def test_zigzag_and_transpose() -> None:
    """Planes 0 to 7 roll by 0 1 2 1 0 1 2 1; the transposed 2 x 3 is 0 3 / 1 4 / 2 5."""
    zigzag, turned = box([3, 8]), box([2, 3])
    zigzag.zigzag(0, 1, 2, 2)
    turned.transpose([1, 0])
    assert places(zigzag, 8) == ["00", "11", "22", "13", "04", "15", "26", "17"]
    assert turned.ranks.ravel().tolist() == [0, 3, 1, 4, 2, 5]


def test_cuts() -> None:
    """Seven cells in three parts; parts are views and can be cut again."""
    ranks = box([7, 2])
    ranks.cut([3, 2], [div, mod])
    assert [part.ranks.ravel().tolist() for part in ranks] == [
        [0, 2],
        [1, 3],
        [4, 6],
        [5, 7],
        [8, 10, 12],
        [9, 11, 13],
    ]
    for part in ranks:
        part.mod([2])
    assert [leaf.ranks.size for leaf in ranks.leaves()] == [1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1]
    ranks.children[2, 1].ranks[...] = 0
    assert ranks.ranks[4:, 1].tolist() == [0, 0, 0], "a part is a view"


def test_shear_is_tilt_with_its_axes_named_in_the_other_order() -> None:
    sheared, tilted = box([4, 3, 5]), box([4, 3, 5])
    sheared.shear(2, 0, 3)
    tilted.tilt(0, 2, 3)
    assert np.array_equal(sheared.ranks, tilted.ranks)
    assert not np.array_equal(sheared.ranks, box([4, 3, 5]).ranks)


@pytest.mark.parametrize(
    ("mistake", "reason"),
    [
        (lambda: box([]), "expected positive sizes"),
        (lambda: box([4]).div([5]), "can't be cut into 5 parts"),
        (lambda: box([4]).div([2, 2]), "2 numbers"),
        (lambda: box([4]).cut([2], "dib"), "'dib'; expected 'div' or 'mod'"),  # type: ignore[arg-type]
        (lambda: box([4]).tile([0]), "a tile of 0 cells along axis 0"),
        (lambda: box([4, 4]).tilt(1, 1), "axes 1 and 1; expected two of 0 to 1"),
        (lambda: box([4, 4]).zigzag(0, 1, 1, 0), "a stride of 0"),
        (lambda: box([4, 4]).transpose([0, 0]), "each of 0 to 1 once"),
        (lambda: box([4]).map(box([5])), "leaf 0 has 4 cells, but 5 in the mapped box"),
    ],
)
def test_mistakes(mistake: Any, reason: str) -> None:
    with pytest.raises(OdonataError, match=re.escape(reason)):
        mistake()


def test_leaves_pair_in_number() -> None:
    app, net = box([4]), box([4])
    app.div([2])
    with pytest.raises(OdonataError, match="1 leaves, but the mapped box has 2"):
        net.map(app)


STEPS: dict[str, Callable[[mapping.Box], None]] = {
    "tilt": lambda ranks: ranks.tilt(0, 2, 3),
    "shear": lambda ranks: ranks.shear(1, 0, -2),
    "zigzag": lambda ranks: ranks.zigzag(1, 3, 3, 2),
    "zorder": lambda ranks: ranks.zorder(),
    "transpose": lambda ranks: ranks.transpose([2, 0, 3, 1]),
}
WORDS = {
    "tilt": "tilt X Z 3",
    "shear": "shear Y X -2",
    "zigzag": "zigzag Y T 3 2",
    "zorder": "zorder",
    "transpose": "transpose Z X T Y",
}


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.tuples(*[st.integers(2, 4)] * 3),
    cut=st.tuples(*[st.integers(1, 2)] * 3),
    method=st.sampled_from([div, mod]),
    steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.booleans()), max_size=3),
)
def test_the_script_does_the_same(
    sizes: tuple[int, ...], cut: tuple[int, ...], method: Any, steps: list[tuple[str, bool]]
) -> None:
    """The placement's script, in Rust, and these boxes, in NumPy, put every rank on the same place."""
    shape = (*sizes, 2)
    ranks = math.prod(shape)
    app, net = box([2, *sizes]), box(shape)
    app.cut([1, *cut], method)
    net.cut(cut, method)
    script = [
        f"app 2 {' '.join(map(str, sizes))}",
        f"app {method} 1 {' '.join(map(str, cut))}",
        f"net {method} {' '.join(map(str, cut))}",
        "net map app",
    ]
    net.map(app)
    for name, leaves in steps:
        for part in net.leaves() if leaves else [net]:
            STEPS[name](part)
        script.append(f"net {'leaves ' if leaves else ''}{WORDS[name]}")
    job = {
        "name": "a",
        "pattern": {"name": "random-neighbors"},
        "ranks": ranks,
        "ranks_per_node": 2,
        "placement": {"name": "mapping", "script": script},
    }
    machine = {"preset": "bgp-midplane", "partition": {"shape": list(sizes)}}
    found = mapping.jobs({"machine": machine, "job": [job], "engine": {"kind": "flow"}})[0]
    node_of_rank = np.argsort(net.ranks, axis=None) // 2
    assert np.array_equal(found.place_of_rank // 2, node_of_rank)
