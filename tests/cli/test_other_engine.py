"""`--set engine.kind` makes any experiment one of another engine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import Command

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = Path(__file__).parents[2] / "examples"

REFUSED = {"amg-cycle-eos": "is a level table without messages; only the model engine can use it"}
"""Examples that the flow engine can't run, whatever their keys."""


def others() -> list[Path]:
    """Examples for other engines; what is for the flow engine runs elsewhere."""
    files = sorted(EXAMPLES.glob("*.toml"))
    kinds = {path: tomllib.loads(path.read_text()).get("engine", {}).get("kind", "flow") for path in files}
    return [path for path, kind in kinds.items() if kind != "flow"]


def test_there_are_examples_of_both_other_engines() -> None:
    assert {"amg-cycle-eos", "dragonfly-routing", "pipeline", "programs"} <= {path.stem for path in others()}


@pytest.mark.slow
@pytest.mark.parametrize("path", others(), ids=lambda path: path.stem)
def test_every_example_runs_in_the_flow_engine(path: Path, odonata_command: Command, tmp_path: Path) -> None:
    result = odonata_command("run", str(path), "-o", "run", "--set", "engine.kind=flow")
    if path.stem in REFUSED:
        assert result.returncode == 2
        assert REFUSED[path.stem] in " ".join(result.stderr.split())
        return
    assert result.returncode == 0, result.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["engine"] == "flow"
    # What was resolved is a file of the flow engine, with nothing to leave out.
    again = odonata_command("run", "run/resolved.toml", "-o", "again")
    assert again.returncode == 0, again.stderr
    assert "left out" not in again.stderr


def test_what_is_left_out_is_said_in_one_line(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(
        '[machine]\npreset = "dragonfly-1056"\n[mpi]\neager_limit = "1 kB"\nallreduce = "ring"\n'
        "[[job]]\nranks = 8\nranks_per_node = 1\n"
        'program = { name = "allreduce", iterations = 1, bytes = "8 kB" }\n'
        '[engine]\nkind = "packet"\nrouting = { name = "q-adaptive", alpha = 0.1 }\n'
        'progress_timeout = "2 ms"\n'
    )
    result = odonata_command("run", "x.toml", "-o", "run", "--set", "engine.kind=flow")
    assert result.returncode == 0, result.stderr
    said = (
        "the engine is flow instead of the file's packet; left out of the file: it has no "
        "'progress_timeout'; it does not take the value of 'routing', "
        "the default of the machine's family holds"
    )
    assert [line for line in result.stderr.splitlines() if "left out" in line] == [f"warning: {said}"]
    assert said in json.loads((tmp_path / "run" / "summary.json").read_text())["warnings"]
    # How a collective is done says who sends what: of each rank 14 messages in a ring, and 3 in the barrier.
    jobs = pq.read_table(tmp_path / "run" / "jobs.parquet").to_pylist()
    assert jobs[0]["messages"] == 8 * 14 + 8 * 3
    # Without the override, or in an override, it is a mistake.
    (tmp_path / "y.toml").write_text((tmp_path / "x.toml").read_text().replace('"packet"', '"flow"'))
    assert odonata_command("run", "y.toml", "-o", "y").returncode == 2
    more = odonata_command(
        "run", "x.toml", "-o", "z", "--set", "engine.kind=flow", "--set", "engine.measure=1 ms"
    )
    assert more.returncode == 2
    assert "unknown key 'measure'" in more.stderr
