"""Errors as users meet them: colour on a terminal only, and the standard exceptions in Python."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import odonata
from odonata.amg import load_machine


@pytest.mark.parametrize(("color", "codes"), [({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)])
def test_errors_have_colour_on_a_terminal_unless_refused(
    color: dict[str, str], codes: bool, command: Path, tmp_path: Path
) -> None:
    terminal, end = os.openpty()
    env = {**os.environ, **color}
    done = subprocess.run([command, "explain", "nowhere"], cwd=tmp_path, env=env, stderr=end, check=False)
    os.close(end)
    said = os.read(terminal, 10_000)
    os.close(terminal)
    assert done.returncode == 2
    assert b"nowhere" in said
    assert (b"\x1b[" in said) is codes


def test_a_missing_file_is_a_file_not_found_error() -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file nowhere\.toml"):
        odonata.run("nowhere.toml")


def test_a_preset_without_measured_costs_is_named() -> None:
    with pytest.raises(odonata.OdonataError, match="its costs of messages are not measured"):
        load_machine("edison")
