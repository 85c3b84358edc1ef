"""Loads, latencies and stability of all runs, and the comparison of two engines link by link."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from odonata.studies import Finding, Results
from odonata.studies.tables import mean_and_range

SWEEPS = ("adversarial", "uniform", "q-adaptive")
LARGER = ("adversarial-2550", "uniform-2550", "q-adaptive-2550")

# Bytes per second of a node's link on `dragonfly-1056`.
NODE_BANDWIDTH = 25e9


def loads(results: Results) -> pd.DataFrame:
    """One row for each run with open traffic: what was offered and accepted, and how long it took."""
    rows = []
    for experiment in (*SWEEPS, *LARGER):
        if ("experiment", experiment) in results.study.left_out:
            continue
        for place, run in results.runs(experiment):
            (job,) = run.jobs.to_pylist()
            rows.append(
                {
                    "nodes": job["nodes"],
                    "pattern": job["pattern"],
                    "offered": place["job.*.traffic.load"],
                    "routing": run.summary["routing"],
                    "seed": run.summary["seed"],
                    "accepted": job["accepted_load"],
                    "balance": job["accepted_load"] / job["offered_load"],
                    "steady": bool(run.summary["convergence"]["converged"]),
                    "latency_mean_ns": job["latency_mean_ns"],
                    "latency_p99_ns": job["latency_p99_ns"],
                    "non_minimal": job["non_minimal_share"],
                }
            )
    return pd.DataFrame(rows)


def cells(results: Results) -> pd.DataFrame:
    """The same over all seeds, as texts.

    A run that was not steady is saturated: the accepted load is the throughput, and latency only reflects the
    length of the run. If more is accepted than offered, sources drain packets queued before the measurement.
    """
    rows = []
    groups = loads(results).groupby(["nodes", "pattern", "offered", "routing"], sort=False)
    for (nodes, pattern, offered, routing), runs in groups:
        if runs["balance"].max() > 1.02:
            latency = ["draining", ""]
        elif runs["balance"].min() < 0.98 or not runs["steady"].all():
            latency = ["saturated", ""]
        else:
            latency = [mean_and_range(list(runs[f"latency_{name}_ns"]), 0) for name in ("mean", "p99")]
        shares = [share for share in runs["non_minimal"] if not np.isnan(share)]
        rows.append(
            {
                "nodes": nodes,
                "pattern": pattern,
                "load": offered,
                "offered": f"{offered:g}",
                "routing": routing,
                "accepted": mean_and_range(list(runs["accepted"]), 3),
                "mean, ns": latency[0],
                "99 %, ns": latency[1],
                "non-minimal": mean_and_range(shares, 2) if shares else "",
                "seeds": str(len(runs)),
            }
        )
    return pd.DataFrame(rows).sort_values("load", kind="stable")


def held(results: Results) -> pd.DataFrame:
    """The largest relative difference of an interval's accepted load from the offered 0.4."""
    rows = []
    for experiment in ("stability", "learning"):
        for _, run in results.runs(experiment):
            series, packet = run.table("series").to_pandas(), run.summary["packet"]
            start = packet["warm_up_ps"]
            inside = series[
                (series["start_ps"] >= start) & (series["start_ps"] < start + packet["measure_ps"])
            ]
            (job,) = run.jobs.to_pylist()
            accepted = inside["wire_bytes_per_s"] / (job["nodes"] * NODE_BANDWIDTH)
            rows.append(
                {
                    "experiment": experiment,
                    "routing": run.summary["routing"],
                    "seed": run.summary["seed"],
                    "intervals": len(accepted),
                    "worst": float((accepted / 0.4 - 1).abs().max()),
                }
            )
    return pd.DataFrame(rows)


def same_bytes(results: Results) -> Iterator[Finding]:
    """Link by link, and job by job on them."""
    runs = [results.run("four-jobs", {"simulated": name}) for name in ("packet", "flow")]
    mine, theirs = (np.asarray(run.links["bytes"]) for run in runs)
    apart = float(np.abs(mine - theirs).max())
    yield Finding(
        "all jobs",
        f"{len(mine):,} links, greatest difference {apart:g} bytes",
        bool(mine.sum() and not apart),
    )
    equal = bool(runs[0].link_jobs.equals(runs[1].link_jobs))
    yield Finding("each job", "the same on every link" if equal else "differs", equal)


def same_links(results: Results) -> Iterator[Finding]:
    """Correlation of two models of adaptive routing."""
    runs = [results.run("four-jobs", {"simulated": f"{name}-adaptive"}) for name in ("packet", "flow")]
    found = float(np.corrcoef(*(np.asarray(run.links["bytes"]) for run in runs))[0, 1])
    yield Finding("", f"{found:.3f}", found > 0.85)
