"""Every value of a directory's tables and summaries may be another one: it is read, or refused with an error.

The random damage of `test_damaged_directories` reaches the rest: bytes, kinds of files and experiments.
"""

from __future__ import annotations

from pathlib import Path

import damage
import pytest
from whole_directories import DEFECT, EXPERIMENTS, filled, invoke

COMMANDS = {
    **dict.fromkeys(EXPERIMENTS, ("show {0} --json", "explain {0} --json", "view {0} --html {2}")),
    "sweep": ("show {0} --json", "sweep {3} -j 1 -o {0} --json"),
    "search": ("show {0} --json", "optimize {3} -j 1 -o {0} --json"),
    "hierarchy": ("amg model {0} --json", "amg redistribute {0} --json"),
}

POINTS = {"sweep": "routing=min,seed=1", "search": "routing=min"}


PARTS = 8
"""Tests of a kind in the long form, so that none reaches the time limit of a test."""


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.parametrize(
    ("step", "start"),
    [
        pytest.param(611, 0, id="some"),
        *(pytest.param(PARTS, part, marks=pytest.mark.long, id=f"all-{part}") for part in range(PARTS)),
    ],
)
def test_no_value_is_an_internal_error(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, step: int, start: int
) -> None:
    monkeypatch.setenv("ODONATA_DEBUG", "1")
    copy = damage.WorkingCopy(whole / kind, tmp_path / kind)
    files = copy.files(point=POINTS.get(kind, ""))
    failed = []
    number = 0
    for file in files:
        for how, do in damage.every(file):
            number += 1
            if number % step != start:
                continue
            for template in COMMANDS[kind]:
                do()
                command = filled(template, copy.path, whole, tmp_path, kind)
                code, said = invoke(command)
                copy.restore()
                if code == DEFECT:
                    failed.append(f"{command} after {file.name}: {how}: {said}")
    assert not failed, "\n".join([f"{len(failed)} of {number}:", *failed[:10]])
    assert number > 300
