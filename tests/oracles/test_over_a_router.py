"""What Valiant's algorithm accepts on a HyperX, whose links it fills alike: links over hops."""

from __future__ import annotations

import odonata


def test_valiant_fills_the_links_of_a_hyperx() -> None:
    size, nodes = 4, 8
    routers = size * size
    run = odonata.run(
        {
            "machine": {"topology": "hyperx", "dims": [size, size], "nodes_per_router": nodes},
            "job": [
                {
                    "pattern": "bit-complement",
                    "ranks": routers * nodes,
                    "ranks_per_node": 1,
                    "traffic": {"name": "open", "load": 0.8},
                }
            ],
            "engine": {"kind": "packet", "routing": "valiant", "warm_up": "60 us", "measure": "40 us"},
        }
    )
    # All send to the router that differs in both coordinates, over one of the others: of these 2 (size - 1)
    # are a hop away and the rest two, less the destination. What is missing is lost where packets wait.
    near, all_others = 2 * (size - 1), routers - 2
    byte_hops_mean = 2 * (near + 2 * (all_others - near)) / all_others
    most = 2 * (size - 1) / (nodes * byte_hops_mean)
    accepted = run.jobs["accepted_load"][0].as_py()
    assert 0.85 * most <= accepted <= most * 1.01
