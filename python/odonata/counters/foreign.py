"""Reads counter tables of other programs and recognizes their format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from odonata import _core
from odonata.counters import boxfish, ldms
from odonata.errors import OdonataError


def read_columns(path: str | Path) -> dict[str, np.ndarray]:
    """The counters of a table by name.

    Raises:
        OdonataError: The format is unknown, or its reader refuses the file.
    """
    start = _core.read_file(path)[: 1 << 16].decode("utf-8", errors="replace")
    if ldms.is_ldms(start):
        return ldms.read_counters(path)
    if start.startswith("---"):
        return boxfish.read_regions(path)
    begin = "".join(c for c in start.partition("\n")[0][:40] if c.isprintable())
    raise OdonataError(
        f"{path}, line 1: '{begin}'; expected '---', the start of a Boxfish table, or the header of LDMS, "
        "'#Time,Time_usec,ProducerName,..'"
    )
