"""What several of the runs have: a machine, and a folder for their files."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

GROUPS, ROUTERS, NODES = 9, 4, 2
"""Of the dragonfly: groups, routers of a group, nodes of a router, which has two cables to other groups."""

CLASSES = """
class.local = { bandwidth = "25 GB/s", latency = "30 ns" }
class.global = { bandwidth = "12.5 GB/s", latency = "300 ns" }
class.terminal = { bandwidth = "20 GB/s", latency = "10 ns" }
"""
SIZES = f"p = {NODES}\na = {ROUTERS}\nh = 2\ng = {GROUPS}\n"
DRAGONFLY = f'[machine]\ntopology = "dragonfly"\n{SIZES}cores_per_node = 16\n{CLASSES}'


@cache
def directory() -> Path:
    """A folder for the files that the experiments name; it goes when the process ends."""
    path = Path(tempfile.mkdtemp(prefix="odonata-columns-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path
