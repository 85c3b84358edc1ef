"""Columns of the packet engine's tables in runs that are followed by hand, to the picosecond.

Everywhere: 512 B at 25 GB/s take 20.48 ns; 10 ns into and 10 ns out of a router; 10 ns of cable to a node.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import odonata

TERMINAL = 'class.terminal = { bandwidth = "25 GB/s", latency = "10 ns" }'


def test_two_packets_over_one_cable() -> None:
    """Two nodes, a router each, a cable of 30 ns; each sends 1,024 B to the other: two packets.

    The first leaves at 0: 10 + 10 ns to the router, 10 + 30 + 10 to the next, 10 + 10 to the node, 20.48 for
    its bytes: 110.48 ns in the network. The second waits 20.48 ns at its source and then takes as long. Means
    of the two: wait 10.24, network 110.48, both together 120.72; the last byte arrives at 130.96.
    """
    run = odonata.run(f"""
        [machine]
        topology = "torus"
        dims = [2]
        wrap = false
        {TERMINAL}
        class.local = {{ bandwidth = "25 GB/s", latency = "30 ns" }}

        [[job]]
        pattern = "tornado"
        ranks = 2
        ranks_per_node = 1
        bytes = "1024 B"

        [engine]
        kind = "packet"
        routing = "min"
        """)
    job = run.jobs.to_pandas().iloc[0]
    assert (job["packets"], job["in_flight_packets"], job["messages"]) == (4, 0, 2)
    assert job["network_latency_mean_ns"] == pytest.approx(110.48, rel=1e-12)
    assert job["source_wait_mean_ns"] == pytest.approx(10.24, rel=1e-12)
    assert job["latency_mean_ns"] == pytest.approx(120.72, rel=1e-12)
    assert job["latency_max_ns"] == pytest.approx(130.96, rel=1e-12)
    # Percentiles are off by at most 1/128 of the value: half of a cell of the histogram.
    assert job["latency_p50_ns"] == pytest.approx(110.48, rel=1 / 128)
    assert job["latency_p99_ns"] == pytest.approx(130.96, rel=1 / 128)
    assert job["completion_time_s"] == pytest.approx(130.96e-9, rel=1e-12)
    assert (job["packet_hops_mean"], job["non_minimal_share"], job["byte_hops_mean"]) == (1, 0, 1)
    links = run.links.to_pandas()
    assert links["packets"].tolist() == [2, 2]
    assert links["busy_ps"].tolist() == [40_960] * 2
    assert links["stall_ps"].tolist() == [0, 0]
    assert links["idle_ps"].tolist() == [130_960 - 40_960] * 2
    latency = run.table("latency").to_pandas()
    for part, packets in {"total": [2, 2], "network": [4]}.items():
        cells = latency[latency["part"] == part]
        assert cells["packets"].tolist() == packets
        assert (cells["latency_lower_ps"] <= [110_480, 130_960][: len(cells)]).all()
        assert (cells["latency_upper_ps"] > [110_480, 130_960][: len(cells)]).all()


def test_the_stall_of_two_groups_is_that_of_all_their_links(tmp_path: Path) -> None:
    """Two groups of two routers with a node each, a0 and b0, a1 and b1 joined by cables of 300 ns; input
    buffers of one packet. a0's node sends two packets to b0's, a1's sends three to b1's.

    A source sends its next packet when the credit of the last one is back, 10 + 10 + 10 = 30 ns after it
    left. So it stalls from 20.48 to 30, and the packets reach the output queue to the cable at 20, 50 and
    80 ns. The cable takes the first at once, and the next when that one's credit is back, 10 + 300 + 10 +
    300 = 620 ns later. So the cable stalls from 50 to 640, and a0 no more; a1 stalls again from
    660.48, when it has sent the second, to 1260. The third is at b1's node 10 + 300 + 10 and 10 + 10 and
    20.48 ns later, at 1620.48.
    """
    (tmp_path / "cables.csv").write_text(
        "src,dst,class,bandwidth,latency,src_group,dst_group\n"
        "a0,a1,local,25 GB/s,30 ns,0,0\n"
        "b0,b1,local,25 GB/s,30 ns,1,1\n"
        "a0,b0,global,25 GB/s,300 ns,0,1\n"
        "a1,b1,global,25 GB/s,300 ns,0,1\n"
    )
    (tmp_path / "messages.csv").write_text("src,dst,bytes\n0,2,1024\n1,3,1536\n")
    file = tmp_path / "experiment.toml"
    file.write_text(f"""
        [machine]
        file = "cables.csv"
        {TERMINAL}

        [[job]]
        pattern = "file"
        path = "messages.csv"
        ranks = 4
        ranks_per_node = 1

        [engine]
        kind = "packet"
        routing = "min"
        input_buffer = "512 B"
        """)
    run = odonata.run(file)
    first, both = 640_000 - 50_000, 640_000 - 50_000 + 1_260_000 - 660_480
    names = dict(run.routers.to_pandas().set_index("router")["name"])
    links = run.links.to_pandas()
    stalls = {
        (names[link["source"]], names[link["target"]]): link["stall_ps"]
        for _, link in links[links["stall_ps"] > 0].iterrows()
    }
    assert stalls == {("a0", "b0"): first, ("a1", "b1"): both}
    assert run.nodes.to_pandas()["stall_ps"].tolist() == [9_520, 2 * 9_520, 0, 0]
    assert run.jobs.to_pandas()["completion_time_s"].tolist() == [pytest.approx(1620.48e-9, rel=1e-12)]

    table = run.table("group_traffic").to_pandas().set_index(["source_group", "target_group"])
    expected = pd.DataFrame(
        {"links": 2, "bytes": 0.0, "stall_ps": 0, "congestion_index": 0.0},
        index=pd.MultiIndex.from_product([[0, 1], [0, 1]]),
    )
    # 2,560 B in 1,620.48 ns over two cables of 25 GB/s.
    expected.loc[0, 1] = [2, 2560.0, first + both, 2560 / 1620.48e-9 / 50e9]
    assert set(table.index) == set(expected.index)
    for column in expected:
        assert table[column].to_dict() == pytest.approx(expected[column].to_dict(), rel=1e-12), column


def test_the_offered_load_is_that_of_all_steps() -> None:
    """Two nodes send to each other, without chance a packet each 20.48 ns / load.

    Load 0.1 from the start, 0.4 from 12 us, 0.2 from 18 us; the window is 10 to 20 us. 2 us of 0.1, 6 us
    of 0.4 and 2 us of 0.2 are 3 us of a full link in 10 us: 0.3. Nothing queues up, so that is accepted,
    too, but for a packet of 146 at either end of the window and where the load changes.
    """
    run = odonata.run(f"""
        [machine]
        topology = "torus"
        dims = [2]
        wrap = false
        {TERMINAL}
        class.local = {{ bandwidth = "25 GB/s", latency = "30 ns" }}

        [[job]]
        pattern = "tornado"
        ranks = 2
        ranks_per_node = 1

        [job.traffic]
        name = "open"
        injection = "interval"
        load = 0.1
        step_times = ["12 us", "18 us"]
        step_loads = [0.4, 0.2]

        [engine]
        kind = "packet"
        routing = "min"
        warm_up = "10 us"
        measure = "10 us"
        """)
    job = run.jobs.to_pandas().iloc[0]
    assert job["offered_load"] == pytest.approx(0.3, rel=1e-12)
    assert job["accepted_load"] == pytest.approx(0.3, abs=0.3 * 4 / 146)


def test_loads_have_one_denominator_when_the_sources_fall_silent() -> None:
    """Load 0.3 from the start, none from 10 us: of a window of 50 us that is 0.3 * 10 / 50 = 0.06.

    Of 25 ranks, a 5 x 5 matrix that is transposed, the 5 on the diagonal send nothing: 20 nodes send, and
    both loads are shares of their bandwidth. The last packet arrives a microsecond after the step or so,
    and what follows is silence until the window ends.
    """
    run = odonata.run(f"""
        [machine]
        topology = "torus"
        dims = [25]
        {TERMINAL}
        class.local = {{ bandwidth = "2500 GB/s", latency = "30 ns" }}

        [[job]]
        pattern = "transpose"
        ranks = 25
        ranks_per_node = 1

        [job.traffic]
        name = "open"
        injection = "interval"
        load = 0.3
        step_times = ["10 us"]
        step_loads = [0.0]

        [engine]
        kind = "packet"
        routing = "min"
        warm_up = "0 us"
        measure = "50 us"
        record_packets = true
        """)
    job, packet = run.jobs.to_pandas().iloc[0], run.summary["packet"]
    assert (packet["measured_ps"], run.summary["ending"]) == (50_000_000, "complete")
    assert 10e6 < packet["end_ps"] < 12e6
    assert job["offered_load"] == pytest.approx(0.06, rel=1e-12)
    arrived = run.table("packets").to_pandas()["bytes"].sum()
    assert job["accepted_load"] == pytest.approx(arrived / (20 * 25e9 * 50e-6), rel=1e-12)
    # A gap is 68.3 ns: 146 packets of every node, or one more or less.
    assert job["accepted_load"] == pytest.approx(0.06, abs=0.06 / 146)
    links = run.links.to_pandas()
    assert (links["busy_ps"] + links["stall_ps"] + links["idle_ps"] == 50_000_000).all()
