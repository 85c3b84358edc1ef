"""A large sweep prints its answer on one screen; `--details` prints everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata.cli.output import terminal

SWEEP = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "cfd"
pattern = "stencil-3d"
ranks = 27
ranks_per_node = 1
[[job]]
name = "fft"
pattern = "all-to-all"
ranks = 32
ranks_per_node = 1
[engine]
kind = "flow"
[sweep]
"machine.edit" = [[], ["-25% global"], ["-50% global"]]
"engine.routing" = ["min", "adaptive-hybrid", "static-indirect"]
"job.*.placement" = ["compact", "random-nodes"]
"engine.seed" = [1, 2]
"""


@pytest.mark.slow
def test_a_large_sweep_answers_first(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "big.toml").write_text(SWEEP)
    shown = odonata_command("sweep", "big.toml", "-o", "runs/big")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert len(lines) < 40, "one screen for 36 points"
    assert lines[1].startswith("Best: ")
    sweep = odonata.Sweep.load(tmp_path / "runs/big")
    ranking = sweep.ranking
    assert ranking is not None
    first = next(line for line in lines if re.match(r" +1  ", line))
    assert all(str(value) in first for key, value in ranking.rows[0].setting.items() if key != "machine.edit")
    # The change of a key is the mean over pairs, as in the Python interface.
    (row,) = (line for line in lines if line.startswith("placement "))
    table = sweep.differences("job.*.placement", value="job_time_s", job="cfd").to_pylist()
    assert f"{100 * table[0]['change']:+.1f} %" in row
    whole = odonata_command("sweep", "big.toml", "-o", "runs/big", "--details").stdout.splitlines()
    assert len(whole) > 2 * len(lines)
    assert any("compared with min, all else equal" in line for line in whole)
    again = odonata_command("show", "runs/big").stdout.splitlines()
    assert again[1:] == lines[1:], "show prints what the sweep has printed"


LOADS = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
pattern = "adversarial"
ranks = 72
traffic = { name = "open", load = 0.1 }
[engine]
kind = "packet"
warm_up = "1 us"
measure = "2 us"
[sweep]
"job.*.traffic.load" = [0.3, 0.05]
"engine.routing" = ["min", "valiant-n"]
"engine.seed" = [1, 2, 3, 4]
"""


@pytest.mark.slow
def test_loads_are_no_choice(odonata_command: Command, tmp_path: Path) -> None:
    """Between neighbouring groups, direct links are full at load 0.3, and detours longer at load 0.05."""
    (tmp_path / "loads.toml").write_text(LOADS)
    shown = odonata_command("sweep", "loads.toml", "-o", "loads")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[1].startswith("At load=0.3, best: routing=valiant-n: ")
    low, high = odonata.Sweep.load(tmp_path / "loads").rankings.values()
    assert [ranking.rows[0].setting["routing"] for ranking in (low, high)] == ["min", "valiant-n"]
    assert re.search(r"(?m)^ *load +valiant-n +min$", shown.stdout)
    assert len(re.findall(r"(?m)^ *0\.\d+ .* ± .* ± ", shown.stdout)) == 2


def test_a_difference_that_is_rounding_is_printed_as_zero() -> None:
    assert [terminal.difference(value, 1.0) for value in (-3.3e-7, 0.0004, 0.0, None)] == ["0", "0", "0", "-"]
    assert terminal.difference(-0.014, 10.1) == "-0.014"
    assert terminal.difference(0.5, 1.0, plus=True) == "+0.500"
    assert terminal.difference(1e-3, 0.0) == "0.001"
