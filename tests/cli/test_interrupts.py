"""Signals end work that never asks whether it shall stop."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

# 17,000 million messages: minutes of gathering, which reports no progress.
GATHERED = """
[machine]
preset = "dragonfly-1056"
[[job]]
name = "a"
ranks = 1056
pattern = { name = "uniform", messages = 16000000 }
[engine]
kind = "flow"
"""
# A check counts messages by formula, but solves trials for a stated error: ten seconds and more.
TRIALS = """
[machine]
preset = "edison"
[[job]]
name = "a"
ranks = 100000
pattern = "spread"
[engine]
kind = "flow"
path_error = 0.0001
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "text"), [("run", GATHERED), ("check", TRIALS)], ids=["run", "check"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_gathering_and_checking_stop_on_signals(
    command: Path, tmp_path: Path, what: str, text: str, sent: signal.Signals, code: int
) -> None:
    """Without the signal the work would go on for seconds or minutes."""
    (tmp_path / "long.toml").write_text(text)
    with subprocess.Popen(
        [command, what, "long.toml"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            time.sleep(3)
            assert process.poll() is None, "it ended before the signal"
            process.send_signal(sent)
            _, complained = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == code
    assert b"Traceback" not in complained
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["long.toml"]
