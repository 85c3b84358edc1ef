"""What must hold of every run of the packet engine: packets link by link, the flow engine's bytes, and the
same bytes after kills and in several processes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from soak_repeats import repeats

import odonata
from odonata.errors import OdonataError
from odonata.runs import Run
from odonata.toml import document

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def faults_of(path: Path) -> list[str]:
    """Runs the experiment at a path and says what is wrong with the run.

    Raises:
        OdonataError: The case is refused with an error.
    """
    run = odonata.run(path)
    faults = [*_ended(run), *_packets(run), *_sums(run)]
    # The duration of jobs that end is guessed, for the rows of a run without a directory: of links over time,
    # and of packets of open traffic as long as a program runs.
    grows = "link_series" in run.table_names or "offered_load" in run.jobs.column_names
    guessed = grows and "completion_time_s" in run.jobs.column_names
    if not guessed and run.summary["peak_rss_bytes"] > run.summary["memory_estimate_bytes"]:
        faults.append(
            f"{run.summary['peak_rss_bytes']} B, more than {run.summary['memory_estimate_bytes']} B"
        )
    if (
        "offered_load" not in run.jobs.column_names
        and run.ending == "complete"
        and run.summary["routing"] == "min"
        and not any("program" in job for job in run.settings["job"])
    ):
        faults += _as_the_flow_engine(run, path)
    return faults or repeats(path, run)


def _ended(run: Run) -> list[str]:
    ending = run.summary["ending"]
    if ending == "deadlock":
        return ["no further event"]
    patient = any("although no packet waits for another" in warning for warning in run.summary["warnings"])
    return (
        [f"packets wait for each other: {run.summary['warnings']}"]
        if ending == "no-progress" and not patient
        else []
    )


def _packets(run: Run) -> list[str]:
    """Every path goes from its source's router to its destination's, cable by cable, and takes its time."""
    links, nodes = run.links.to_pandas(), run.nodes.to_pandas()
    packets = run.table("packets")
    router, group = nodes["router"].to_numpy(), run.routers.to_pandas()["group"].to_numpy()
    channels = run.summary["packet"]["virtual_channels"]
    wrong = _wrong_packets(packets, links, router, group, channels)
    faults = []
    for packet in packets.take(wrong[:5]).to_pylist():
        path_links = packet["links"]
        routers = [router[packet["source"]], *links["target"].to_numpy()[path_links]]
        faults.append(
            f"packet of {channels} channels, at routers {routers} of groups {group[routers]}, to router "
            f"{router[packet['destination']]}: no path, other groups, or faster than its cables: {packet}"
        )
    return faults


def _wrong_packets(packets: pa.Table, links: Any, router: Any, group: Any, channels: int) -> Any:
    """Numbers of the packets that no network could deliver like this, of all packets at once.

    A packet passes one router more than links. Arrays of routers have a row for each that a packet passes.
    """
    if not packets.num_rows:
        return np.empty(0, dtype=int)
    given = {name: packets[name].to_numpy() for name in packets.column_names if name not in ("links", "vcs")}
    path, lengths = _flat(packets["links"])
    vcs, vc_lengths = _flat(packets["vcs"])
    count = packets.num_rows
    of_link = np.repeat(np.arange(count), lengths)
    first = np.cumsum(lengths + 1) - lengths - 1
    last = first + lengths
    is_first, is_last = (np.isin(np.arange(len(path) + count), ends) for ends in (first, last))

    # What each router is by the link before, and by the link after.
    reached, left = np.empty(len(is_first), dtype=int), np.empty(len(is_first), dtype=int)
    reached[is_first], reached[~is_first] = router[given["source"]], links["target"].to_numpy()[path]
    left[is_last], left[~is_last] = router[given["destination"]], links["source"].to_numpy()[path]
    wrong = (lengths != given["hops"]) | np.logical_or.reduceat(reached != left, first)

    groups = group[reached]
    ends = [np.repeat(group[router[given[end]]], lengths + 1) for end in ("source", "destination")]
    passes_others = np.logical_or.reduceat((groups != ends[0]) & (groups != ends[1]), first)
    wrong |= passes_others != given["via_intermediate_group"]
    wrong[np.repeat(np.arange(count), vc_lengths)[vcs >= channels]] = True

    rates = np.full(len(is_first), 1e18)
    rates[~is_first] = links["capacity_bytes_per_s"].to_numpy()[path]
    latency = np.bincount(of_link, weights=links["latency_ps"].to_numpy()[path], minlength=count)
    # Each hop may round its time down.
    least = latency + given["bytes"] / np.minimum.reduceat(rates, first) * 1e12 - lengths - 1
    injected, delivered = (given[name].astype(np.int64) for name in ("injected_ps", "delivered_ps"))
    wrong |= (given["created_ps"] > injected) | (injected > delivered) | (delivered - injected < least)
    return np.flatnonzero(wrong)


def _flat(lists: pa.ChunkedArray) -> tuple[Any, Any]:
    """The values of a column of lists one after another, and the length of each list."""
    joined = lists.combine_chunks()
    return joined.flatten().to_numpy(), joined.value_lengths().to_numpy()


def _sums(run: Run) -> list[str]:
    """Bytes in are bytes out, and links carry the bytes of their packets."""
    faults = []
    jobs, packets = run.jobs.to_pandas(), run.table("packets").to_pandas()
    counted = packets.groupby("job")["bytes"].agg(["count", "sum"]).reindex(range(len(jobs)), fill_value=0)
    if (counted["count"].to_numpy() != jobs["packets"].to_numpy()).any():
        faults.append(f"packets of jobs {jobs['packets'].tolist()}, recorded {counted['count'].tolist()}")
    complete = run.summary["ending"] == "complete"
    # Open traffic with jobs that end is cut off when they end.
    ended = jobs[jobs["completion_time_s"].notna()] if "completion_time_s" in jobs else jobs
    if complete and ended["in_flight_packets"].any():
        faults.append(f"complete, but unfinished: {jobs['in_flight_packets'].tolist()}")
    # With closed traffic everything is measured, so the path of every packet is recorded.
    if complete and "offered_load" not in jobs:
        own = (jobs["on_router_bytes"] + jobs["network_bytes"]).to_numpy()
        sent = counted["sum"].to_numpy()
        # Messages of programs have headers, and large ones a handshake.
        runs_program = np.array(["program" in job for job in run.settings["job"]])
        if np.where(runs_program, sent < own, sent != own).any():
            faults.append(f"bytes of jobs {own.tolist()}, of packets {counted['sum'].tolist()}")
        over = np.zeros(len(run.links))
        path, lengths = _flat(run.table("packets")["links"])
        np.add.at(over, path, np.repeat(packets["bytes"].to_numpy(), lengths))
        if (over != run.links.to_pandas()["bytes"].to_numpy()).any():
            faults.append("links carry other bytes than their packets")
    return faults


def _as_the_flow_engine(run: Run, path: Path) -> list[str]:
    """Minimal paths in both engines: the same bytes over hops, on every link if paths are unique."""
    text = tomllib.loads(path.read_text())
    # With the same seed the patterns draw the same messages.
    seed = {"seed": text["engine"]["seed"]} if "seed" in text["engine"] else {}
    text["engine"] = {"kind": "flow", "routing": "min", **seed}
    for job in text["job"]:
        job.pop("traffic", None)
    try:
        # In the directory of the other one, which may name a file.
        flow_path = path.with_name("flow.toml")
        flow_path.write_text(document(text))
        flow = odonata.run(flow_path)
    except OdonataError as error:
        return [] if "cutoff" in str(error) else [f"the flow engine refuses it: {error}"]
    machine = text["machine"]
    # A group that is cut in parts counts as several in the packet engine, while the flow engine takes
    # minimal paths of the whole graph and says so (docs/models/routing/min.md).
    grouped = machine.get("topology") in ("dragonfly", "cascade")
    if grouped and any("minimal paths of the whole graph" in warning for warning in flow.summary["warnings"]):
        return []
    found, expected = (one.links.to_pandas()["bytes"].to_numpy() for one in (run, flow))
    faults = []
    if abs(found.sum() - expected.sum()) > 1e-6 * expected.sum() + 0.5:
        faults.append(f"bytes over hops: {found.sum():.0f}, by the flow engine {expected.sum():.0f}")
    # A dragonfly with one cable of each kind has one minimal path between any two routers.
    single = machine.get("topology") == "dragonfly" and "edit" not in machine
    single = (
        single and machine["g"] == machine["a"] * machine["h"] + 1 and machine.get("local_cables", 1) == 1
    )
    if single and np.abs(found - expected).max(initial=0) > 0.5:
        faults.append(f"link {np.abs(found - expected).argmax()}: other bytes than by the flow engine")
    return faults
