"""Figures of the packet engine's runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import odonata
from odonata.errors import OdonataError

EXPERIMENT = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "ur"
pattern = "uniform"
ranks = 72
ranks_per_node = 1
[engine]
kind = "packet"
traffic = "open"
routing = "ugal-n"
load = {load}
interval = "1 us"
warm_up = "2 us"
measure = "5 us"
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[odonata.Run]:
    folder = tmp_path_factory.mktemp("packet")
    made = []
    for load in (0.2, 0.6):
        path = folder / f"load-{load}.toml"
        path.write_text(EXPERIMENT.format(load=load))
        made.append(odonata.run(path))
    return made


def test_every_figure_is_drawn_and_saved(runs: list[odonata.Run], tmp_path: Path) -> None:
    plots = runs[0].plot
    pictures = [plots.latency(), plots.latency(part="network"), plots.load_curve(runs[1]), plots.stall_map()]
    pictures += [plots.series(what) for what in ("throughput", "latency", "non_minimal")]
    for i, picture in enumerate(pictures):
        path = tmp_path / f"{i}.png"
        picture.savefig(path)
        assert path.stat().st_size > 5_000


def test_the_load_curve_holds_the_loads_of_the_tables(runs: list[odonata.Run]) -> None:
    line = runs[1].plot.load_curve(runs[0]).axes[0].lines[0]
    assert list(np.asarray(line.get_xdata())) == [0.2, 0.6]
    accepted = [run.jobs["accepted_load"][0].as_py() for run in runs]
    assert list(np.asarray(line.get_ydata())) == accepted
    # Below saturation what is offered is accepted; 5 us of 72 nodes at load 0.2 are some 3,500 packets.
    assert accepted[0] == pytest.approx(0.2, rel=0.1)


def test_the_latency_histogram_counts_every_packet(runs: list[odonata.Run]) -> None:
    cells = runs[0].table("latency").to_pandas()
    for part in ("total", "network"):
        assert cells[cells["part"] == part]["packets"].sum() == runs[0].jobs["packets"][0].as_py()


def test_wrong_words_say_what_there_is(runs: list[odonata.Run]) -> None:
    with pytest.raises(OdonataError, match="no part"):
        runs[0].plot.latency(part="tail")
    with pytest.raises(OdonataError, match="no series"):
        runs[0].plot.series("speed")
