"""The section `machine` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

_Machine = TypedDict("_Machine", {"class": Mapping[str, Any]}, total=False)


class Machine(_Machine, total=False):
    """Keys of the section `machine`.

    The hardware: a preset, a family with parameters, or a file.
    """

    preset: Literal[
        "edison",
        "eos",
        "theta",
        "theta-2019",
        "piz-daint",
        "cascade-241",
        "dragonfly-1056",
        "dragonfly-2550",
        "frontier-like",
        "aurora-like",
        "bgl-midplane",
        "bgl-rack",
        "bgp-midplane",
        "bgp-rack",
        "jugene",
        "bgq-midplane",
        "bgq-rack",
        "mira",
        "sequoia",
    ]
    """Known machine. Give exactly one of `preset`, `topology` and `file`."""
    topology: Literal[
        "dragonfly",
        "dragonfly-plus",
        "slingshot",
        "cascade",
        "torus",
        "express-mesh",
        "fat-tree",
        "xgft",
        "hyperx",
        "slim-fly",
        "polarfly",
        "jellyfish",
    ]
    """Family of machines; its parameters are keys of this section."""
    file: str
    """File with the cables, also compressed by gzip."""
    format: Literal[
        "cray-links",
        "damselfly",
        "codes",
        "ibnetdiscover",
        "codes-conf",
        "codes-yaml",
        "booksim",
        "htsim",
        "hpcc",
        "astra-sim",
        "simgrid",
        "sst-macro",
        "slurm",
        "graph",
        "edge-list",
    ]
    """Format of the file."""
    partition: Mapping[str, Any]
    """Block of a Blue Gene preset, a separate network: `{ shape = [8, 8, 16], mesh = "Z" }`."""
    cores_per_node: int
    """Cores of each node."""
    nodes_per_router: int
    """Nodes of each router that has nodes."""
    node_counts: str | Sequence[str]
    """Node counts of some routers, in order: `group 70-73: 2`, `level 0 pod 3: 0`, `g5r1: 16 service`
    (not for jobs), `g5r2: 15 + 1 storage` (one storage node).
    """
    node_names: str | Sequence[str]
    """Names of the nodes in the order of their numbers, as in batch systems (`nid[00001-05760]`): of
    all nodes, or of the nodes for jobs.
    """
    nodes_file: str
    """CSV file with the names: `name` and `node` (number), or `name` and `router` (name or number;
    nodes in the order of the lines).
    """
    planes: int
    """Copies of the network without cables between them. Each node has one NIC (or `rails` NICs) in
    each. Default: 1.
    """
    rails: int
    """NICs of each node in a plane, each with its own link of class `terminal`. Presets with several
    NICs have their own default: `frontier-like` 4, `aurora-like` 8. Default: 1.
    """
    rail_routers: Literal["same", "next"]
    """Routers at which the rails of a node end. Default: "same"."""
    rail_rule: Literal["affinity", "round-robin", "hash", "stripe"]
    """Rule that selects one of several NICs of a node for a message, at both ends. Default: "stripe"."""
    stripe_from: str
    """Smallest message that `stripe` divides into parts. Default: "16 KiB"."""
    edit: str | Sequence[str | Mapping[str, Any]]
    """Changes of the cabling, in order: `-K` (one black cable fewer per router pair), `+B-K`, `+2
    global`, `fail g0r1c2`, `fail 5% blue`, `blue.bandwidth*=0.5`; or tables. Default: [].
    """
    p: int
    """topology 'dragonfly': Nodes of each router.
    topology 'dragonfly-plus': Nodes of each leaf router; spines have none.
    """
    a: int
    """topology 'dragonfly': Routers of each group."""
    h: int
    """topology 'dragonfly': Global ports of each router.
    topology 'dragonfly-plus': Global ports of each spine router.
    """
    g: int
    """topology 'dragonfly': Groups; at most a h + 1, which is the default.
    topology 'dragonfly-plus': Groups; at most spines h + 1. By default 9, or this maximum if it is
    less.
    """
    arrangement: Literal["absolute", "relative", "circulant", "palm-tree", "random"]
    """topology 'dragonfly': Mapping of global ports to groups."""
    arrangement_seed: int
    """topology 'dragonfly': Seed of the random arrangement."""
    global_cables: Literal["fill"] | int | Sequence[int]
    """topology 'dragonfly': Cables between every two groups.
    topology 'dragonfly-plus': Cables between every two groups.
    topology 'slingshot': Cables between every two groups: one number, or one for each pair of kinds
    (of three: 0-0, 0-1, 0-2, 1-1, 1-2, 2-2).
    """
    local_cables: int | Sequence[int]
    """topology 'dragonfly': Parallel cables between every two routers of a group.
    topology 'dragonfly-plus': Parallel cables between each leaf and each spine of a group.
    topology 'slingshot': Cables between every two switches of a group: one number, or one for each
    kind.
    """
    leaves: int
    """topology 'dragonfly-plus': Leaf routers of each group."""
    spines: int
    """topology 'dragonfly-plus': Spine routers of each group."""
    groups: Sequence[int] | int
    """topology 'slingshot': Groups of each kind, for instance compute, storage, service.
    topology 'cascade': Groups (pairs of cabinets).
    format 'codes': Groups.
    """
    switches: int | Sequence[int]
    """topology 'slingshot': Switches of each group: one number, or a list with one for each kind."""
    nodes: int | Sequence[int]
    """topology 'slingshot': Nodes of each switch: one number, or a list with one for each kind."""
    ports_per_node: int | Sequence[int]
    """topology 'slingshot': Ports of a switch that a node takes: one number, or one for each kind."""
    usable_kinds: int
    """topology 'slingshot': Number of kinds, from the first on, whose nodes jobs can use."""
    ports: int
    """topology 'slingshot': Ports of a switch."""
    rows: int
    """topology 'cascade': Rows (chassis) of a group.
    format 'codes': Rows of a group.
    """
    columns: int
    """topology 'cascade': Columns (slots of a chassis).
    format 'codes': Columns of a group.
    """
    usable_nodes: Literal["all"] | int
    """topology 'cascade': Nodes that jobs can use; the others are service nodes at evenly spaced
    routers.
    """
    green: int
    """topology 'cascade': Parallel green cables between two routers of a row."""
    black: int
    """topology 'cascade': Parallel black cables between two routers of a column."""
    blue: int
    """topology 'cascade': Parallel blue cables between two joined routers of different groups."""
    gateway_columns: int
    """topology 'cascade': Gateway columns, of two router columns each, to every other group."""
    dims: Sequence[int]
    """topology 'torus': Size of each dimension.
    topology 'express-mesh': Routers along each dimension.
    topology 'hyperx': Routers along each dimension.
    """
    wrap: bool | Sequence[bool]
    """topology 'torus': Whether the dimensions wrap around: one value for all, or a list with one for
    each.
    """
    links_per_direction: int
    """topology 'torus': Parallel cables in each direction."""
    axes: Literal["numbered"] | str
    """topology 'torus': Capital letter for each dimension, such as `XYZ`, in names of routers, columns
    and mappings; `T` is reserved for the ranks of a node.
    """
    fastest: Literal["first", "last"]
    """topology 'torus': Letter of a mapping's `order` that changes fastest from one rank to the next."""
    gap: int | Sequence[int]
    """topology 'express-mesh': Distance in routers between the ends of an express cable: one number for
    all dimensions, or a list with one for each.
    """
    k: int
    """topology 'fat-tree': Ports of each router; even."""
    levels: int
    """topology 'fat-tree': Levels of routers."""
    oversubscription: int
    """topology 'fat-tree': Down ports for each up port of an edge router; this number plus 1 must
    divide k.
    """
    children: Sequence[int]
    """topology 'xgft': Nodes of an edge router, then children of a router of each higher level."""
    parents: Sequence[int]
    """topology 'xgft': Routers of a node, always 1, then parents of a router of each level but the top."""
    parallel: int | Sequence[int]
    """topology 'xgft': Parallel cables from a level of routers to the next: one number for all, or a
    list with one for each.
    topology 'hyperx': Parallel cables between every two routers of a line: one number for all
    dimensions, or a list with one for each.
    """
    q: int
    """topology 'slim-fly': Order of the finite field: a power of a prime.
    topology 'polarfly': Order of the finite field: a power of a prime.
    """
    routers: int
    """topology 'jellyfish': Routers."""
    degree: int
    """topology 'jellyfish': Ports of each router to other routers."""
    graph_seed: int
    """topology 'jellyfish': Seed of the random graph."""
    inter_file: str
    """format 'codes': The inter-group file."""
    intra_layout: Literal["triples", "pairs"]
    """format 'codes': Layout of an entry in the intra-group file."""
    latency: str
    """format 'ibnetdiscover': Latency of every cable between switches.
    format 'sst-macro': Latency of every cable between switches.
    format 'slurm': Latency of every cable between switches.
    format 'graph': Latency of cables without their own latency.
    format 'edge-list': Latency of cables without their own latency.
    """
    service: str
    """format 'ibnetdiscover': Hosts that run no jobs, as a host list: storage, login and management.
    They are no nodes.
    """
    cycle: str
    """format 'booksim': Duration of a cycle."""
    bandwidth: str
    """format 'booksim': Bandwidth of every cable.
    format 'sst-macro': Bandwidth of every cable between switches.
    format 'slurm': Bandwidth of every cable between switches.
    format 'graph': Bandwidth of cables without their own bandwidth.
    format 'edge-list': Bandwidth of cables without their own bandwidth.
    """
    uplinks: int
    """format 'slurm': Cables from a switch to each switch above it."""
    listing: Literal["detect", "cables", "links"]
    """format 'graph': Meaning of a row.
    format 'edge-list': Meaning of a row.
    """
