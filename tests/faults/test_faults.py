"""A full or broken disk and signals at every change of a file: nothing half-written, no traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that fails at system calls."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    path = tmp_path_factory.mktemp("shim") / "faults.so"
    options = ["-O1", "-shared", "-fPIC", "-o", str(path), str(HERE / "faults.c"), "-ldl"]
    subprocess.run([compiler, *options], check=True)
    return path


def failures(shim: Path, folder: Path, seconds: float, first: int = 0) -> tuple[list[Any], int]:
    """What went wrong at the points from `first` on, and how many were tried."""
    # A process with the threads of a linear algebra library should not fork.
    env = {**os.environ, "LD_PRELOAD": str(shim), "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}
    arguments = [sys.executable, HERE / "fault_points.py", folder, str(seconds), str(first)]
    result = subprocess.run(arguments, env=env, capture_output=True, text=True, check=True)
    *wrong, last = map(json.loads, result.stdout.splitlines())
    assert "points" in last, last
    return wrong, last["points"]


@pytest.mark.slow
def test_no_fault_leaves_half_a_result(shim: Path, tmp_path: Path) -> None:
    """The beginnings, and as many points as fit into 8 s of processor time, over all commands and faults."""
    wrong, tried = failures(shim, tmp_path, 8)
    assert not wrong, "\n".join(map(str, wrong[:3]))
    assert tried >= 60


@pytest.mark.long
def test_no_fault_at_any_call_leaves_half_a_result(shim: Path, tmp_path: Path) -> None:
    """Every call of every command with every fault: more than 10,000 points."""
    wrong, tried = failures(shim, tmp_path, float("inf"))
    assert not wrong, "\n".join(map(str, wrong[:10]))
    assert tried >= 10_000
