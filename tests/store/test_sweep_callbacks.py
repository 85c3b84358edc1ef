"""A sweep that says what its points have found, and ends when it is told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import odonata

EXPERIMENT: dict[str, Any] = {
    "machine": {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 3},
    "job": [{"name": "a", "ranks": 24, "pattern": "all-to-all"}],
    "engine": {"kind": "flow"},
    "sweep": {"job.a.pattern.bytes": ["1 KiB", "2 KiB", "4 KiB"]},
}


def test_each_point_is_told_of_with_its_run(tmp_path: Path) -> None:
    """Once each; those of an earlier call first."""
    heard: dict[str, float] = {}

    def hear(point: Any, run: odonata.Run) -> None:
        heard[str(point)] = run.links["bytes"].to_numpy().sum()

    sweep = odonata.sweep(EXPERIMENT, out=tmp_path / "s", processes=1, finished=hear)
    assert list(heard) == [str(point) for point in sweep.points]
    assert [value / min(heard.values()) for value in heard.values()] == pytest.approx([1, 2, 4])
    again = dict(heard)
    heard.clear()
    assert odonata.sweep(EXPERIMENT, out=tmp_path / "s", finished=hear).kept == 3
    assert heard == again


def test_what_it_raises_ends_the_sweep(tmp_path: Path) -> None:
    """What is finished stays, and the next call goes on from there."""
    heard = []

    class EnoughError(Exception):
        pass

    def enough(point: Any, run: odonata.Run) -> None:
        heard.append((point, run))
        raise EnoughError

    with pytest.raises(EnoughError):
        odonata.sweep(EXPERIMENT, out=tmp_path / "s", processes=1, finished=enough)
    assert len(heard) == 1
    sweep = odonata.sweep(EXPERIMENT, out=tmp_path / "s")
    assert sweep.kept >= 1
    assert len(sweep.runs) == 3
