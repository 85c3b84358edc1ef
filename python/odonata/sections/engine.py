"""The section `engine` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Engine(TypedDict, total=False):
    """Keys of the section `engine`.

    The engine and its settings.
    """

    kind: Literal["flow", "packet", "model", "loggops"]
    """Engine that computes the traffic. Default: "flow"."""
    seed: int
    """Seed of all random choices of the run: placement, patterns, paths, faults. Each has its own
    stream, so another job does not change the choices of the others. Default: 1.
    """
    preset: (
        Literal["default", "damselfly"]
        | Literal["study", "predecessor", "ideal-cycle", "bgl", "bgp", "bgq", "slingshot"]
    )
    """engine 'flow': Source of the keys below that are not given. The defaults in this table are the
    values of `default`.
    engine 'packet': Source of the router keys below that are not given. The defaults in this table
    are the values of `study`.
    """
    routing: (
        Literal[
            "min",
            "static-direct",
            "static-indirect",
            "adaptive-direct",
            "adaptive-indirect",
            "adaptive-hybrid",
            "optimal",
            "ugal",
            "dimension-order",
            "torus-dynamic",
            "up-down",
            "up-down-adaptive",
            "ecmp",
            "d-mod-k",
            "min-hop",
            "up-down-static",
            "forwarding-tables",
        ]
        | Mapping[str, Any]
        | Literal[
            "min",
            "valiant-g",
            "valiant-n",
            "valiant",
            "ugal-g",
            "ugal-n",
            "ugal-l",
            "par",
            "piggyback",
            "expression",
            "dimension-order",
            "torus-adaptive",
            "torus-deterministic",
            "torus-dynamic",
            "up-down",
            "up-down-adaptive",
            "q-adaptive",
            "ecmp",
            "d-mod-k",
            "min-hop",
            "up-down-static",
            "forwarding-tables",
        ]
    )
    """engine 'flow': Rule by which messages choose among paths.
    engine 'packet': The routing algorithm.
    """
    demand: Literal["bytes", "messages"]
    """engine 'flow': Demand of a message on links that it shares with others."""
    link_capacity: Literal["machine"] | str
    """engine 'flow': Capacity of every link in each direction."""
    nic_capacity: Literal["machine"] | str
    """engine 'flow': Capacity of every NIC in each direction."""
    slices: int
    """engine 'flow': Equal slices in which capacity is released, one per iteration."""
    direct_paths: int
    """engine 'flow': Direct paths that a message draws in every iteration."""
    indirect_paths: int
    """engine 'flow': Indirect paths that a message draws in every iteration."""
    intermediate: Literal["third", "any"]
    """engine 'flow': Intermediate groups or routers of indirect paths."""
    path_sets: int
    """engine 'flow': Sets of such paths that a job draws in every iteration. Its messages between two
    routers share at least one set. If a job has more sets than pairs of routers, each pair gets
    several sets, at most one per message.
    """
    path_error: Literal["off"] | float
    """engine 'flow': Relative error of the mean bytes of each job on the links of each class, against
    262,144 path sets. Trials choose `path_sets` by it, so the two exclude each other.
    """
    cutoff: str
    """engine 'flow': Minimum residual capacity: a path or NIC with less is not used."""
    max_iterations: int
    """engine 'flow': Maximum number of iterations. The result then says that it has not converged."""
    tolerance: float
    """engine 'flow': Share of all grants. The solver stops when all slices are released and an
    iteration grants less than this. 0: only when no message can grow.
    """
    on_router_messages_load_nics: bool
    """engine 'flow': Whether messages between nodes of one router compete for NICs."""
    completion_times: bool
    """engine 'flow': Whether to compute when each job has sent everything: messages share bandwidth
    equally, and what has ended gives its share back.
    """
    alone: bool
    """engine 'flow': Whether to solve every job alone on its nodes, too, for its slowdown."""
    bound_gap: Literal["off"] | float
    """engine 'flow': Relative gap of the bound: how low the maximum link load could be under any
    routing. 0.05 for `routing = "optimal"`, which uses the best flow.
    """
    packet: str
    """engine 'packet': Size of a full packet."""
    flit: str
    """engine 'packet': Size of a flit."""
    header: str
    """engine 'packet': Bytes of every packet that do not belong to the message. With a header, a packet
    is a whole number of flits.
    """
    wire_overhead: str
    """engine 'packet': Bytes of a packet that occupy links but no buffers."""
    input_buffer: str
    """engine 'packet': Input buffer of each port and virtual channel."""
    output_buffer: str
    """engine 'packet': Output buffer of each port and virtual channel."""
    crossbar_speedup: float
    """engine 'packet': Bandwidth of the crossbar as a multiple of the router's fastest link."""
    input_latency: str
    """engine 'packet': Pipeline latency from the arrival at a router to its input queue."""
    output_latency: str
    """engine 'packet': Pipeline latency from the output queue to the link."""
    arbitration: Literal["least-recently-used", "transit-first", "round-robin"]
    """engine 'packet': Rule by which a crossbar output selects one of the waiting input VCs."""
    transit_limit: Literal["unlimited"] | int
    """engine 'packet': With `transit-first`: packets from other routers that an output may serve while
    a packet from a node waits for it. Then the packet's VC takes turns with the others. Without a
    limit, open traffic may starve other jobs.
    """
    estimate: Literal["output", "downstream", "downstream-arrived"]
    """engine 'packet': Bytes that `ugal-g`, `ugal-n` and `par` count as queued for a port."""
    injection: Mapping[str, Any]
    """engine 'packet': Injection FIFOs of each node, as in Blue Gene. Messages wait in memory FIFOs,
    which feed torus FIFOs.
    """
    control: Mapping[str, Any]
    """engine 'packet': Congestion control at NICs, between endpoints and network. Programs do not know
    of it.
    """
    warm_up: str
    """engine 'packet': Open traffic: simulated time before the measurement."""
    measure: str
    """engine 'packet': Open traffic: length of the measurement."""
    drain: str
    """engine 'packet': Open traffic: maximum time to wait for the packets created in the measurement."""
    time_limit: str
    """engine 'packet': Simulated time after which the run stops, if its jobs have not ended; not for
    open traffic alone.
    """
    progress_timeout: str
    """engine 'packet': Simulated time without a delivery, a departure from a NIC or a timer, after
    which the run aborts, if packets are in flight.
    """
    checkpoint: Literal["off"] | str
    """engine 'packet': Wall-clock interval between checkpoints; `odonata run --resume` starts from the
    last one.
    """
    fast_forward: Literal["off"] | Literal["exact"] | Mapping[str, Any]
    """engine 'packet': Programs: iterations that the run may skip because they repeat others. `{ error
    = 0.01 }` skips the others once their mean time is known to 1 %.
    """
    start_from: str
    """engine 'packet': Open traffic: directory of saved warm-ups. A run starts from a warm-up with the
    same settings up to the measurement, or up to the last change of a load before it (`step_times`).
    Without one, the run saves its own. Results do not change.
    """
    record_channels: bool
    """engine 'packet': Record of bytes, packets, stall time and peak occupancy of each virtual channel:
    table `channels`, column `links.peak_bytes`.
    """
    record_crossbar: bool
    """engine 'packet': Record of the time at the head of input queues: `crossbar_stall_ps` of `links`
    and `nodes`.
    """
    record_counted_stall: bool
    """engine 'packet': Record of stall time as the simulator of the interference study counts it:
    `counted_stall_ps` of `links` and `group_traffic`.
    """
    record_job_waits: bool
    """engine 'packet': Record of the blocking job of each wait in the queues of links: table
    `job_waits`.
    """
    record_messages: bool
    """engine 'packet': Record of each message between ranks of programs, with its times: table
    `messages`.
    """
    record_calls: bool
    """engine 'packet': Record of each call of ranks of programs, and of the event that ended each wait:
    tables `calls`, `rank_waits`, `phase_times`.
    """
    record_q_tables: bool
    """engine 'packet': `q-adaptive`: record of the estimates of each router at the end: table
    `q_tables`.
    """
    record_packets: bool
    """engine 'packet': Record of each measured packet: table `packets`, written during the run."""
    record_paths: bool
    """engine 'packet': Record of the path of each packet: columns `links` and `vcs` of `packets`."""
    interval: Literal["off"] | str
    """engine 'packet': Length of an interval of the time series."""
    series: Sequence[Literal["jobs", "links", "channels", "link-jobs"]]
    """engine 'packet': Time series to record if there is an `interval`. Series of links are written
    during the run.
    """
    memory_limit: Literal["available"] | str
    """engine 'packet': Maximum estimated memory of a run; a run that needs more is refused."""
    form: Literal["max-rate", "postal", "loggp", "amg"]
    """engine 'model': Closed form that gives the time of the jobs."""
    parameters: str
    """engine 'model': The machine's measured constants: the name of a set that comes with the package,
    or a TOML file with the same keys.
    """
    alpha: str
    """engine 'model': `postal`, `max-rate`: start-up time of a message."""
    rate: str
    """engine 'model': Bandwidth of one rank; 1 / G of `loggp`."""
    node_rate: str
    """engine 'model': `max-rate`: bandwidth shared by the ranks of a node."""
    hop: str
    """engine 'model': Time per router-to-router hop of a message on a minimal path."""
    matching: str
    """engine 'model': Time per squared number of messages that a rank receives. It stands for the
    search in the receive queue.
    """
    on_node_alpha: str
    """engine 'model': Start-up time of a message between ranks of a node."""
    on_node_rate: str
    """engine 'model': Bandwidth of messages between ranks of a node."""
    latency: str
    """engine 'model': `loggp`: L.
    engine 'loggops': `L`: latency of the network.
    """
    overhead: str
    """engine 'model': `loggp`: o, processor time of a send or a receive.
    engine 'loggops': `o`: processor time of a send or of an arriving message.
    """
    gap: str
    """engine 'model': `loggp`: g, minimum time between two sends.
    engine 'loggops': `g`: minimum time between two messages of a NIC, in each direction.
    """
    scenarios: (
        Literal["all"]
        | Sequence[
            Literal[
                "alpha-beta",
                "alpha-beta-gamma",
                "beta-penalty",
                "alpha-beta-penalties",
                "beta-gamma-penalties",
                "alpha-beta-gamma-penalties",
            ]
        ]
    )
    """engine 'model': `amg`: scenarios of charges. Each one prices a cycle. `jobs.predicted_time_s`
    uses the first.
    """
    threads: Literal["auto"] | int | Sequence[int]
    """engine 'model': `amg`: OpenMP threads of each rank, one value for all jobs or one per job.
    `ranks_per_node` gives the tasks per node.
    """
    gap_per_byte: str
    """engine 'loggops': `G`: time per byte after the first at the NIC, and at the receiving processor."""
    overhead_per_byte: str
    """engine 'loggops': `O`: processor time per byte after the first."""
    eager_limit: str
    """engine 'loggops': `S`: largest eager message. The send of a larger message ends when the message
    is matched.
    """
