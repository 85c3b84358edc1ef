"""Small runs on machines of an unusual kind."""

from __future__ import annotations

from functools import cache

import odonata
from odonata import Run

RAILS = 4


@cache
def stored() -> Run:
    """A ring of four routers with three nodes each, at two of them a storage node instead of the last."""
    return odonata.run("""
        [machine]
        topology = "torus"
        dims = [4]
        nodes_per_router = 3
        node_counts = "router 1,3: 2 + 1 storage"
        [[job]]
        program = { name = "checkpoint", servers = 2, bytes = "1 MiB", final_barrier = false }
        placement = "compact"
        ranks = 6
        ranks_per_node = 1
        """)


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
