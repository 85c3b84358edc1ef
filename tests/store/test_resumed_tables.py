"""A run that resumes from a checkpoint writes the same bytes as one that was not interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from odonata.api import read, run_until_interrupted
from odonata.checkpointing import CheckpointControl
from odonata.errors import CheckpointStop
from odonata.store.checkpoint import origin

MESSAGES = """
[[job]]
name = "{0}"
ranks = 8
ranks_per_node = 1
pattern = {{ name = "shift", bytes = "4 KiB" }}
traffic = {{ name = "closed", start = "{1}" }}
"""
# Nothing happens for 18 us of the 20, so most intervals of the series have no rows.
EXPERIMENT = (
    '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
    + MESSAGES.format("first", "0 us")
    + MESSAGES.format("last", "20 us")
    + '[engine]\nkind = "packet"\ninterval = "100 ns"\nseries = ["jobs", "links"]\n'
)


class StoppingControl(CheckpointControl):
    """Ends the run with its first checkpoint."""

    def _taken(self, mistake: str | None) -> bool:
        self._stops = True
        return super()._taken(mistake)


def made(path: Path, out: Path, control: CheckpointControl | None = None) -> dict[str, bytes]:
    """The files of a run, but the summary, which says how long it took."""
    run_until_interrupted(read(path), out=out, threads=1, checkpoints=control)
    return {file.name: file.read_bytes() for file in out.iterdir() if file.name != "summary.json"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.parametrize("us", [0.5, 5, 10, 20.1])
def test_a_resumed_run_has_the_same_bytes_although_intervals_are_empty(path: Path, us: float) -> None:
    whole = made(path, path.with_name("whole"))
    out = path.with_name("resumed")
    with pytest.raises(CheckpointStop):
        made(path, out, StoppingControl([int(us * 1e6)]))
    assert made(path, out, CheckpointControl(resumed=out, before=origin(out)["before"])) == whole


def test_a_checkpoint_at_the_end_leaves_no_file(path: Path) -> None:
    """The run ends before the engine has written the state."""
    whole = made(path, path.with_name("whole"))
    end_ps = read(path).run(1)["summary"]["packet"]["end_ps"]
    for at in (end_ps - 1, end_ps):
        out = path.with_name(f"run-{at}")
        assert made(path, out, CheckpointControl([at])).keys() == whole.keys()
        assert not out.with_name(f"{out.name}.checkpoint").exists()
