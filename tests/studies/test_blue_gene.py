"""The study of Blue Gene with some of its experiments: claims on the others are not measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from odonata.studies import load, run_study
from odonata.studies.page import report

STUDY = Path(__file__).parents[2] / "studies" / "blue-gene"


def verdicts_of(experiment: str, folder: Path) -> dict[str, str]:
    """Verdicts on the claims that are measured if only this experiment runs in the quick form."""
    results, _ = run_study(load(STUDY, quick=True), folder, only={"experiment": [experiment]}, processes=1)
    verdicts = report(results, unfinished=True).verdicts
    return {verdict.claim.name: verdict.word for verdict in verdicts if verdict.word != "not measured"}


@pytest.mark.slow
def test_two_phases_alone(tmp_path: Path) -> None:
    assert verdicts_of("two-phases", tmp_path) == {"two-phases": "reproduced"}


@pytest.mark.long
def test_ping_pong_alone(tmp_path: Path) -> None:
    """Minutes."""
    names = ("alone", "alone-why", "interference", "interference-why")
    assert verdicts_of("ping-pong", tmp_path) == dict.fromkeys(names, "reproduced")
