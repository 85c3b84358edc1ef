"""The page of the study file has every key that is read, and every built-in figure with its keys."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from odonata.studies import available, load
from odonata.studies.claim_spec import COMPARISONS, STATISTICS, VERDICTS
from odonata.studies.figures import DRAW
from odonata.studies.read import UNITS, TomlTable

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "study-file.md").read_text().replace("```", "")


def test_every_key_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    known: set[str] = set()
    end = TomlTable.end

    def recording(table: TomlTable) -> None:
        known.update(table._taken)
        end(table)

    monkeypatch.setattr(TomlTable, "end", recording)
    for path in available(ROOT / "studies"):
        load(path.parent)
    of_figures = {
        name for function in DRAW.values() for name in list(inspect.signature(function).parameters)[1:]
    }
    assert len(known) > 30, "keys were recorded"
    words = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", PAGE))))
    # Keys that only one study has for a figure of its own are said by its `study.py`.
    own = {
        "mixes",
        "targets",
        "target",
        "background",
        "scope",
        "what",
        "jobs",
        "routing",
        "routings",
        "smoothed",
    }
    missing = (
        (known | of_figures | set(COMPARISONS) | set(STATISTICS) | set(VERDICTS) | set(DRAW)) - words - own
    )
    assert not missing
    assert {unit for unit in UNITS if unit and unit != "%"} <= words
