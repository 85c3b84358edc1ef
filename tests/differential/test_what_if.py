"""What `odonata explain --what-if` shows against the edited experiment, run by hand.

The edits are drawn at random from all that it offers on ten experiments. Nothing is made from these cases, so
the two must be equal to the last digit.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from running import Command

from odonata import Run
from odonata.analysis.intervals import mean_interval
from odonata.explanation import time_of

SMALL = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 3\n'


def job(name: str, traffic: str, ranks: int = 8, placement: str = '"random-nodes"', more: str = "") -> str:
    return (
        f'[[job]]\nname = "{name}"\nranks = {ranks}\nranks_per_node = 1\nplacement = {placement}\n'
        f"{traffic}\n{more}"
    )


def engine(kind: str, more: str = "") -> str:
    return f'[engine]\nkind = "{kind}"\n{more}'


ALL = 'pattern = { name = "all-to-all", bytes = "64 KiB" }'
STENCIL = 'pattern = { name = "stencil-3d", bytes = "100 kB" }'
RING = 'program = { name = "ring", iterations = 3, bytes = "24 KiB" }'
FFT = 'program = { name = "fft-3d", nx = 32, rows = 4, iterations = 2 }'
TWO = job("one", ALL, 12) + job("two", STENCIL)

FLOW, PACKET = "flow", "packet"
EDITS = ["-25% local", "global.bandwidth*=0.5"]
EXPERIMENTS = {
    "flow on a dragonfly": SMALL + TWO + engine(FLOW),
    "flow on an edited machine": SMALL
    + 'edit = ["-25% local", "global.bandwidth*=0.5"]\n'
    + TWO
    + engine(FLOW),
    "flow on a torus": '[machine]\ntopology = "torus"\ndims = [3, 3, 3]\n' + TWO + engine(FLOW),
    "flow on a fat tree": '[machine]\ntopology = "fat-tree"\nk = 4\n' + job("one", ALL, 12) + engine(FLOW),
    "flow without spare ports": '[machine]\ntopology = "hyperx"\ndims = [3, 3]\n' + TWO + engine(FLOW),
    "packets of patterns": SMALL + TWO + engine(PACKET, 'routing = "min"\n'),
    "packets of programs": SMALL
    + job("one", FFT)
    + job("two", RING, more='start = "3 us"\n')
    + engine(PACKET),
    "learned routing": SMALL
    + job("one", RING)
    + job("two", ALL)
    + engine(PACKET, 'routing = "q-adaptive"\n'),
    "packets on a torus": '[machine]\ntopology = "torus"\ndims = [4, 4]\n' + job("one", FFT) + engine(PACKET),
    "background": SMALL + job("one", FFT) + job("two", RING, more="background = true\n") + engine(PACKET),
}
DRAWN = 30


def check(command: Command, folder: Path, name: str, drawn: int) -> int:
    """Compares some figures of job `one` with runs of their edits. Returns how many."""
    (folder / "x.toml").write_text(EXPERIMENTS[name])
    assert command("run", "x.toml", "-o", "run", "-q").returncode == 0
    shown = json.loads(command("explain", "run", "--job", "one", "--what-if", "--no-blame", "--json").stdout)
    given = EDITS if "edited" in name else []
    rows: list[dict[str, Any]] = random.Random(name).sample(shown["what_if"], drawn)
    for number, row in enumerate(rows):
        edits = json.dumps([*given, row["change"]])
        again = command("run", "x.toml", "-o", f"edited-{number}", "-q", "--set", f"machine.edit={edits}")
        if row["reason"] is not None:
            assert again.returncode == 2, f"{name}: {row}"
            assert row["reason"] in " ".join(again.stderr.split())
            continue
        assert again.returncode == 0, again.stderr
        expected = time_of(Run.from_directory(folder / f"edited-{number}"), "one")
        assert row["time_s"] == expected, f"{name}: {row}"
        assert row["difference"] == pytest.approx(expected / shown["time_s"] - 1.0, abs=1e-12)
    return len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flow on an edited machine", "packets of programs"])
def test_two_figures_are_runs(odonata_command: Command, tmp_path: Path, name: str) -> None:
    check(odonata_command, tmp_path, name, 2)


@pytest.mark.slow
def test_several_seeds_are_runs(odonata_command: Command, tmp_path: Path) -> None:
    """`compare --edit --seeds` and `explain --what-if --seeds` against runs by hand with each seed."""
    edit = "terminal.bandwidth*=0.9"
    (tmp_path / "x.toml").write_text(SMALL + TWO + engine(FLOW))
    times: dict[str, list[list[float]]] = {"one": [], "two": []}
    for seed in (1, 2, 3):
        pair = []
        for number, edits in enumerate(([], [edit])):
            keys = (f"engine.seed={seed}", f"machine.edit={json.dumps(edits)}")
            where = f"by-hand-{seed}-{number}"
            done = odonata_command("run", "x.toml", "-o", where, "-q", "--set", keys[0], "--set", keys[1])
            assert done.returncode == 0, done.stderr
            pair.append(Run.from_directory(tmp_path / where))
        for job, found in times.items():
            found.append([time_of(run, job) or 0.0 for run in pair])
    compared = json.loads(
        odonata_command("compare", "x.toml", "--edit", edit, "--seeds", 3, "--json", "-q").stdout
    )
    rows = {row["name"]: row for row in compared["seeds"]}
    shown = json.loads(
        odonata_command(
            "explain", "by-hand-1-0", "--job", "two", "--what-if", "--seeds", 3, "--no-blame", "--json"
        ).stdout
    )
    (change,) = (row for row in shown["what_if"] if row["change"] == edit)
    for job, found in times.items():
        ratios = [after / before - 1.0 for before, after in found]
        low, high = mean_interval(ratios)
        expected: dict[str, Any] = {"time_s": mean(pair[1] for pair in found), "difference": mean(ratios)}
        expected |= {"low": low, "high": high, "seeds": 3}
        for name, value in expected.items():
            assert rows[job][name] == pytest.approx(value, abs=1e-15), (job, name)
            assert job != "two" or change[name] == rows[job][name], name
        assert rows[job]["time_before_s"] == pytest.approx(mean(pair[0] for pair in found), abs=1e-15)
    assert len({pair[1] for pair in times["one"]}) > 1


@pytest.mark.long
def test_thirty_figures_are_runs(odonata_command: Command, tmp_path: Path) -> None:
    count = 0
    for number, name in enumerate(EXPERIMENTS):
        folder = tmp_path / str(number)
        folder.mkdir()

        def here(*words: object, folder: Path = folder) -> Any:
            return odonata_command(*words, cwd=folder)

        count += check(here, folder, name, DRAWN // len(EXPERIMENTS))
    assert count == DRAWN
