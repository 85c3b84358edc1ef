"""What the tables of the packet engine must hold: all of them follow from the records of the packets.

In a run that is measured from its first packet to its last, as one of closed traffic, every figure of links,
jobs, series and histograms is a sum, a maximum or a mean over the packets and their paths. The packets
themselves are followed by hand in `packet_oracles`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from checking import Tables, check, close, same, sorted_by
from column_runs import (
    GLOBAL,
    INTERVAL_PS,
    LOCAL,
    MEASURED_PS,
    PACKET,
    TERMINAL,
)

PERCENTILES = {
    "latency_p50_ns": 0.5,
    "latency_p90_ns": 0.9,
    "latency_p99_ns": 0.99,
    "latency_p999_ns": 0.999,
    "latency_p9999_ns": 0.9999,
}

LAST_CHANNEL = {"min": 1, "valiant-g": 2}
"""The virtual channel inside the destination group."""


def hops(run: Tables) -> pd.DataFrame:
    """A row for each packet and link of its path: link, channel, job, bytes."""
    rows = run["packets"][["job", "bytes", "links", "vcs"]].explode(["links", "vcs"])
    rows = rows.dropna(subset=["links"]).rename(columns={"links": "link", "vcs": "vc"})
    return rows.astype({"link": np.int64, "vc": np.int64})


def over(length: int, ids: pd.Series, weights: pd.Series | None = None) -> np.ndarray:
    """By id the sum of the weights, or the number of rows."""
    return np.bincount(ids, None if weights is None else weights.astype(float), length)


@check("closed")
def packets_are_the_messages_in_pieces(run: Tables) -> None:
    """Between each two nodes as many bytes of a job as its messages have, in packets of at most 512 B."""
    packets, cells = run["packets"], run["communication"]
    node = run["placement"].set_index(["job", "rank"])["node"]
    ends = {
        end: node[list(zip(cells["job"], cells[end], strict=True))].to_numpy()
        for end in ("source", "destination")
    }
    asked = pd.DataFrame({"job": cells["job"], **ends, "bytes": cells["bytes"]})
    asked = asked[(asked["source"] != asked["destination"]) & (asked["bytes"] > 0)]
    expected = asked.groupby(["job", "source", "destination"])["bytes"].sum()
    found = packets.groupby(["job", "source", "destination"])["bytes"].sum()
    same(found.index, expected.index)
    same(found, expected)
    assert packets["bytes"].max() == PACKET
    assert packets["delivered_ps"].is_monotonic_increasing


@check("closed", "open")
def paths_lead_from_source_to_destination(run: Tables) -> None:
    """Link by link; one that is not minimal visits a third group, so it takes two links between groups."""
    packets, links = run["packets"], run["links"]
    router, group = run["nodes"]["router"].to_numpy(), run["routers"]["group"].to_numpy()
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    between = (links["class"] == "global").to_numpy()
    last = LAST_CHANNEL[run.summary["routing"]]
    same(packets["hops"], packets["links"].map(len))
    same(packets["hops"], packets["vcs"].map(len))
    for packet in packets.itertuples():
        path = packet.links
        stops = [*source[path], router[packet.destination]]
        assert stops[0] == router[packet.source]
        assert list(target[path]) == stops[1:]
        assert packet.non_minimal == (between[path].sum() > 1)
        ends = {group[router[packet.source]], group[router[packet.destination]]}
        assert packet.via_intermediate_group == bool(set(group[stops]) - ends)
        # One more for each hop between groups that is done, and the last one in the destination group.
        done = np.cumsum(between[path]) - between[path]
        arrived = group[source[path]] == group[router[packet.destination]]
        assert list(packet.vcs) == list(np.where(arrived, last, done))
    times = packets[["created_ps", "injected_ps", "delivered_ps"]]
    assert (times.diff(axis=1).iloc[:, 1:] >= 0).all().all()


@check("closed", "open")
def jobs_are_the_means_of_their_packets(run: Tables) -> None:
    packets, jobs = run["packets"], run["jobs"]
    by_job = packets.groupby("job")
    total = (packets["delivered_ps"] - packets["created_ps"]) / 1e3
    network = (packets["delivered_ps"] - packets["injected_ps"]) / 1e3
    wait = (packets["injected_ps"] - packets["created_ps"]) / 1e3
    same(jobs["packets"], by_job.size())
    close(jobs["latency_mean_ns"], total.groupby(packets["job"]).mean())
    close(jobs["latency_max_ns"], total.groupby(packets["job"]).max())
    close(jobs["network_latency_mean_ns"], network.groupby(packets["job"]).mean())
    close(jobs["source_wait_mean_ns"], wait.groupby(packets["job"]).mean())
    close(jobs["packet_hops_mean"], by_job["hops"].mean())
    close(jobs["non_minimal_share"], by_job["non_minimal"].mean())
    close(jobs["intermediate_group_share"], by_job["via_intermediate_group"].mean())
    over = packets["via_intermediate_group"].mean()
    assert np.isclose(run.summary["packet"]["intermediate_group_share"], over, rtol=1e-12)
    for name, share in PERCENTILES.items():
        for job, mine in total.groupby(packets["job"]):
            exact = np.sort(mine)[int(np.ceil(share * len(mine))) - 1]
            # Half of a cell of the histogram.
            assert abs(jobs[name][job] / exact - 1) <= 1 / 128, name


@check("closed")
def jobs_end_with_their_last_packet(run: Tables) -> None:
    """Hops are weighted by bytes, those that no packet carries included."""
    packets, jobs = run["packets"], run["jobs"]
    same(jobs["in_flight_packets"], [0, 0])
    close(jobs["completion_time_s"], packets.groupby("job")["delivered_ps"].max() / 1e12)
    byte_hops = (packets["bytes"].astype(float) * packets["hops"]).groupby(packets["job"]).sum()
    close(jobs["byte_hops_mean"], byte_hops / jobs["bytes"])


@check("closed")
def packets_of_patterns_have_no_overhead(run: Tables) -> None:
    jobs = run["jobs"]
    same(jobs["wire_bytes"], run["packets"].groupby("job")["bytes"].sum())
    same(jobs["wire_bytes"], jobs["on_router_bytes"] + jobs["network_bytes"])


@check("talking", "gathered", "over and over")
def jobs_are_the_sums_of_their_ranks(run: Tables) -> None:
    """Payload, and wire bytes, which packets carry in whole flits."""
    jobs, ranks = run["jobs"], run["ranks"]
    sums = ranks.groupby("job")[["messages", "bytes", "wire_bytes"]].sum()
    for name in ("messages", "bytes", "wire_bytes"):
        same(jobs[name], sums[name])
    of_nodes = run["nodes"]["injected_bytes"].sum()
    assert of_nodes == 0 or jobs["wire_bytes"].sum() < of_nodes < 1.5 * jobs["wire_bytes"].sum()
    assert of_nodes % 128 == 0


@check("closed")
def links_carry_their_packets(run: Tables) -> None:
    """Each packet once, for its bytes over the bandwidth; stalls and idleness fill the rest of the run."""
    links, path_links = run["links"], hops(run)
    count = len(links)
    bandwidth = np.where(links["class"] == "local", LOCAL, GLOBAL)
    close(links["bytes"], over(count, path_links["link"], path_links["bytes"]))
    same(links["packets"], over(count, path_links["link"]))
    busy = (path_links["bytes"] / bandwidth[path_links["link"]] * 1e12).round()
    same(links["busy_ps"], over(count, path_links["link"], busy))
    duration = run["packets"]["delivered_ps"].max()
    assert run.summary["packet"]["measured_ps"] == duration
    same(links["idle_ps"], duration - links["busy_ps"] - links["stall_ps"])
    shares = path_links.groupby(["link", "job"])["bytes"].sum()
    found = run["link_jobs"].set_index(["link", "job"])["bytes"]
    same(found.index, shares.index)
    same(found, shares)


@check("closed")
def nics_pass_the_traffic_of_their_nodes(run: Tables) -> None:
    nodes, packets = run["nodes"], run["packets"]
    close(nodes["injected_bytes"], over(len(nodes), packets["source"], packets["bytes"]))
    close(nodes["ejected_bytes"], over(len(nodes), packets["destination"], packets["bytes"]))


@check("closed")
def channels_are_the_links_in_parts(run: Tables) -> None:
    """While a link is stalled at least one of its channels waits; its buffers hold what theirs hold."""
    channels, links, path_links = run["channels"], run["links"], hops(run)
    sorted_by(channels, "link", "vc")
    per_link = run.summary["packet"]["virtual_channels"]
    same(channels["link"], np.repeat(links["link"], per_link))
    same(channels["vc"], list(range(per_link)) * len(links))
    place = path_links["link"] * per_link + path_links["vc"]
    same(channels["bytes"], over(len(channels), place, path_links["bytes"]))
    same(channels["packets"], over(len(channels), place))
    stalls = channels.groupby("link")["stall_ps"]
    assert (stalls.max().to_numpy() <= links["stall_ps"]).all()
    assert (links["stall_ps"] <= stalls.sum().to_numpy()).all()
    peaks = channels.groupby("link")["peak_bytes"]
    assert (peaks.max().to_numpy() <= links["peak_bytes"]).all()
    assert (links["peak_bytes"] <= peaks.sum().to_numpy()).all()


@check("closed")
def series_of_links_add_up_to_the_run(run: Tables) -> None:
    series, channels, jobs = (run[f"{name}_series"] for name in ("link", "channel", "link_job"))
    sorted_by(series, "start_ps", "link")
    sorted_by(channels, "start_ps", "link", "vc")
    sorted_by(jobs, "start_ps", "link", "job")
    for frame in (series, channels, jobs):
        assert (frame["start_ps"] % INTERVAL_PS == 0).all()
    links, count = run["links"], len(run["links"])
    for column in ("bytes", "packets", "busy_ps", "stall_ps"):
        close(over(count, series["link"], series[column]), links[column])
        assert (series[["busy_ps", "stall_ps"]].sum(axis=1) <= INTERVAL_PS).all()
    peaks = series.groupby("link")["peak_bytes"].max().reindex(links["link"], fill_value=0)
    same(peaks, links["peak_bytes"])
    whole = run["channels"].set_index(["link", "vc"])
    parts = channels.groupby(["link", "vc"])
    for column in ("bytes", "packets", "stall_ps"):
        same(parts[column].sum().reindex(whole.index, fill_value=0), whole[column])
    same(parts["peak_bytes"].max().reindex(whole.index, fill_value=0), whole["peak_bytes"])
    shares = run["link_jobs"].set_index(["link", "job"])["bytes"]
    summed = jobs.groupby(["link", "job"])["bytes"].sum()
    same(summed.index, shares.index)
    same(summed, shares)
    # The same bytes in the same intervals, whoever counts them.
    by_link = series.set_index(["start_ps", "link"])
    for frame in (channels, jobs):
        bytes_ = frame.groupby(["start_ps", "link"])["bytes"].sum()
        same(bytes_.reindex(by_link.index, fill_value=0), by_link["bytes"])
    packets = channels.groupby(["start_ps", "link"])["packets"].sum()
    same(packets.reindex(by_link.index, fill_value=0), by_link["packets"])


@check("closed", "open")
def series_of_jobs_are_the_packets_by_arrival(run: Tables) -> None:
    series, packets = run["series"], run["packets"]
    sorted_by(series, "job", "start_ps")
    latency = (packets["delivered_ps"] - packets["created_ps"]) / 1e3
    start = packets["delivered_ps"] // INTERVAL_PS * INTERVAL_PS
    frame = packets.assign(latency=latency, start_ps=start)
    by = frame.groupby(["job", "start_ps"])
    index = pd.MultiIndex.from_frame(series[["job", "start_ps"]])
    counted = by.size().reindex(index, fill_value=0)
    same(series["packets"], counted)
    assert set(by.groups) <= set(index)
    close(series["wire_bytes"], by["bytes"].sum().reindex(index, fill_value=0))
    close(series["wire_bytes_per_s"], series["wire_bytes"] / (INTERVAL_PS / 1e12))
    close(series["latency_mean_ns"], by["latency"].mean().reindex(index))
    close(series["latency_max_ns"], by["latency"].max().reindex(index))
    close(series["non_minimal_share"], by["non_minimal"].mean().reindex(index))
    close(series["intermediate_group_share"], by["via_intermediate_group"].mean().reindex(index))
    assert (series["start_ps"] % INTERVAL_PS == 0).all()


@check("closed", "open")
def the_histogram_counts_every_packet_in_its_cell(run: Tables) -> None:
    """Cells are as wide as a power of two, which divides where they start, and at most 1/64 of it."""
    cells, packets = run["latency"], run["packets"]
    since = {"total": "created_ps", "network": "injected_ps"}
    assert set(cells["part"]) == set(since)
    order = cells.assign(part=cells["part"].map({"total": 0, "network": 1}).astype(int))
    sorted_by(order, "job", "part", "latency_lower_ps")
    width = cells["latency_upper_ps"] - cells["latency_lower_ps"]
    assert (width & (width - 1) == 0).all()
    assert (cells["latency_lower_ps"] % width == 0).all()
    assert (width <= np.maximum(cells["latency_lower_ps"] // 64, 1)).all()
    for (job, part), mine in cells.groupby(["job", "part"], observed=True):
        times = packets["delivered_ps"] - packets[since[part]]
        times = np.sort(times[packets["job"] == job])
        inside = np.searchsorted(times, mine["latency_upper_ps"]) - np.searchsorted(
            times, mine["latency_lower_ps"]
        )
        same(mine["packets"], inside)
        assert mine["packets"].sum() == len(times)


@check("closed", "open")
def groups_have_the_traffic_of_their_links(run: Tables) -> None:
    found, links = run["group_traffic"], run["links"]
    sorted_by(found, "source_group", "target_group")
    by = links.groupby(["source_group", "target_group"])
    same(found[["source_group", "target_group"]].itertuples(index=False, name=None), by.groups)
    same(found["links"], by.size())
    close(found["bytes"], by["bytes"].sum())
    for column in ("stall_ps", "counted_stall_ps"):
        same(found[column], by[column].sum())
    seconds = run.summary["packet"]["measured_ps"] / 1e12
    close(found["congestion_index"], found["bytes"] / seconds / by["capacity_bytes_per_s"].sum().to_numpy())


@check("closed", "crossing")
def waits_for_crossbars_match_the_summary(run: Tables) -> None:
    links, nodes = run["links"], run["nodes"]
    waited = links["crossbar_stall_ps"].sum() + nodes["crossbar_stall_ps"].sum()
    # Through a crossbar to each link of its path, and to its node.
    crossed = links["packets"].sum() + run["jobs"]["packets"].sum()
    close(run.summary["packet"]["crossbar_stall_mean_ns"], waited / 1e3 / crossed)


@check("open")
def loads_match_the_file_and_the_packets(run: Tables) -> None:
    """Nothing is in flight at the start, so all arrivals in the measurement were created in it.

    One load is 0.6 for the first quarter of the measurement and 0.4 from there on.
    """
    jobs, packets = run["jobs"], run["packets"]
    close(jobs["offered_load"], [0.2, (0.6 + 3 * 0.4) / 4])
    arrived = packets[packets["delivered_ps"] < MEASURED_PS].groupby("job")["bytes"].sum()
    close(jobs["accepted_load"], arrived / (36 * TERMINAL * MEASURED_PS / 1e12))
    same(jobs["messages"], packets.groupby("job").size())


@check("open")
def unfinished_packets_are_still_in_flight(run: Tables) -> None:
    """The run ends with the measurement: what left a source and is not there yet is unfinished."""
    nodes, packets, jobs = run["nodes"], run["packets"], run["jobs"]
    owner = nodes["job"].to_numpy()
    left = pd.Series(nodes["injected_bytes"].to_numpy()).groupby(owner).sum() / PACKET
    arrived = packets.groupby("job").size()
    same(jobs["in_flight_packets"], [left[job] - arrived[job] for job in jobs["job"]])
