//! What the packet engine adds to the tables of every run: columns of links, nodes and jobs.

use super::program_records::ProgramRecords;
use super::settings::Packet;
use crate::record::COMPLETION_TIME;
use crate::scenario::Scenario;
use odonata_declare::Type::{Text, F64, U64};
use odonata_declare::Unit::{Bytes, Count, Hops, Ns, Plain, Ps, Share, S};
use odonata_declare::{declarations, Column, FilledColumn, Values};
use odonata_memory::Need;
use odonata_packet::{ClosedTraffic, JobClass, JobRecord, PacketResult, PortRecord, PortView, UnfinishedEndpoint};
use odonata_units::Time;
use odonata_workload::{ClosedParameters, Execution, Injection, Job, TrafficKind};

/// A finished run: the context of the columns.
pub(super) struct FinishedRun<'a> {
    pub(super) engine: &'a Packet,
    pub(super) scenario: &'a Scenario,
    pub(super) result: &'a PacketResult,
    /// Whether all traffic is open: a window of the steady state is measured, otherwise the whole run.
    pub(super) steady: bool,
    pub(super) closed: &'a ClosedTraffic,
    /// Records of the ranks of programs.
    pub(super) ran: &'a ProgramRecords,
    /// Number of sending nodes of each job.
    pub(super) senders: &'a [usize],
    /// Start and end of the measurement.
    pub(super) measured: (Time, Time),
    /// Endpoints that had not finished.
    pub(super) unfinished: &'a [UnfinishedEndpoint],
    /// Estimated memory of the run.
    pub(super) memory: Need,
}

/// Columns by table.
pub(super) fn added() -> Vec<(&'static str, Vec<Column>)> {
    vec![
        ("links", declarations(FinishedRun::LINKS)),
        ("nodes", declarations(FinishedRun::NODES)),
        ("jobs", [declarations(FinishedRun::JOBS), declarations(FinishedRun::OF_PROGRAMS)].concat()),
    ]
}

pub(super) const NO_PACKET: &str = "no packet was delivered";

/// What `intermediate_group_share` counts, in every table that has it.
pub(super) const INTERMEDIATE_GROUP: &str =
    "Share of packets that crossed a third group (on a tree, also the top level); 0 on a machine without groups.";

/// A percentile of the packets' latencies.
const fn percentile(name: &'static str, label: &'static str, doc: &'static str) -> Column {
    Column::attribute(name, F64, Ns, label, doc).missing(NO_PACKET)
}

/// A mean over packets.
const fn per_packet(name: &'static str, unit: odonata_declare::Unit, label: &'static str, doc: &'static str) -> Column {
    Column::mean(name, F64, unit, label, doc).weighted_by("packets").missing(NO_PACKET)
}

const CROSSBAR_STALL: Column = Column::sum(
    "crossbar_stall_ps",
    U64,
    Ps,
    "Crossbar stall",
    "Total time packets spent at the head of an input queue waiting for the crossbar output.",
)
.under("record_crossbar = true");

pub(super) const BUSY: Column = Column::sum("busy_ps", U64, Ps, "Busy", "Time the link transmitted.");
pub(super) const STALL: Column =
    Column::sum("stall_ps", U64, Ps, "Stall", "Time the link was free while all waiting packets were out of credits.")
        .headline();
pub(super) const PEAK: Column = Column::max(
    "peak_bytes",
    U64,
    Bytes,
    "Peak occupancy",
    "Maximum bytes in the output buffers of the port at one time.",
);
pub(super) const CHANNEL_STALL: Column =
    Column::sum("stall_ps", U64, Ps, "Stall", "Time the link was stalled while packets of this channel waited.");
pub(super) const CHANNEL_PEAK: Column =
    Column::max("peak_bytes", U64, Bytes, "Peak occupancy", "Maximum bytes in the output buffer at one time.");
pub(super) const LATENCY_MAX: Column =
    Column::max("latency_max_ns", F64, Ns, "Largest latency", "Latency of the slowest packet.").missing(NO_PACKET);

/// Intervals of single links say nothing about the interval of their sum.
const HALF_WIDTH: Column = Column::attribute(
    "half_width_bytes",
    U64,
    Bytes,
    "Interval of traffic",
    "Half width of the 95 % interval of `bytes` in the full run. No column if no iteration was skipped.",
)
.under("fast_forward = { error = 0.01 }");

/// Of tables that have `stall_ps`.
pub(super) const COUNTED_STALL: Column = Column::sum(
    "counted_stall_ps",
    U64,
    Ps,
    "Counted stall",
    "Part of `stall_ps` that the simulator of the interference study counts. It drops the time since the last attempt to send when a packet joins the queue.",
)
.under("record_counted_stall = true");

impl<'a> FinishedRun<'a> {
    pub(super) fn job_name(&self, job: u16) -> String {
        self.scenario.workload.jobs[usize::from(job)].name.clone()
    }

    /// Within the measurement, as `bytes`. Busy, stall and idle time sum to the measured time.
    pub(super) const LINKS: &'a [FilledColumn<Self>] = &[
        Column::sum("packets", U64, Count, "Packets", "Packets on the link.").by(|run| run.links(|port| port.packets)),
        BUSY.by(|run| run.links(|port| port.busy_ps)),
        STALL.by(|run| run.links(|port| port.stall_ps)),
        Column::sum("idle_ps", U64, Ps, "Idle", "Time the link neither transmitted nor was stalled.").by(|run| {
            let all = run.duration().ps();
            run.link_ports().map(|port| all.saturating_sub(port.busy_ps + port.stall_ps)).collect()
        }),
        HALF_WIDTH.by_if(|run| {
            run.result.fast_forward.as_ref()?.interval?;
            Some(run.result.ports.links().map(|port| port.half_width_bytes.unwrap_or(0)).collect())
        }),
        PEAK.under("record_channels = true")
            .by_if(|run| run.engine.records.channels.then(|| run.links(|port| port.peak_bytes))),
        CROSSBAR_STALL.by_if(|run| run.crossbar_stalls(run.result.ports.links())),
        COUNTED_STALL.by_if(|run| {
            let ports = run.result.ports.links();
            run.engine.records.counted_stall.then(|| ports.filter_map(|port| port.counted_stall_ps).collect())
        }),
    ];

    /// Within the measurement.
    pub(super) const NODES: &'a [FilledColumn<Self>] = &[
        Column::sum("stall_ps", U64, Ps, "Stall", "Time the NIC was out of credits.")
            .by(|run| run.result.ports.nodes().map(|node| node.stall_ps).collect()),
        CROSSBAR_STALL.by_if(|run| run.crossbar_stalls(run.result.ports.nodes().map(|node| node.port))),
    ];

    /// Packets created within the measurement, unless the description differs.
    pub(super) const JOBS: &'a [FilledColumn<Self>] = &[
        Column::attribute("traffic_class", Text, Plain, "Traffic class", "Traffic class of the job's messages.")
            .under("traffic_class")
            .by_if(traffic_classes),
        Column::sum("packets", U64, Count, "Packets", "Delivered packets.").by(|run| run.jobs(|job| job.packets)),
        Column::sum(
            "wire_bytes",
            U64,
            Bytes,
            "On wires",
            "Wire bytes of these packets: their payload and the headers of protocols, without padding.",
        )
        .by(|run| run.jobs(|job| job.bytes)),
        Column::sum("in_flight_packets", U64, Count, "Packets in flight", "Packets in flight at the end of the run.")
            .by(|run| run.jobs(|job| job.injected_packets - job.packets)),
        Column::mean(
            "offered_load",
            F64,
            Share,
            "Offered load",
            "Offered load in the measured time, as a share of the bandwidth of the job's sending nodes.",
        )
        .weighted_by("nodes")
        .under("traffic = \"open\"")
        .missing("the job offers nothing or no time was measured")
        .headline()
        .by_if(|run| run.of_open(offered_loads)),
        Column::mean(
            "accepted_load",
            F64,
            Share,
            "Accepted load",
            "Delivered load in the measured time, as a share of the bandwidth of the job's sending nodes.",
        )
        .weighted_by("nodes")
        .under("traffic = \"open\"")
        .missing("the job offers nothing or no time was measured")
        .headline()
        .by_if(|run| run.of_open(accepted_loads)),
        Column::attribute("start_s", F64, S, "Start", "Time at which the job starts.").by(starts),
        COMPLETION_TIME.by_if(completion_times),
        per_packet(
            "latency_mean_ns",
            Ns,
            "Mean latency",
            "Time from the creation of a packet to the delivery of its last byte.",
        )
        .headline()
        .by(|run| run.jobs(|job| job.latency.mean() / 1e3)),
        per_packet(
            "due_latency_mean_ns",
            Ns,
            "Mean latency since due time",
            "Mean latency plus the mean time from the due time of a packet to its creation.",
        )
        .under("injection = \"paced\"")
        .missing("the source is not paced, or no packet was delivered")
        .by_if(due_latencies),
        percentile("latency_p50_ns", "Latency, 50 %", "Median latency of packets.")
            .by(|run| run.jobs(|job| job.latency.percentile(0.5) / 1e3)),
        percentile("latency_p90_ns", "Latency, 90 %", "90th percentile of the latency of packets.")
            .by(|run| run.jobs(|job| job.latency.percentile(0.9) / 1e3)),
        percentile("latency_p99_ns", "Latency, 99 %", "99th percentile of the latency of packets.")
            .headline()
            .by(|run| run.jobs(|job| job.latency.percentile(0.99) / 1e3)),
        percentile("latency_p999_ns", "Latency, 99.9 %", "99.9th percentile of the latency of packets.")
            .by(|run| run.jobs(|job| job.latency.percentile(0.999) / 1e3)),
        percentile("latency_p9999_ns", "Latency, 99.99 %", "99.99th percentile of the latency of packets.")
            .by(|run| run.jobs(|job| job.latency.percentile(0.9999) / 1e3)),
        LATENCY_MAX.by(|run| run.jobs(|job| if job.packets == 0 { f64::NAN } else { job.latency.max() as f64 / 1e3 })),
        per_packet(
            "network_latency_mean_ns",
            Ns,
            "Mean latency in the network",
            "Time from the injection of a packet to the delivery of its last byte.",
        )
        .by(|run| run.jobs(|job| job.network_latency.mean() / 1e3)),
        per_packet(
            "source_wait_mean_ns",
            Ns,
            "Mean wait at the source",
            "Time from the creation of a packet to its injection.",
        )
        .by(|run| run.jobs(|job| job.source_wait_ps as f64 / job.packets as f64 / 1e3)),
        per_packet("packet_hops_mean", Hops, "Mean hops per packet", "Links between routers on the path of a packet.")
            .by(|run| run.jobs(|job| job.hops as f64 / job.packets as f64)),
        per_packet("non_minimal_share", Share, "Non-minimal share", "Share of packets on non-minimal paths.")
            .headline()
            .by(|run| run.jobs(|job| job.non_minimal as f64 / job.packets as f64)),
        per_packet("intermediate_group_share", Share, "Intermediate-group share", INTERMEDIATE_GROUP)
            .by(|run| run.jobs(|job| job.via_intermediate_group as f64 / job.packets as f64)),
    ];

    fn link_ports(&self) -> impl Iterator<Item = &'a PortRecord> {
        self.result.ports.links().map(|port| port.record)
    }

    fn links(&self, get: fn(&PortRecord) -> u64) -> Values {
        self.link_ports().map(get).collect()
    }

    /// Of some ports, if it was recorded.
    fn crossbar_stalls(&self, ports: impl Iterator<Item = PortView<'a>>) -> Option<Values> {
        self.engine.records.crossbar.then(|| ports.filter_map(|port| port.crossbar_stall_ps).collect())
    }

    fn jobs<T>(&self, get: fn(&JobRecord) -> T) -> Values
    where
        Values: FromIterator<T>,
    {
        self.result.jobs.iter().map(get).collect()
    }

    /// Time that was measured.
    pub(super) fn duration(&self) -> Time {
        self.measured.1 - self.measured.0
    }

    /// Values of jobs whose traffic is open, if any is.
    fn of_open(&self, loads: fn(&Self) -> Vec<f64>) -> Option<Values> {
        let jobs = &self.scenario.workload.jobs;
        let is_open = |job: &Job| matches!(job.traffic, TrafficKind::Open(_)) && !job.idle;
        let own = |(load, job)| if is_open(job) { load } else { f64::NAN };
        jobs.iter().any(is_open).then(|| loads(self).into_iter().zip(jobs).map(own).collect())
    }
}

/// Start of a job; open traffic starts with the run.
fn start(job: &Job) -> Time {
    match job.traffic {
        TrafficKind::Closed(ClosedParameters { start }) => start,
        TrafficKind::Program(Execution { start, .. }) => start,
        TrafficKind::Open(_) => Time::ZERO,
    }
}

fn starts(run: &FinishedRun<'_>) -> Values {
    run.scenario.workload.jobs.iter().map(|job| start(job).as_s_f64()).collect()
}

/// When the jobs that have an end ended, after their start, if there are such jobs.
fn completion_times(run: &FinishedRun<'_>) -> Option<Values> {
    let jobs = &run.scenario.workload.jobs;
    let end = |(number, job): (usize, &Job)| match job.traffic {
        TrafficKind::Open(_) => None,
        TrafficKind::Program(Execution { background: true, .. }) => None,
        TrafficKind::Program(_) => run.ran.last_rank_end(number),
        TrafficKind::Closed(_) => {
            let record = &run.result.jobs[number];
            let all = run.closed.packets_of(number, run.engine.settings.payload());
            (all > 0 && record.all_packets == all).then_some(Time(record.last_arrival_ps))
        }
    };
    let time = |(number, job)| end((number, job)).map_or(f64::NAN, |end| (end - start(job)).as_s_f64());
    let ends = |job: &Job| !matches!(job.traffic, TrafficKind::Open(_));
    jobs.iter().any(ends).then(|| jobs.iter().enumerate().map(time).collect())
}

/// The mean latencies of jobs whose sources are paced, from when packets were due, if any is.
fn due_latencies(run: &FinishedRun<'_>) -> Option<Values> {
    let jobs = &run.scenario.workload.jobs;
    let is_paced = |job: &Job| matches!(&job.traffic, TrafficKind::Open(open) if open.injection == Injection::Paced);
    let own = |(record, job): (&JobRecord, &Job)| {
        if is_paced(job) {
            (record.latency.mean() + record.delay_ps as f64 / record.injected_packets as f64) / 1e3
        } else {
            f64::NAN
        }
    };
    jobs.iter().any(is_paced).then(|| run.result.jobs.iter().zip(jobs).map(own).collect())
}

/// The traffic class of each job, and the class of its large messages, if there are classes.
fn traffic_classes(run: &FinishedRun<'_>) -> Option<Values> {
    let classes = &run.scenario.classes;
    let name = |class: u8| classes.list[usize::from(class)].name.as_str();
    let of_job = |job: usize| {
        let JobClass { class, large } = classes.of_job(job as u16);
        large.map_or_else(|| name(class).to_owned(), |(_, large)| format!("{}, {}", name(class), name(large)))
    };
    let jobs = 0..run.scenario.workload.jobs.len();
    (!classes.list.is_empty()).then(|| Values::texts(jobs.map(of_job).collect()))
}

fn offered_loads(run: &FinishedRun<'_>) -> Vec<f64> {
    let offered = |(job, &senders): (usize, &usize)| if senders == 0 { 0.0 } else { offered_load(run, job) };
    run.senders.iter().enumerate().map(offered).collect()
}

/// The load of a job's settings, averaged over the measured time.
pub(super) fn offered_load(run: &FinishedRun<'_>, job: usize) -> f64 {
    match &run.scenario.workload.jobs[job].traffic {
        TrafficKind::Open(open) => open.mean_load(run.measured.0, run.measured.1),
        TrafficKind::Closed(_) | TrafficKind::Program(_) => 0.0,
    }
}

/// The load that each job's nodes brought to their destinations in the measured time, as a share of the bandwidth of those that
/// send.
pub(super) fn accepted_loads(run: &FinishedRun<'_>) -> Vec<f64> {
    let terminal = run.scenario.machine.terminal().bandwidth.bytes_per_s_f64();
    // Bandwidth of a full packet beyond its message bytes counts, as in the offered load.
    let settings = &run.engine.settings;
    let share = settings.payload().as_f64() / (settings.packet + settings.wire_overhead).as_f64();
    let time = run.duration();
    let bandwidth = |senders: usize| senders.max(1) as f64 * terminal * share * time.as_s_f64();
    let load = |(job, &n): (&JobRecord, &usize)| {
        if time == Time::ZERO {
            f64::NAN
        } else {
            job.delivered_bytes as f64 / bandwidth(n)
        }
    };
    run.result.jobs.iter().zip(run.senders).map(load).collect()
}
