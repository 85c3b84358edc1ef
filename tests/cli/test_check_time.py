"""`odonata check --time`: what a run will take, from its first seconds."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import packet_files
import pytest
from running import Command

from odonata import _core, trial

OPEN = packet_files.experiment(warm_up="20 us", measure="60 us", engine='drain = "20 us"')
HALO = 'program = { name = "halo-3d", bytes = "8 kB", iterations = 400 }\n'
PROGRAM = packet_files.experiment(packet_files.job(pattern=None, more=HALO), load=None, measure=None)


def checked(text: str) -> Any:
    return _core.Experiment(text, "run.toml").check()


def ended(whole: bool = False, **changes: Any) -> trial.Trial:
    """Of a run stopped after 5 s: 1 s before the engine began, 3 s for the first 30 %, 1 s for 10 % more."""
    jobs = {"packets": SimpleNamespace(to_pylist=lambda: [1000])}
    run: Any = SimpleNamespace(jobs=jobs)
    stopped = trial.Trial(run, whole, 1.0, 5.0, 4.0, 0.3, "simulating", 0.4)
    return replace(stopped, **changes)


def test_open_traffic_continues_at_the_pace_of_the_second_half() -> None:
    """It ends at 80 of 100 us, and takes 1 s for 10 % of them: another 4 s."""
    assert trial._ahead(ended(), checked(OPEN)) == pytest.approx(4.0)


def test_programs_continue_packet_by_packet() -> None:
    """1,000 packets took 4 s; the check says how many there are in all."""
    of = checked(PROGRAM)
    packets = of["summary"]["packets"]
    assert packets > 100_000
    assert trial._ahead(ended(), of) == pytest.approx((packets - 1000) * 4.0 / 1000)


def test_a_solver_has_an_upper_limit_and_other_phases_no_estimate() -> None:
    assert trial._ahead(ended(phase="solving"), checked(OPEN)) == pytest.approx(6.0)
    assert trial._ahead(ended(phase="messages"), checked(OPEN)) is None
    assert trial._ahead(ended(half_share=0.4), checked(OPEN)) is None


@pytest.mark.slow
def test_a_long_run_is_stopped_and_extrapolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(trial, "SECONDS", 0.02)
    text = PROGRAM.replace("iterations = 400", "iterations = 4000")
    estimate = trial.estimate_run(_core.Experiment(text, str(tmp_path / "run.toml")), checked(text))
    assert estimate.basis == "extrapolated"
    assert estimate.cpu_s is not None
    assert estimate.cpu_s > 3 * estimate.tried_s
    assert "s of CPU time, by its first" in estimate.sentence()


def test_a_phase_without_progress_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like `optimal` on many ranks, which computed for minutes without a report."""

    def silent(*_: object, progress: Any, **__: object) -> None:
        progress("loads", 0.0)
        until_s = time.process_time() + 20.0
        while time.process_time() < until_s:
            pass
        raise AssertionError("it waited for the phase")

    monkeypatch.setattr(trial, "run_until_interrupted", silent)
    monkeypatch.setattr(trial, "SECONDS", 0.1)
    estimate = trial.estimate_run(_core.Experiment(OPEN, "run.toml"), checked(OPEN))
    assert (estimate.basis, estimate.cpu_s) == ("unknown", None)
    assert estimate.tried_s < 5.0
    assert "the time left is unknown" in estimate.sentence()


def test_a_short_run_is_measured(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(OPEN)
    result = odonata_command("check", "run.toml", "--time", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "The whole run takes" in result.stdout
    data = json.loads(odonata_command("check", "run.toml", "--time", "--json", cwd=tmp_path).stdout)
    assert data["cpu_s_estimate_basis"] == "measured"
    assert data["cpu_s_estimate"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["run.toml"]
