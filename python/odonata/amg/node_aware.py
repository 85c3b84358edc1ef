"""Node-aware communication beside redistribution: what one product of each level costs, rank by rank.

Unlike the paper's model, which charges every rank the largest number of messages over the network's diameter,
this prices the messages that were counted: each rank its own, between nodes at alpha + hops + bandwidth on
the given block placement, inside a node at alpha alone and the bandwidth of memory. The time of a step is
that of its slowest rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from odonata import _core
from odonata.amg.hierarchy import SOLVE
from odonata.amg.machines import ParameterSet

ROUTES = ("direct", "two-steps", "three-steps")
BYTES_PER_VALUE = 8


def pricing(machine: ParameterSet) -> dict[str, Any]:
    """The max-rate model with the machine's constants.

    A node injects at most its hardware bandwidth, a rank at most the measured one. Inside a node a message
    starts in alpha, the time to the nearest node, which is too much rather than too little, and moves at a
    thread's share of the memory's bandwidth with all cores busy.
    """
    c = machine.constants
    return {
        "model": "max-rate",
        "parameters": {
            "alpha_s": c["alpha_s"],
            "rank_rate": BYTES_PER_VALUE / c["beta_s_per_value"],
            "node_rate": c["node_bandwidth"],
        },
        "within_node": (c["alpha_s"], c["thread_bandwidth"][-1][1]),
        "hop_s": c["gamma_s"],
        "match_s": 0.0,
    }


def product_seconds(
    messages: pa.Table,
    level: int,
    nodes: np.ndarray[Any, np.dtype[np.int64]],
    machine: ParameterSet,
    route: str,
    *,
    operator: int = SOLVE,
    transposed: bool = False,
) -> float:
    """The communication of one product with an operator of the level along a route, seconds.

    Args:
        messages: The table `messages` of a hierarchy directory.
        level: Which level.
        nodes: Node of each rank.
        machine: Constants and network.
        route: One of `ROUTES`.
        operator: The level's matrix, or the interpolation to it.
        transposed: With the transpose, as a restriction is: receivers send.
    """
    table = messages.to_pandas()
    chosen = table[(table["level"] == level) & (table["operator"] == operator)]
    ends = ("destination", "source") if transposed else ("source", "destination")
    steps = _core.node_aware_steps(
        chosen[ends[0]].tolist(),
        chosen[ends[1]].tolist(),
        (chosen["values"] * BYTES_PER_VALUE).tolist(),
        nodes.tolist(),
        route,
    )
    network = machine.constants["network"]
    total = 0.0
    for sources, destinations, sizes in steps:
        costs = _core.message_costs(sources, destinations, sizes, nodes.tolist(), network, pricing(machine))
        total += max((sum(cost) for cost in costs), default=0.0)
    return total


def block_placement(ranks: int, per_node: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Ranks fill nodes in order."""
    return np.arange(ranks) // per_node
