"""A solver developer: is an own hierarchy, dumped by another code, worth gathering? Without hypre."""

from __future__ import annotations

import json
from pathlib import Path

import pyamg
import scipy.io
from running import Command

from odonata import amg


def test_a_hierarchy_of_ones_own_is_priced_and_gathered(odonata_command: Command, tmp_path: Path) -> None:
    """PyAMG's hierarchy of a Poisson problem as the files that another code dumps."""
    levels = pyamg.ruge_stuben_solver(pyamg.gallery.poisson((48, 48), format="csr"), max_coarse=10).levels
    (tmp_path / "dump").mkdir()
    for number, level in enumerate(levels):
        scipy.io.mmwrite(tmp_path / f"dump/A_{number}.mtx", level.A)
        if hasattr(level, "P"):
            scipy.io.mmwrite(tmp_path / f"dump/P_{number}.mtx", level.P)
    done = odonata_command("amg", "import", "dump", "--ranks", 64, "-o", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = amg.load(tmp_path / "mine")
    assert [level["unknowns"] for level in again.levels] == [level.A.shape[0] for level in levels]
    advice = odonata_command("amg", "redistribute", "mine", "--json", cwd=tmp_path)
    assert advice.returncode == 0, advice.stderr
    advised = json.loads(advice.stdout)
    # A problem this small gains nothing. The advice says so, and gives the best result.
    assert advised["switch"] is None
    assert "longer" in advised["reason"]
    best = min(alternative["cycle_s"] for alternative in advised["alternatives"])
    assert best > advised["cycle_s"]
    assert advised["alternatives"][0]["cycle_s"] == best
