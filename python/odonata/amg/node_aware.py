"""Node-aware communication beside redistribution: what one product of each level costs, rank by rank.

Unlike the paper's model, which charges every rank the largest number of messages over the network's diameter,
this prices the messages that were counted: each rank its own, between nodes at alpha + hops + bandwidth on
the given block placement, inside a node at alpha alone and the bandwidth of memory. The time of a step is
that of its slowest rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from odonata import _core
from odonata.amg.machines import ParameterSet

ROUTES = ("direct", "two-steps", "three-steps")
BYTES_PER_VALUE = 8

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Exchange:
    """Messages of one product: who sends how many values to whom."""

    sources: Numbers
    destinations: Numbers
    values: Numbers

    def transposed(self) -> Exchange:
        """With the transpose, as a restriction is: receivers send."""
        return Exchange(self.destinations, self.sources, self.values)

    def merged(self, leader: Numbers, most: int) -> Exchange:
        """Between the groups that `leader` (by rank) makes of the ranks; at most so many values each."""
        ranks = len(leader)
        sources, destinations = leader[self.sources], leader[self.destinations]
        between = sources != destinations
        keys, index = np.unique(sources[between] * ranks + destinations[between], return_inverse=True)
        values = np.bincount(index, weights=self.values[between], minlength=len(keys)).astype(np.int64)
        return Exchange(keys // ranks, keys % ranks, np.minimum(values, most))


Factors = tuple[float, float, float]
"""What a scenario's penalties multiply: alpha, gamma, beta."""


def pricing(
    machine: ParameterSet, factors: Factors = (1.0, 1.0, 1.0), *, distance: bool = True
) -> dict[str, Any]:
    """The max-rate model with the machine's constants, times the penalties; hops only with `distance`.

    A node injects at most its hardware bandwidth, a rank at most the measured one. Inside a node a message
    starts in alpha, the time to the nearest node, which is too much rather than too little, and moves at a
    thread's share of the memory's bandwidth with all cores busy.
    """
    c = machine.constants
    startup, hops, value = factors
    return {
        "model": "max-rate",
        "parameters": {
            "alpha_s": c["alpha_s"] * startup,
            "rank_rate": BYTES_PER_VALUE / (c["beta_s_per_value"] * value),
            "node_rate": c["node_bandwidth"],
        },
        "within_node": (c["alpha_s"] * startup, c["thread_bandwidth"][-1][1]),
        "hop_s": c["gamma_s"] * hops if distance else 0.0,
        "match_s": 0.0,
    }


def product_seconds(
    exchange: Exchange,
    nodes: Numbers,
    machine: ParameterSet,
    route: str,
    factors: Factors = (1.0, 1.0, 1.0),
    *,
    distance: bool = True,
) -> float:
    """The communication of one product along a route, seconds.

    Args:
        exchange: Its messages.
        nodes: Node of each rank.
        machine: Constants and network.
        route: One of `ROUTES`.
        factors: What the penalties multiply.
        distance: Whether hops are charged.
    """
    steps = _core.node_aware_steps(
        exchange.sources.tolist(),
        exchange.destinations.tolist(),
        (exchange.values * BYTES_PER_VALUE).tolist(),
        nodes.tolist(),
        route,
    )
    network, prices = machine.constants["network"], pricing(machine, factors, distance=distance)
    total = 0.0
    for sources, destinations, sizes in steps:
        costs = _core.message_costs(sources, destinations, sizes, nodes.tolist(), network, prices)
        total += max((sum(cost) for cost in costs), default=0.0)
    return total


def block_placement(ranks: int, per_node: int) -> Numbers:
    """Ranks fill nodes in order."""
    return np.arange(ranks) // per_node
