"""Every fuzz target has something to start from; without it libFuzzer refuses to run."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = sorted(path.stem for path in (ROOT / "fuzz/fuzz_targets").glob("*.rs"))


@pytest.mark.parametrize("target", TARGETS)
def test_a_fuzz_target_has_seeds(target: str) -> None:
    # The script starts the target of experiment files from the examples.
    seeds = ROOT / ("examples" if target == "experiment" else f"fuzz/seeds/{target}")
    assert any(seeds.iterdir())
