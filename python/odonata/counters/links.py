"""Counters of links: by direction under the hardware's names, and statistics over all links."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from odonata.errors import OdonataError
from odonata.runs import Run

COUNTERS = ("bytes", "packets", "busy_ps", "stall_ps", "peak_bytes", "crossbar_stall_ps")
"""Columns of `links` that count something, where a run has them."""

CHUNK_BYTES = 32
"""What the hardware counts in."""

WORST = 0.1
"""Share of the links that are called the worst."""


def summary_of(values: Sequence[float] | np.ndarray) -> dict[str, float]:
    """Sum, mean, median, 90 and 99 % of a counter over links, the mean of its 10 % worst, the largest."""
    sorted_values = np.sort(np.asarray(values, dtype=np.float64))
    if len(sorted_values) == 0:
        return dict.fromkeys(("sum", "mean", "p50", "p90", "p99", "worst", "max"), 0.0)
    worst = sorted_values[len(sorted_values) - max(1, int(np.ceil(WORST * len(sorted_values)))) :]
    middle, most, nearly_all = np.quantile(sorted_values, [0.5, 0.9, 0.99])
    return {
        "sum": float(sorted_values.sum()),
        "mean": float(sorted_values.mean()),
        "p50": float(middle),
        "p90": float(most),
        "p99": float(nearly_all),
        "worst": float(worst.mean()),
        "max": float(sorted_values[-1]),
    }


def features(run: Run) -> dict[str, float]:
    """Statistics of every counter of a run, called `counter statistic`; of virtual channels `vc0 bytes mean`.

    With channels also the share of the bytes that each carries.
    """
    found: dict[str, float] = {}
    names = set(run.links.column_names)
    for counter in (name for name in COUNTERS if name in names):
        values = run.links[counter].to_numpy()
        found |= {f"{counter} {name}": value for name, value in summary_of(values).items() if name != "sum"}
    if "channels" in run.table_names:
        channels = run.table("channels").to_pandas()
        total = max(float(channels["bytes"].sum()), 1.0)
        for number, of_channel in channels.groupby("vc"):
            found[f"vc{number} share"] = float(of_channel["bytes"].sum()) / total
            for counter in ("bytes", "stall_ps"):
                for name, value in summary_of(of_channel[counter].to_numpy()).items():
                    if name in ("mean", "worst", "max"):
                        found[f"vc{number} {counter} {name}"] = value
    return found


def hardware_counters(run: Run) -> pa.Table:
    """What the counters of a Blue Gene would say: `counter`, then statistics over the links of its direction.

    On axes X, Y, Z packets and chunks of 32 B by direction (`BGP_TORUS_XP_PACKETS`, `.._32BCHUNKS`); on A to
    E chunks sent (`PEVT_NW_USER_PP_SENT`), direction by direction.

    Raises:
        OdonataError: The machine's axes are no Blue Gene's, or the run has no packets.
    """
    axes = list(run.summary["machine"]["axes"])
    if "".join(axes) not in ("XYZ", "ABCDE"):
        raise OdonataError(
            f"{run.name} has the axes {' '.join(axes)}; hardware counters are a Blue Gene's (X Y Z, A to E)"
        )
    links = run.links.to_pandas()
    if "packets" not in links:
        raise OdonataError(f"{run.name} has no packets", hint="Run it with engine.kind = 'packet'.")
    rows = []
    for axis in axes:
        for sign in ("P", "M"):
            of_direction = links[_direction(links, axis) == sign]
            chunks = np.ceil(of_direction["bytes"].to_numpy() / CHUNK_BYTES)
            if len(axes) == 3:
                name = f"BGP_TORUS_{axis}{sign}"
                rows.append({"counter": f"{name}_PACKETS", **summary_of(of_direction["packets"].to_numpy())})
                rows.append({"counter": f"{name}_32BCHUNKS", **summary_of(chunks)})
            else:
                way = "+" if sign == "P" else "-"
                rows.append({"counter": f"PEVT_NW_USER_PP_SENT {axis}{way}", **summary_of(chunks)})
    return pa.Table.from_pylist(rows)


def _direction(links: pd.DataFrame, axis: str) -> pd.Series:
    """`P` or `M` for the links along an axis, nothing for others."""
    start, end = links[f"source_{axis}"], links[f"target_{axis}"]
    size = int(max(start.max(), end.max())) + 1
    along = start != end
    # Of two nodes' two cables, plus of one is minus of the other.
    plus = (start == 0) == (links["parallel"] == 0) if size == 2 else (end - start) % size == 1
    signs: pd.Series = pd.Series(np.where(plus, "P", "M"), index=links.index)
    signs[~along] = ""
    return signs
