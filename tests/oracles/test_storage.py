"""Storage traffic against the rate of the I/O nodes."""

from __future__ import annotations

import pytest

import odonata


@pytest.mark.parametrize("access", ["write", "read"])
def test_a_burst_takes_the_time_of_the_io_nodes(access: str) -> None:
    """12 nodes with 1 MiB each and 2 I/O nodes of 25 GB/s on one crossbar: 12 MiB / 50 GB/s = 251.7 us.

    Each node waits for every stripe, so an I/O node sometimes has none: at most 10 % more.
    """
    program = {"name": "checkpoint", "access": access, "servers": 2, "bytes": "1 MiB", "stripe": "64 KiB"}
    run = odonata.run(
        {
            "machine": {"topology": "hyperx", "dims": [1], "nodes_per_router": 14},
            "job": [{"name": "checkpoint", "ranks": 14, "ranks_per_node": 1, "program": program}],
            "engine": {"kind": "packet", "routing": "min"},
        }
    )
    time_s = run.jobs["completion_time_s"][0].as_py()
    bound_s = 12 * 2**20 / 50e9
    assert bound_s <= time_s <= 1.1 * bound_s
