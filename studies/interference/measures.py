"""Measures of a run, by the paper's definitions and by the usual ones.

Each definition was found in how the paper's figures were made, not in its text; the page of the study
lists them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odonata.runs import Run

# Phases whose calls are not communication: FFT3D's communicator set-up and release, and the final barrier.
LEFT_OUT = ("setup", "free", "end")
# LQCD's code times only its waits and sums. But the paper's 13.43 ms of communication plus 0.35 ms before the
# start equal its 13.79 ms of execution, so its blocking sends count. The time without them is reported too.
SENDS = "exchange"

NAMES = {
    "ur": "UR",
    "lu": "LU",
    "fft3d": "FFT3D",
    "halo3d": "Halo3D",
    "lqcd": "LQCD",
    "stencil5d": "Stencil5D",
    "cosmoflow": "CosmoFlow",
    "dl": "DL",
    "lulesh": "LULESH",
}

NETWORK = "network"
"""Value of the column `target` for all jobs together."""

# Other names of the same application on the other half of the machine.
BEHIND = "-behind"

# The part of a run that Figure 7 shows.
EARLY_MS = 15.0

# A window is an interval of the runs; a curve is smoothed over this many windows.
WINDOW_PS = 1_000_000
SMOOTHED = 10


def application(name: str) -> str:
    """The application that a job runs."""
    return name.removesuffix(BEHIND)


def number_of(run: Run, job: str) -> int:
    """The number of a job in the tables of a run."""
    return int(next(entry["job"] for entry in run.summary["jobs"] if entry["name"] == job))


def communication_ns(run: Run, job: str, *, without: tuple[str, ...] = ()) -> NDArray[np.float64]:
    """The paper's communication time of each rank: time in calls of the phases that the application times."""
    phases = run.table("phases").to_pandas()
    phases = phases[(phases["job"] == number_of(run, job)) & ~phases["phase"].isin((*LEFT_OUT, *without))]
    return np.asarray(phases.groupby("rank")["communication_ps"].sum() / 1e3, dtype=np.float64)


def percentile_ns(run: Run, job: str | None, share: float) -> float:
    """The latency percentile of one job or of all, as exact as the histogram (1/64)."""
    cells = run.table("latency").to_pandas()
    cells = cells[cells["part"] == "total"]
    if job is not None:
        cells = cells[cells["job"] == number_of(run, job)]
    cells = cells.sort_values("latency_lower_ps")
    counted = np.asarray(cells["packets"].cumsum(), dtype=np.float64)
    at = int(np.searchsorted(counted, share * counted[-1]))
    row = cells.iloc[min(at, len(cells) - 1)]
    return float(row["latency_lower_ps"] + row["latency_upper_ps"]) / 2e3


def windows(run: Run, job: str | None = None) -> pd.DataFrame:
    """The windows of a run in which something of a job, or of all, arrived.

    Columns: `start_ms`, `gb_per_ms` (throughput), `latency_us` (mean over the packets of the window).
    """
    series = run.table("series").to_pandas()
    if job is not None:
        series = series[series["job"] == number_of(run, job)]
    series = series[series["packets"] > 0]
    series = series.assign(sum_ns=series["packets"] * series["latency_mean_ns"])
    sums = series.groupby("start_ps", sort=True)[["wire_bytes", "packets", "sum_ns"]].sum()
    length_ms = _window_ps(run) / 1e9
    return pd.DataFrame(
        {
            "start_ms": np.asarray(sums.index, dtype=np.float64) / 1e9,
            "gb_per_ms": np.asarray(sums["wire_bytes"], dtype=np.float64) / 1e9 / length_ms,
            "latency_us": np.asarray(sums["sum_ns"] / sums["packets"], dtype=np.float64) / 1e3,
        }
    )


def _window_ps(run: Run) -> int:
    starts = np.unique(run.table("series")["start_ps"].to_numpy())
    return int(np.diff(starts).min()) if len(starts) > 1 else WINDOW_PS


def curve(
    run: Run, job: str | None, what: str, smoothed: int = SMOOTHED
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A column of `windows` over time in ms, smoothed.

    A window in which nothing arrived has throughput 0 and no latency.
    """
    found = windows(run, job)
    length_ms = _window_ps(run) / 1e9
    last = float(run.summary["packet"]["end_ps"]) / 1e9
    times = np.arange(0.0, last, length_ms)
    values = np.full(len(times), 0.0 if what == "gb_per_ms" else np.nan)
    at = np.rint(found["start_ms"] / length_ms).astype(int)
    inside = at < len(times)
    values[at[inside]] = found[what][inside]
    over = max(1, round(smoothed * WINDOW_PS / _window_ps(run)))
    smooth = pd.Series(values).rolling(over, center=True, min_periods=1).mean()
    return times, np.asarray(smooth, dtype=np.float64)


KEPT_PS = 50_000_000
"""Interval of a stored series."""


def series(run: Run, job: str | None = None) -> dict[str, NDArray[np.float64]]:
    """Throughput and mean latency of a job, or of all, by intervals of 50 us."""
    found = windows(run, job)
    count = int(run.summary["packet"]["end_ps"] // KEPT_PS) + 1
    at = np.minimum(np.asarray(found["start_ms"] * 1e9 / KEPT_PS + 1e-6, dtype=int), count - 1)
    volume = np.asarray(found["gb_per_ms"] * (_window_ps(run) / KEPT_PS), dtype=np.float64)
    weight = volume * np.asarray(found["latency_us"], dtype=np.float64)
    throughput = np.bincount(at, volume, count)
    latency = np.divide(
        np.bincount(at, weight, count), throughput, out=np.full(count, np.nan), where=throughput > 0
    )
    return {"gb_per_ms": throughput, "latency_us": latency}


def ranks(run: Run) -> dict[str, NDArray[np.float64]]:
    """The paper's communication time of each rank in us, by job."""
    jobs = [job["name"] for job in run.jobs.to_pylist() if job["messages"]]
    return {job: np.round(communication_ns(run, job) / 1e3, 1) for job in jobs}


def congestion_map(run: Run) -> dict[str, list[float]]:
    """Mean throughput over capacity from group to group, in %, row by row."""
    pairs = run.table("group_traffic").to_pandas()
    return {
        "source": [int(group) for group in pairs["source_group"]],
        "target": [int(group) for group in pairs["target_group"]],
        "share": [round(100 * float(share), 3) for share in pairs["congestion_index"]],
    }


def quartiles(values: pd.Series[float]) -> dict[str, float]:
    """Mean and percentiles of a box."""
    shares = {"q1": 0.25, "median": 0.5, "q3": 0.75, "p95": 0.95, "p99": 0.99}
    return {
        "mean": float(values.mean()),
        **{name: float(values.quantile(share)) for name, share in shares.items()},
    }


def stalls_ms(run: Run, column: str = "counted_stall_ps") -> dict[str, NDArray[np.float64]]:
    """Stall time: of the links inside each group, summed, and of each link between two groups.

    As the paper's simulator counts it, or with `stall_ps` all of it.
    """
    pairs = run.table("group_traffic").to_pandas()
    inside = pairs["source_group"] == pairs["target_group"]
    stall = pairs[column] / 1e9
    return {
        "local": np.asarray(stall[inside], dtype=np.float64),
        "global": np.asarray(stall[~inside] / pairs["links"][~inside], dtype=np.float64),
        "local link": np.asarray(stall[inside] / pairs["links"][inside], dtype=np.float64),
    }


def end_ms(job: dict[str, Any]) -> float:
    """Time from 0 to the end of the job's last rank, as the paper's execution time."""
    return 1e3 * float(job["start_s"] + job["completion_time_s"])


def outcome(run: Run, job: dict[str, Any]) -> dict[str, float]:
    """One job in one run by the paper's definitions and by the usual ones."""
    name, found = job["name"], windows(run, job["name"])
    early = found.loc[found["start_ms"] < EARLY_MS, "latency_us"]
    times = communication_ns(run, name)
    return {
        "execution_ms": end_ms(job),
        "communication_ms": float(times.mean()) / 1e6,
        "communication_s": float(times.mean()) / 1e9,
        "deviation_ms": float(times.std()) / 1e6,
        "in_calls_ms": job["communication_mean_ns"] / 1e6,
        "without_sends_ms": float(communication_ns(run, name, without=(SENDS,)).mean()) / 1e6
        if application(name) == "lqcd"
        else np.nan,
        "injection_gb_per_s": job["injection_bytes_per_s"] / 1e9,
        "latency_mean_us": job["latency_mean_ns"] / 1e3,
        "latency_median_us": percentile_ns(run, name, 0.5) / 1e3,
        "latency_q1_us": percentile_ns(run, name, 0.25) / 1e3,
        "latency_q3_us": percentile_ns(run, name, 0.75) / 1e3,
        "latency_p95_us": percentile_ns(run, name, 0.95) / 1e3,
        "latency_p99_us": percentile_ns(run, name, 0.99) / 1e3,
        "window_latency_mean_us": float(found["latency_us"].mean()),
        "window_latency_p99_us": float(found["latency_us"].quantile(0.99)),
        "early_latency_mean_us": float(early.mean()),
        "early_latency_p99_us": float(early.quantile(0.99)),
        "throughput_gb_per_ms": float(found["gb_per_ms"].mean()),
        "peak_gb_per_ms": float(np.nanmax(curve(run, name, "gb_per_ms")[1])),
        "volume_over_time_gb_per_ms": job["wire_bytes"] / end_ms(job) / 1e9,
        "non_minimal_share": job["non_minimal_share"],
    }


def system(run: Run) -> dict[str, float]:
    """The whole network in one run by the paper's definitions and by the usual ones."""
    found, stalls, plain = windows(run), stalls_ms(run), stalls_ms(run, "stall_ps")
    return {
        "local_stall_ms": float(stalls["local"].mean()),
        "local_link_stall_ms": float(stalls["local link"].mean()),
        "global_stall_ms": float(stalls["global"].mean()),
        "plain_local_stall_ms": float(plain["local"].mean()),
        "plain_global_stall_ms": float(plain["global"].mean()),
        "window_latency_mean_us": float(found["latency_us"].mean()),
        "window_latency_p95_us": float(found["latency_us"].quantile(0.95)),
        "window_latency_p99_us": float(found["latency_us"].quantile(0.99)),
        "latency_mean_us": run.summary["packet"]["latency_mean_ns"] / 1e3,
        "latency_p99_us": percentile_ns(run, None, 0.99) / 1e3,
        "throughput_gb_per_ms": float(found["gb_per_ms"].mean()),
        "volume_over_time_gb_per_ms": sum(job["wire_bytes"] for job in run.jobs.to_pylist())
        / run.summary["packet"]["end_ps"],
    }
