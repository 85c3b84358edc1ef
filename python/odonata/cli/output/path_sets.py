"""The number of path sets that follows from a stated error, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def print_path_sets(screen: Console, summary: Mapping[str, Any]) -> None:
    """Prints the number of path sets that follows from a stated error."""
    if (chosen := summary.get("path_sets")) is not None:
        screen.print(
            f"{chosen['count']:,} path sets for path_error {chosen['path_error']:g}"
            f" (in trials {100 * chosen['trial_error']:.2g} %)"
        )
