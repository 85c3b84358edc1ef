"""Node-aware communication as an alternative to redistribution: time of one product per level, rank by rank.

The paper's model charges every rank the largest number of messages over the network's diameter. This model
prices the counted messages of each rank. Between nodes a message costs alpha + hops + bandwidth with the
given block placement. Inside a node it costs alpha and the bandwidth of memory. The slowest rank gives the
time of a step.
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
    """Messages of one product: senders, receivers and number of values."""

    sources: Numbers
    destinations: Numbers
    values: Numbers

    def transposed(self) -> Exchange:
        """The transposed exchange, as for a restriction: receivers send."""
        return Exchange(self.destinations, self.sources, self.values)

    def merged(self, leader: Numbers, most: int) -> Exchange:
        """The exchange between the groups of `leader` (by rank), at most `most` values per pair."""
        ranks = len(leader)
        sources, destinations = leader[self.sources], leader[self.destinations]
        between = sources != destinations
        keys, index = np.unique(sources[between] * ranks + destinations[between], return_inverse=True)
        values = np.bincount(index, weights=self.values[between], minlength=len(keys)).astype(np.int64)
        return Exchange(keys // ranks, keys % ranks, np.minimum(values, most))


Factors = tuple[float, float, float]
"""Constants that a scenario's penalties multiply: alpha, gamma, beta."""


def pricing(
    machine: ParameterSet, factors: Factors = (1.0, 1.0, 1.0), *, distance: bool = True
) -> dict[str, Any]:
    """The max-rate model with the machine's constants times the penalties; hops only if `distance`.

    A node injects at most its hardware bandwidth, a rank at most the measured one. Inside a node a message
    starts after alpha, the time to the nearest node; this is an upper estimate. It moves at a thread's share
    of the memory bandwidth with all cores busy.
    """
    c = machine.constants
    startup, hops, value = factors
    return {
        "alpha_s": c["alpha_s"] * startup,
        "rank_rate": BYTES_PER_VALUE / (c["beta_s_per_value"] * value),
        "node_rate": c["node_bandwidth"],
        "within_node": (c["alpha_s"] * startup, c["thread_bandwidth"][-1][1]),
        "hop_s": c["gamma_s"] * hops if distance else 0.0,
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
    """Communication time of one product along a route, in seconds.

    Args:
        exchange: Messages of the product.
        nodes: Node of each rank.
        machine: Constants and network.
        route: One of `ROUTES`.
        factors: Penalty factors of alpha, gamma and beta.
        distance: Whether hops cost time.
    """
    return _core.product_seconds(
        exchange.sources.tolist(),
        exchange.destinations.tolist(),
        (exchange.values * BYTES_PER_VALUE).tolist(),
        nodes.tolist(),
        route,
        machine.constants["network"],
        pricing(machine, factors, distance=distance),
    )


def block_placement(ranks: int, per_node: int) -> Numbers:
    """Node of each rank when ranks fill nodes in order."""
    return np.arange(ranks) // per_node
