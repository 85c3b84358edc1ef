"""The runs of the authors' own simulator and the same ones here, bin by bin.

`python tests/differential/authors.py FILE.png` draws them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pandas as pd

import odonata

ROOT = Path(__file__).parents[2]
EXPERIMENT = ROOT / "studies" / "packet-routing" / "authors.toml"
SHARED = Path(os.environ.get("ODONATA_SHARED", ROOT.parent / "shared"))
MEASURED = SHARED / "data" / "authors-packet-runs.csv"

KEYS = ["routing", "traffic", "gap_ns", "packets_per_node"]
CHOICES = {
    "VALn": "valiant-n",
    "minimal": "min",
    **{name: {"name": name, "preset": "study"} for name in ("ugal-g", "ugal-n", "par")},
}
PACKET_NS, PACKET_BYTES, BIN_US = 32, 128, 20
CAPACITY = 1056 * 4e9 * BIN_US * 1e-6
"""Bytes that all nodes take in the time of a bin."""


def measured() -> dict[tuple[str, str], pd.DataFrame]:
    """The authors' runs by routing and traffic, with `accepted` and `latency` of each bin."""
    rows = pd.read_csv(MEASURED).rename(
        columns={"accepted_share_of_4GBps": "accepted", "latency_mean_ns": "latency"}
    )
    return {(run[0], run[1]): frame for run, frame in rows.groupby(KEYS, sort=False)}


def repeated(run: pd.DataFrame, seed: int = 1, **engine: object) -> pd.DataFrame:
    """The same run here: `accepted` and `latency` of the same bins, 0 and missing where nothing arrived.

    `engine` are other keys of it.
    """
    routing, traffic, gap, packets = run[KEYS].iloc[0]
    starts = list(run["bin_start_us"])
    changes = {
        "engine.routing": CHOICES.get(routing, routing),
        "engine.seed": seed,
        "engine.measure": f"{starts[-1] + BIN_US} us",
        "job.all.traffic.load": PACKET_NS / gap,
        "job.all.traffic.packets": int(packets),
    }
    changes |= {f"engine.{key}": value for key, value in engine.items()}
    if traffic == "uniform":
        changes["job.all.pattern"] = "uniform"
    else:
        changes["job.all.pattern.offset"] = int(traffic.removeprefix("adv+"))
    series = odonata.run(EXPERIMENT, set=changes).table("series").to_pandas()
    series.index = (series["start_ps"] // 1_000_000).astype(int)
    found = series.reindex(starts)
    return pd.DataFrame(
        {
            "bin_start_us": starts,
            "accepted": found["packets"].fillna(0).to_numpy() * PACKET_BYTES / CAPACITY,
            "latency": found["latency_mean_ns"].to_numpy(),
        }
    )


def all_send(run: pd.DataFrame) -> pd.DataFrame:
    """The bins that end before an unstalled node has created all of its packets."""
    until = run["gap_ns"].iloc[0] * run["packets_per_node"].iloc[0] / 1000
    return run[run["bin_start_us"] + BIN_US <= until]


def draw(path: str) -> None:
    """Accepted load over time of every run, the authors' and ours."""
    from matplotlib.figure import Figure

    runs = measured()
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    panels = figure.subplots(3, 3).flat
    for panel, ((routing, traffic), run) in zip(panels, runs.items(), strict=False):
        mine = repeated(run)
        middle = run["bin_start_us"] + BIN_US / 2
        panel.plot(middle, run["accepted"], "o", mfc="none", color="#555555", label="authors' simulator")
        panel.plot(middle, mine["accepted"], "-", color="#0072b2", label="Odonata")
        panel.set_title(f"{routing}, {traffic}", fontsize=10)
        panel.set_ylim(0, 0.9 if traffic == "uniform" else 0.5)
        panel.grid(alpha=0.3)
    for panel in list(panels):
        panel.set_visible(False)
    figure.axes[0].legend(frameon=False, fontsize=9, loc="lower left")
    figure.supxlabel("time, us (all nodes stop after so many packets)")
    figure.supylabel("accepted load")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    draw(sys.argv[1])
