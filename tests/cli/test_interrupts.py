"""Signals end work that never asks whether it shall stop."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

# 17,000 million messages: minutes of gathering, which reports no progress.
LONG = """
[machine]
preset = "dragonfly-1056"
[[job]]
name = "a"
ranks = 1056
pattern = { name = "uniform", messages = 16000000 }
[engine]
kind = "flow"
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_gathering_stops_on_signals(command: Path, tmp_path: Path, sent: signal.Signals, code: int) -> None:
    """The work alone takes minutes; waiting for its end would be past the limit here."""
    (tmp_path / "long.toml").write_text(LONG)
    with subprocess.Popen(
        [command, "run", "long.toml"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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
