"""Damaged directories of runs, sweeps, searches and hierarchies are read, or refused with an error."""

from __future__ import annotations

import json
import os
import random
import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import damage
import pytest
from click.testing import CliRunner

import odonata
from odonata.amg import library
from odonata.cli import main

CPU_S, WALL_S = 20, 300
"""A command that takes more processor time hangs, and so does one that waits for longer. Other processes may
have the processors."""

DEFECT = -1

FLOW = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "halo"
pattern = "stencil-2d"
ranks = 32
[[job]]
name = "sum"
program = "allreduce"
ranks = 16
[engine]
kind = "flow"
seed = 1
"""

CASES = {
    "run": (
        "show {0}",
        "explain {0} --job halo",
        "compare {0} {1}",
        "view {0} --html {2}",
        "plot {0} -o {2}",
    ),
    "packets": ("show {0}", "explain {0} --job sum", "compare {1} {0}", "view {0} --html {2}"),
    "sweep": ("show {0}", "view {0} --html {2}", "sweep {3} -j 1 -o {0}"),
    "search": ("show {0}", "view {0} --html {2}", "optimize {3} -j 1 -o {0}"),
    "hierarchy": ("amg model {0}", "amg redistribute {0}"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Whole directories of each kind, and the experiments of those that can go on."""
    place = tmp_path_factory.mktemp("whole")
    (place / "flow.toml").write_text(FLOW)
    odonata.run(place / "flow.toml", out=place / "run")
    odonata.run(place / "flow.toml", out=place / "packets", set={"engine.kind": "packet"})
    (place / "sweep.toml").write_text(
        FLOW + '\n[sweep]\n"engine.routing" = ["min", "adaptive-hybrid"]\n"engine.seed" = [1, 2]\n'
    )
    odonata.sweep(place / "sweep.toml", out=place / "sweep", processes=1)
    routings = '\n[sweep]\n"engine.routing" = ["min", "adaptive-hybrid"]\n'
    (place / "search.toml").write_text(FLOW + routings + '[optimize]\nobjectives = ["slowest job"]\n')
    odonata.optimize(place / "search.toml", out=place / "search", processes=1)
    _, hierarchy = library.directories()[0]
    damage.copy(hierarchy, place / "hierarchy")
    return place


def test_directories_that_are_whole_are_read(whole: Path, tmp_path: Path) -> None:
    """Otherwise the test below would see refusals only."""
    for kind, commands in CASES.items():
        for command in commands:
            code, said = invoke(filled(command, whole / kind, whole, tmp_path, kind))
            assert code == 0, f"{command} of {kind}: {said}"


@pytest.mark.parametrize("cases", [300, pytest.param(100_000, marks=pytest.mark.long)], ids=["some", "many"])
def test_no_damage_is_an_internal_error(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: int
) -> None:
    monkeypatch.setenv("ODONATA_DEBUG", "1")
    first = int(os.environ.get("ODONATA_DAMAGE_SEED", "1"))
    failed = []
    for seed in range(first, first + cases):
        chance = random.Random(seed)
        kind = chance.choice(list(CASES))
        damaged = damage.copy(whole / kind, tmp_path / kind)
        how = damage.damage(damaged, chance)
        command = filled(chance.choice(CASES[kind]), damaged, whole, tmp_path, kind)
        code, said = invoke(command)
        if code == DEFECT:
            failed.append(f"case {seed}: {command} after {how}: {said}")
    assert not failed, "\n".join([f"{len(failed)} of {cases}:", *failed[:10]])


@pytest.mark.parametrize("value", ["x", None, [], {"strength": "x"}, {"strength": True}, {"other": 1}])
def test_settings_of_a_hierarchy_have_types(whole: Path, tmp_path: Path, value: object) -> None:
    """Damage that the test above found: a text for the table of settings, or for a number of it."""
    damaged = damage.copy(whole / "hierarchy", tmp_path / "hierarchy")
    summary = json.loads((damaged / "summary.json").read_text())
    summary["settings"]["boomeramg"] = value
    (damaged / "summary.json").write_text(json.dumps(summary))
    for command in CASES["hierarchy"]:
        code, said = invoke(command.format(damaged))
        assert code == 2, said
        assert "the hierarchy has" in said


def filled(command: str, directory: Path, whole: Path, out: Path, kind: str) -> str:
    page = out / ("page.html" if "view" in command else "picture.png")
    page.unlink(missing_ok=True)
    return command.format(directory, whole / "run", page, whole / f"{kind}.toml")


def invoke(command: str) -> tuple[int, str]:
    """Exit code of a command in this process, and the end of what it says."""
    try:
        with limited(), warnings.catch_warnings():
            result = CliRunner().invoke(main, command.split())
    except TimeoutError:
        return DEFECT, f"hangs: no end after {CPU_S} s of processor time, or {WALL_S} s"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return DEFECT, "".join(traceback.format_exception(result.exception)[-3:])
    return result.exit_code, result.output[-400:]


@contextmanager
def limited() -> Iterator[None]:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    timers = {signal.ITIMER_PROF: (signal.SIGPROF, CPU_S), signal.ITIMER_REAL: (signal.SIGALRM, WALL_S)}
    before = {number: signal.signal(number, end) for number, _ in timers.values()}
    for timer, (_, seconds) in timers.items():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
