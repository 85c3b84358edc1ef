//! Waits of packets at links, by blocking job.
//!
//! A packet waits in the output queue of its channel from its entry to its departure. At each moment, one job blocks
//! all packets of a channel:
//!
//! 1. while the link sends a packet: the job of that packet;
//! 2. while the link is free and the head of the queue has no credit: the job of the oldest packet that takes space
//!    in the next buffer. Queues there are FIFO, so this packet must leave first (its credit may be in flight);
//! 3. while the link is free and the head has credit, but must wait for its own last byte: the job of the head.
//!
//! So the waits of a job, summed over all blocking jobs, equal its total wait. The end of each run checks this sum
//! against departures minus entries. A queue stores its packets as counts by job. A period without changes costs one
//! addition per job, however long the queue is.

use super::RecordPlan;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Total wait of a job's packets in a channel, by blocking job. The blocking job may be the same job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct JobWait {
    /// The job whose packets waited.
    pub job: u16,
    /// The blocking job.
    pub blocking_job: u16,
    /// Sum of the waits of its packets, in ps.
    pub wait_ps: u64,
}

/// One virtual channel of a port that sends on a link between routers.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Channel {
    /// Time up to which waits are counted.
    counted: u64,
    /// Packets in the queue by job. A job stays in the list.
    queued: Vec<(u16, u32)>,
    /// Jobs and bytes of packets in the next buffer, oldest first.
    beyond: VecDeque<(u16, u32)>,
    /// By job and blocking job.
    waits: Vec<JobWait>,
    /// Departures minus entries, modulo 2^64.
    total: u64,
}

impl Channel {
    fn add(&mut self, job: u16, blocking_job: u16, wait_ps: u64) {
        let key = (job, blocking_job);
        match self.waits.binary_search_by_key(&key, |wait| (wait.job, wait.blocking_job)) {
            Ok(place) => self.waits[place].wait_ps += wait_ps,
            Err(place) => self.waits.insert(place, JobWait { job, blocking_job, wait_ps }),
        }
    }
}

/// All channels of a partition.
pub(crate) struct JobWaits {
    /// Measurement window.
    start: u64,
    end: u64,
    per_port: usize,
    /// Job of the last packet on each port's link, and the end of its transmission.
    sending: Vec<(u16, u64)>,
    /// Channel vc of port p at `p * per_port + vc`.
    channels: Vec<Channel>,
}

/// A channel at one time.
#[derive(Clone, Copy)]
pub(crate) struct ChannelTime {
    pub(crate) port: usize,
    pub(crate) vc: u8,
    pub(crate) time: u64,
}

odonata_checkpoint::state!(JobWaits { same_length: sending, channels; rebuilt: start, end, per_port });

impl JobWaits {
    pub(super) fn new(plan: &RecordPlan, ports: usize, per_port: usize) -> Self {
        Self {
            start: plan.start,
            end: plan.end,
            per_port,
            sending: vec![(0, 0); ports],
            channels: vec![Channel::default(); ports * per_port],
        }
    }

    fn overlap(&self, from: u64, to: u64) -> u64 {
        to.min(self.end).saturating_sub(from.max(self.start))
    }

    fn channel(&mut self, at: ChannelTime) -> &mut Channel {
        &mut self.channels[at.port * self.per_port + usize::from(at.vc)]
    }

    /// Counts the waits of an unchanged channel up to now. `own` is the job of its head, if that has credit.
    pub(crate) fn count(&mut self, at: ChannelTime, own: Option<u16>) {
        let c = at.port * self.per_port + usize::from(at.vc);
        let from = self.channels[c].counted;
        if from >= at.time {
            return;
        }
        let (sender, until) = self.sending[at.port];
        let sent = until.clamp(from, at.time);
        let (busy, free) = (self.overlap(from, sent), self.overlap(sent, at.time));
        let channel = &mut self.channels[c];
        channel.counted = at.time;
        for i in 0..channel.queued.len() {
            let (job, packets) = channel.queued[i];
            if packets > 0 && busy > 0 {
                channel.add(job, sender, u64::from(packets) * busy);
            }
            if packets > 0 && free > 0 {
                let oldest = || channel.beyond.front().expect("used space belongs to a packet").0;
                let blocking_job = own.unwrap_or_else(oldest);
                channel.add(job, blocking_job, u64::from(packets) * free);
            }
        }
    }

    /// Records the entry of a packet into a queue that is counted up to now.
    pub(crate) fn record_entry(&mut self, at: ChannelTime, job: u16) {
        let time = at.time.clamp(self.start, self.end);
        let channel = self.channel(at);
        channel.counted = channel.counted.max(at.time);
        channel.total = channel.total.wrapping_sub(time);
        match channel.queued.iter_mut().find(|(of, _)| *of == job) {
            Some((_, packets)) => *packets += 1,
            None => channel.queued.push((job, 1)),
        }
    }

    /// Records the departure of a packet from a queue that is counted up to now.
    pub(crate) fn record_departure(&mut self, at: ChannelTime, job: u16) {
        let time = at.time.clamp(self.start, self.end);
        let channel = self.channel(at);
        channel.total = channel.total.wrapping_add(time);
        let of_job = channel.queued.iter_mut().find(|(of, _)| *of == job);
        of_job.expect("the packet has entered").1 -= 1;
    }

    /// Records that a packet is sent until `until` and takes space in the next buffer.
    pub(crate) fn record_launch(&mut self, at: ChannelTime, until: u64, job: u16, room: u32) {
        self.sending[at.port] = (job, until);
        self.channel(at).beyond.push_back((job, room));
    }

    /// Records a credit for the oldest packet in the next buffer. The channel is counted up to now.
    pub(crate) fn record_credit(&mut self, at: ChannelTime, bytes: u32) {
        let oldest = self.channel(at).beyond.pop_front();
        debug_assert_eq!(oldest.map(|(_, room)| room), Some(bytes), "credits come back in the order of the packets");
    }

    /// Returns the waits by channel. All are counted up to the end of the run.
    pub(super) fn into_waits(self) -> Vec<Vec<JobWait>> {
        let (start, end) = (self.start, self.end);
        let waits = |channel: Channel| {
            let left: u64 = channel.queued.iter().map(|(_, packets)| u64::from(*packets)).sum();
            let total = channel.total.wrapping_add(left.wrapping_mul(channel.counted.clamp(start, end)));
            assert_eq!(
                channel.waits.iter().map(|wait| wait.wait_ps).sum::<u64>(),
                total,
                "all waits have a blocking job"
            );
            channel.waits
        };
        self.channels.into_iter().map(waits).collect()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let of = |channel: &Channel| {
            size_of::<Channel>()
                + 8 * (channel.queued.capacity() + channel.beyond.capacity())
                + channel.waits.capacity() * size_of::<JobWait>()
        };
        self.sending.len() * size_of::<(u16, u64)>() + self.channels.iter().map(of).sum::<usize>()
    }
}
