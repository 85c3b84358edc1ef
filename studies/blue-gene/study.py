"""Rates and time breakdowns: ping-pong, FIFO maps, pF3D by phase, counters, message maps."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from odonata import counters as links_count
from odonata.runs import Run
from odonata.studies import Results
from odonata.studies.spec import Study

LINK_RATE = 375e6
"""Bytes of messages per second of a Blue Gene/P link: 240 B in 640 ns."""
BLOCK = 435
"""Bytes per pair of the all-to-all in two phases."""
SIZES = {
    "256-B": 256,
    "1-KiB": 2**10,
    "4-KiB": 2**12,
    "16-KiB": 2**14,
    "64-KiB": 2**16,
    "256-KiB": 2**18,
    "1-MiB": 2**20,
    "4-MiB": 2**22,
}
"""Phases of `messages.program`."""
PRESET = "engine.injection.preset"
OWN, ALL = "each its own", "all"


def fifo_maps(_study: Study) -> dict[str, dict[str, Any]]:
    """Six memory FIFOs by direction, each to one of f torus FIFOs or to all."""
    found: dict[str, dict[str, Any]] = {}
    for count in range(1, 7):
        fifos = {"engine.injection.fifos": count}
        found[f"{count}, {OWN}"] = {**fifos, "engine.injection.map": [1 << (d % count) for d in range(6)]}
        if count > 1:
            found[f"{count}, {ALL}"] = {**fifos, "engine.injection.map": [(1 << count) - 1] * 6}
    return found


def mappings(study: Study) -> dict[str, dict[str, Any]]:
    """All 24 orders of the axes, and eight of them tilted; in the quick form every third."""
    orders = ["".join(letters) for letters in permutations("TXYZ")]
    placed = [(order, []) for order in orders]
    placed += [(order, [tilt]) for order in orders[:4] for tilt in ("tilt Z X 1", "tilt Y X 2")]
    chosen = placed[::3] if study.quick else placed
    return {
        " ".join([order, *then]): {
            "job.app.placement": {"name": "mapping", "order": order, "transforms": then}
        }
        for order, then in chosen
    }


def _job(run: Run, name: str | None = None) -> dict[str, Any]:
    return next(job for job in run.jobs.to_pylist() if name in (None, job["name"]))


def ping(results: Results) -> pd.DataFrame:
    """A row for each run: the rate of its messages, and means over the packets of the two nodes."""
    rows = []
    for place, run in results.runs("ping-pong"):
        job = _job(run, "ping-pong")
        program = 8 * 2**18
        nodes = run.table("placement").to_pandas()
        own = nodes[nodes["job"] == job["job"]]["node"]
        fifos = run.table("fifos").to_pandas()
        fifos = fifos[fifos["node"].isin(own)]
        sums = fifos[["packets", "memory_fifo_ps", "hol_blocked_ps", "head_stall_ps"]].sum()
        torus = (sums["hol_blocked_ps"] + sums["head_stall_ps"]) / sums["packets"] / 1e6
        rows.append(
            {
                "routing": place["routing"],
                "map": place[PRESET],
                "behind": place["behind"],
                "to": place["to"],
                "rate": program / job["completion_time_s"] / 1e6,
                "memory": sums["memory_fifo_ps"] / sums["packets"] / 1e6,
                "torus": torus,
                # Latency counts from the creation of a packet.
                "network": job["latency_mean_ns"] / 1e3
                - sums["memory_fifo_ps"] / sums["packets"] / 1e6
                - torus,
            }
        )
    return pd.DataFrame(rows)


def fifos(results: Results) -> pd.DataFrame:
    """A row for each run and size: bytes sent per second over a link's rate."""
    rows = []
    for place, run in results.runs("fifo-map"):
        count, how = place["maps"].split(", ")
        phases = run.table("phases").to_pandas()
        phases = phases[phases["rank"] == 0].set_index("phase")
        messages = _job(run)["ranks"] - 1
        for phase, size in SIZES.items():
            rate = messages * size / (phases["phase_time_ps"][phase] / 1e12)
            rows.append(
                {
                    "to": place["to"],
                    "map": how,
                    "fifos": int(count),
                    "size": phase.replace("-", " "),
                    "links": rate / LINK_RATE,
                    "expected": 1.0 if how == OWN else float(min(int(count), 3)),
                }
            )
    return pd.DataFrame(rows)


def two_phases(results: Results) -> pd.DataFrame:
    """By torus: time of the all-to-all, and the share of its bound.

    Each node sends every other one a block over longest / 4 hops of the longest dimension, on two links.
    """
    rows = []
    for place, run in results.runs("two-phases"):
        job = _job(run)
        longest = max(int(size) for size in str(place["dims"]).split(" x "))
        bound = job["ranks"] * longest / 8 * BLOCK / LINK_RATE
        time = float(job["completion_time_s"])
        rows.append({"dims": place["dims"], "time": time, "share": bound / time})
    return pd.DataFrame(rows)


def phases(results: Results) -> pd.DataFrame:
    """A row for each run of pF3D."""
    return pd.DataFrame(
        {
            "phase": place["phase"],
            "mapping": place["mapping"],
            "map": place[PRESET],
            "time": float(_job(run)["completion_time_s"]),
        }
        for place, run in results.runs("pf3d")
    )


def gains(results: Results) -> pd.DataFrame:
    """Bandwidth gained by feeding all FIFOs, by phase and mapping."""
    times = phases(results).pivot(index=["phase", "mapping"], columns="map", values="time")
    gain = times["dcmf"] / times["dcmf-spread"] - 1
    return gain.rename("gain").reset_index()


def _concordant(results: Results) -> dict[tuple[str, str], dict[str, float]]:
    """By application and routing: for each counter the share of pairs of mappings whose times it orders."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for place, run in results.runs("counters"):
        groups.setdefault((str(place["application"]), str(place["routing"])), []).append(run)
    found = {}
    for group, runs in groups.items():
        table, times = links_count.features_and_times(runs, None)
        shares = {one.counter: one.concordant for one in links_count.predictions(table, times)}
        found[group] = {name: share for name, share in shares.items() if not np.isnan(share)}
    return found


def _others(shares: dict[str, float]) -> dict[str, float]:
    """Counters that do not count traffic, best first. A counter that falls as time rises predicts as well."""
    others = {
        name: max(share, 1 - share)
        for name, share in shares.items()
        if not any(word in name for word in ("bytes", "packets", "busy"))
    }
    return dict(sorted(others.items(), key=lambda item: (-item[1], item[0])))


def counters(results: Results) -> pd.DataFrame:
    """Counters of bytes, and the best that counts no traffic."""
    rows = []
    for (application, routing), shares in _concordant(results).items():
        shown = {
            "bytes, mean": shares.get("bytes mean", 0.5),
            "bytes, largest": shares.get("bytes max", 0.5),
            "bytes, 10 % worst": shares.get("bytes worst", 0.5),
            "best other": next(iter(_others(shares).values())),
        }
        rows += [
            {"application": application, "routing": routing, "counter": name, "concordant": share}
            for name, share in shown.items()
        ]
    return pd.DataFrame(rows)


def best_counters(results: Results) -> pd.DataFrame:
    """The three best that do not count traffic."""
    return pd.DataFrame(
        {"application": application, "routing": routing, "counter": name, "concordant": share}
        for (application, routing), shares in _concordant(results).items()
        for name, share in list(_others(shares).items())[:3]
    )


def message_maps(results: Results) -> pd.DataFrame:
    """By exchange and map: the time, and the cables of E with more than protocol messages."""
    rows = []
    for place, run in results.runs("bgq-e"):
        links = run.links.to_pandas()
        routers = run.routers.to_pandas()
        along = routers["E"].to_numpy()[links["source"]] != routers["E"].to_numpy()[links["target"]]
        busy = links[along & (links["bytes"] > 4096) & links["source"].isin([0, 1])]
        name = str(place["exchange"])
        rows.append(
            {
                "exchange": name,
                "map": place[PRESET],
                "time": float(_job(run)["completion_time_s"]),
                # Up of the one and down of the other are the two directions of a cable.
                "cables": len(busy) / 2,
                "expected": 2.0 if "drawn" in name else 1.0,
            }
        )
    return pd.DataFrame(rows)
