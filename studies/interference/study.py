"""The runs as rows, and the paper's numbers next to the measured ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from odonata.runs import Run
from odonata.studies import Finding, Results
from odonata.studies.select import NoRowsError

from .figures import boxes, communication, congestion, over_time, stalls, windows_of_all
from .measures import (
    NAMES,
    NETWORK,
    application,
    congestion_map,
    end_ms,
    outcome,
    quartiles,
    ranks,
    series,
    stalls_ms,
    system,
    windows,
)

__all__ = [
    "boxes",
    "communication",
    "comparison",
    "congestion",
    "costs",
    "hot_node",
    "keep",
    "minimal_is_best",
    "network_is_faster",
    "numbers",
    "outcomes",
    "over_time",
    "same_packets",
    "slowdowns",
    "stalls",
    "windows_of_all",
    "with_slowdowns",
]

PAPER = Path(__file__).with_name("paper.csv")
ADAPTIVE = ("ugal-g", "ugal-n", "par")

# Scopes of runs: the paper's, and additional ones.
PAIR, MIXED, QUICK = "pair", "mixed", "quick"
SCOPES = {"quick": QUICK, "mixed": MIXED, "minimal": PAIR, "bias": "bias", "placements": "placement"}

HOT_NODE = "hot-node"
"""The experiment without applications."""

FIVE = ("fft3d", "cosmoflow", "lu", "ur", "lqcd")
"""The jobs of the mixed workload over which the paper takes a mean: all except Stencil5D."""

SAID = {**NAMES, NETWORK: "all jobs", "five": "five jobs"}


def keep(place: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The compact form of a run: all that the tables and figures read, by job and for the network."""
    if "alone" in place:
        return {"jobs": run.jobs.to_pylist()}
    return {
        "routing": run.summary["routing"],
        "seed": str(run.summary["seed"]),
        "end_ps": run.summary["packet"]["end_ps"],
        "cost": _cost(run),
        "outcomes": list(_outcomes(place, run)),
        "jobs": [job for job in run.jobs.to_pylist() if job["messages"]],
        "ranks": ranks(run),
        "classes": {"all": run.summary["classes"]}
        | {job["name"]: job["classes"] for job in run.summary["jobs"] if job["name"] in _names(run)},
        "series": {name: series(run, name) for name in _names(run)} | {"all": series(run)},
        "windows": quartiles(windows(run)["latency_us"]),
        "stalls": stalls_ms(run),
        "congestion": congestion_map(run) if place["jobs"] == "mixed" else {},
    }


def _names(run: Run) -> list[str]:
    return [job["name"] for job in run.jobs.to_pylist() if job["messages"]]


def outcomes(results: Results) -> pd.DataFrame:
    """One row for each run and job, and one of each run for the network."""
    experiments = [name for name in results.study.experiments if name != HOT_NODE]
    rows = [row for experiment in experiments for row in _rows_of(results, experiment)]
    if not rows:
        return pd.DataFrame()
    found = pd.DataFrame(rows)
    return with_slowdowns(found)


def _rows_of(results: Results, experiment: str) -> Iterator[dict[str, Any]]:
    for place, kept in results.kept(experiment):
        key = {
            "experiment": experiment,
            "scope": SCOPES.get(experiment, PAIR),
            "routing": kept["routing"],
            "seed": kept["seed"],
            "placement": str(place.get("job.*.placement.order", 1)),
            "bias": str(place.get("engine.routing.bias", "none")),
        }
        for row in kept["outcomes"]:
            yield key | row | kept["cost"]


def _outcomes(place: Mapping[str, Any], run: Run) -> Iterator[dict[str, Any]]:
    """The outcome of each job of a run, and of the network."""
    jobs = [job for job in run.jobs.to_pylist() if job["messages"]]
    for job in jobs:
        others = [other for other in jobs if other is not job]
        background = "+".join(application(other["name"]) for other in others) or "none"
        key = {"target": job["name"], "background": "mixed" if place["jobs"] == "mixed" else background}
        yield key | outcome(run, job) | _throughput_with(run, job["name"], others)
    yield {"target": NETWORK, "background": place["jobs"]} | system(run)


def _throughput_with(run: Run, name: str, others: list[dict[str, Any]]) -> dict[str, float]:
    """Throughput until the first of the others ends, and after the last."""
    if not others:
        return {}
    found, ends = windows(run, name), [end_ms(other) for other in others]
    return {
        "throughput_with_gb_per_ms": float(found.loc[found["start_ms"] < min(ends), "gb_per_ms"].mean()),
        "throughput_after_gb_per_ms": float(found.loc[found["start_ms"] > max(ends), "gb_per_ms"].mean()),
    }


def _cost(run: Run) -> dict[str, float]:
    return {
        "million_packets": run.summary["packet"]["packets"] / 1e6,
        "cpu_s": run.summary["cpu_s"],
        "peak_mb": run.summary["peak_rss_bytes"] / 1e6,
    }


KEYS = ["scope", "target", "routing", "seed", "placement", "bias"]


def with_slowdowns(found: pd.DataFrame) -> pd.DataFrame:
    """The mean communication time over the same job's time alone, all else equal."""
    alone = found[(found["background"] == "none")].drop_duplicates(KEYS)
    base = alone[[*KEYS, "communication_ms"]].rename(columns={"communication_ms": "alone_ms"})
    found = found.merge(base, on=KEYS, how="left")
    found["slowdown"] = found["communication_ms"] / found["alone_ms"]
    return found.drop(columns="alone_ms")


def numbers(results: Results) -> pd.DataFrame:
    """The paper's numbers, each with the measured mean over seeds, if it has run."""
    found = results.frame("outcomes")
    rows = []
    for said in pd.read_csv(PAPER, keep_default_na=False).to_dict("records"):
        for routing in said["routing"].split():
            values = _found(found, said, routing)
            rows.append(
                {
                    "statement": said["statement"],
                    "place": said["place"],
                    "number": _words(said),
                    "label": ", ".join(
                        filter(None, (_words(said), _unit(said["measure"]), _routing(routing)))
                    ),
                    "routing": _routing(routing),
                    "unit": _unit(said["measure"]),
                    "published": float(said["published"]),
                    "here": float(np.mean(values)) if len(values) else np.nan,
                    "seeds": str(len(values)),
                }
            )
    return pd.DataFrame(rows)


def _found(found: pd.DataFrame, said: dict[str, Any], routing: str) -> list[float]:
    """The values of all seeds; none if it has not run."""
    if found.empty:
        return []
    target, measure = said["target"], said["measure"]
    if measure not in found:
        return []
    rows = found[(found["scope"] == said["scope"]) & (found["placement"] == "1")]
    rows = rows[rows["background"] == said["background"]]
    targets = FIVE if target == "five" else (target,)
    routings = ADAPTIVE if routing == "adaptive" else (routing,)
    values = []
    for _, of_seed in rows.groupby("seed"):
        cells = of_seed[of_seed["target"].isin(targets) & of_seed["routing"].isin(routings)][measure].dropna()
        # A mean over algorithms or jobs needs all of them.
        if len(cells) == len(targets) * len(routings):
            values.append(float(cells.mean()))
    return values


def _routing(name: str) -> str:
    return "mean of UGALg, UGALn, PAR" if name == "adaptive" else name


WORDS = {
    "execution_ms": "execution time",
    "injection_gb_per_s": "injection rate",
    "communication_ms": "communication time",
    "slowdown": "slowdown",
    "latency_mean_us": "mean latency of packets",
    "latency_median_us": "median latency of packets",
    "latency_p95_us": "95 % of packets within",
    "latency_p99_us": "99 % of packets within",
    "window_latency_mean_us": "mean latency, windows",
    "window_latency_p99_us": "99 % of windows below",
    "early_latency_mean_us": "mean latency, windows of the first 15 ms",
    "early_latency_p99_us": "99 % of the windows of the first 15 ms below",
    "throughput_gb_per_ms": "throughput",
    "throughput_with_gb_per_ms": "throughput while both run",
    "throughput_after_gb_per_ms": "throughput afterwards",
    "peak_gb_per_ms": "highest throughput",
    "local_stall_ms": "stall of a group's local links, summed",
    "global_stall_ms": "stall of a global link",
}


def _words(said: dict[str, Any]) -> str:
    target, background = application(said["target"]), said["background"]
    others = {"none": "alone", "mixed": "mixed"}.get(background) or f"with {SAID[background]}"
    return f"{SAID[target]} {others}: {WORDS[said['measure']]}"


def _unit(measure: str) -> str:
    if measure.endswith("gb_per_ms"):
        return "GB/ms"
    if measure.endswith("gb_per_s"):
        return "GB/s"
    return {"ms": "ms", "us": "us"}.get(measure.rsplit("_", 1)[-1], "")


def comparison(results: Results) -> pd.DataFrame:
    """`numbers` as texts."""
    found = results.frame("numbers")
    rows = []
    for row in found.to_dict("records"):
        measured = not np.isnan(row["here"])
        rows.append(
            {
                "place": row["place"],
                "what": row["number"],
                "routing": row["routing"],
                "unit": row["unit"],
                "paper": f"{row['published']:g}",
                "here": f"{row['here']:.3g}" if measured and row["here"] < 100 else f"{row['here']:.0f}",
                "apart": f"{100 * (row['here'] / row['published'] - 1):+.0f} %" if measured else "",
                "seeds": row["seeds"] if measured else "",
            }
            | ({} if measured else {"here": "not measured"})
        )
    return pd.DataFrame(rows)


def slowdowns(results: Results) -> pd.DataFrame:
    """Times and slowdowns by scope, target, background and routing."""
    found = results.frame("outcomes")
    if found.empty:
        return found
    return found[found["target"] != NETWORK].reset_index(drop=True)


def costs(results: Results) -> pd.DataFrame:
    """Cost of each run, once per run instead of once per job."""
    found = results.frame("outcomes")
    if found.empty:
        return found
    found = found[(found["target"] == NETWORK) & (found["scope"] != QUICK)]
    found = found.assign(jobs=found["background"], rate=found["million_packets"] / found["cpu_s"])
    return found[
        ["jobs", "routing", "seed", "placement", "bias", "million_packets", "cpu_s", "rate", "peak_mb"]
    ]


def hot_node(results: Results) -> pd.DataFrame:
    """Of each routing: latencies of the victims with the hot node, and relative to those alone."""
    runs = {(place["engine.routing"], place["alone"]): kept["jobs"] for place, kept in results.kept(HOT_NODE)}
    rows = []
    for (routing, alone), jobs in runs.items():
        if alone != "together" or (routing, "victim") not in runs:
            continue
        job, base = jobs[0], runs[routing, "victim"][0]
        of = {f"p{part}_us": job[f"latency_p{part}_ns"] / 1e3 for part in ("99", "999")}
        over = {
            f"slowdown_{part}": job[f"latency_p{part}_ns"] / base[f"latency_p{part}_ns"]
            for part in ("99", "999")
        }
        rows.append(
            {"routing": routing, **of, **over, "accepted": job["accepted_load"] / job["offered_load"]}
        )
    return pd.DataFrame(rows)


def same_packets(results: Results) -> Iterator[Finding]:
    """A program sends the same packets under every routing and with any competing job."""
    found: dict[str, dict[int, int]] = {}
    for _, kept in results.kept("quick"):
        for job in kept["jobs"]:
            packets = found.setdefault(job["name"], {})
            packets[job["packets"]] = packets.get(job["packets"], 0) + 1
    for name, packets in found.items():
        words = ", ".join(f"{count:,} packets in {runs} runs" for count, runs in packets.items())
        yield Finding(SAID[name], words, len(packets) == 1)


def minimal_is_best(results: Results) -> Iterator[Finding]:
    """Communication alone under `min` against each adaptive routing and Q-adaptive."""
    found = results.frame("outcomes")
    if found.empty:
        raise NoRowsError("nothing has run")
    alone = found[(found["scope"] == PAIR) & (found["background"] == "none") & (found["placement"] == "1")]
    times = alone.pivot_table(index="target", columns="routing", values="communication_ms", aggfunc="mean")
    if "min" not in times:
        raise NoRowsError("no run under min")
    for target, row in times.iterrows():
        for routing in (*ADAPTIVE, "q-adaptive"):
            if not (np.isnan(row["min"]) or np.isnan(row.get(routing, np.nan))):
                words = f"{row['min']:.2f} ms under min, {row[routing]:.2f} ms"
                label = f"{SAID[application(str(target))]}, {routing}"
                yield Finding(label, words, bool(row["min"] < row[routing]))


def network_is_faster(results: Results) -> Iterator[Finding]:
    """Q-adaptive against PAR, by windows as the paper has them and by packets."""
    found = results.frame("outcomes")
    if found.empty:
        raise NoRowsError("nothing has run")
    rows = found[(found["target"] == NETWORK) & (found["background"] == "mixed")]
    of = rows.groupby("routing").mean(numeric_only=True)
    if not {"par", "q-adaptive"} <= set(of.index):
        raise NoRowsError("the mixed workload has not run under both")
    for words, column in (
        ("mean of windows", "window_latency_mean_us"),
        ("99 % of windows", "window_latency_p99_us"),
        ("mean of packets", "latency_mean_us"),
        ("99 % of packets", "latency_p99_us"),
    ):
        mine, other = float(of.loc["q-adaptive", column]), float(of.loc["par", column])
        said = f"{mine:.3g} us for {other:.3g} us, {100 * (mine / other - 1):+.0f} %"
        yield Finding(words, said, mine < other)
