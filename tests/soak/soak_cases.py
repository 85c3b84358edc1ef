"""Random experiments for the packet engine, each from its seed alone.

Machines of up to some 150 nodes of every family or any graph, with failed cables; latencies of zero, odd
speeds, buffers of one packet, huge packets; several planes; every pattern, placement and routing; open,
closed and both kinds of traffic, rank programs, and traces.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from odonata.names import routings

CABLES = "cables.csv"
"""Name of the file with the machine's cables, if a case has one."""

TRACE = "trace.goal"
"""Name of the file with the trace that a job replays, if a case has one."""

BANDWIDTHS = ["100 GB/s", "25 GB/s", "12.5 GB/s", "5 GB/s", "3.7 GB/s", "1 GB/s", "999999937 B/s"]
LATENCIES = ["0 ns", "0 ns", "1 ps", "1 ns", "7.3 ns", "30 ns", "100 ns", "1000 ns"]
ROUTINGS = [row["name"] for row in routings() if "packet" in row["of"]]
"""All of the packet engine. It refuses those that do not fit the machine."""
SIZED = ["stencil-2d", "stencil-3d", "many-to-many", "spread", "umesh", "random-neighbors", "all-to-all"]
SIZED += ["tornado", "transpose", "bit-complement", "bit-reverse", "random-permutation"]
RAIL_RULES = ["affinity", "round-robin", "hash", "stripe"]
ARRANGEMENTS = ["absolute", "relative", "circulant", "palm-tree", "random"]
DRAWN = ["uniform", "adversarial", "hotspot"]
PROGRAMS = [
    "allreduce",
    "all-to-all",
    "halo-3d",
    "ring",
    "ping-pong",
    "stencil-nd",
    "uniform-random",
    "incast",
]
PLACEMENTS = [
    "compact",
    "round-robin-nodes",
    "round-robin-routers",
    "random-nodes",
    "random-order",
    "random-routers",
    "non-uniform",
]


@dataclass(frozen=True)
class Case:
    """An experiment file and the files that it names."""

    seed: int
    text: str
    cables: str | None = None
    trace: str | None = None


@dataclass(frozen=True)
class Hardware:
    """The section [machine] without its classes, and what the jobs must know of it."""

    lines: list[str]
    classes: list[str]
    nodes: int
    cables: str | None = None


def case(seed: int) -> Case:
    """The case of a seed."""
    dice = random.Random(f"soak {seed}")
    hardware = dice.choices([_dragonfly, _cascade, _torus, _fat_tree, _graph], weights=[5, 2, 2, 2, 2])[0](
        dice
    )
    lines = ["[machine]", *hardware.lines]
    if dice.random() < 0.15:
        lines += [f"planes = {dice.randint(2, 3)}", f'rail_rule = "{dice.choice(RAIL_RULES)}"']
    if hardware.classes and dice.random() < 0.4:
        share = dice.choice(["1 %", "5 %", "10 %", "20 %"]).replace(" ", "")
        lines.append(f'edit = ["fail {share} {dice.choice(hardware.classes)}"]')
    for name in [*hardware.classes, "terminal"]:
        if dice.random() < 0.7:
            bandwidth, latency = dice.choice(BANDWIDTHS), dice.choice(LATENCIES)
            lines += [f"[machine.class.{name}]", f'bandwidth = "{bandwidth}"', f'latency = "{latency}"']
    flit = dice.choice([1, 16, 100, 128])
    # None: the sizes of the preset.
    packet = flit * dice.choice([1, 4, 4, 64, 1000]) if dice.random() < 0.6 else None
    jobs, trace = _jobs(dice, hardware, packet or 512)
    lines += jobs
    lines += _engine(dice, flit, packet)
    return Case(seed, "\n".join(lines) + "\n", hardware.cables, trace)


def _dragonfly(dice: random.Random) -> Hardware:
    p, a, h = dice.randint(1, 3), dice.randint(1, 6), dice.randint(1, 3)
    g = dice.choice([a * h + 1, dice.randint(1, a * h + 1)])
    g = max(1, min(g, 150 // (p * a)))
    lines = ['topology = "dragonfly"', f"p = {p}", f"a = {a}", f"h = {h}", f"g = {g}"]
    lines.append(f'arrangement = "{dice.choice(ARRANGEMENTS)}"')
    if dice.random() < 0.3:
        lines.append(f"local_cables = {dice.randint(1, 3)}")
    return Hardware(lines, ["local", "global"], p * a * g)


def _cascade(dice: random.Random) -> Hardware:
    groups, rows, columns, nodes = (
        dice.randint(1, 4),
        dice.randint(1, 3),
        2 * dice.randint(1, 2),
        dice.randint(1, 3),
    )
    lines = ['topology = "cascade"', f"groups = {groups}", f"rows = {rows}", f"columns = {columns}"]
    lines += [f"nodes_per_router = {nodes}", f"green = {dice.randint(1, 2)}", f"black = {dice.randint(1, 3)}"]
    lines.append(f"blue = {dice.randint(1, 2)}")
    return Hardware(lines, ["green", "black", "blue"], groups * rows * columns * nodes)


def _torus(dice: random.Random) -> Hardware:
    dims = [dice.randint(1, 5) for _ in range(dice.randint(1, 3))]
    nodes = dice.randint(1, 2)
    count = nodes
    for size in dims:
        count *= size
    wrap = dice.choice(["true", "false"])
    lines = ['topology = "torus"', f"dims = {dims}", f"wrap = {wrap}", f"nodes_per_router = {nodes}"]
    lines.append(f"links_per_direction = {dice.choice([1, 1, 2])}")
    return Hardware(lines, [], count)


def _fat_tree(dice: random.Random) -> Hardware:
    k, levels = dice.choice([(4, 2), (4, 3), (6, 2), (8, 2), (6, 3)])
    lines = ['topology = "fat-tree"', f"k = {k}", f"levels = {levels}"]
    return Hardware(lines, [], 2 * (k // 2) ** levels)


def _graph(dice: random.Random) -> Hardware:
    """A random tree and some further cables."""
    routers = dice.randint(2, 14)
    nodes = [dice.randint(0, 3) for _ in range(routers)]
    nodes[0] = max(nodes[0], 2)
    rows = ["src,dst,src_nodes,dst_nodes,bandwidth,latency"]
    pairs = [(i, dice.randrange(i)) for i in range(1, routers)]
    pairs += [tuple(dice.sample(range(routers), 2)) for _ in range(dice.randint(0, routers))]  # type: ignore[misc]
    for i, j in {frozenset(pair): pair for pair in pairs}.values():
        rows.append(f"r{i},r{j},{nodes[i]},{nodes[j]},{dice.choice(BANDWIDTHS)},{dice.choice(LATENCIES)}")
    return Hardware([f'file = "{CABLES}"'], [], sum(nodes), cables="\n".join(rows) + "\n")


def _jobs(dice: random.Random, hardware: Hardware, packet: int) -> tuple[list[str], str | None]:
    """The sections of the jobs, and the trace that one of them replays."""
    left, lines = hardware.nodes, list[str]()
    trace: str | None = None
    kind = dice.choice(["closed", "closed", "open", "both"])
    for number in range(dice.randint(1, 3)):
        if left < 1:
            break
        ranks = max(1, dice.choice([left, dice.randint(1, left)]))
        left -= ranks
        lines += ["[[job]]", f'name = "j{number}"', f"ranks = {ranks}", "ranks_per_node = 1"]
        lines.append(f'placement = "{dice.choice(PLACEMENTS)}"')
        if dice.random() < 0.25:
            lines += _program(dice, packet)
            continue
        if trace is None and dice.random() < 0.15:
            trace = _trace(dice, ranks, packet)
            lines.append(f'program = {{ name = "trace", path = "{TRACE}" }}')
            continue
        lines.append(f"pattern = {_pattern(dice, packet)}")
        if kind == "open" or (kind == "both" and dice.random() < 0.5):
            lines.append(f"traffic = {_open(dice)}")
        elif dice.random() < 0.2:
            lines.append('traffic = { name = "closed", start = "500 ns" }')
    return lines, trace


def _trace(dice: random.Random, ranks: int, packet: int) -> str:
    """A task graph without a deadlock: a task depends on tasks of earlier messages only."""
    lines: list[list[str]] = [[] for _ in range(ranks)]
    counts = [0] * ranks

    def add(rank: int, task: str) -> None:
        number, counts[rank] = counts[rank], counts[rank] + 1
        lines[rank].append(f"l{number}: {task}")
        if number and dice.random() < 0.8:
            lines[rank].append(f"l{number} requires l{dice.randrange(number)}")

    for tag in range(dice.randint(1, 4 * ranks)):
        source, target = dice.randrange(ranks), dice.randrange(ranks)
        if source == target or dice.random() < 0.2:
            add(source, f"calc {dice.choice([0, 100, 5000])}")
            continue
        size = dice.choice([1, packet, 5 * packet + 3, min(20_000, 100 * packet)])
        add(source, f"send {size}b to {target} tag {tag}")
        add(target, f"recv {size}b from {source} tag {tag}")
    blocks = ["\n".join([f"rank {rank} {{", *lines[rank], "}"]) for rank in range(ranks)]
    return "\n".join([f"num_ranks {ranks}", *blocks, ""])


def _program(dice: random.Random, packet: int) -> list[str]:
    """A rank program, which is refused if it does not fit the number of ranks."""
    size = f"{dice.choice([0, 1, packet, 5 * packet + 3])} B"
    name = dice.choice(PROGRAMS)
    # Some programs have thousands of iterations by default.
    lines = [f'program = {{ name = "{name}", bytes = "{size}", iterations = {dice.randint(1, 3)} }}']
    if dice.random() < 0.3:
        lines.append(f"repeat = {dice.randint(2, 3)}")
    if dice.random() < 0.2:
        lines.append('start = "700 ns"')
    return lines


def _pattern(dice: random.Random, packet: int) -> str:
    size = f"{dice.choice([0, 1, packet // 2, packet, packet + 1, 5 * packet, 20 * packet + 7])} B"
    if dice.random() < 0.5:
        return f'{{ name = "{dice.choice(DRAWN)}", bytes = "{size}", messages = {dice.randint(1, 4)} }}'
    iterations = dice.choice(["", "", ", iterations = 2"])
    return f'{{ name = "{dice.choice(SIZED)}", bytes = "{size}"{iterations} }}'


def _open(dice: random.Random) -> str:
    load = dice.choice([0.01, 0.1, 0.5, 0.9, 1.0])
    injection = dice.choice(["bernoulli", "poisson", "interval", "paced"])
    parts = ['name = "open"', f"load = {load}", f'injection = "{injection}"']
    if dice.random() < 0.2:
        parts.append(f"burst = {dice.randint(1, 5)}")
    if injection == "paced" and dice.random() < 0.5:
        parts.append(f"buffer = {dice.randint(1, 5)}")
    if dice.random() < 0.2:
        parts += ['step_times = ["1 us"]', f"step_loads = [{dice.choice([0.0, 0.3, 1.0])}]"]
    return "{ " + ", ".join(parts) + " }"


def _engine(dice: random.Random, flit: int, packet: int | None) -> list[str]:
    routing = dice.choice(ROUTINGS)
    bubble = routing in ("dimension-order", "torus-adaptive") and dice.random() < 0.5
    named = f'{{ name = "{routing}", deadlock_avoidance = "bubble" }}' if bubble else f'"{routing}"'
    lines = ["[engine]", 'kind = "packet"', f"seed = {dice.randrange(1 << 40)}", f"routing = {named}"]
    lines += [
        "record_packets = true",
        "record_paths = true",
        'memory_limit = "2 GB"',
    ]
    if packet is not None:
        room = packet * dice.choice([1, 1, 2, 3, 30])
        lines += [f'packet = "{packet} B"', f'flit = "{flit} B"', f'input_buffer = "{room} B"']
        # A packet enters a ring with bubbles only where two have room.
        lines.append(f'output_buffer = "{packet * dice.choice([2 if bubble else 1, 2, 30])} B"')
    for key, values in {
        "crossbar_speedup": ["1", "1.5", "4", "10"],
        "input_latency": ['"0 ns"', '"3.3 ns"', '"10 ns"'],
        "output_latency": ['"0 ns"', '"1 ps"', '"10 ns"'],
        "arbitration": ['"round-robin"'],
        "estimate": ['"output"', '"downstream-arrived"'],
        "record_channels": ["true"],
        "record_counted_stall": ["true"],
        "record_crossbar": ["true"],
        "record_job_waits": ["true"],
    }.items():
        if dice.random() < 0.3:
            lines.append(f"{key} = {dice.choice(values)}")
    # Large packets take long, and rows of series are made for all ports that hold any. A program with open
    # traffic that saturates its nodes may go on until the limit.
    has_series = dice.random() < 0.3
    lines.append(f'time_limit = "{10 if has_series else 100} ms"')
    if has_series:
        lines += [
            f'interval = "{max(700, packet or 0)} ns"',
            'series = ["jobs", "links", "channels", "link-jobs"]',
        ]
    # At most some 80 packets of each node at the fastest speed.
    window = min(2_000_000, 10 * (packet or 512) * 40)
    warm_up, drain = dice.choice([0, window]), dice.choice(["0 us", "1 us", "500 us"])
    return [*lines, f'warm_up = "{warm_up} ps"', f'measure = "{window} ps"', f'drain = "{drain}"']
