"""Counters of links: by direction with hardware names, and statistics over all links."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from odonata.analysis.percentile import percentile
from odonata.analysis.torus import directions
from odonata.errors import OdonataError
from odonata.runs import Run

COUNTERS = ("bytes", "packets", "busy_ps", "stall_ps", "peak_bytes", "crossbar_stall_ps")
"""Columns of `links` with counters, if a run has them."""

CHUNK_BYTES = 32
"""Unit of the hardware counters."""

INJECTING, INTERMEDIATE = ", injecting", ", intermediate"
"""Suffix for counters of links that leave injecting routers, and of other links."""

WORST = 0.1
"""Share of the links that form the worst ones.

A larger share brings their mean closer to the overall mean.
"""


def statistics(values: Sequence[float] | np.ndarray) -> dict[str, float]:
    """Sum, mean, median, 90 and 99 % of a counter over links, the mean of its 10 % worst, the maximum."""
    sorted_values = np.sort(np.asarray(values, dtype=np.float64))
    if len(sorted_values) == 0:
        return dict.fromkeys(("sum", "mean", "p50", "p90", "p99", "worst", "max"), 0.0)
    worst = sorted_values[len(sorted_values) - max(1, int(np.ceil(WORST * len(sorted_values)))) :]
    return {
        "sum": float(sorted_values.sum()),
        "mean": float(sorted_values.mean()),
        **{f"p{percent}": percentile(sorted_values, percent) for percent in (50, 90, 99)},
        "worst": float(worst.mean()),
        "max": float(sorted_values[-1]),
    }


def features(run: Run) -> dict[str, float]:
    """Statistics of every counter of a run, named `counter statistic`; for virtual channels `vc0 bytes mean`.

    Mean and maximum exist also for links that leave injecting routers, and for other links. With recorded
    channels there are also the share of bytes on each channel and on all dynamic channels.
    """
    found: dict[str, float] = {}
    names = set(run.links.column_names)
    parts = _by_injection(run)
    for counter in (name for name in COUNTERS if name in names):
        values = run.links[counter].to_numpy()
        found |= {f"{counter} {name}": value for name, value in statistics(values).items() if name != "sum"}
        if parts:
            for part, selected in parts.items():
                found |= {
                    f"{counter} {name}{part}": statistics(values[selected])[name] for name in ("mean", "max")
                }
    if "channels" in run.table_names:
        channels = run.table("channels").to_pandas()
        total = max(float(channels["bytes"].sum()), 1.0)
        for number, of_channel in channels.groupby("vc"):
            found[f"vc{number} share"] = float(of_channel["bytes"].sum()) / total
            for counter in ("bytes", "stall_ps", "queued_ps"):
                for name, value in statistics(of_channel[counter].to_numpy()).items():
                    if name in ("mean", "worst", "max"):
                        found[f"vc{number} {counter} {name}"] = value
        kinds = run.summary["packet"].get("virtual_channel_kinds", [])
        if kinds:
            dynamic = channels["vc"].map(lambda vc: kinds[vc] == "dynamic")
            found["dynamic share"] = float(channels["bytes"][dynamic].sum()) / total
    return found


def _by_injection(run: Run) -> dict[str, np.ndarray]:
    """Links that leave routers with injecting nodes, and other links, if there are both."""
    injecting = np.zeros(run.routers.num_rows, dtype=bool)
    injecting[run.nodes["router"].to_numpy()[run.nodes["injected_bytes"].to_numpy() > 0]] = True
    selected = injecting[run.links["source"].to_numpy()]
    return {INJECTING: selected, INTERMEDIATE: ~selected} if selected.any() and not selected.all() else {}


def hardware_counters(run: Run) -> pa.Table:
    """Counters as on a Blue Gene: `counter`, then statistics over the links of its direction.

    Axes X, Y, Z give the names of Blue Gene/P, axes A to E the names of Blue Gene/Q. Runs with recorded
    channels also have counters of single channels and of waiting packets. Runs with FIFOs also have the
    injected packets of nodes.

    Raises:
        OdonataError: The machine has not the axes of a Blue Gene, or the run has no packets.
    """
    axes = list(run.summary["machine"]["axes"])
    if "".join(axes) not in ("XYZ", "ABCDE"):
        raise OdonataError(
            f"{run.name} has the axes {' '.join(axes)}; expected a Blue Gene's (X Y Z, A to E)"
        )
    if "packets" not in run.links.column_names:
        raise OdonataError(f"{run.name} has no packets", hint="Run it with engine.kind = 'packet'.")
    make, named = (_of_p, "{axis}{sign}") if len(axes) == 3 else (_of_q, "{axis}{plus_minus}")
    counted = make(run)
    rows = []
    for axis, size in zip(axes, run.summary["machine"]["axis_sizes"], strict=True):
        direction_of_link = directions(run.links, axis, size)
        for step, sign, plus_minus in ((1, "P", "+"), (-1, "M", "-")):
            selected, direction = (
                direction_of_link == step,
                named.format(axis=axis, sign=sign, plus_minus=plus_minus),
            )
            for name, values in counted.items():
                if direction not in MISSING.get(name, ()):
                    rows.append({"counter": name.format(direction), **statistics(values[selected])})
    if len(axes) == 3 and "fifos" in run.table_names:
        by_node = run.table("fifos").to_pandas().groupby("node")["packets"].sum()
        rows.append({"counter": "BGP_DMA_PACKETS_INJECTED", **statistics(by_node.to_numpy())})
    return pa.Table.from_pylist(rows)


CYCLES_PER_PS = {"P": 850e6 / 1e12, "Q": 500e6 / 1e12}
"""Counter cycles: the processor of Blue Gene/P, the network of Blue Gene/Q (2 GB/s, 4 B per cycle)."""

MISSING = {"BGP_TORUS_{}_NO_VCBN_TOKENS": ("ZM",)}
"""Directions for which the hardware lacks this counter."""


def _of_p(run: Run) -> dict[str, np.ndarray]:
    """Counters of Blue Gene/P for every link."""
    found = {
        "BGP_TORUS_{}_PACKETS": run.links["packets"].to_numpy(),
        "BGP_TORUS_{}_32BCHUNKS": _chunks(run.links["bytes"].to_numpy()),
    }
    channels = _channels(run)
    if channels is None:
        return found
    dynamic = 0
    for kind, of_channel in channels:
        name = "VCBN" if kind == "deterministic" else f"VCD{dynamic}"
        dynamic += kind == "dynamic"
        found[f"BGP_TORUS_{{}}_{name}_32BCHUNKS"] = _chunks(of_channel["bytes"].to_numpy())
        # The hardware does not count missing tokens of the second dynamic channel.
        if name != "VCD1":
            found[f"BGP_TORUS_{{}}_NO_{name}_TOKENS"] = _cycles(of_channel["stall_ps"].to_numpy(), "P")
    found["BGP_TORUS_{}_NO_TOKENS"] = _cycles(run.links["stall_ps"].to_numpy(), "P")
    return found


def _of_q(run: Run) -> dict[str, np.ndarray]:
    """Counters of Blue Gene/Q for every link: packets sent, received, and waiting at its end."""
    found = {"PEVT_NW_USER_PP_SENT {}": _chunks(run.links["bytes"].to_numpy())}
    channels = _channels(run)
    if channels is None:
        return found
    nothing = np.zeros(len(run.links))
    for short, only_kind in (("", None), ("DYN_", "dynamic"), ("ESC_", "deterministic")):
        selected = [table for kind, table in channels if only_kind in (None, kind)]
        if short:
            sent = sum((table["bytes"].to_numpy() for table in selected), start=nothing)
            found[f"PEVT_NW_USER_{short}PP_SENT {{}}"] = _chunks(sent)
        received = sum((table["packets"].to_numpy() for table in selected), start=nothing)
        waits = sum((table["queued_ps"].to_numpy() for table in selected), start=nothing)
        found[f"PEVT_NW_USER_{short}PP_RECV {{}}"] = received
        found[f"PEVT_NW_USER_{short}PP_RECV_FIFO {{}}"] = _cycles(waits, "Q")
    found["PEVT_NW_CYCLES {}"] = _cycles(nothing + run.summary["packet"]["measured_ps"], "Q")
    return found


def _channels(run: Run) -> list[tuple[str, pd.DataFrame]] | None:
    """Kind and rows (one per link) of every channel; None if they are not recorded, or have no kinds."""
    kinds = run.summary["packet"].get("virtual_channel_kinds", [])
    if "channels" not in run.table_names or not kinds:
        return None
    channels = run.table("channels").to_pandas()
    return [(kind, channels[channels["vc"] == vc]) for vc, kind in enumerate(kinds)]


def _chunks(size_bytes: np.ndarray) -> np.ndarray:
    return np.ceil(size_bytes / CHUNK_BYTES)


def _cycles(time_ps: np.ndarray, machine: str) -> np.ndarray:
    return np.floor(time_ps * CYCLES_PER_PS[machine])
