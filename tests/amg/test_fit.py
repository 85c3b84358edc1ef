"""Which scenario explains measured times."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from odonata import amg
from odonata.amg import fit, machines, model

Command = Callable[..., subprocess.CompletedProcess[str]]
EOS = machines.load("eos")
PROBLEM = ("--problem", "laplace7", "--ranks", "1024", "--points", "50x50x25")
HIERARCHY = amg.shipped("laplace7", 1024, "50x50x25")


def write(path: Path, scenario: str, *, tasks: tuple[int, ...] = (16,), noise: float = 0.0) -> Path:
    """Times of a scenario, each too large or too small by up to `noise`."""
    dice = random.Random(5)
    lines = ["level,tasks,time_us"]
    for per_node in tasks:
        cycle = model.cycle(HIERARCHY, EOS, tasks=per_node, scenario=scenario)
        for level, seconds in enumerate(cycle.level_seconds()[:-1]):
            lines.append(f"{level},{per_node},{1e6 * seconds * (1 + dice.uniform(-noise, noise))}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("scenario", model.scenarios())
def test_times_of_a_scenario_are_explained_by_it(scenario: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", scenario, noise=0.05)
    [found] = fit.fit(fit.read(path), lambda _: HIERARCHY, EOS)
    assert found.scenario == scenario == found.closest
    assert 1 < found.factors[scenario] < 1.05
    assert min(factor for name, factor in found.factors.items() if name != scenario) > 1.05


def test_fewer_tasks_never_need_more_penalties(tmp_path: Path) -> None:
    few = write(tmp_path / "few.csv", "alpha-beta-gamma-penalties", tasks=(4,))
    many = write(tmp_path / "many.csv", "alpha-beta-gamma", tasks=(16,))
    both = [*fit.read(few), *fit.read(many)]
    found = fit.fit(both, lambda _: HIERARCHY, EOS)
    assert [one.closest for one in found] == ["alpha-beta-gamma-penalties", "alpha-beta-gamma"]
    assert [one.scenario for one in found][1] == "alpha-beta-gamma"
    assert found[0].scenario in ("alpha-beta", "alpha-beta-gamma")


def test_the_command(odonata_command: Command, tmp_path: Path) -> None:
    write(tmp_path / "t.csv", "beta-penalty", tasks=(8, 16), noise=0.03)
    result = odonata_command("amg", "fit", "t.csv", *PROBLEM)
    assert result.returncode == 0, result.stderr
    assert 'scenario = "beta-penalty"' in result.stdout
    found = json.loads(odonata_command("amg", "fit", "t.csv", *PROBLEM, "--json").stdout)
    assert [one["scenario"] for one in found["fits"]] == ["beta-penalty"] * 2
    # Repeated measurements count by their median; names of hierarchies stand in the file.
    (tmp_path / "named.csv").write_text(
        "hierarchy,level,time_ms\n" + "".join(f"laplace7-1024-50x50x25,0,{t}\n" for t in (5.0, 5.1, 50.0))
    )
    found = json.loads(odonata_command("amg", "fit", "named.csv", "--json").stdout)
    assert found["fits"][0]["measured"]["seconds"]["0"] == pytest.approx(0.0051)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs one of the columns"),
        ("level,time\n0,1\n", "column 'time'"),
        ("level,time_s,time_ms\n0,1,1\n", "needs one of the columns"),
        ("level,time_s\n", "no measured times"),
        ("level,time_s\n0,0\n", "line 2: time_s is '0'"),
        ("level,time_s\n0,1\nx,1\n", "line 3: level is 'x'"),
        ("level,time_s\n0\n", "line 2: expected 2 values"),
        ("level,time_s\n99,1\n", "level 99 was measured"),
        ("level,time_s,tasks\n0,1,17\n", "17"),
        ("level,time_s,hierarchy\n0,1,laplace7-1024-50x50x26\n", "Did you mean laplace7-1024-50x50x25?"),
    ],
)
def test_mistakes(text: str, message: str, odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    result = odonata_command("amg", "fit", "t.csv", *PROBLEM)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
