//! The packet engine's own tables.

use super::columns::{Measured, COUNTED_STALL, INTERMEDIATE_GROUP, NO_PACKET};
use super::programs;
use odonata_declare::Type::{Coded, F64, U32, U64};
use odonata_declare::Unit::{Bytes, BytesPerS, Count, Ns, Plain, Ps, Share};
use odonata_declare::{Column, FilledTable, Frame, Table, Values};
use odonata_packet::{
    ChannelRecord, FifoRecord, IntervalRecord, JobRecord, JobWait, LearningInterval, PacketResult, QueueRecord,
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
    ]
}

/// Those that the run has.
pub(super) fn frames(run: &Measured<'_>) -> Vec<(&'static str, Frame)> {
    let result = run.result;
    let mut frames = vec![LATENCY.of(&cells(&result.jobs)), GROUP_TRAFFIC.of(&pairs(run))];
    frames.extend(programs::frames(run.ran));
    frames.extend((!result.series.is_empty()).then(|| SERIES.of(result)));
    frames.extend((!result.learning_series.is_empty()).then(|| LEARNING_SERIES.of(result)));
    frames.extend(channels(result).next().is_some().then(|| CHANNELS.of(result)));
    frames.extend(records_waits(result).then(|| JOB_WAITS.of(result)));
    frames.extend(result.ports.fifos().next().is_some().then(|| FIFOS.of(result)));
    frames
}

/// A cell of a histogram of latencies that is not empty.
struct Cell {
    job: u32,
    /// Position among [`PARTS`].
    part: i32,
    latency_lower_ps: u64,
    latency_upper_ps: u64,
    packets: u64,
}

const PARTS: [&str; 2] = ["total", "network"];

fn cells(jobs: &[JobRecord]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (job, record) in (0..).zip(jobs) {
        for (part, histogram) in (0..).zip([&record.latency, &record.network_latency]) {
            let found = histogram.cells().map(|(latency_lower_ps, latency_upper_ps, packets)| Cell {
                job,
                part,
                latency_lower_ps,
                latency_upper_ps,
                packets,
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
        Column::key("job", U32, Plain, "Job", "Number of the job.")
            .of("jobs")
            .by(|cells: &Vec<Cell>| cells.iter().map(|cell| cell.job).collect()),
        Column::key(
            "part",
            Coded,
            Plain,
            "Part",
            "`total`, from the making of a packet to the arrival of its last byte, or `network`, from its leaving its source.",
        )
        .by(|cells| Values::Text {
            codes: cells.iter().map(|cell| cell.part).collect(),
            texts: PARTS.map(str::to_owned).to_vec(),
        }),
        Column::key("latency_lower_ps", U64, Ps, "From", "Smallest latency of the cell.")
            .by(|cells| cells.iter().map(|cell| cell.latency_lower_ps).collect()),
        Column::attribute("latency_upper_ps", U64, Ps, "To", "End of the cell: a latency of this is in the next one.")
            .by(|cells| cells.iter().map(|cell| cell.latency_upper_ps).collect()),
        Column::sum("packets", U64, Count, "Packets", "Packets with such a latency.")
            .by(|cells| cells.iter().map(|cell| cell.packets).collect()),
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

fn pairs(run: &Measured<'_>) -> Vec<Pair> {
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
    doc: "Within the measurement. The links inside a group are a pair, too.",
    columns: &[
        Column::key("source_group", U32, Plain, "Source group", "Group of the sending routers.")
            .by(|pairs: &Vec<Pair>| pairs.iter().map(|pair| pair.groups.0).collect()),
        Column::key("target_group", U32, Plain, "Target group", "Group of the receiving routers.")
            .by(|pairs| pairs.iter().map(|pair| pair.groups.1).collect()),
        Column::sum("links", U32, Count, "Links", "Links from the one to the other.")
            .by(|pairs| pairs.iter().map(|pair| pair.links).collect()),
        Column::sum("bytes", F64, Bytes, "Traffic", "Bytes on these links.")
            .by(|pairs| pairs.iter().map(|pair| pair.bytes as f64).collect()),
        Column::sum("stall_ps", U64, Ps, "Stall", "Their time without credit, added up.")
            .by(|pairs| pairs.iter().map(|pair| pair.stall_ps).collect()),
        COUNTED_STALL.by_if(|pairs| pairs.iter().map(|pair| pair.counted_stall_ps).collect()),
        Column::mean("congestion_index", F64, Share, "Congestion index", "Their mean throughput over their capacity.")
            .weighted_by("links")
            .by(|pairs| pairs.iter().map(|pair| pair.congestion).collect()),
    ],
};

/// Number of the job, number of the interval, what happened in it.
fn intervals(result: &PacketResult) -> impl Iterator<Item = (usize, usize, &IntervalRecord)> {
    let jobs = result.series.iter().enumerate();
    jobs.flat_map(|(job, series)| series.iter().enumerate().map(move |(i, row)| (job, i, row)))
}

const SERIES: FilledTable<'_, PacketResult> = FilledTable {
    name: "series",
    row: "job and interval",
    sorted_by: &["job", "start_ps"],
    under: Some("interval"),
    doc: "By the time of arrival, from time 0 on. With `series` given it must name `\"jobs\"`.",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.")
            .of("jobs")
            .by(|result: &PacketResult| intervals(result).map(|(job, _, _)| job as u32).collect()),
        Column::key("start_ps", U64, Ps, "Start", "Start of the interval.")
            .by(|result| intervals(result).map(|(_, i, _)| i as u64 * result.interval.ps()).collect()),
        Column::sum("bytes", F64, Bytes, "Delivered", "Bytes that arrived.")
            .by(|result| intervals(result).map(|(_, _, row)| row.bytes as f64).collect()),
        Column::sum("bytes_per_s", F64, BytesPerS, "Throughput", "Bytes that arrived over the length of the interval.")
            .headline()
            .by(|result| {
                let seconds = result.interval.as_s_f64();
                intervals(result).map(|(_, _, row)| row.bytes as f64 / seconds).collect()
            }),
        Column::sum("packets", U64, Count, "Packets", "Packets that arrived.")
            .by(|result| intervals(result).map(|(_, _, row)| row.packets).collect()),
        Column::mean("latency_mean_ns", F64, Ns, "Mean latency", "From the making of a packet to its arrival.")
            .weighted_by("packets")
            .missing(NO_PACKET)
            .headline()
            .by(|result| intervals(result).map(|(_, _, row)| mean(row.latency_ps, row.packets) / 1e3).collect()),
        Column::max("latency_max_ns", F64, Ns, "Largest latency", "That of the slowest packet; 0 if none arrived.")
            .by(|result| intervals(result).map(|(_, _, row)| row.latency_max_ps as f64 / 1e3).collect()),
        Column::mean("non_minimal_share", F64, Share, "Non-minimal share", "Packets that left the minimal way.")
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

/// Number of the interval, and what routers learnt in it.
fn learning(result: &PacketResult) -> impl Iterator<Item = (u64, &LearningInterval)> {
    (0..).zip(&result.learning_series)
}

const LEARNING_SERIES: FilledTable<'_, PacketResult> = FilledTable {
    name: "learning_series",
    row: "interval",
    sorted_by: &["start_ps"],
    under: Some("routing = \"q-adaptive\" with interval"),
    doc: "By the time at which the feedback arrives, from time 0 on.",
    columns: &[
        Column::key("start_ps", U64, Ps, "Start", "Start of the interval.")
            .by(|result: &PacketResult| learning(result).map(|(i, _)| i * result.interval.ps()).collect()),
        Column::sum("updates", U64, Count, "Updates", "Updates of estimates.")
            .by(|result| learning(result).map(|(_, row)| row.updates).collect()),
        Column::mean("error_mean_ns", F64, Ns, "Mean error", "Absolute error of an estimate when it was updated.")
            .weighted_by("updates")
            .missing("nothing was updated")
            .by(|result| learning(result).map(|(_, row)| row.error_ps as f64 / 1e3 / row.updates as f64).collect()),
    ],
};

/// Link, virtual channel, and what happened there.
fn channels(result: &PacketResult) -> impl Iterator<Item = (u32, u32, &ChannelRecord)> {
    let links = (0..).zip(result.ports.links());
    links.flat_map(|(link, port)| (0..).zip(port.channels).map(move |(vc, channel)| (link, vc, channel)))
}

/// What waited in the input queues of the same channels.
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
        Column::key("link", U32, Plain, "Link", "Number of the link.")
            .of("links")
            .by(|result: &PacketResult| channels(result).map(|(link, _, _)| link).collect()),
        Column::key("vc", U32, Plain, "Virtual channel", "Number of the virtual channel.")
            .by(|result| channels(result).map(|(_, vc, _)| vc).collect()),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes that it carried.")
            .by(|result| channels(result).map(|(_, _, row)| row.bytes).collect()),
        Column::sum("packets", U64, Count, "Packets", "Packets that it carried.")
            .by(|result| channels(result).map(|(_, _, row)| row.packets).collect()),
        Column::sum(
            "stall_ps",
            U64,
            Ps,
            "Stall",
            "Time during which the link was stalled and packets of this channel waited.",
        )
        .by(|result| channels(result).map(|(_, _, row)| row.stall_ps).collect()),
        Column::max("peak_bytes", U64, Bytes, "Peak occupancy", "Most bytes in its output buffer at a time.")
            .by(|result| channels(result).map(|(_, _, row)| row.peak_bytes).collect()),
        Column::sum(
            "queued_ps",
            U64,
            Ps,
            "Queued",
            "Over packets, the time in the input queue at the link's end; divided by the measured time, the mean number of them there.",
        )
        .by(|result| queues(result).map(|queue| queue.queued_ps).collect()),
        Column::max(
            "peak_queued_packets",
            U64,
            Count,
            "Peak queue",
            "Most packets in the input queue at the link's end at a time, one that passes at once included.",
        )
        .by(|result| queues(result).map(|queue| queue.peak_packets).collect()),
    ],
};

fn records_waits(result: &PacketResult) -> bool {
    result.ports.links().any(|port| !port.job_waits.is_empty())
}

/// Link, virtual channel, and how long packets of a job waited there for those of a job.
fn job_waits(result: &PacketResult) -> impl Iterator<Item = (u32, u32, &JobWait)> {
    let links = (0..).zip(result.ports.links());
    let channels = links.flat_map(|(link, port)| (0..).zip(port.job_waits).map(move |(vc, waits)| (link, vc, waits)));
    channels.flat_map(|(link, vc, waits)| waits.iter().map(move |wait| (link, vc, wait)))
}

const JOB_WAITS: FilledTable<'_, PacketResult> = FilledTable {
    name: "job_waits",
    row: "link, virtual channel, job whose packets waited and job that held them up",
    sorted_by: &["link", "vc", "job", "blocking_job"],
    under: Some("record_job_waits = true"),
    doc: "Within the measurement. A packet waits from its entry into the output queue of a link to its departure. While the link \
          sends, the job of the packet that it sends holds up all that wait; while it is free and the packet at the head of the queue \
          lacks credit, the job of the oldest packet that has taken room at the other end; while it is free and that packet has credit, \
          but its last byte is still too far, its own job. So over all holders a job's times are what its packets waited there.",
    columns: &[
        Column::key("link", U32, Plain, "Link", "Number of the link.")
            .of("links")
            .by(|result: &PacketResult| job_waits(result).map(|(link, _, _)| link).collect()),
        Column::key("vc", U32, Plain, "Virtual channel", "Number of the virtual channel.")
            .by(|result| job_waits(result).map(|(_, vc, _)| vc).collect()),
        Column::key("job", U32, Plain, "Job", "Number of the job whose packets waited.")
            .of("jobs")
            .by(|result| job_waits(result).map(|(_, _, wait)| u32::from(wait.job)).collect()),
        Column::key("blocking_job", U32, Plain, "Holder", "Number of the job that held them up; it may be the same.")
            .of("jobs")
            .by(|result| job_waits(result).map(|(_, _, wait)| u32::from(wait.blocking_job)).collect()),
        Column::sum("wait_ps", U64, Ps, "Wait", "Times of these packets, added up.")
            .headline()
            .by(|result| job_waits(result).map(|(_, _, wait)| wait.wait_ps).collect()),
    ],
};

/// A number of every torus FIFO.
fn of_fifos(result: &PacketResult, get: impl Fn(&FifoRecord) -> u64) -> Values {
    result.ports.fifos().map(|(_, _, fifo, _)| get(fifo)).collect()
}

const FIFOS: FilledTable<'_, PacketResult> = FilledTable {
    name: "fifos",
    row: "node and torus FIFO",
    sorted_by: &["node", "fifo"],
    under: Some("injection"),
    doc: "Within the measurement. A packet waits in a memory FIFO until a torus FIFO takes it, and then at the router: behind others of its \
          torus FIFO, and at their head until there is room where it goes.",
    columns: &[
        Column::key("node", U32, Plain, "Node", "Number of the node.")
            .of("nodes")
            .by(|result: &PacketResult| result.ports.fifos().map(|(node, ..)| node).collect()),
        Column::key("fifo", U32, Plain, "Torus FIFO", "Number of the torus FIFO at its node.")
            .by(|result| result.ports.fifos().map(|(_, fifo, ..)| fifo).collect()),
        Column::sum("bytes", U64, Bytes, "Traffic", "Bytes of the packets that it took, with their headers.")
            .headline()
            .by(|result| of_fifos(result, |fifo| fifo.bytes)),
        Column::sum("packets", U64, Count, "Packets", "Packets that it took.")
            .by(|result| of_fifos(result, |fifo| fifo.packets)),
        Column::sum("busy_ps", U64, Ps, "Busy", "Time during which it took a packet.")
            .by(|result| of_fifos(result, |fifo| fifo.busy_ps)),
        Column::sum("full_ps", U64, Ps, "Full", "Time during which a memory FIFO had a packet for it and it had no room.")
            .by(|result| result.ports.fifos().map(|(.., full)| full).collect()),
        Column::sum(
            "memory_fifo_ps",
            U64,
            Ps,
            "In memory",
            "Over these packets, the time from their making until they left the memory FIFO.",
        )
        .by(|result| of_fifos(result, |fifo| fifo.memory_fifo_ps)),
        Column::sum("hol_blocked_ps", U64, Ps, "Behind a head", "Over packets, the time at the router behind others of the FIFO.")
            .headline()
            .by(|result| of_fifos(result, |fifo| fifo.hol_blocked_ps)),
        Column::sum("head_stall_ps", U64, Ps, "At the head", "Over packets, the time at the head without room where they go.")
            .headline()
            .by(|result| of_fifos(result, |fifo| fifo.head_stall_ps)),
    ],
};
