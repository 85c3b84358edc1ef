"""The section `mpi` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

_Mpi = TypedDict(
    "_Mpi",
    {
        "reduce-scatter": Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    },
    total=False,
)


class Mpi(_Mpi, total=False):
    """Keys of the section `mpi`.

    Costs of the messages of programs at hosts and NICs in the packet engine, and algorithms of
    collectives in all engines. The section has no effect on jobs with a pattern.
    """

    preset: Literal["mpich", "openmpi", "study"]
    """Library whose algorithms the collectives use, each selected by the number of ranks and the size.
    Default: "mpich".
    """
    host: Literal["modern", "study", "study-as-written", "ideal", "bgp", "bgq"]
    """Source of the costs of hosts and NICs that are not given. The defaults shown here are from
    `modern`. Default: "modern".
    """
    progress: Literal["in-calls", "async"]
    """Time at which messages make progress. Default: "in-calls"."""
    task_window: int
    """Most tasks of a task graph that a rank has read and not done. A run whose result would depend on
    it stops. Default: 4096.
    """
    eager_limit: str
    """Largest eager message. Longer messages use a rendezvous. Default: "8 KiB"."""
    enter: str
    """Time at the start of every call. A collective is one call. Default: "20 ns"."""
    leave: str
    """Time at the end of every call. Default: "20 ns"."""
    send_setup: str
    """Time to set up a send. Default: "40 ns"."""
    receive_setup: str
    """Time to set up a receive after its match. Default: "40 ns"."""
    header_setup: str
    """Time to write the header that receivers match. Default: "20 ns"."""
    copy_ns_per_byte: float
    """Time per byte, in ns, that the sender of an eager message copies, or the receiver of a message on
    its node. A copy takes whole ns. Default: 0.09.
    """
    receive_copy_ns_per_byte: float
    """Time per byte, in ns, that the receiver of an eager message copies. Default: 0.09."""
    register: str
    """Time to register the memory of a rendezvous message: at the sender, at the receiver when it posts
    the receive, and again after its wait. Default: "0 ps".
    """
    register_page: str
    """Additional time to register each whole page. Default: "0 ps"."""
    page: str
    """Size of a page. Default: "4 KiB"."""
    matching: str
    """Time per queue entry that is compared, including the match. Default: "20 ns"."""
    host_latency: str
    """Time from the host to its NIC for every command, and back for every completion. Default: "370
    ns".
    """
    nic_start: str
    """Time of a NIC to start a message. A get request takes none. Default: "10 ns"."""
    nic_receive: str
    """Time of a NIC to receive the first packet of an eager message, a rendezvous header or an
    acknowledgement. Default: "10 ns".
    """
    nic_fetch: str
    """Time of a NIC to fetch data for a get request. Default: "200 ns"."""
    node_latency: str
    """Latency of a message between ranks of a node. Default: "90 ns"."""
    eager_overhead: str
    """Header bytes of an eager message. Default: "45 B"."""
    rendezvous_header: str
    """Size of the rendezvous header, which the sender sends first. Default: "45 B"."""
    get_request: str
    """Size of the get request, with which the receiver requests the data. Default: "13 B"."""
    data_overhead: str
    """Header bytes of rendezvous data. Default: "13 B"."""
    acknowledgement: str
    """Size of the acknowledgement, which ends a rendezvous. Default: "15 B"."""
    injection_buffer_packets: int
    """Capacity of a NIC's injection buffer, in packets. A packet's latency counts from its entry.
    Default: 30.
    """
    prepared_packets: int
    """Packets that a NIC prepares before the injection buffer. A get request waits for both. Default:
    100.
    """
    barrier: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    bcast: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    reduce: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    allreduce: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    gather: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    scatter: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    allgather: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    alltoall: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
    scan: (
        Literal[
            "preset",
            "binary-tree",
            "binomial",
            "k-nomial",
            "split-binary",
            "chain",
            "scatter-allgather",
            "scatter-ring",
            "ring",
            "recursive-doubling",
            "rabenseifner",
            "recursive-halving",
            "neighbor-exchange",
            "bruck",
            "dissemination",
            "doubling",
            "pairwise",
            "scattered",
            "linear",
        ]
        | Sequence[Mapping[str, Any]]
    )
    """Algorithm of this collective, or algorithms by size, `[{ up_to = "16 KiB", use = … }, { use = …
    }]`; the first entry whose limits hold applies. Default: "preset".
    """
