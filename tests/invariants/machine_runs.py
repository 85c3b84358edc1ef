"""Small runs on machines of an unusual kind."""

from __future__ import annotations

from functools import cache

import odonata
from odonata import Run

RAILS = 4


@cache
def railed() -> Run:
    """Nodes with two NICs in each of two planes, each of them at another router."""
    return odonata.run("""
        [machine]
        topology = "torus"
        dims = [4]
        nodes_per_router = 2
        planes = 2
        rails = 2
        rail_routers = "next"
        rail_rule = "stripe"
        [[job]]
        pattern = { name = "all-to-all", bytes = "1 MiB" }
        placement = "compact"
        ranks = 5
        ranks_per_node = 1
        """)
