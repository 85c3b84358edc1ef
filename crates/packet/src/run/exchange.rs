//! What workers tell each other, and how.
//!
//! A worker advances some of the partitions of a run; all workers go through the same windows. Nothing else passes between
//! them, so how many there are and where they are is known to implementations of [`Exchange`] only.

use super::rows::RowBuffer;
use super::totals::Totals;
use super::windows::Windows;
use super::RunLimits;
use crate::mail::Mail;
use crate::partition::Partition;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;

/// The way from a worker to the others.
pub(crate) trait Exchange {
    /// Leaves what was sent to partition `to` for whoever advances it in the next window, and an empty mail in its place.
    fn post(&mut self, to: usize, mail: &mut Mail);

    /// Hands over what was posted to partition `to` before the last barrier, mail by mail. What one partition sent to another
    /// comes in the order in which it was sent.
    fn take(&mut self, to: usize, read: &mut dyn FnMut(&mut Mail));

    /// Waits until all workers are here. All get the same answer, the sum of what they bring. `rows` are what the workers of this process
    /// hand out; after the barrier the first process has those of all.
    fn synchronize(&mut self, tally: &Tally, rows: &Mutex<RowBuffer>) -> Tally;

    /// Adds up what is left at the end of the run, and gathers the last rows. The first worker of the first process gets the sum, the
    /// first of another one that of its process.
    fn sum(&mut self, totals: Totals, rows: &Mutex<RowBuffer>) -> Option<Totals>;
}

/// The state of some partitions after a window, and of what they sent; a sum over partitions in any order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Not later than anything happens; `u64::MAX` if nothing will.
    pub(crate) earliest: u64,
    /// Packets somewhere in partitions or in mail.
    pub(crate) in_flight: u64,
    /// When a packet last arrived or set out, or a timer ran out.
    pub(crate) last_progress: u64,
    pub(crate) events: u64,
    /// Packets of the measurement that left their sources, and those that arrived, of jobs that the run waits for.
    pub(crate) injected: u64,
    pub(crate) delivered: u64,
    /// When the last of these arrives: a packet counts as arrived from its last router on.
    pub(crate) last_arrival: u64,
    /// Whether endpoints have something left to do that the run waits for.
    pub(crate) has_work: bool,
    /// Whether any of them does it though no packet comes; asked for where others go on for as long as they do.
    pub(crate) will_act: bool,
    /// Whether endpoints wait for a time to come.
    pub(crate) has_timers: bool,
    /// Whether somebody who watches wants the run to end.
    pub(crate) stop: bool,
    /// Whether the state is to be kept as it is.
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
            stop: false,
            checkpoint: false,
        }
    }
}

impl Tally {
    /// Adds a partition at time `now`; best done when it is in the cache.
    pub(super) fn count(&mut self, partition: &mut Partition, now: u64, limits: &RunLimits) {
        let earliest = partition.earliest();
        self.earliest = self.earliest.min(earliest);
        self.in_flight += partition.in_flight() as u64;
        self.events += partition.event_count;
        for job in partition.awaited() {
            self.injected += job.injected_packets;
            self.delivered += job.packets;
            self.last_arrival = self.last_arrival.max(job.last_arrival_ps);
        }
        let idle = earliest == u64::MAX;
        self.last_progress = self.last_progress.max(partition.last_progress());
        self.has_timers |= partition.has_timers();
        if idle || Windows::may_end(now, limits) {
            // Of open traffic beside jobs that come to an end nothing is waited for.
            let before = if limits.ends_with_jobs { 0 } else { limits.measured_until };
            self.has_work |= partition.has_work(before);
            self.will_act |= limits.ends_with_jobs && partition.will_act(now);
        }
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
        self.stop |= other.stop;
        self.checkpoint |= other.checkpoint;
    }
}
