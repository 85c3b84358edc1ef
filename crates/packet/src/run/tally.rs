//! Counts that decide on the next window and on the end of a run.

use super::limits::RunPlan;
use crate::endpoint::LoopProgress;
use crate::partition::Partition;
use serde::{Deserialize, Serialize};

/// State of some partitions and of their mail after a window. A sum over partitions in any order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Lower bound of the next event; `u64::MAX` if there is none.
    pub(crate) earliest: u64,
    /// Packets in partitions or in mail.
    pub(crate) in_flight: u64,
    /// Time of the last progress: an arrival, an injection or an expired timer.
    pub(crate) last_progress: u64,
    pub(crate) events: u64,
    /// Measured packets of the awaited jobs: injected, and delivered.
    pub(crate) injected: u64,
    pub(crate) delivered: u64,
    /// Arrival of the last of these. A packet counts as delivered when its last router sends it.
    pub(crate) last_arrival: u64,
    /// Whether endpoints have work left that the run waits for.
    pub(crate) has_work: bool,
    /// Whether any endpoint will act without an incoming packet (a timer). Needed when open traffic runs until the
    /// jobs end.
    pub(crate) will_act: bool,
    /// Whether endpoints wait for timers.
    pub(crate) has_timers: bool,
    /// How far ranks are in the loops of their programs, if these are followed.
    pub(crate) loops: Option<LoopProgress>,
    /// Whether the watcher stops the run.
    pub(crate) stop: bool,
    /// Whether to save the state now.
    pub(crate) checkpoint: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            earliest: u64::MAX,
            in_flight: 0,
            last_progress: 0,
            events: 0,
            injected: 0,
            delivered: 0,
            last_arrival: 0,
            has_work: false,
            will_act: false,
            has_timers: false,
            loops: None,
            stop: false,
            checkpoint: false,
        }
    }
}

impl Tally {
    /// Adds a partition at time `now`. Called right after its window, while it is in the cache.
    pub(super) fn count(&mut self, partition: &mut Partition, now: u64, plan: &RunPlan) {
        let earliest = partition.earliest();
        self.earliest = self.earliest.min(earliest);
        self.in_flight += partition.in_flight() as u64;
        self.events += partition.event_count();
        for job in plan.awaited.iter().map(|&job| &partition.recorder.jobs[job]) {
            self.injected += job.injected_packets;
            self.delivered += job.packets;
            self.last_arrival = self.last_arrival.max(job.last_arrival_ps);
        }
        if plan.fast_forward.is_some() {
            self.add_loops(partition.endpoints.loop_progress());
        }
        let limits = &plan.limits;
        // Asking endpoints for work is slow, so only when the run may end.
        let idle = earliest == u64::MAX;
        self.last_progress = self.last_progress.max(partition.last_progress());
        self.has_timers |= partition.has_timers();
        if idle || limits.may_end(now) {
            // A run that ends with its jobs does not wait for open traffic.
            let before = if limits.ends_with_jobs { 0 } else { limits.measured_until };
            self.has_work |= partition.endpoints.has_work(before);
            self.will_act |= limits.ends_with_jobs && partition.endpoints.will_act(now);
            // Packets that a congestion control holds have left their endpoints.
            let created_before = if limits.ends_with_jobs { u64::MAX } else { before };
            let held = partition.holds_packets(created_before, &plan.awaited);
            self.has_work |= held;
            self.will_act |= held;
        }
    }

    fn add_loops(&mut self, other: Option<LoopProgress>) {
        self.loops = match (self.loops, other) {
            (Some(own), Some(other)) => Some(own.with(other)),
            (own, other) => own.or(other),
        };
    }

    /// Adds the tally of other partitions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.earliest = self.earliest.min(other.earliest);
        self.in_flight += other.in_flight;
        self.last_progress = self.last_progress.max(other.last_progress);
        self.events += other.events;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.last_arrival = self.last_arrival.max(other.last_arrival);
        self.has_work |= other.has_work;
        self.will_act |= other.will_act;
        self.has_timers |= other.has_timers;
        self.add_loops(other.loops);
        self.stop |= other.stop;
        self.checkpoint |= other.checkpoint;
    }
}
