"""What a sweep and a comparison say of keys that change something, and of those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command

import odonata

SMALL = """\
[machine]
topology = "dragonfly"
p = 4
a = 4
h = 2
g = 9

[[job]]
name = "near"
pattern = "stencil-3d"
ranks = 64
ranks_per_node = 1

[engine]
routing = "adaptive-hybrid"
"""


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    return tmp_path / "sweep.toml"


def test_a_key_that_changes_nothing_is_named(odonata_command: Command, sweep_file: Path) -> None:
    """A limit that is not reached, beside a key that does something."""
    axes = '\n[sweep]\n"engine.max_iterations" = [5000, 6000]\n"engine.seed" = [1, 2]\n'
    sweep_file.write_text(SMALL + axes)
    result = odonata_command("sweep", sweep_file, "-o", "out")
    assert result.returncode == 0, result.stderr
    assert "engine.max_iterations changes nothing" in result.stdout
    assert "engine.seed changes nothing" not in result.stdout
    assert odonata.Sweep.load(sweep_file.parent / "out").without_effect() == ["engine.max_iterations"]
    points = [
        f"out/points/max_iterations={limit},seed={seed}" for limit, seed in ((5000, 1), (6000, 1), (5000, 2))
    ]
    assert "has no effect on any table" in odonata_command("compare", points[0], points[1]).stdout
    assert "has no effect" not in odonata_command("compare", points[0], points[2]).stdout
    assert "The same run twice" in odonata_command("compare", points[0], points[0]).stdout


def test_differences_are_told_at_each_value_of_the_other_keys(
    odonata_command: Command, sweep_file: Path
) -> None:
    axes = '\n[sweep]\n"engine.routing" = ["adaptive-hybrid", "min"]\n"engine.seed" = [1, 2, 3]\n'
    sweep_file.write_text(SMALL + axes + '"job.near.pattern.bytes" = ["1 KiB", "1 MiB"]\n')
    result = odonata_command("sweep", sweep_file, "-o", "out")
    assert result.returncode == 0, result.stderr
    shown = " ".join(result.stdout.split())
    assert "engine.routing: min against adaptive-hybrid, all else equal bytes" in shown
    # A difference of bytes is a thousand times larger with messages a thousand times as long.
    assert "The difference depends on bytes (at 95 %)" in shown
    sweep = odonata.Sweep.load(sweep_file.parent / "out")
    apart = sweep.differences("engine.routing", value="bytes_mean", by=["job.near.pattern.bytes"]).to_pylist()
    assert [row["pairs"] for row in apart] == [3, 3]
    assert apart[1]["difference"] == pytest.approx(1024 * apart[0]["difference"])
    row = sweep.interactions("engine.routing", "job.near.pattern.bytes", value="bytes_mean").to_pylist()[0]
    assert row["difference"] == pytest.approx(apart[1]["difference"] - apart[0]["difference"])
