"""Checkpoints of a run: the directory `NAME.checkpoint` next to the run directory.

```
runs/warm.checkpoint/
  checkpoint            state of the engine, one file
  packets.0.parquet     rows of growing tables up to the first checkpoint,
  packets.1.parquet     from there to the second, ...
``` A part of a table is complete before the state of the same checkpoint replaces the old state. So the state
and the parts up to its number always match, even after a kill. Later parts are useless and removed.
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
from odonata.store.atomic import store_errors, sync_to_disk

STATE = "checkpoint"
"""File with the state of the engine."""

_PART = re.compile(r"(.+)\.(\d+)\.parquet")


def directory_of(target: Path) -> Path:
    """Directory with the checkpoints of the run at `target`."""
    return target.with_name(f"{target.name}.checkpoint")


class CheckpointDirectory:
    """The checkpoints of one run."""

    def __init__(self, target: Path) -> None:
        self.path = directory_of(target)

    @property
    def state(self) -> Path:
        """File with the state of the engine."""
        return self.path / STATE

    def exists(self) -> bool:
        """Whether there is a checkpoint."""
        return self.state.is_file()

    def save(self, number: int, state: Path, tables: Iterable[Path]) -> None:
        """Stores checkpoint `number`: the engine's state, and the table rows since the last checkpoint.

        Raises:
            StoreError: The system refuses to write.
        """
        with store_errors(self.path):
            if number == 0:
                self.remove()
            self.path.mkdir(parents=True, exist_ok=True)
            for table in tables:
                sync_to_disk(table)
                table.replace(self.path / f"{table.stem}.{number}.parquet")
            sync_to_disk(self.path)
            state.replace(self.state)
            sync_to_disk(self.path)

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
        """Removes the directory and its content."""
        if self.exists():
            # The state goes first, so that no state is left without its parts.
            self.state.unlink()
        shutil.rmtree(self.path, ignore_errors=True)


def check_no_checkpoint(target: Path, *, force: bool) -> None:
    """Raises `StoreError` if a new run would discard a checkpoint."""
    kept = CheckpointDirectory(target)
    if kept.exists() and not force:
        raise StoreError(
            f"{kept.path} holds a checkpoint of an unfinished run",
            hint=f"Resume it with `odonata run --resume {os.fspath(target)}`, or start again with --force.",
        )


def origin(target: Path) -> dict[str, Any]:
    """The description of the run at `target` in its checkpoint.

    Raises:
        OdonataError: There is no checkpoint, or it cannot be read.
    """
    kept = CheckpointDirectory(target)
    if not kept.exists():
        raise OdonataError(f"there is no checkpoint of {target}: {kept.state} does not exist")
    found: dict[str, Any] = _core.checkpoint(kept.state)
    return found
