//! Result of a run: integers and histograms, no tables.

mod ports;

pub use ports::{NodeView, PortRecords, PortView};

use crate::control::{ControlInterval, ControlIntervalKey, ControlPacketCount, ControlRecord};
use crate::endpoint::{Activity, UnfinishedEndpoint};
use crate::fabric::Fabric;
use crate::fast_forward::FastForwardReport;
use crate::record::{
    latencies_of, latency_half_width_ps, IntervalRecord, JobRecord, LatencyIntervals, LearningInterval, PacketRecord,
    BATCHES,
};
use crate::run::{Cost, Ending, RunOutcome, RunPlan, Totals};
use odonata_routing::algorithm::{ChannelKind, Routing};
use odonata_units::Time;
use std::sync::Arc;

/// Result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketResult {
    /// Reason of the end.
    pub ending: Ending,
    /// Simulated time at the end.
    pub end: Time,
    /// Start and end of the measurement window.
    pub window: (Time, Time),
    /// Jobs, in order.
    pub jobs: Vec<JobRecord>,
    /// Links, nodes and estimates of routers.
    pub ports: PortRecords,
    /// Pairs of NICs that a congestion control held, by job, source and destination.
    pub control: Vec<ControlRecord>,
    /// Windows and rates of pairs of nodes in each interval, by interval, source and destination.
    pub control_series: Vec<(ControlIntervalKey, ControlInterval)>,
    /// Control packets that left their NIC in the window.
    pub control_packets: ControlPacketCount,
    /// Virtual channels of every port.
    pub channels_per_port: usize,
    /// Which channels are dynamic and which deterministic, if the algorithm distinguishes them.
    pub channel_kinds: Vec<ChannelKind>,
    /// Bit vc: channel vc carried a packet in the window.
    pub channels_used: u64,
    /// Length of an interval of the series; 0 if there is none.
    pub interval: Time,
    /// If nothing moved at the end: one line for each packet of the cycle.
    pub stuck: Vec<String>,
    /// Endpoints with unfinished work, by job. Sources of open traffic do not count.
    pub unfinished: Vec<UnfinishedEndpoint>,
    /// Interval i of job j at `series[j][i]`; empty unless recorded.
    pub series: Vec<Vec<IntervalRecord>>,
    /// Packets, by arrival; empty unless recorded, or if a watcher took them.
    pub packets: Vec<PacketRecord>,
    /// Number of updates by learning routers, and the sum of their absolute errors in ns.
    pub learning: (u64, f64),
    /// Interval i of the learning curve; empty unless recorded.
    pub learning_series: Vec<LearningInterval>,
    /// What was skipped, if the run may skip iterations.
    pub fast_forward: Option<FastForwardReport>,
    /// Intervals of the cells of the jobs' latencies, if iterations were skipped with an error.
    pub latency_intervals: Option<LatencyIntervals>,
    /// Cost of the run.
    pub cost: Cost,
}

impl PacketResult {
    pub(crate) fn new(fabric: &Arc<Fabric>, outcome: RunOutcome, plan: &RunPlan, routing: &dyn Routing) -> Self {
        let classes = fabric.settings.classes.count();
        let channels_per_port = usize::from(routing.virtual_channels()) * classes;
        let RunPlan { records: plan, awaited, .. } = plan;
        let RunOutcome { mut ending, end, totals, parts, mut fast_forward } = outcome;
        let Totals { mut sums, mut learning, blocked_heads, mut unfinished, cost } = totals;
        learning.sort_unstable_by_key(|&(router, ..)| router);
        let control = ControlRecord::merged(parts.iter().flat_map(|part| part.control.iter().copied()));
        // All rows of a source come from its partition.
        let mut control_series: Vec<_> = parts.iter().flat_map(|part| part.control_series.iter().copied()).collect();
        control_series.sort_unstable_by_key(|(key, _)| *key);
        unfinished.sort_unstable();
        let failed = |one: &UnfinishedEndpoint| {
            matches!(one.activity, Activity::Failed { .. }) && awaited.contains(&one.job.into())
        };
        // The others wait for the rank that failed.
        if ending == Ending::Deadlock && unfinished.iter().any(failed) {
            ending = Ending::Mismatch;
        }
        let mut latency_intervals = None;
        if let Some(report) = fast_forward.as_mut().filter(|report| report.interval.is_some()) {
            let latencies = latencies_of(parts.iter().map(|part| part.latencies.as_slice()));
            let half_width = latency_half_width_ps(&latencies, report.skipped);
            report.latency_half_width = Some(Time(half_width.ceil() as u64));
            let cells = parts.iter().map(|part| part.cells.as_slice());
            latency_intervals = Some(LatencyIntervals::new(cells, report.skipped));
        }
        let skipped = fast_forward.as_ref().map_or(0, |report| report.skipped_time.ps());
        // The ranks leave their loops after the skipped iterations, so every job has later arrivals.
        sums.jobs.iter_mut().for_each(|job| job.last_arrival_ps += skipped);
        Self {
            ending,
            end: Time(end + skipped),
            window: (Time(plan.start), Time(plan.end)),
            jobs: sums.jobs,
            ports: PortRecords::new(Arc::clone(fabric), channels_per_port, plan.jobs, parts),
            control,
            control_series,
            control_packets: sums.control_packets,
            channels_per_port,
            channel_kinds: ChannelKind::of(routing).repeat(classes),
            channels_used: sums.channels_used,
            interval: Time(plan.recording.interval_ps),
            stuck: crate::deadlock::report(fabric, blocked_heads),
            unfinished,
            series: sums.series,
            packets: Vec::new(),
            learning: learning.iter().fold((0, 0.0), |sum, (_, updates, error)| (sum.0 + updates, sum.1 + error)),
            learning_series: sums.learning,
            fast_forward,
            latency_intervals,
            cost,
        }
    }
}

/// Whether a run measured a steady state, with the two criteria.
#[derive(Clone, PartialEq, Debug)]
pub struct Steadiness {
    /// Whether both criteria are met.
    pub steady: bool,
    /// Relative difference of the accepted load between the two halves of the window.
    pub accepted_drift: f64,
    /// Maximum of this difference. Packets that come at random differ by three standard deviations of a Poisson count in
    /// one of 370 steady runs, and that may be more than [`Self::ACCEPTED_DRIFT_MAX`].
    pub accepted_drift_max: f64,
    /// Relative difference of the mean latency of packets delivered in the two halves.
    pub latency_drift: f64,
}

impl Steadiness {
    /// Maximum difference of the accepted load of many packets. Smaller values reject noisy runs, larger ones accept slow
    /// transients.
    pub const ACCEPTED_DRIFT_MAX: f64 = 0.05;
    /// Maximum difference of the mean latency, which has more noise.
    pub const LATENCY_DRIFT_MAX: f64 = 0.1;

    /// Compares the halves of the window, over all jobs.
    pub fn of(jobs: &[JobRecord]) -> Self {
        let half = |range: std::ops::Range<usize>| {
            let each = |f: &dyn Fn(&JobRecord, usize) -> u64| -> f64 {
                jobs.iter().map(|j| range.clone().map(|b| f(j, b)).sum::<u64>() as f64).sum()
            };
            let packets = each(&|j, b| j.latency_by_batch[b].1);
            (each(&|j, b| j.delivered_by_batch[b]), each(&|j, b| j.latency_by_batch[b].0) / packets.max(1.0), packets)
        };
        let (first, second) = (half(0..BATCHES / 2), half(BATCHES / 2..BATCHES));
        let drift = |a: f64, b: f64| if a.max(b) > 0.0 { (a - b).abs() / a.max(b) } else { 0.0 };
        let (accepted_drift, latency_drift) = (drift(first.0, second.0), drift(first.1, second.1));
        let noise = 3.0 * (1.0 / first.2.max(1.0) + 1.0 / second.2.max(1.0)).sqrt();
        let accepted_drift_max = noise.max(Self::ACCEPTED_DRIFT_MAX);
        let steady = accepted_drift <= accepted_drift_max && latency_drift <= Self::LATENCY_DRIFT_MAX;
        Self { steady, accepted_drift, accepted_drift_max, latency_drift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job whose halves deliver so many packets of 100 B, with equal latencies.
    fn job(first: u64, second: u64) -> JobRecord {
        let mut job = JobRecord::default();
        for (batch, packets) in [(0, first), (BATCHES - 1, second)] {
            job.delivered_by_batch[batch] = 100 * packets;
            job.latency_by_batch[batch] = (500 * packets, packets);
        }
        job
    }

    /// 100 and 120 packets differ by less than three standard deviations, 10,000 and 12,000 do not.
    #[test]
    fn few_packets_differ_by_chance() {
        assert!(Steadiness::of(&[job(100, 120)]).steady);
        assert!(!Steadiness::of(&[job(10_000, 12_000)]).steady);
        assert!(Steadiness::of(&[job(10_000, 10_400)]).steady);
        assert!(!Steadiness::of(&[job(100, 250)]).steady);
        assert_eq!(Steadiness::of(&[job(10_000, 10_400)]).accepted_drift_max, Steadiness::ACCEPTED_DRIFT_MAX);
    }
}
