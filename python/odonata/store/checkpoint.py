"""Where the state of a run is kept while it goes on: `NAME.checkpoint` beside the run directory.

```
runs/warm.checkpoint/
  checkpoint            the state of the engine, one file
  packets.0.parquet     rows of growing tables up to the first checkpoint that was taken,
  packets.1.parquet     from there to the second, ...
```
A part of a table is complete before the state that goes with it is put in its place, so whatever is killed
when, the state and the parts up to its number belong together; what is beyond is of no use and removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from odonata import _core
from odonata.errors import OdonataError, StoreError
from odonata.store.whole import said, to_disk

STATE = "checkpoint"
"""The file of the engine's state."""

_PART = re.compile(r"(.+)\.(\d+)\.parquet")


def directory_of(target: Path) -> Path:
    """Where the checkpoints of a run lie that is to be at `target`."""
    return target.with_name(f"{target.name}.checkpoint")


class CheckpointDirectory:
    """The checkpoints of one run."""

    def __init__(self, target: Path) -> None:
        self.path = directory_of(target)

    @property
    def state(self) -> Path:
        """The file of the engine's state."""
        return self.path / STATE

    def exists(self) -> bool:
        """Whether there is a checkpoint."""
        return self.state.is_file()

    def keep(self, number: int, state: Path, tables: Iterable[Path]) -> None:
        """Puts checkpoint `number` in its place: the engine's state, and what tables grew since the last.

        Raises:
            StoreError: The system refuses.
        """
        with said(self.path):
            if number == 0:
                self.remove()
            self.path.mkdir(parents=True, exist_ok=True)
            for table in tables:
                to_disk(table)
                table.replace(self.path / f"{table.stem}.{number}.parquet")
            to_disk(self.path)
            state.replace(self.state)
            to_disk(self.path)

    def parts(self, number: int) -> dict[str, list[Path]]:
        """The parts of each growing table up to checkpoint `number`; later ones are removed."""
        found: dict[str, list[tuple[int, Path]]] = {}
        for path in self.path.iterdir():
            part = _PART.fullmatch(path.name)
            if part is None:
                continue
            if int(part[2]) > number:
                path.unlink()
            else:
                found.setdefault(part[1], []).append((int(part[2]), path))
        return {name: [path for _, path in sorted(parts)] for name, parts in found.items()}

    def remove(self) -> None:
        """Removes it with all that is in it."""
        if self.exists():
            # First, so that no state is left without its parts.
            self.state.unlink()
        shutil.rmtree(self.path, ignore_errors=True)


def check_no_checkpoint(target: Path, *, force: bool) -> None:
    """Raises `StoreError` if a run that is begun anew would throw away a checkpoint."""
    kept = CheckpointDirectory(target)
    if kept.exists() and not force:
        raise StoreError(
            f"{kept.path} holds a checkpoint of a run that is not finished",
            hint=f"Go on from it with: odonata run --resume {os.fspath(target)}, or begin anew with --force.",
        )


def origin(target: Path) -> dict[str, Any]:
    """What the checkpoint of the run at `target` is of.

    Raises:
        OdonataError: There is none, or it can't be read.
    """
    kept = CheckpointDirectory(target)
    if not kept.exists():
        raise OdonataError(f"there is no checkpoint of {target}: no file {kept.state}")
    found: dict[str, Any] = _core.checkpoint(kept.state)
    return found
