"""The section `job` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Job(TypedDict, total=False):
    """Keys of the section `job`.

    A job. The section is repeated for each job. Jobs never share a core.
    """

    name: str
    """Unique name. The random choices of a job depend on its name, not on its position in the file."""
    ranks: Literal["trace"] | int
    """Number of ranks. `trace` takes it from the trace that the job replays."""
    ranks_per_node: Literal["cores"] | int
    """Consecutive ranks on each node; the last node may have fewer. Default: "cores"."""
    idle: bool
    """Whether the job holds its nodes but sends nothing. The other jobs run on the same nodes as with
    it. Default: false.
    """
    absent: bool
    """Whether the job is left out of the run. Other jobs may get its nodes. Default: false."""
    traffic_class: str
    """Traffic class of its messages."""
    large_class: str
    """Traffic class of messages of `large_from` or more."""
    large_from: str
    """Size from which messages are in `large_class`. For programs, bytes on the wire: a rendezvous
    header is small.
    """
    color: str
    """Colour in pictures."""
    pattern: (
        Literal[
            "stencil-2d",
            "stencil-3d",
            "stencil-4d",
            "many-to-many",
            "spread",
            "umesh",
            "uniform",
            "adversarial",
            "tornado",
            "shift",
            "transpose",
            "bit-complement",
            "bit-reverse",
            "random-permutation",
            "hotspot",
            "all-to-all",
            "random-neighbors",
            "file",
            "amg",
        ]
        | Mapping[str, Any]
    )
    """Communication pattern. Its parameters are keys of the job, or of a table: `pattern = { name =
    "spread", … }`.
    """
    program: (
        Literal[
            "uniform-random",
            "lu",
            "fft-3d",
            "halo-3d",
            "lqcd",
            "stencil-nd",
            "allreduce",
            "lulesh",
            "pf3d",
            "ping-pong",
            "incast",
            "halo-2d",
            "sweep-3d",
            "ring",
            "random-ring",
            "congestor",
            "checkpoint",
            "all-to-all",
            "file",
            "trace",
            "amg",
            "amg-setup",
        ]
        | Mapping[str, Any]
        | Sequence[
            Literal[
                "uniform-random",
                "lu",
                "fft-3d",
                "halo-3d",
                "lqcd",
                "stencil-nd",
                "allreduce",
                "lulesh",
                "pf3d",
                "ping-pong",
                "incast",
                "halo-2d",
                "sweep-3d",
                "ring",
                "random-ring",
                "congestor",
                "checkpoint",
                "all-to-all",
                "file",
                "trace",
                "amg",
                "amg-setup",
            ]
            | Mapping[str, Any]
        ]
    )
    """Computation and calls of each rank, as in an MPI program; replaces `pattern` and `traffic`. Its
    parameters are keys of a table: `program = { name = "halo-3d", … }`. The programs of a list run
    one after the other on the same ranks. The flow engine uses only its messages.
    """
    start: str
    """Start of the ranks of a program. For a pattern, `traffic` has the start. Default: "0 ps"."""
    repeat: int
    """Executions of the program, or of the whole list of programs. A rank starts the next one when it
    ends. Default: 1.
    """
    background: bool
    """Whether the program repeats until all other jobs have ended. The flow and model engines count it
    once. Default: false.
    """
    placement: (
        Literal[
            "compact",
            "round-robin-nodes",
            "round-robin-routers",
            "random-nodes",
            "random-order",
            "random-routers",
            "random-chassis",
            "random-groups",
            "non-uniform",
            "storage",
            "list",
            "mapping",
            "file",
        ]
        | Mapping[str, Any]
    )
    """Placement of the job on nodes. Jobs are placed in the order of the file. Its parameters are keys
    of the job, or of a table. Default: "compact".
    """
    traffic: Literal["closed", "open"] | Mapping[str, Any]
    """Traffic that the job offers to the network over time, for the packet engine. Its parameters are
    keys of a table: `traffic = { name = "open", load = 0.5 }`. Default: "closed".
    """
    bytes: str
    """pattern 'stencil-2d': Size of each message.
    pattern 'stencil-3d': Size of each message.
    pattern 'stencil-4d': Size of each message.
    pattern 'many-to-many': Size of each message.
    pattern 'spread': Size of each message.
    pattern 'umesh': Size of each message.
    pattern 'uniform': Size of each message.
    pattern 'adversarial': Size of each message.
    pattern 'tornado': Size of each message.
    pattern 'shift': Size of each message.
    pattern 'transpose': Size of each message.
    pattern 'bit-complement': Size of each message.
    pattern 'bit-reverse': Size of each message.
    pattern 'random-permutation': Size of each message.
    pattern 'hotspot': Size of each message.
    pattern 'all-to-all': Size of each message.
    pattern 'random-neighbors': Size of each message.
    """
    dims: Literal["auto"] | Sequence[int]
    """pattern 'stencil-2d': Sizes of the process grid. Near-cubic, largest first, if not given.
    pattern 'stencil-3d': Sizes of the process grid. Near-cubic, largest first, if not given.
    pattern 'stencil-4d': Sizes of the process grid. Near-cubic, largest first, if not given.
    pattern 'tornado': Sizes of a row-major process grid whose dimensions are the rings. If not
    given, the rings of the machine.
    """
    order: Literal["row-major", "column-major"] | Literal["shift", "xor", "random"] | int | str
    """pattern 'stencil-2d': Fastest dimension in the numbering of the ranks.
    pattern 'stencil-3d': Fastest dimension in the numbering of the ranks.
    pattern 'stencil-4d': Fastest dimension in the numbering of the ranks.
    pattern 'all-to-all': Order of the messages of a rank, for closed traffic.
    placement 'random-order': Number of the order. It seeds the draw, whatever the seed of the run.
    placement 'mapping': Order of all axes and `T`, the ranks of a node, in the machine's notation:
    `TXYZ` fills a node first on Blue Gene/P, `ABCDET` on Blue Gene/Q.
    """
    periodic: bool
    """pattern 'stencil-2d': Whether every dimension of the process grid wraps around.
    pattern 'stencil-3d': Whether every dimension of the process grid wraps around.
    pattern 'stencil-4d': Whether every dimension of the process grid wraps around.
    """
    iterations: int
    """pattern 'stencil-2d': Number of times that every rank sends its messages.
    pattern 'stencil-3d': Number of times that every rank sends its messages.
    pattern 'stencil-4d': Number of times that every rank sends its messages.
    pattern 'many-to-many': Number of times that every rank sends its messages.
    pattern 'spread': Number of times that every rank sends its messages.
    pattern 'umesh': Number of times that every rank sends its messages.
    pattern 'uniform': Number of times that every rank sends its messages.
    pattern 'adversarial': Number of times that every rank sends its messages.
    pattern 'tornado': Number of times that every rank sends its messages.
    pattern 'shift': Number of times that every rank sends its messages.
    pattern 'transpose': Number of times that every rank sends its messages.
    pattern 'bit-complement': Number of times that every rank sends its messages.
    pattern 'bit-reverse': Number of times that every rank sends its messages.
    pattern 'random-permutation': Number of times that every rank sends its messages.
    pattern 'hotspot': Number of times that every rank sends its messages.
    pattern 'all-to-all': Number of times that every rank sends its messages.
    pattern 'random-neighbors': Number of times that every rank sends its messages.
    pattern 'file': Number of times that every rank sends its messages.
    pattern 'amg': Number of times that every rank sends its messages.
    """
    group: Literal["auto"] | int
    """pattern 'many-to-many': Ranks per group. If not given, 16 below 32,768 ranks, 32 below 65,536,
    else 64.
    """
    stride: Literal["auto"] | int
    """pattern 'many-to-many': Distance in ranks between members of a group. If not given, it is the
    group size, or less for small jobs. 1 gives contiguous groups, ranks / group the most scattered
    groups.
    """
    neighbors_min: int
    """pattern 'spread': Minimum number of neighbours of a rank.
    pattern 'umesh': Minimum number of neighbours of a rank.
    pattern 'random-neighbors': Minimum number of neighbours of a rank.
    """
    neighbors_max: int
    """pattern 'spread': Maximum number of neighbours of a rank. The number is uniform between both.
    pattern 'umesh': Maximum number of neighbours of a rank. The number is uniform between both.
    pattern 'random-neighbors': Maximum number of neighbours of a rank. The number is uniform between
    both.
    """
    symmetric: bool
    """pattern 'spread': Whether neighbours send in both directions.
    pattern 'umesh': Whether neighbours send in both directions.
    pattern 'random-neighbors': Whether neighbours send in both directions.
    """
    max_distance: int
    """pattern 'umesh': Largest distance of a neighbour, in ranks."""
    messages: int
    """pattern 'uniform': Messages of each rank in one iteration.
    pattern 'adversarial': Messages of each rank in one iteration.
    pattern 'hotspot': Messages of each rank in one iteration.
    """
    offset: int
    """pattern 'adversarial': Distance to the target group, in groups. It may be negative.
    pattern 'shift': Distance to the target, in ranks. The last ranks send to the first ones.
    """
    target: Literal["random", "matching"]
    """pattern 'adversarial': Receiving rank of the target group."""
    group_ranks: Literal["auto"] | int
    """pattern 'adversarial': Ranks per group, in order of their numbers. If not given, the groups of
    the machine are used.
    pattern 'tornado': Ranks per group, in order of their numbers. If not given, the groups of the
    machine are used.
    """
    hot_ranks: int
    """pattern 'hotspot': Number of hot ranks."""
    share: float
    """pattern 'hotspot': Share of the messages to the hot ranks."""
    path: str
    """pattern 'file': Path of the communication graph: CSV, Parquet, a matrix of bytes as text,
    Damselfly's binary format, or htsim's `.cm`.
    placement 'file': Path of the placement file: CSV, Parquet, the map of Damselfly or TraceR, or
    the allocation of CODES.
    """
    format: (
        Literal["auto"]
        | Literal["csv", "damselfly", "htsim", "matrix"]
        | Literal["csv", "damselfly", "codes", "tracer"]
    )
    """pattern 'file': File format. If not given, it is detected from the content.
    placement 'file': File format. If not given, it is detected from the content.
    """
    hierarchy: str
    """pattern 'amg': Directory of `odonata amg hierarchy`, a level table (JSON, CSV, Parquet), a
    message list (CSV, Parquet), or the name of a hierarchy in the package. A level table has no
    messages: only the model engine can use it.
    """
    level: int
    """pattern 'amg': Level of the hierarchy. 0 is the finest."""
    phase: Literal[
        "smooth",
        "restrict",
        "interpolate",
        "regroup",
        "strength",
        "coarsen",
        "weights",
        "galerkin",
        "packages",
        "elimination",
    ]
    """pattern 'amg': Phase of the multigrid cycle or of the set-up whose messages are sent."""
    regrouped: bool
    """pattern 'amg': Whether to use the levels after the redistribution in the directory."""
    sorted: bool
    """placement 'random-nodes': Whether the ranks fill the drawn nodes in the order of the machine
    instead of the order of the draw.
    placement 'random-routers': Whether the ranks fill the drawn nodes in the order of the machine
    instead of the order of the draw.
    placement 'random-chassis': Whether the ranks fill the drawn nodes in the order of the machine
    instead of the order of the draw.
    placement 'random-groups': Whether the ranks fill the drawn nodes in the order of the machine
    instead of the order of the draw.
    """
    skip: Literal["auto"] | int
    """placement 'random-order': Nodes of the order before the job's first node. If not given, the job
    takes the next free nodes.
    """
    distribution: Literal["geometric", "binomial"]
    """placement 'non-uniform': Decrease of the probability of a router with its distance from the
    centre.
    """
    spread: float
    """placement 'non-uniform': Width of the distribution in routers, as a share of the routers that the
    job fills. It is the mean distance of the geometric distribution, or the standard deviation of
    the binomial one.
    """
    scattered: float
    """placement 'non-uniform': Share of the nodes drawn uniformly from all free nodes."""
    nodes: Sequence[int | str] | str
    """placement 'list': Nodes in the order in which the ranks fill them, exactly as many as the job
    needs: numbers, names, or lists of names (`nid[00012-00044,00100]`).
    """
    ranks_on_nodes: Sequence[int]
    """placement 'list': Ranks on each of the nodes, in their order, as `[34, 33, 33]`. A rank takes one
    core, so jobs with this key may share nodes. If not given, the job has its nodes alone, with
    `ranks_per_node` ranks on each.
    """
    file: str
    """placement 'mapping': Path of a map file. Line r has the coordinates of rank r, one per axis and
    the last for `T`.
    """
    script: Sequence[str]
    """placement 'mapping': Rubik steps. `app 16 8 16` makes a box of all ranks; `net` is the box of all
    places with the axes of the machine and `T`. Both are cut into leaves (`app tile 1 8 16`, `net
    tile 8 8 2`; `div`, `mod`, `cut`; `net leaves div 2` cuts again). `net map app` puts the ranks of
    each leaf on the places of the leaf with the same number. Before and after it, `tilt`, `shear`,
    `zigzag`, `zorder` and `transpose` move ranks in a box or, after `leaves`, in each leaf.
    """
    transforms: Sequence[str]
    """placement 'mapping': Transformations of the finished mapping. `tilt Z X 1` rolls each plane of X
    along Z, by 1 more than the plane before. The other steps of a `script` work without `net`.
    """
    job: Literal["auto"] | int
    """placement 'file': Number of the job in the file. If not given, the only job, or the job with this
    job's number in the experiment.
    """
