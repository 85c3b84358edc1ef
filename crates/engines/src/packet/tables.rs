//! The packet engine's own tables.

use super::columns::{
    FinishedRun, CHANNEL_PEAK, CHANNEL_STALL, COUNTED_STALL, INTERMEDIATE_GROUP, LATENCY_MAX, NO_PACKET,
};
use super::programs;
use crate::record::ids::{JOB, LINK, NODE, START, VC};
use odonata_declare::Type::{Coded, F64, U32, U64};
use odonata_declare::Unit::{Bytes, BytesPerS, Count, Ns, Plain, Ps, Share};
use odonata_declare::{Column, FilledTable, Frame, Table, Values};
use odonata_packet::{
    ChannelRecord, ControlInterval, ControlIntervalKey, ControlRecord, FifoRecord, IntervalRecord, JobWait,
    LearningInterval, PacketResult, QueueRecord,
};
use std::collections::BTreeMap;

/// The declarations, in the order of the reference.
pub(super) fn tables() -> Vec<Table> {
    vec![
        LATENCY.declaration(),
        GROUP_TRAFFIC.declaration(),
        SERIES.declaration(),
        LEARNING_SERIES.declaration(),
        CHANNELS.declaration(),
        JOB_WAITS.declaration(),
        FIFOS.declaration(),
        CONTROL_PAIRS.declaration(),
        CONTROL_SERIES.declaration(),
    ]
}

/// The frames of the tables that the run has.
pub(super) fn frames(run: &FinishedRun<'_>) -> Vec<(&'static str, Frame)> {
    let result = run.result;
    let mut frames = vec![LATENCY.of(&cells(result)), GROUP_TRAFFIC.of(&pairs(run))];
    frames.extend(programs::frames(run.ran));
    frames.extend((!result.series.is_empty()).then(|| SERIES.of(result)));
    frames.extend((!result.learning_series.is_empty()).then(|| LEARNING_SERIES.of(result)));
    frames.extend(channels(result).next().is_some().then(|| CHANNELS.of(result)));
    frames.extend(records_waits(result).then(|| JOB_WAITS.of(result)));
    frames.extend(result.ports.fifos().next().is_some().then(|| FIFOS.of(result)));
    frames.extend(run.engine.network(run.scenario).has_control().then(|| CONTROL_PAIRS.of(result)));
    frames.extend((!result.control_series.is_empty()).then(|| CONTROL_SERIES.of(result)));
    frames
}

/// A non-empty cell of a histogram of latencies.
struct Cell {
    job: u32,
    /// Position among [`PARTS`].
    part: i32,
    latency_lower_ps: u64,
    latency_upper_ps: u64,
    packets: u64,
    /// If iterations were skipped with an error.
    half_width_packets: Option<u64>,
}

const PARTS: [&str; 2] = ["total", "network"];

fn cells(result: &PacketResult) -> Vec<Cell> {
    let intervals = result.latency_intervals.as_ref();
    let mut cells = Vec::new();
    for (job, record) in (0..).zip(&result.jobs) {
        for (part, histogram) in (0..).zip([&record.latency, &record.network_latency]) {
            let found = histogram.cells().map(|(latency_lower_ps, latency_upper_ps, packets)| Cell {
                job,
                part,
                latency_lower_ps,
                latency_upper_ps,
                packets,
                half_width_packets: intervals.map(|of| of.half_width(job, part == 1, latency_lower_ps)),
            });
            cells.extend(found);
        }
    }
    cells
}

const LATENCY: FilledTable<'_, Vec<Cell>> = FilledTable {
    name: "latency",
    row: "job, part and cell of the histogram of latencies",
    sorted_by: &["job", "part", "latency_lower_ps"],
    under: None,
    doc: "Cells without a packet have no row.",
    columns: &[
        JOB.by(|cells: &Vec<Cell>| cells.iter().map(|cell| cell.job).collect()),
        Column::key(
            "part",
            Coded,
            Plain,
            "Part",
            "`total`: from creation to delivery of the last byte. `network`: from injection to delivery.",
        )
        .by(|cells| Values::Text {
            codes: cells.iter().map(|cell| cell.part).collect(),
            texts: PARTS.map(str::to_owned).to_vec(),
        }),
        Column::key("latency_lower_ps", U64, Ps, "Lower edge", "Lower edge of the cell, included.")
            .by(|cells| cells.iter().map(|cell| cell.latency_lower_ps).collect()),
        Column::attribute("latency_upper_ps", U64, Ps, "Upper edge", "Upper edge of the cell, excluded.")
            .by(|cells| cells.iter().map(|cell| cell.latency_upper_ps).collect()),
        Column::sum("packets", U64, Count, "Packets", "Packets in the cell.")
            .by(|cells| cells.iter().map(|cell| cell.packets).collect()),
        // Cells vary together: their intervals say nothing about the interval of their sum.
        Column::attribute(
            "half_width_packets",
            U64,
            Count,
            "Interval of packets",
            "Half width of the 95 % interval of `packets` in the full run. No column if no iteration was skipped.",
        )
        .under("fast_forward = { error = 0.01 }")
        .by_if(|cells| {
            cells.first()?.half_width_packets?;
            Some(cells.iter().map(|cell| cell.half_width_packets.unwrap_or(0)).collect())
        }),
    ],
};

/// The links from one group to another, or within one.
#[derive(Default)]
struct Pair {
    groups: (u32, u32),
    links: u32,
    bytes: u64,
    stall_ps: u64,
    /// If it was recorded.
    counted_stall_ps: Option<u64>,
    /// Mean throughput over capacity.
    congestion: f64,
}

fn pairs(run: &FinishedRun<'_>) -> Vec<Pair> {
    let (machine, result) = (&run.scenario.machine, run.result);
    let mut pairs: BTreeMap<(u32, u32), (Pair, f64)> = BTreeMap::new();
    for (link, port) in machine.links().zip(result.ports.links()) {
        let groups = (machine.group_of(machine.source(link)).0, machine.group_of(machine.target(link)).0);
        let (pair, capacity) = pairs.entry(groups).or_insert((Pair { groups, ..Pair::default() }, 0.0));
        pair.links += 1;
        pair.bytes += port.record.bytes;
        pair.stall_ps += port.record.stall_ps;
        pair.counted_stall_ps = port.counted_stall_ps.map(|own| pair.counted_stall_ps.unwrap_or(0) + own);
        *capacity += machine.bandwidth(link).bytes_per_s_f64();
    }
    let seconds = run.duration().as_s_f64();
    let index = |bytes: u64, capacity: f64| if seconds > 0.0 { bytes as f64 / seconds / capacity } else { 0.0 };
    pairs.into_values().map(|(pair, capacity)| Pair { congestion: index(pair.bytes, capacity), ..pair }).collect()
}

const GROUP_TRAFFIC: FilledTable<'_, Vec<Pair>> = FilledTable {
    name: "group_traffic",
    row: "pair of groups with a link",
    sorted_by: &["source_group", "target_group"],
    under: None,
    doc: "Values within the measurement. The links inside a group are a pair, too.",
    columns: &[
        Column::key("source_group", U32, Plain, "Source group", "Group of the sending routers.")
            .by(|pairs: &Vec<Pair>| pairs.iter().map(|pair| pair.groups.0).collect()),
        Column::key("target_group", U32, Plain, "Target group", "Group of the receiving routers.")
            .by(|pairs| pairs.iter().map(|pair| pair.groups.1).collect()),
        Column::sum("links", U32, Count, "Links", "Links from the source group to the target group.")
            .by(|pairs| pairs.iter().map(|pair| pair.links).collect()),
        Column::sum("bytes", F64, Bytes, "Traffic", "Bytes of packets on these links.")
            .by(|pairs| pairs.iter().map(|pair| pair.bytes as f64).collect()),
        Column::sum("stall_ps", U64, Ps, "Stall", "Sum of the stall times of these links.")
            .by(|pairs| pairs.iter().map(|pair| pair.stall_ps).collect()),
        COUNTED_STALL.by_if(|pairs| pairs.iter().map(|pair| pair.counted_stall_ps).collect()),
        Column::mean(
            "congestion_index",
            F64,
            Share,
            "Congestion index",
            "Mean throughput of these links over their capacity.",
        )
        .weighted_by("links")
        .by(|pairs| pairs.iter().map(|pair| pair.congestion).collect()),
    ],
};

/// Number of the job, number of the interval, record of the interval.
fn intervals(result: &PacketResult) -> impl Iterator<Item = (usize, usize, &IntervalRecord)> {
    let jobs = result.series.iter().enumerate();
    jobs.flat_map(|(job, series)| series.iter().enumerate().map(move |(i, row)| (job, i, row)))
}

const SERIES: FilledTable<'_, PacketResult> = FilledTable {
    name: "series",
    row: "job and interval",
    sorted_by: &["job", "start_ps"],
    under: Some("interval"),
    doc: "Intervals from time 0, by the time of delivery. If `series` is given, it must contain `\"jobs\"`.",
    columns: &[
        JOB.by(|result: &PacketResult| intervals(result).map(|(job, _, _)| job as u32).collect()),
        START.by(|result| intervals(result).map(|(_, i, _)| i as u64 * result.interval.ps()).collect()),
        Column::sum("wire_bytes", F64, Bytes, "Delivered", "Wire bytes of the delivered packets.")
            .by(|result| intervals(result).map(|(_, _, row)| row.bytes as f64).collect()),
        Column::sum("wire_bytes_per_s", F64, BytesPerS, "Throughput", "`wire_bytes` over the length of the interval.")
            .headline()
            .by(|result| {
                let seconds = result.interval.as_s_f64();
                intervals(result).map(|(_, _, row)| row.bytes as f64 / seconds).collect()
            }),
        Column::sum("packets", U64, Count, "Packets", "Delivered packets.")
            .by(|result| intervals(result).map(|(_, _, row)| row.packets).collect()),
        Column::mean("latency_mean_ns", F64, Ns, "Mean latency", "Time from the creation of a packet to its delivery.")
            .weighted_by("packets")
            .missing(NO_PACKET)
            .headline()
            .by(|result| intervals(result).map(|(_, _, row)| mean(row.latency_ps, row.packets) / 1e3).collect()),
        LATENCY_MAX.by(|result| {
            let max = |row: &IntervalRecord| if row.packets == 0 { f64::NAN } else { row.latency_max_ps as f64 / 1e3 };
            intervals(result).map(|(_, _, row)| max(row)).collect()
        }),
        Column::mean("non_minimal_share", F64, Share, "Non-minimal share", "Share of packets on non-minimal paths.")
            .weighted_by("packets")
            .missing(NO_PACKET)
            .by(|result| intervals(result).map(|(_, _, row)| mean(row.non_minimal, row.packets)).collect()),
        Column::mean("intermediate_group_share", F64, Share, "Intermediate-group share", INTERMEDIATE_GROUP)
            .weighted_by("packets")
            .missing(NO_PACKET)
            .by(|result| intervals(result).map(|(_, _, row)| mean(row.via_intermediate_group, row.packets)).collect()),
    ],
};

fn mean(sum: u64, n: u64) -> f64 {
    sum as f64 / n as f64
}

/// Number of the interval, and the updates of routers in it.
fn learning(result: &PacketResult) -> impl Iterator<Item = (u64, &LearningInterval)> {
    (0..).zip(&result.learning_series)
}

const LEARNING_SERIES: FilledTable<'_, PacketResult> = FilledTable {
    name: "learning_series",
    row: "interval",
    sorted_by: &["start_ps"],
    under: Some("interval, routing = \"q-adaptive\""),
    doc: "Intervals from time 0, by the time at which the feedback arrives.",
    columns: &[
        START.by(|result: &PacketResult| learning(result).map(|(i, _)| i * result.interval.ps()).collect()),
        Column::sum("updates", U64, Count, "Updates", "Updates of estimates.")
            .by(|result| learning(result).map(|(_, row)| row.updates).collect()),
        Column::mean("error_mean_ns", F64, Ns, "Mean error", "Absolute error of an estimate at its update.")
            .weighted_by("updates")
            .missing("no estimate was updated")
            .by(|result| learning(result).map(|(_, row)| row.error_ps as f64 / 1e3 / row.updates as f64).collect()),
    ],
};

/// Link, virtual channel, and the record of the channel.
fn channels(result: &PacketResult) -> impl Iterator<Item = (u32, u32, &ChannelRecord)> {
    let links = (0..).zip(result.ports.links());
    links.flat_map(|(link, port)| (0..).zip(port.channels).map(move |(vc, channel)| (link, vc, channel)))
}

/// Records of the input queues of the same channels.
fn queues(result: &PacketResult) -> impl Iterator<Item = &QueueRecord> {
    result.ports.links().flat_map(|port| port.queues)
}

const CHANNELS: FilledTable<'_, PacketResult> = FilledTable {
    name: "channels",
    row: "link and virtual channel",
    sorted_by: &["link", "vc"],
    under: Some("record_channels = true"),
    doc: "Within the measurement.",
    columns: &[
        LINK
            .by(|result: &PacketResult| channels(result).map(|(link, _, _)| link).collect()),
        VC
            .by(|result| channels(result).map(|(_, vc, _)| vc).collect()),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of packets on the channel.")
            .by(|result| channels(result).map(|(_, _, row)| row.bytes).collect()),
        Column::sum("packets", U64, Count, "Packets", "Packets on the channel.")
            .by(|result| channels(result).map(|(_, _, row)| row.packets).collect()),
        CHANNEL_STALL
        .by(|result| channels(result).map(|(_, _, row)| row.stall_ps).collect()),
        CHANNEL_PEAK
            .by(|result| channels(result).map(|(_, _, row)| row.peak_bytes).collect()),
        Column::sum(
            "queued_ps",
            U64,
            Ps,
            "Queued",
            "Total time packets spent in the input queue at the end of the link. Divided by the measured time: mean length of the queue.",
        )
        .by(|result| queues(result).map(|queue| queue.queued_ps).collect()),
        Column::max(
            "peak_queued_packets",
            U64,
            Count,
            "Peak queue",
            "Maximum packets in the input queue at the end of the link, including a packet that passes at once.",
        )
        .by(|result| queues(result).map(|queue| queue.peak_packets).collect()),
    ],
};

fn records_waits(result: &PacketResult) -> bool {
    result.ports.links().any(|port| !port.job_waits.is_empty())
}

/// Link, virtual channel, and the time that one job blocked another there.
fn job_waits(result: &PacketResult) -> impl Iterator<Item = (u32, u32, &JobWait)> {
    let links = (0..).zip(result.ports.links());
    let channels = links.flat_map(|(link, port)| (0..).zip(port.job_waits).map(move |(vc, waits)| (link, vc, waits)));
    channels.flat_map(|(link, vc, waits)| waits.iter().map(move |wait| (link, vc, wait)))
}

const JOB_WAITS: FilledTable<'_, PacketResult> = FilledTable {
    name: "job_waits",
    row: "link, virtual channel, waiting job and blocking job",
    sorted_by: &["link", "vc", "job", "blocking_job"],
    under: Some("record_job_waits = true"),
    doc: "Waits within the measurement. A packet waits from its entry into the output queue of a link to its departure. While the link transmits, the job of the transmitted packet blocks all waiting packets. While the link is free and the head packet is out of credits, the blocking job is the job of the oldest packet in the buffer at the other end. While the link is free and the head packet has credits but is not complete, its own job blocks. The sum over blocking jobs is the total wait of a job's packets there.",
    columns: &[
        LINK
            .by(|result: &PacketResult| job_waits(result).map(|(link, _, _)| link).collect()),
        VC
            .by(|result| job_waits(result).map(|(_, vc, _)| vc).collect()),
        Column::key("job", U32, Plain, "Job", "Number of the job with the waiting packets.")
            .of("jobs")
            .by(|result| job_waits(result).map(|(_, _, wait)| u32::from(wait.job)).collect()),
        Column::key("blocking_job", U32, Plain, "Blocking job", "Number of the job that blocked these packets, possibly the same job.")
            .of("jobs")
            .by(|result| job_waits(result).map(|(_, _, wait)| u32::from(wait.blocking_job)).collect()),
        Column::sum("wait_ps", U64, Ps, "Wait", "Total wait of these packets.")
            .headline()
            .by(|result| job_waits(result).map(|(_, _, wait)| wait.wait_ps).collect()),
    ],
};

/// One value of each torus FIFO.
fn of_fifos(result: &PacketResult, get: impl Fn(&FifoRecord) -> u64) -> Values {
    result.ports.fifos().map(|(_, _, fifo, _)| get(fifo)).collect()
}

const FIFOS: FilledTable<'_, PacketResult> = FilledTable {
    name: "fifos",
    row: "node and torus FIFO",
    sorted_by: &["node", "fifo"],
    under: Some("injection"),
    doc: "Values within the measurement. A packet waits in a memory FIFO until a torus FIFO takes it. Then it waits at the router: first behind other packets of its torus FIFO, then at the head, until the next buffer has room.",
    columns: &[
        NODE
            .by(|result: &PacketResult| result.ports.fifos().map(|(node, ..)| node).collect()),
        Column::key("fifo", U32, Plain, "Torus FIFO", "Number of the torus FIFO at its node.")
            .by(|result| result.ports.fifos().map(|(_, fifo, ..)| fifo).collect()),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of the packets that entered the FIFO, including headers.")
            .headline()
            .by(|result| of_fifos(result, |fifo| fifo.bytes)),
        Column::sum("packets", U64, Count, "Packets", "Packets that entered the FIFO.")
            .by(|result| of_fifos(result, |fifo| fifo.packets)),
        Column::sum("busy_ps", U64, Ps, "Busy", "Time a packet was entering the FIFO.")
            .by(|result| of_fifos(result, |fifo| fifo.busy_ps)),
        Column::sum("full_ps", U64, Ps, "Full", "Time the FIFO was full while a memory FIFO had a packet for it.")
            .by(|result| result.ports.fifos().map(|(.., full)| full).collect()),
        Column::sum(
            "memory_fifo_ps",
            U64,
            Ps,
            "In the memory FIFO",
            "Total time of these packets from creation to the end of the memory FIFO.",
        )
        .by(|result| of_fifos(result, |fifo| fifo.memory_fifo_ps)),
        Column::sum("hol_blocked_ps", U64, Ps, "Head-of-line blocked", "Total time packets waited at the router behind other packets of the FIFO.")
            .headline()
            .by(|result| of_fifos(result, |fifo| fifo.hol_blocked_ps)),
        Column::sum("head_stall_ps", U64, Ps, "Head stall", "Total time packets waited at the head because the next buffer was full.")
            .headline()
            .by(|result| of_fifos(result, |fifo| fifo.head_stall_ps)),
    ],
};

/// One value of each pair of nodes that the control held.
fn of_pairs<T>(result: &PacketResult, get: impl Fn(&ControlRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    result.control.iter().map(get).collect()
}

const CONTROL_PAIRS: FilledTable<'_, PacketResult> = FilledTable {
    name: "control_pairs",
    row: "job, source node and destination node that the congestion control affected",
    sorted_by: &["job", "source", "destination"],
    under: Some("control"),
    doc: "In the whole run. Pairs without a held packet, a hold or a mark have no row.",
    columns: &[
        JOB.by(|result: &PacketResult| of_pairs(result, |pair| u32::from(pair.job))),
        Column::key("source", U32, Plain, "Source", "Number of the source node.")
            .of("nodes")
            .by(|result| of_pairs(result, |pair| pair.source.0)),
        Column::key("destination", U32, Plain, "Destination", "Number of the destination node.")
            .of("nodes")
            .by(|result| of_pairs(result, |pair| pair.destination.0)),
        Column::sum("held_packets", U64, Count, "Held packets", "Packets that waited at the NIC for the control.")
            .by(|result| of_pairs(result, |pair| pair.held_packets)),
        Column::sum(
            "held_ps",
            U64,
            Ps,
            "Held",
            "Time that these packets waited at the NIC, first in the queue of their destination, until they left.",
        )
        .headline()
        .by(|result| of_pairs(result, |pair| pair.held_ps)),
        Column::sum(
            "holds",
            U64,
            Count,
            "Holds",
            "Times that the congested port of the destination held the source, by the job of the packet that arrived.",
        )
        .by(|result| of_pairs(result, |pair| pair.holds)),
        Column::sum(
            "marks",
            U64,
            Count,
            "Marks",
            "Packets that left a long queue, so that their acknowledgement has a mark.",
        )
        .by(|result| of_pairs(result, |pair| pair.marks)),
    ],
};

/// One value of each row of the series of windows.
fn of_windows<T>(result: &PacketResult, get: impl Fn(&ControlIntervalKey, &ControlInterval) -> T) -> Values
where
    Values: FromIterator<T>,
{
    result.control_series.iter().map(|(key, row)| get(key, row)).collect()
}

const CONTROL_SERIES: FilledTable<'_, PacketResult> = FilledTable {
    name: "control_series",
    row: "interval, source node and destination node that packets left for",
    sorted_by: &["start_ps", "source", "destination"],
    under: Some("control, interval"),
    doc:
        "Windows and rates that the congestion control allowed, in intervals from time 0 by the departure from the NIC.",
    columns: &[
        START.by(|result: &PacketResult| of_windows(result, |key, _| key.0 * result.interval.ps())),
        Column::key("source", U32, Plain, "Source", "Number of the source node.")
            .of("nodes")
            .by(|result| of_windows(result, |key, _| key.1 .0)),
        Column::key("destination", U32, Plain, "Destination", "Number of the destination node.")
            .of("nodes")
            .by(|result| of_windows(result, |key, _| key.2 .0)),
        Column::sum("packets", U64, Count, "Packets", "Packets that left the NIC.")
            .by(|result| of_windows(result, |_, row| row.packets)),
        Column::sum("credited_packets", U64, Count, "Credited packets", "Packets that used a credit of the port.")
            .by(|result| of_windows(result, |_, row| row.credited_packets)),
        Column::mean("window_mean_bytes", F64, Bytes, "Mean window", "Window at the departures.")
            .weighted_by("packets")
            .missing("the rule has no window")
            .by(|result| {
                let mean = |row: &ControlInterval| row.window_bytes as f64 / row.packets as f64;
                of_windows(result, |_, row| if row.window_bytes == 0 { f64::NAN } else { mean(row) })
            }),
        Column::mean(
            "rate_mean_share",
            F64,
            Share,
            "Mean rate",
            "Allowed rate at the departures, as a part of the NIC's rate.",
        )
        .weighted_by("packets")
        .by(|result| of_windows(result, |_, row| row.rate_share / row.packets as f64)),
    ],
};
