"""The bisection of machines without a formula, next to the cuts of METIS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymetis
import pytest

import odonata

SEEDS = range(8)


def smallest_by_metis(machine: odonata.Machine) -> int:
    """Cables of the smallest cut between halves with equal nodes that METIS finds with some seeds."""
    links = machine.links
    ends = np.stack([links["source"].to_numpy(), links["target"].to_numpy()], axis=1)
    pairs, counts = np.unique(ends, axis=0, return_counts=True)
    routers = machine.routers.num_rows
    first = np.searchsorted(pairs[:, 0], np.arange(routers + 1))
    nodes = np.bincount(machine.nodes["router"].to_numpy(), minlength=routers)
    found = []
    for seed in SEEDS:
        cut, part = pymetis.part_graph(
            2,
            pymetis.CSRAdjacency(adj_starts=first.tolist(), adjacent=pairs[:, 1].tolist()),
            eweights=counts.tolist(),
            vweights=nodes.tolist(),
            recursive=True,
            options=pymetis.Options(seed=seed, ufactor=1, niter=50),
        )
        if 2 * int(nodes[np.array(part) == 1].sum()) == int(nodes.sum()):
            found.append(cut)
    assert found, "METIS found no equal halves"
    return min(found)


@pytest.mark.parametrize(
    ("keys", "edits"),
    [
        ({"topology": "jellyfish", "routers": 50, "degree": 6, "graph_seed": 1}, ()),
        ({"topology": "jellyfish", "routers": 98, "degree": 11, "graph_seed": 2}, ()),
        ({"topology": "jellyfish", "routers": 400, "degree": 16, "graph_seed": 3}, ()),
        ({"topology": "jellyfish", "routers": 1000, "degree": 4, "graph_seed": 4}, ()),
        ({"topology": "slim-fly", "q": 7}, ()),
        ({"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 6}, ()),
        ({"topology": "torus", "dims": [10, 10, 6]}, ("fail 5% local",)),
        ({"topology": "hyperx", "dims": [4, 6, 6]}, ()),
    ],
)
def test_the_search_is_as_good_as_metis(keys: Mapping[str, Any], edits: tuple[str, ...]) -> None:
    machine = odonata.machine(keys, edit=edits)
    found = machine.metrics["bisection"]
    assert len(set(found["nodes"])) == 1
    assert found["cables"] <= 1.03 * smallest_by_metis(machine)
