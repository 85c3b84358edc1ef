"""Creates runs for the browser tests, with expected values from their tables: `make_runs.py DIRECTORY`.

The expected figures are computed from the Parquet files with pyarrow and NumPy, by code other than
the viewer's.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pc
from experiments import (
    COUNTERS_JOBS,
    COUNTERS_LINKS,
    EXPERIMENTS,
    FAMILIES,
    GRID,
    INTERFERENCE,
    SEARCH,
    SWEPT,
)
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import odonata
from odonata.store.schema import declarations
from odonata.viewer.counters import read_counters
from odonata.viewer.export import embedded
from odonata.viewer.runs import OpenRuns


def of_classes(run: odonata.Run) -> dict[str, Any]:
    """Statistics per class: the engine's, which the page computes again of what is selected."""
    values = run.links["bytes"].to_numpy()
    above = values >= values.max() / 2
    class_of = np.array(run.links["class"].to_pylist())
    classes = {}
    for i, row in enumerate(run.summary["classes"]):
        here = class_of == row["class"]
        if not here.any():
            continue
        classes[row["class"]] = {
            "links": row["links"],
            "mean": row["bytes_mean"],
            "mean_by_job": [job["classes"][i]["bytes_mean"] for job in run.summary["jobs"]],
            "percentiles": [row[f"bytes_p{p}"] for p in (50, 90, 99)],
            "above_half": int((here & above).sum()),
            "sum_above_half": float(values[here & above].sum()),
        }
    return classes


def figures(run: odonata.Run) -> dict[str, Any]:
    links, jobs = run.links, run.jobs
    names = links["class"].to_pylist()
    values = links["bytes"].to_numpy()
    shares = run.link_jobs
    by_job = np.zeros((jobs.num_rows, len(values)))
    by_job[shares["job"].to_numpy(), shares["link"].to_numpy()] = shares["bytes"].to_numpy()
    routers = run.routers["name"].to_pylist()
    hottest = int(np.argmax(values))
    source, target = (links[end].to_pylist()[hottest] for end in ("source", "target"))
    groups = run.routers["group"].to_numpy()
    from_group = groups[links["source"].to_numpy()]
    to_group = groups[links["target"].to_numpy()]
    between = values[from_group != to_group]
    parallel = links["parallel"].to_numpy()
    ends = [links[end].to_numpy() for end in ("source", "target")]
    by_name = {
        f"{routers[s]}>{routers[t]}:{names[i]}.{parallel[i]}": [float(values[i]), *map(float, by_job[:, i])]
        for i, (s, t) in enumerate(zip(*ends, strict=True))
    }
    on_router: dict[int, set[int]] = {}
    for row in run.nodes.to_pylist():
        on_router.setdefault(row["router"], set()).add(row["job"])
    pairs = [
        {"from": int(a), "to": int(b), "links": int(here.sum()), "max": float(values[here].max())}
        for a, b in {(0, 1), (1, 0), (int(groups.max()), 0)}
        if (here := (from_group == a) & (to_group == b)).any()
    ]
    return {
        "links": len(values),
        "groups": int(groups.max()) + 1,
        "jobs": jobs.to_pylist(),
        "max": float(values.max()),
        "mean": float(values.mean()),
        "loaded": int((values > 0).sum()),
        "loaded_between_groups": int((between > 0).sum()),
        "between_groups": len(between),
        "hottest": {
            "from": routers[source],
            "to": routers[target],
            "class": names[hottest],
            "by_job": [float(share[hottest]) for share in by_job],
        },
        "pairs": pairs,
        # Every tenth link is enough for a large machine.
        "by_name": dict(list(by_name.items())[:: 1 if len(by_name) < 4000 else 10]),
        "router_jobs": {routers[r]: sorted(jobs - {-1}) for r, jobs in on_router.items()},
        "classes": of_classes(run),
        "measures": [
            column.label
            for column in declarations(links.schema).values()
            if column.merge not in ("key", "attribute")
        ],
        "converged": run.summary["convergence"].get("converged"),
    }


def series(run: odonata.Run) -> dict[str, Any]:
    """Figures of each job in the third interval."""
    rows = run.table("series").to_pylist()
    starts = sorted({row["start_ps"] for row in rows})
    links = run.table("link_series").to_pylist()
    sender = run.links["source"].to_pylist()
    routers = run.routers["name"].to_pylist()
    stalls: dict[str, dict[int, int]] = {}
    for row in links:
        times = stalls.setdefault(routers[sender[row["link"]]], {})
        times[row["start_ps"]] = times.get(row["start_ps"], 0) + row["stall_ps"]
    tenth = [row for row in links if row["start_ps"] == starts[10]]
    return {
        "starts": starts,
        "third": [row for row in rows if row["start_ps"] == starts[2]],
        "stalls_of_routers": {name: stalls.get(name, {}) for name in routers},
        "link_stall_max": max(row["stall_ps"] for row in links),
        "tenth": {
            "stall_max": max(row["stall_ps"] for row in tenth),
            "stalled": sum(row["stall_ps"] > 0 for row in tenth),
            "bytes_max": max(row["bytes"] for row in tenth),
        },
    }


def lanes(run: odonata.Run) -> dict[str, Any]:
    """Longest wait and computation of the first rank, and shares of the total time."""
    ranks = run.table("ranks").to_pylist()
    calls, waits = run.table("calls").to_pylist(), run.table("rank_waits").to_pylist()
    mine = [row for row in calls if row["job"] == 0 and row["rank"] == 0]
    held = [row for row in waits if row["job"] == 0 and row["rank"] == 0]
    longest = max(held, key=lambda row: row["end_ps"] - row["start_ps"])
    gaps = [(a["end_ps"], b["start_ps"]) for a, b in itertools.pairwise(mine)]
    gap = max(gaps, key=lambda ends: ends[1] - ends[0])
    whole = sum(row["end_ps"] - row["start_ps"] for row in ranks)
    return {
        "ranks": len(ranks),
        "first": min(row["start_ps"] for row in ranks),
        "last": max(row["end_ps"] for row in ranks),
        "waits": [longest["start_ps"], longest["end_ps"]],
        "computes": list(gap),
        "waiting_of_first": sum(row["end_ps"] - row["start_ps"] for row in held),
        "computing_share": 1 - sum(row["communication_ps"] for row in ranks) / whole,
        "waiting_share": sum(row["end_ps"] - row["start_ps"] for row in waits) / whole,
    }


def communicators(run: odonata.Run) -> dict[str, Any]:
    """Communicator groups of the first job, and routers of the second."""
    messages = run.table("messages").to_pandas().query("job == 0")
    groups: dict[int, list[list[int]]] = {}
    for number, rows in messages.groupby("communicator"):
        ends = rows["source"].to_numpy(), rows["destination"].to_numpy()
        size = 1 + max(end.max() for end in ends)
        joined = coo_array((np.ones(len(rows)), ends), shape=(size, size))
        _, label = connected_components(joined, directed=False)
        there = np.unique(np.concatenate(ends))
        groups[int(number)] = [there[label[there] == one].tolist() for one in dict.fromkeys(label[there])]
    several = next(number for number, of in groups.items() if len(of) > 1)
    placement = run.table("placement").to_pandas().query("job == 0").set_index("rank")["node"]
    routers = run.table("nodes").to_pandas().set_index("node")["router"]
    marked = set(routers[placement[groups[several][1]]])
    return {"groups": groups, "several": several, "routers": sorted(int(router) for router in marked)}


def channels(run: odonata.Run) -> dict[str, Any]:
    """Traffic on the dynamic VCs of each link."""
    kinds = run.summary["packet"]["virtual_channel_kinds"]
    table = run.table("channels").to_pandas()
    dynamic = table["vc"].map(lambda vc: kinds[vc] == "dynamic")
    by_link = table["bytes"].where(dynamic, 0).groupby(table["link"]).sum()
    share = by_link / run.links["bytes"].to_numpy()
    return {"kinds": kinds, "largest": float(by_link.max()), "share": float(share.max())}


def mappings(plain: odonata.Run, tilted: odonata.Run) -> dict[str, Any]:
    """Bytes on dynamic VCs of each link and their share, for both mappings."""
    routers = plain.table("routers")["name"].to_pylist()
    ends = (plain.links[end].to_pylist() for end in ("source", "target"))
    names = [f"{routers[source]}>{routers[target]}" for source, target in zip(*ends, strict=True)]
    found: dict[str, Any] = {}
    for name, run in [("plain", plain), ("tilted", tilted)]:
        kinds = run.summary["packet"]["virtual_channel_kinds"]
        table = run.table("channels").to_pandas()
        dynamic = table["bytes"].where(table["vc"].map(lambda vc, kinds=kinds: kinds[vc] == "dynamic"), 0)
        by_link = dynamic.groupby(table["link"]).sum().to_numpy()
        every = run.links["bytes"].to_numpy()
        share = np.divide(by_link, every, out=np.zeros(len(every)), where=every > 0)
        found[name] = {"dynamic": by_link.tolist(), "share": share.tolist()}
    return {"links": names, **found}


def latency(run: odonata.Run) -> dict[str, Any]:
    """Latency percentiles of a job from the engine (95th from the histogram), and group traffic."""
    cells = run.table("latency").to_pandas()
    totals = cells[(cells["part"] == "total") & (cells["job"] == 1)].sort_values("latency_lower_ps")
    reached = totals["packets"].cumsum() >= np.ceil(0.95 * totals["packets"].sum())
    cell = totals[reached.to_numpy()].iloc[0]
    far = run.jobs.to_pylist()[1]
    worst = max(run.table("group_traffic").to_pylist(), key=lambda row: row["congestion_index"])
    return {
        "packets": int(totals["packets"].sum()),
        "p50_ns": far["latency_p50_ns"],
        "p95_ns": float(cell["latency_lower_ps"] + cell["latency_upper_ps"] - 1) / 2000,
        "p99_ns": far["latency_p99_ns"],
        "worst": {name: worst[name] for name in ("source_group", "target_group", "congestion_index")},
    }


def costs(run: odonata.Run, per_rank: odonata.Run) -> dict[str, Any]:
    """Sums of the second job's cycle, and terms of the other model's only job."""
    rows = [row for row in run.table("cycle").to_pylist() if row["job"] == 1]
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    largest = max(rows, key=lambda row: row["term_time_s"])
    (job,) = per_rank.jobs.to_pylist()
    times: dict[tuple[str, int], float] = {}
    for row in rows:
        place = (row["scenario"], row["level"])
        times[place] = times.get(place, 0.0) + row["term_time_s"]
    slowest = [
        max((place for place in times if place[0] == s), key=lambda place: times[place]) for s in scenarios
    ]
    return {
        "scenarios": {s: sum(row["term_time_s"] for row in rows if row["scenario"] == s) for s in scenarios},
        "levels": len({row["level"] for row in rows}),
        "finest_compute": sum(
            row["term_time_s"]
            for row in rows
            if (row["scenario"], row["level"], row["term"]) == (scenarios[0], 0, "compute")
        ),
        "largest": largest,
        "slowest": [
            {"scenario": scenario, "level": level, "time_s": times[scenario, level]}
            for scenario, level in slowest
        ],
        "per_rank": {name: job[name] for name in ("startup_s", "hops_s", "bandwidth_s", "matching_s")},
        "per_rank_time": job["predicted_time_s"],
    }


def communication(run: odonata.Run, job: int) -> dict[str, Any]:
    rows = [row for row in run.communication.to_pylist() if row["job"] == job]
    return {"cells": rows[:: max(1, len(rows) // 5)], "bytes": sum(row["bytes"] for row in rows)}


def levels(run: odonata.Run) -> list[dict[str, Any]]:
    """Bytes, messages and largest matrix cell of each job."""
    table = run.communication.to_pandas()
    return [
        {
            "name": job["name"],
            "bytes": float(mine["bytes"].sum()),
            "messages": int(mine["messages"].sum()),
            "most": float(mine["bytes"].max()),
        }
        for job in run.jobs.to_pylist()
        if (mine := table[table["job"] == job["job"]]) is not None
    ]


def differences(base: odonata.Run, other: odonata.Run) -> dict[str, Any]:
    """The cable with the largest traffic change, paired by ends, class and number; and all black cables."""

    def by_name(run: odonata.Run) -> dict[tuple[Any, ...], float]:
        names = run.routers["name"].to_pylist()
        return {
            (names[row["source"]], names[row["target"]], row["class"], row["parallel"]): row["bytes"]
            for row in run.links.to_pylist()
        }

    before, after = by_name(base), by_name(other)
    key = max(before.keys() & after.keys(), key=lambda k: abs(after[k] - before[k]))
    black = [k for k in before.keys() & after.keys() if k[2] == "black"]
    gone = before.keys() - after.keys()
    bundles = {k[:3] for k in before if k[2] == "black"}
    total = {
        name: sum(v for k, v in side.items() if k[2] == "black")
        for name, side in (("before", before), ("after", after))
    }
    return {
        "from": key[0],
        "to": key[1],
        "before": before[key],
        "after": after[key],
        "black": {
            "cables": len(black),
            "mean_change": float(np.mean([after[k] - before[k] for k in black])),
            "removed": len(gone),
            "removed_mean": float(np.mean([before[k] for k in gone])),
            "bundles": len(bundles),
            "bundle_change": (total["after"] - total["before"]) / len(bundles),
        },
    }


def answer(base: odonata.Run, other: odonata.Run) -> dict[str, Any]:
    """The job with the largest slowdown and its bottleneck, from `odonata.explain`."""
    times = [run.jobs["completion_time_s"].to_numpy() for run in (base, other)]
    job = int(np.argmax(times[1] / times[0]))
    name = base.jobs["name"][job].as_py()

    def binding(run: odonata.Run) -> dict[str, Any]:
        found = odonata.explain(run, name, blame=False).bottlenecks
        assert found is not None
        return {key: found[key][0].as_py() for key in ("name", "share")}

    return {
        "job": name,
        "before": float(times[0][job]),
        "after": float(times[1][job]),
        "link_before": binding(base),
        "link_after": binding(other),
    }


def explanation(run: odonata.Run) -> dict[str, Any]:
    """Bottleneck of the first job and its sharers."""
    found = odonata.explain(run, run.jobs["name"][0].as_py(), blame=False)
    assert found.bottlenecks is not None
    assert found.sharers is not None
    return {"job": found.job, **found.bottlenecks.to_pylist()[0], "sharers": found.sharers.to_pylist()}


def grid(target: Path) -> list[dict[str, Any]]:
    """Maximum traffic and mean latency of job `far`, by routing, number of ranks and seed."""
    if not (target / "grid" / "sweep.json").exists():
        (target / "grid.toml").write_text(GRID)
        odonata.sweep(target / "grid.toml", out=target / "grid")
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for path in sorted((target / "grid" / "points").iterdir()):
        run = odonata.load(path)
        near, far = run.jobs.to_pylist()
        figures = (max(run.links["bytes"].to_pylist()), far["latency_mean_ns"])
        found.setdefault((run.summary["routing"], near["ranks"]), []).append(figures)
    return [
        {"routing": routing, "ranks": ranks, "most": [a for a, _ in seeds], "latency": [b for _, b in seeds]}
        for (routing, ranks), seeds in found.items()
    ]


def search(target: Path) -> dict[str, Any]:
    """The Pareto front from the search tables, and the number of combinations."""
    if not (target / "search" / "trials.parquet").exists():
        (target / "search.toml").write_text(SEARCH)
        odonata.optimize(target / "search.toml", out=target / "search")
    found = odonata.Optimization.load(target / "search")
    return {"front": found.front.to_pylist(), "trials": found.trials.to_pylist()}


def interference(target: Path) -> list[dict[str, Any]]:
    """Slowdown of the call time of each job with the other job, by routing and seed."""
    if not (target / "interference" / "interference.parquet").exists():
        (target / "interference.toml").write_text(INTERFERENCE)
        odonata.sweep(target / "interference.toml", out=target / "interference")
    means: dict[tuple[str, str, int], dict[str, float]] = {}
    for path in sorted((target / "interference" / "points").iterdir()):
        run = odonata.load(path)
        running = [job for job in run.jobs.to_pylist() if job["messages"]]
        for job in running:
            place = (run.summary["routing"], job["name"], run.summary["seed"])
            condition = "shared" if len(running) > 1 else "alone"
            means.setdefault(place, {})[condition] = job["communication_mean_ns"]
    slowdowns: dict[tuple[str, str], list[float]] = {}
    for (routing, name, _), times in sorted(means.items()):
        slowdowns.setdefault((routing, name), []).append(times["shared"] / times["alone"])
    return [
        {"routing": routing, "target": name, "slowdowns": values}
        for (routing, name), values in slowdowns.items()
    ]


def counters(target: Path) -> dict[str, Any]:
    """Two small counter tables, and Edison's counters if available."""
    (target / "counters.csv").write_text(COUNTERS_LINKS)
    (target / "counters-jobs.csv").write_text(COUNTERS_JOBS)
    shared = Path(os.environ.get("ODONATA_SHARED", Path(__file__).parents[3] / "shared")) / "data"
    links, jobs = shared / "edison-counters-links.csv.gz", shared / "edison-counters-jobs.csv.gz"
    found: dict[str, Any] = {"edison": None}
    if links.exists() and jobs.exists():
        table = pc.read_csv(links)
        found["edison"] = {
            "paths": [str(links), str(jobs)],
            "links": table.num_rows,
            "flits_max": max(table["flits"].to_pylist()),
            "groups": read_counters(links, jobs).summary["machine"]["groups"],
        }
    return found


def make(target: Path, experiments: dict[str, str]) -> dict[str, Any]:
    found = {}
    for name, text in experiments.items():
        if not (target / name / "summary.json").exists():
            odonata.run(text, out=target / name)
        found[name] = figures(odonata.load(target / name))
    return found


def known(value: Any) -> Any:
    """The same with null for numbers that are not known: JSON has no NaN."""
    if isinstance(value, dict):
        return {key: known(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [known(one) for one in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def main(target: Path) -> None:
    runs = make(target, EXPERIMENTS)
    swept = make(target / "sweep", SWEPT)
    opened = {name: odonata.load(target / name) for name in EXPERIMENTS}
    found = {
        "runs": runs,
        "families": FAMILIES,
        "sweep": {name: run["mean"] for name, run in swept.items()},
        "series": series(opened["packet"]),
        "grid": grid(target),
        "search": search(target),
        "interference": interference(target),
        "lanes": lanes(opened["ranks"]),
        "communicators": communicators(opened["ranks"]),
        "channels": channels(opened["packet-torus"]),
        "mappings": mappings(opened["mapped-plain"], opened["mapped-tilted"]),
        "latency": latency(opened["packet"]),
        "costs": costs(opened["amg"], opened["model"]),
        "communication": [communication(opened["packet"], 1), communication(opened["edison"], 1)],
        "levels": levels(opened["levels"]),
        "regrouped": levels(opened["levels-regrouped"]),
        "difference": differences(opened["edison"], opened["edison-K"]),
        "answer": answer(opened["edison"], opened["edison-K"]),
        "explanation": explanation(opened["edison"]),
        "counters": counters(target),
    }
    (target / "expected.json").write_text(json.dumps(known(found)))
    # The data of a notebook widget.
    (target / "widget.json").write_text(json.dumps(embedded(OpenRuns.from_run(opened["dragonfly"]))))
    families = OpenRuns.from_directories([target / name for name in FAMILIES])
    (target / "families.json").write_text(json.dumps(embedded(families)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
