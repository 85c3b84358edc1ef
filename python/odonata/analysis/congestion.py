"""Roots of congestion: ejection ports that are offered more than they take, and the waits behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from odonata.quantity import percent, quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDS = 64
"""Steps back from a root. A saturation tree is as deep as a path has hops; more change nothing."""
LISTED_MAX = 8
"""Most overloaded ports in a run's summary. If it has so many, there may be more."""


def congestion_roots(summary: dict[str, Any], links: pa.Table, nodes: pa.Table) -> pa.Table:
    """Overloaded ejection ports, the one with the longest backlog first; at most eight.

    `docs/models/packet.md` has the rule: few ports have a backlog of more than 10 us, and other nodes wait.

    Args:
        summary: The run's summary. Only the packet engine finds these ports.
        links: The run's links.
        nodes: The run's nodes.

    Returns:
        `node`, a name; `start_s` and `length_s` of the backlog; `offered_load` of open traffic, as a multiple
        of the port's bandwidth; `wait_share`, see `wait_share`. The last two may be null.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> odonata.analysis.congestion_roots(run.summary, run.links, run.nodes).num_rows
        0
    """
    rows = summary.get("packet", {}).get("overloaded_ports", [])
    names = nodes["name"]
    return pa.table(
        {
            "node": pa.array([names[row["node"]].as_py() for row in rows], pa.string()),
            "start_s": pa.array([row["start_ps"] / 1e12 for row in rows], pa.float64()),
            "length_s": pa.array([row["length_ps"] / 1e12 for row in rows], pa.float64()),
            "offered_load": pa.array([row["offered_load"] for row in rows], pa.float64()),
            "wait_share": pa.array([wait_share(links, nodes, row["node"]) for row in rows], pa.float64()),
        }
    )


def wait_share(links: pa.Table, nodes: pa.Table, root: int) -> float | None:
    """The share of all waits at crossbars that stand behind the ejection port of a node.

    A wait for the root's port stands behind it. A wait for a link does so as far as the link waited for
    credits, and the next router for the root: its waits count in proportion to their lengths.

    Args:
        links: The run's links.
        nodes: The run's nodes.
        root: Number of the node.

    Returns:
        The share; None without `record_crossbar`, or if nothing waited.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> odonata.analysis.wait_share(run.links, run.nodes, 0) is None
        True
    """
    if "crossbar_stall_ps" not in links.column_names:
        return None
    of_links, of_nodes = (_floats(table, "crossbar_stall_ps") for table in (links, nodes))
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    count = int(max(source.max(initial=0), nodes["router"].to_numpy().max(initial=0))) + 1
    at_router = np.bincount(source, of_links, count) + np.bincount(
        nodes["router"].to_numpy(), of_nodes, count
    )
    total = at_router.sum()
    if total == 0:
        return None
    stalled, busy = _floats(links, "stall_ps"), _floats(links, "busy_ps")
    out_of_credits = np.divide(stalled, stalled + busy, out=np.zeros_like(stalled), where=stalled + busy > 0)
    at_root = np.zeros(count)
    at_root[nodes["router"][root].as_py()] = of_nodes[root]
    behind = np.zeros(len(stalled))
    for _ in range(ROUNDS):
        # Waits behind the root at each router, as a share of all its waits.
        waits = at_root + np.bincount(source, of_links * behind, count)
        share = np.divide(waits, at_router, out=np.zeros_like(waits), where=at_router > 0)
        behind = out_of_credits * share[target]
    return float((at_root.sum() + (of_links * behind).sum()) / total)


def congestion_sentence(roots: pa.Table) -> str | None:
    """The first of these roots in a sentence; None if there is none.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> roots = odonata.analysis.congestion_roots(run.summary, run.links, run.nodes)
        >>> odonata.analysis.congestion_sentence(roots) is None
        True
    """
    if not roots.num_rows:
        return None
    first = roots.slice(0, 1).to_pylist()[0]
    start = quantity(first["start_s"], "s")
    port = f"The ejection port of node {first['node']}"
    if first["offered_load"] is None:
        sentence = f"{port} has a backlog of {quantity(first['length_s'], 's')} since {start}"
    else:
        times = (
            f"{first['offered_load']:.0f}" if first["offered_load"] >= 10 else f"{first['offered_load']:.1f}"
        )
        sentence = f"{port} is offered {times} times what it takes since {start}"
    if first["wait_share"] is not None:
        sentence += f"; {percent(first['wait_share'])} of all waits at crossbars stand behind it"
    return f"{sentence}.{_others(roots.num_rows)}"


def _others(ports: int) -> str:
    if ports == 1:
        return ""
    if ports == 2:
        return " One more port is overloaded."
    at_least = "At least " if ports == LISTED_MAX else ""
    return f" {at_least}{ports - 1} more ports are overloaded."


def held_pairs(control_pairs: pa.Table, nodes: pa.Table, job: int, *, count: int = 10) -> pa.Table:
    """The pairs of nodes whose packets of a job a congestion control held for the longest time.

    Args:
        control_pairs: The run's table.
        nodes: The run's nodes.
        job: Number of the job.
        count: Maximum number of pairs.

    Returns:
        `source` and `destination`, names; `held_s`; `held_packets`; `holds`: times that the port of the
        destination held the source; `marks`. Longest first.

    Examples:
        >>> import pyarrow as pa
        >>> pairs = {"source": [1, 2], "destination": [0, 0], "job": [0, 0], "held_ps": [5e6, 7e6]}
        >>> counts = {"held_packets": [3, 4], "holds": [1, 1], "marks": [0, 0]}
        >>> nodes = pa.table({"name": ["n0", "n1", "n2"]})
        >>> odonata.analysis.held_pairs(pa.table(pairs | counts), nodes, 0)["source"].to_pylist()
        ['n2', 'n1']
    """
    frame = control_pairs.to_pandas()
    frame = frame[frame["job"] == job].sort_values("held_ps", ascending=False, kind="stable").head(count)
    names = nodes["name"]
    return pa.table(
        {
            "source": names.take(pa.array(frame["source"])),
            "destination": names.take(pa.array(frame["destination"])),
            "held_s": pa.array(frame["held_ps"] / 1e12, pa.float64()),
            **{name: pa.array(frame[name]) for name in ("held_packets", "holds", "marks")},
        }
    )


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = table[name].to_numpy().astype(float)
    return values
