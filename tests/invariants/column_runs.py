"""Small runs that have every declared column between them, each made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from checking import Tables
from control_runs import CONTROL_RUNS
from machine_runs import railed, stored
from program_runs import PROGRAM_RUNS
from run_files import DRAGONFLY, GROUPS, NODES, ROUTERS, directory

import odonata
from odonata import Run, Sweep
from odonata.store.schema import Column, Table
from odonata.sweeps.results import STATISTICS

LOCAL, GLOBAL, TERMINAL = 25e9, 12.5e9, 20e9
LOCAL_PS, GLOBAL_PS = 30_000, 300_000
PACKET = 512
INTERVAL_PS = 500_000
SHORT_PS = 100_000
MEASURED_PS = 2_000_000

RANKS = {"near": 40, "far": 30}
PER_NODE = {"near": 2, "far": 1}
ITERATIONS = {"near": 2, "far": 1}
PLACEMENTS = {"near": "compact", "far": "random-nodes"}
COLORS = {"near": "#0072b2", "far": "#e69f00"}

RECORDS = """
interval = "500 ns"
series = ["jobs", "links", "channels", "link-jobs"]
record_channels = true
record_counted_stall = true
record_crossbar = true
record_packets = true
record_paths = true
"""


@cache
def messages(job: str) -> list[tuple[int, int, int]]:
    """Source, target and bytes of a job's messages: some to itself, some on its node, one without bytes."""
    random = np.random.default_rng(RANKS[job])
    ranks = RANKS[job]
    found = [(rank, int(random.integers(ranks)), int(random.integers(1, 3000))) for rank in range(ranks)] * 2
    return [*found, (0, 0, 77), (1, 0, 900), (1, 2, 700), (0, 1, 5), (2, 3, 0), (3, 2, 4000)]


def sent_by(job: str) -> Path:
    """The file of a job's messages."""
    path = directory() / f"{job}.csv"
    rows = "".join(f"{source},{target},{size}\n" for source, target, size in messages(job))
    path.write_text(f"src,dst,bytes\n{rows}")
    return path


def jobs() -> str:
    """Two jobs whose messages stand in files."""
    texts = []
    for name, ranks in RANKS.items():
        texts.append(
            f'[[job]]\nname = "{name}"\ncolor = "{COLORS[name]}"\npattern = "file"\n'
            f'path = "{sent_by(name)}"\nranks = {ranks}\nranks_per_node = {PER_NODE[name]}\n'
            f'iterations = {ITERATIONS[name]}\nplacement = "{PLACEMENTS[name]}"\n'
        )
    return "\n".join(texts)


OFFERED = """
[[job]]
name = "{name}"
pattern = "{pattern}"
ranks = 36
ranks_per_node = 1
placement = "random-nodes"
traffic = {{ name = "open", load = {load}, injection = "{injection}"{steps} }}
"""
LOADS = OFFERED.format(name="less", pattern="uniform", load=0.2, injection="interval", steps="")
LOADS += OFFERED.format(
    name="more",
    pattern="random-permutation",
    load=0.6,
    injection="bernoulli",
    steps=', step_times = ["0.5 us"], step_loads = [0.4]',
)


@cache
def closed() -> Run:
    """All messages of two jobs on non-minimal paths, with small router buffers and every record on."""
    engine = '[engine]\nkind = "packet"\nrouting = "valiant-g"\ninput_buffer = "1 KiB"\n'
    return odonata.run(f"{DRAGONFLY}\n{jobs()}\n{engine}{RECORDS}")


@cache
def opened() -> Run:
    """Two loads, one of which falls, measured from the first packet on; cut off with packets in flight."""
    times = f'warm_up = "0 us"\nmeasure = "{MEASURED_PS // 1000} ns"\ndrain = "0 us"\n'
    engine = f'[engine]\nkind = "packet"\nrouting = "min"\n{times}'
    return odonata.run(f"{DRAGONFLY}\n{LOADS}\n{engine}{RECORDS}")


LOSS = 0.25
LEARNT_PACKETS = {(1, 2): 50, (0, 4): 15}
"""By the ranks of source and target."""


@cache
def learnt() -> Run:
    """Three groups of one router with two nodes each; two nodes of the first send, to another group each."""
    rows = "".join(
        f"{source},{target},{count * PACKET}\n" for (source, target), count in LEARNT_PACKETS.items()
    )
    (directory() / "groups.csv").write_text(f"src,dst,bytes\n{rows}")
    return odonata.run(f"""
        [machine]
        topology = "dragonfly"
        p = 2
        a = 1
        h = 2
        g = 3
        class.local = {{ bandwidth = "25 GB/s", latency = "30 ns" }}
        class.global = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "groups.csv"}" }}
        ranks = 6
        ranks_per_node = 1
        [engine]
        kind = "packet"
        routing = {{ name = "q-adaptive", exploration = 0, loss = {LOSS} }}
        interval = "100 ns"
        record_q_tables = true
        """)


def q_table() -> pa.Table:
    """What no router would learn: a time of its own for every router, row and link.

    A row for each node of a router and other group; the links of a router are numbered one after the other.
    """
    routers, rows, links = GROUPS * ROUTERS, (GROUPS - 1) * NODES, ROUTERS - 1 + 2
    count = routers * rows * links
    return pa.table(
        {
            "router": pa.array(np.arange(count) // (rows * links), pa.uint32()),
            "row": pa.array(np.arange(count) // links % rows, pa.uint32()),
            "link": pa.array(
                np.arange(count) // (rows * links) * links + np.arange(count) % links, pa.uint32()
            ),
            "estimate_ns": 1000.0 + np.arange(count) / 4,
        }
    )


@cache
def taught() -> Run:
    """Routers that start from a table and see no packet."""
    path = directory() / "q_tables.parquet"
    pq.write_table(q_table(), path)
    idle = OFFERED.format(name="silent", pattern="uniform", load=0.0, injection="bernoulli", steps="")
    engine = (
        '[engine]\nkind = "packet"\nmeasure = "1 us"\nrecord_q_tables = true\n'
        f'routing = {{ name = "q-adaptive", q_tables = "{path}" }}\n'
    )
    return odonata.run(f"{DRAGONFLY}\n{idle}\n{engine}")


@cache
def crossing() -> Run:
    """Two routers a and b with four nodes each: two packets to b meet at a, two others at b."""
    (directory() / "pair.csv").write_text("src,dst,class\na,b,long\n")
    (directory() / "meeting.csv").write_text("src,dst,bytes\n0,4,512\n1,4,512\n6,5,512\n7,5,512\n")
    return odonata.run(f"""
        [machine]
        file = "{directory() / "pair.csv"}"
        nodes_per_router = 4
        class.long = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "meeting.csv"}" }}
        ranks = 8
        ranks_per_node = 1
        [engine]
        kind = "packet"
        routing = "min"
        crossbar_speedup = 1
        record_crossbar = true
        """)


PACED_LOAD, ROOM = 0.5, 2


@cache
def paced() -> Run:
    """Four nodes of a router send to four of another over one cable, which takes half of what they offer."""
    (directory() / "hall.csv").write_text("src,dst,class\na,b,long\n")
    (directory() / "half.csv").write_text("src,dst,bytes\n0,4,512\n1,5,512\n2,6,512\n3,7,512\n")
    traffic = f'{{ name = "open", load = {PACED_LOAD}, injection = "paced", buffer = {ROOM} }}'
    return odonata.run(f"""
        [machine]
        file = "{directory() / "hall.csv"}"
        nodes_per_router = 4
        class.long = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "half.csv"}" }}
        ranks = 8
        ranks_per_node = 1
        traffic = {traffic}
        [engine]
        kind = "packet"
        routing = "min"
        input_buffer = "1 KiB"
        warm_up = "0 us"
        measure = "30 us"
        record_packets = true
        """)


@cache
def starved() -> Run:
    """Three packets of one node over a long cable whose far end holds one packet."""
    (directory() / "line.csv").write_text("src,dst,class\na,b,long\n")
    (directory() / "three.csv").write_text("src,dst,bytes\n0,1,1536\n1,0,512\n")
    return odonata.run(f"""
        [machine]
        file = "{directory() / "line.csv"}"
        class.long = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "three.csv"}" }}
        ranks = 2
        ranks_per_node = 1
        [engine]
        kind = "packet"
        routing = "min"
        input_buffer = "512 B"
        interval = "100 ns"
        series = ["links", "channels", "link-jobs"]
        record_channels = true
        record_counted_stall = true
        record_packets = true
        """)


@cache
def held() -> Run:
    """From a over b to c, with a place for one packet: jobs 0, 1, 2 from a, 1 also back, and 3 from b."""
    (directory() / "joint.csv").write_text("src,dst,class\na,b,long\nb,c,short\n")
    files = ["0,1,512\n", "0,1,512\n1,0,1024\n", "0,1,512\n", "0,1,3072\n"]
    ends = [(0, 8), (1, 9), (2, 10), (4, 11)]
    nodes = "".join(f"{job},0,{first}\n{job},1,{last}\n" for job, (first, last) in enumerate(ends))
    (directory() / "joint-nodes.csv").write_text(f"job,rank,node\n{nodes}")
    texts = []
    for job, rows in enumerate(files):
        path = directory() / f"joint-{job}.csv"
        path.write_text(f"src,dst,bytes\n{rows}")
        texts.append(
            f'[[job]]\npattern = {{ name = "file", path = "{path}" }}\nranks = 2\nranks_per_node = 1\n'
            f'placement = {{ name = "file", path = "{directory() / "joint-nodes.csv"}" }}\n'
        )
    return odonata.run(f"""
        [machine]
        file = "{directory() / "joint.csv"}"
        nodes_per_router = 4
        class.long = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.short = {{ bandwidth = "25 GB/s", latency = "145 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        {"".join(texts)}
        [engine]
        kind = "packet"
        routing = "min"
        input_buffer = "512 B"
        record_job_waits = true
        """)


@cache
def fifos() -> Run:
    """12 packets from node 0 to node 1 by three torus FIFOs with room for two packets each, over one link."""
    (directory() / "twelve.csv").write_text("src,dst,bytes\n0,1,2880\n")
    return odonata.run(f"""
        [machine]
        topology = "torus"
        dims = [2]
        wrap = false
        class.local = {{ bandwidth = "425 MB/s", latency = "100 ns" }}
        class.terminal = {{ bandwidth = "2.55 GB/s", latency = "100 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "twelve.csv"}" }}
        ranks = 2
        ranks_per_node = 1
        [engine]
        kind = "packet"
        preset = "bgp"
        routing = "torus-deterministic"
        injection = {{ fifos = 3, map = [7], fifo_packets = 2 }}
        """)


@cache
def queued() -> Run:
    """Five packets over a fast cable and then one of 10 GB/s, whose queue has room for one packet."""
    (directory() / "slower.csv").write_text("src,dst,class\na,b,fast\nb,c,slow\n")
    (directory() / "five.csv").write_text("src,dst,bytes\n0,1,2560\n")
    (directory() / "ends.csv").write_text("job,rank,node\n0,0,0\n0,1,2\n")
    return odonata.run(f"""
        [machine]
        file = "{directory() / "slower.csv"}"
        class.fast = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.slow = {{ bandwidth = "10 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "five.csv"}" }}
        ranks = 2
        ranks_per_node = 1
        placement = {{ name = "file", path = "{directory() / "ends.csv"}" }}
        [engine]
        kind = "packet"
        routing = "min"
        output_buffer = "512 B"
        record_channels = true
        """)


@cache
def broken() -> Run:
    """The steady state of the same jobs where a router and two cables have failed."""
    machine = DRAGONFLY + 'edit = ["fail g8r3", "fail g7r0>g7r1:local.0"]\n'
    return odonata.run(f'{machine}\n{jobs()}\n[engine]\nrouting = "min"\n')


@cache
def shared() -> Run:
    """The steady state of two jobs on one cable: 3 MB of one, and twice 0.5 MB; 1 MB stays on a router."""
    (directory() / "one.csv").write_text("src,dst,class\na,b,long\n")
    (directory() / "big.csv").write_text("src,dst,bytes\n0,2,3000000\n0,1,1000000\n")
    (directory() / "small.csv").write_text("src,dst,bytes\n0,1,500000\n0,1,500000\n1,1,4\n1,0,0\n")
    (directory() / "nodes.csv").write_text("job,rank,node\n0,0,0\n0,1,1\n0,2,2\n1,0,1\n1,1,3\n")
    return odonata.run(f"""
        [machine]
        file = "{directory() / "one.csv"}"
        nodes_per_router = 2
        cores_per_node = 2
        class.long = {{ bandwidth = "1 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "10 GB/s", latency = "10 ns" }}
        [[job]]
        name = "big"
        pattern = {{ name = "file", path = "{directory() / "big.csv"}" }}
        ranks = 3
        ranks_per_node = 1
        placement = {{ name = "file", path = "{directory() / "nodes.csv"}" }}
        [[job]]
        name = "small"
        pattern = {{ name = "file", path = "{directory() / "small.csv"}" }}
        ranks = 2
        ranks_per_node = 1
        placement = {{ name = "file", path = "{directory() / "nodes.csv"}" }}
        [engine]
        routing = "min"
        demand = "messages"
        alone = true
        """)


CROWD = 300


@cache
def crowded() -> Run:
    """More ranks than the matrix has cells for, on two routers that three cables join, two of them alike."""
    (directory() / "cables.csv").write_text("src,dst,class\na,b,long\na,b,long\na,b,short\n")
    rows = "".join(f"{rank},{(rank + 34) % CROWD},{rank + 1}\n" for rank in range(CROWD))
    (directory() / "crowd.csv").write_text(f"src,dst,bytes\n{rows}")
    (directory() / "pairs.csv").write_text("src,dst,bytes\n0,1,10\n3,2,20\n")
    return odonata.run(f"""
        [machine]
        file = "{directory() / "cables.csv"}"
        nodes_per_router = 6
        cores_per_node = 30
        class.long = {{ bandwidth = "1 GB/s", latency = "300 ns" }}
        class.short = {{ bandwidth = "2 GB/s", latency = "30 ns" }}
        class.terminal = {{ bandwidth = "10 GB/s", latency = "10 ns" }}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "crowd.csv"}" }}
        ranks = {CROWD}
        [[job]]
        pattern = {{ name = "file", path = "{directory() / "pairs.csv"}" }}
        ranks = 4
        ranks_per_node = 2
        [engine]
        kind = "model"
        form = "postal"
        """)


POSTAL = {
    "alpha": 2e-6,
    "rate": 4e9,
    "hop": 1e-7,
    "matching": 1e-8,
    "on_node_alpha": 5e-7,
    "on_node_rate": 8e9,
}


@cache
def priced() -> Run:
    """The same messages by a formula."""
    keys = (
        'alpha = "2 us"\nrate = "4 GB/s"\nhop = "100 ns"\nmatching = "10 ns"\n'
        'on_node_alpha = "500 ns"\non_node_rate = "8 GB/s"\n'
    )
    return odonata.run(f'{DRAGONFLY}\n{jobs()}\n[engine]\nkind = "model"\nform = "postal"\n{keys}')


CYCLES = {"small": (8, "100x100x100", 4, 3), "large": (64, "30x30x30", 8, 2)}
"""Of each job: its ranks, the points of each, ranks on a node, threads of a rank."""

SCENARIOS = ("alpha-beta-gamma-penalties", "alpha-beta")


@cache
def cycled() -> Run:
    """Two multigrid cycles by a formula, each in two scenarios."""
    texts = [
        f'[[job]]\nname = "{name}"\npattern = {{ name = "amg", hierarchy = "laplace7-{ranks}-{points}" }}\n'
        f"ranks = {ranks}\nranks_per_node = {tasks}\n"
        for name, (ranks, points, tasks, _) in CYCLES.items()
    ]
    threads = [threads for *_, threads in CYCLES.values()]
    scenarios = ", ".join(f'"{name}"' for name in SCENARIOS)
    engine = f'[engine]\nkind = "model"\nform = "amg"\nscenarios = [{scenarios}]\nthreads = {threads}\n'
    return odonata.run("\n".join([DRAGONFLY, *texts, engine]))


SWEPT: dict[str, list[Any]] = {"engine.routing": ["static-direct", "min"], "engine.seed": [1, 2]}


@cache
def swept() -> Sweep:
    """The steady state of two all-to-alls by two routings, twice each."""
    texts = [
        f'[[job]]\nname = "{name}"\npattern = "all-to-all"\nbytes = "{size} B"\nranks = {RANKS[name]}\n'
        f'ranks_per_node = 1\nplacement = "{PLACEMENTS[name]}"\n'
        for name, size in {"near": 3000, "far": 1000}.items()
    ]
    axes = "".join(f'"{key}" = {values}\n' for key, values in SWEPT.items())
    text = "\n".join([DRAGONFLY, *texts, "[engine]", "[sweep]", axes])
    return odonata.sweep(text, out=directory() / "sweep", processes=1)


RUNS: dict[str, Callable[[], Run]] = {
    "closed": closed,
    **CONTROL_RUNS,
    **PROGRAM_RUNS,
    "open": opened,
    "learnt": learnt,
    "taught": taught,
    "crossing": crossing,
    "paced": paced,
    "starved": starved,
    "held": held,
    "fifos": fifos,
    "queued": queued,
    "broken": broken,
    "shared": shared,
    "crowded": crowded,
    "railed": railed,
    "stored": stored,
    "priced": priced,
    "cycled": cycled,
}

PLACES = tuple(Column(name, "str") for name in ("point", *SWEPT))
SWEEP_TABLES = {
    "results": Table("results", "point, job and link class", (*PLACES, *STATISTICS)),
    "jobs of points": Table("jobs of points", "point and job", PLACES),
}
"""Columns that a sweep declares in addition to the columns of its runs."""


@cache
def tables(name: str) -> Tables:
    """The tables of a run, or those that the sweep makes of its runs."""
    if name in RUNS:
        return Tables.of(RUNS[name]())
    first = next(iter(swept().runs.values()))
    made = zip(SWEEP_TABLES, (swept().results, swept().jobs), strict=True)
    return Tables(first.summary, {table: values.to_pandas() for table, values in made})
