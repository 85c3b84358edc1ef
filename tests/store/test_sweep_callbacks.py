"""A sweep reports the results of its points, and ends on request."""

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


def test_each_point_is_reported_with_its_run(tmp_path: Path) -> None:
    """Once each; points of an earlier call come first."""
    reported: dict[str, float] = {}

    def report(point: Any, run: odonata.Run) -> None:
        reported[str(point)] = run.links["bytes"].to_numpy().sum()

    sweep = odonata.sweep(EXPERIMENT, out=tmp_path / "s", processes=1, finished=report)
    assert list(reported) == [str(point) for point in sweep.points]
    assert [value / min(reported.values()) for value in reported.values()] == pytest.approx([1, 2, 4])
    again = dict(reported)
    reported.clear()
    assert odonata.sweep(EXPERIMENT, out=tmp_path / "s", finished=report).kept == 3
    assert reported == again


@pytest.mark.slow
def test_what_it_raises_ends_the_sweep(tmp_path: Path) -> None:
    """Finished points stay, and the next call continues."""
    reported = []

    class EnoughError(Exception):
        pass

    def enough(point: Any, run: odonata.Run) -> None:
        reported.append((point, run))
        raise EnoughError

    with pytest.raises(EnoughError):
        odonata.sweep(EXPERIMENT, out=tmp_path / "s", processes=1, finished=enough)
    assert len(reported) == 1
    sweep = odonata.sweep(EXPERIMENT, out=tmp_path / "s")
    assert sweep.kept >= 1
    assert len(sweep.runs) == 3
