"""A torus from its sides: what the maps hold, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import Command

import odonata
from odonata.errors import OdonataError
from odonata.plot.torus import dynamic_shares

RING = """
[machine]
topology = "torus"
dims = [4, 3]
[[job]]
name = "a"
pattern = {{ name = "file", path = "{path}" }}
ranks = 12
ranks_per_node = 1
"""
ENGINE = """
[engine]
kind = "packet"
routing = "torus-adaptive"
record_channels = true
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> odonata.Run:
    """From (0, 0) 512 B to (1, 0), 1,024 B to (3, 0), 2,048 B to (0, 1)."""
    path = tmp_path_factory.mktemp("torus") / "messages.csv"
    path.write_text("src,dst,bytes\n0,3,512\n0,9,1024\n0,1,2048\n")
    return odonata.run(RING.format(path=path) + ENGINE)


def test_each_direction_has_the_mean_of_its_links(run: odonata.Run) -> None:
    """A map of a direction of one axis has a cell for each place on the other, over 4 or 3 links."""
    names = run.summary["machine"]["axes"]
    images = {
        axes.get_title("left"): np.asarray(axes.images[0].get_array(), dtype=float)
        for axes in run.plot.torus().axes
        if axes.images and axes.get_title("left")
    }
    first, second = names
    assert set(images) == {f"{first}+", f"{first}−", f"{second}+", f"{second}−"}
    assert images[f"{first}+"].shape == (1, 3)
    assert images[f"{second}−"].shape == (1, 4)
    kib = {name: image.ravel() for name, image in images.items()}
    unit = kib[f"{first}+"][0] * 4 / 512
    assert kib[f"{first}+"] == pytest.approx([unit * 512 / 4, 0, 0])
    assert kib[f"{first}−"] == pytest.approx([unit * 1024 / 4, 0, 0])
    assert kib[f"{second}+"] == pytest.approx([unit * 2048 / 3, 0, 0, 0])
    assert kib[f"{second}−"] == pytest.approx([0, 0, 0, 0])
    (scale,) = {axes.images[0].get_clim() for axes in run.plot.torus().axes if axes.images}
    assert scale == (0, pytest.approx(unit * 2048)), "up to the largest link, not the largest mean"


def test_the_dynamic_share_is_that_of_the_channels(run: odonata.Run) -> None:
    """Nothing blocks, so all traffic uses the dynamic channel."""
    carried = run.links["bytes"].to_numpy() > 0
    assert carried.sum() == 3
    assert dynamic_shares(run) == pytest.approx(carried.astype(float))
    assert len(run.plot.torus(what="dynamic").axes) == 2 * 3 + 1


@pytest.mark.slow
def test_what_has_no_such_figure_is_said(odonata_command: Command, tmp_path: Path) -> None:
    path = tmp_path / "messages.csv"
    path.write_text("src,dst,bytes\n0,1,512\n")
    plain = odonata.run(RING.format(path=path))
    with pytest.raises(OdonataError, match="recorded no dynamic channels"):
        plain.plot.torus(what="dynamic")
    with pytest.raises(OdonataError, match="unknown quantity latency"):
        plain.plot.torus(what="latency")
    tree = odonata.run(
        """
        [machine]
        topology = "fat-tree"
        k = 4
        [[job]]
        pattern = "uniform"
        ranks = 4
        """
    )
    with pytest.raises(OdonataError, match="is not a torus or mesh"):
        tree.plot.torus()
    plain.save(tmp_path / "run")
    assert odonata_command("plot", "run", "-k", "torus", "-o", "t.svg").returncode == 0
    assert (tmp_path / "t.svg").stat().st_size > 10_000
