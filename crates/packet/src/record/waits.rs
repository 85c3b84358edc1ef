//! Whose packets hold up whose at the links.
//!
//! A packet waits in the output queue of its channel from its entry to its departure. ChannelTime each moment of that somebody holds up
//! all packets of the channel:
//!
//! 1. while the link sends a packet, the job of that packet;
//! 2. while the link is free and the packet at the head of the queue lacks credit, the job of the oldest packet that has taken
//!    room at the other end and not given it back: queues there are first in, first out, so it has to go first (its credit may be on the way);
//! 3. while the link is free and the head has credit, but must not leave before its own last byte is near, the job of the head.
//!
//! So the times of a job's packets, added up, are those over all holders: checked at the end of each run against departures less
//! entries. A queue says who is in it by counts of jobs, and a stretch of time without a change costs one addition for each
//! of these jobs, however long the queue is.

use super::RecordPlan;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How long the packets of a job waited in a channel for those of another, or for other packets of the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct JobWait {
    /// The job whose packets waited.
    pub job: u16,
    /// The job that held them up.
    pub blocking_job: u16,
    /// Sum over these packets of their times, in ps.
    pub wait_ps: u64,
}

/// One virtual channel of a port that sends on a link between routers.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Channel {
    /// Until when waits are counted.
    counted: u64,
    /// Packets in the queue by job; a job that once was there stays.
    queued: Vec<(u16, u32)>,
    /// Jobs and bytes of packets that have room at the other end, the oldest first.
    beyond: VecDeque<(u16, u32)>,
    /// By job and blocking_job.
    waits: Vec<JobWait>,
    /// Departures less entries, modulo 2^64.
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
    /// The measurement.
    start: u64,
    end: u64,
    per_port: usize,
    /// By port: the job of the packet that it sent last, and until when.
    sending: Vec<(u16, u64)>,
    /// Channel vc of port p at `p * per_port + vc`.
    channels: Vec<Channel>,
}

/// A channel at a moment.
#[derive(Clone, Copy)]
pub(crate) struct ChannelTime {
    pub(crate) port: usize,
    pub(crate) vc: usize,
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
        &mut self.channels[at.port * self.per_port + at.vc]
    }

    /// Counts the waits of a channel, in which nothing changed, up to now. `own` is the job of the packet at its head if that has credit.
    pub(crate) fn count(&mut self, at: ChannelTime, own: Option<u16>) {
        let c = at.port * self.per_port + at.vc;
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
                let oldest = || channel.beyond.front().expect("room that is taken is somebody's").0;
                let blocking_job = own.unwrap_or_else(oldest);
                channel.add(job, blocking_job, u64::from(packets) * free);
            }
        }
    }

    /// A packet enters a queue, which is counted up to now.
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

    /// A packet leaves a queue, which is counted up to now.
    pub(crate) fn record_departure(&mut self, at: ChannelTime, job: u16) {
        let time = at.time.clamp(self.start, self.end);
        let channel = self.channel(at);
        channel.total = channel.total.wrapping_add(time);
        let of_job = channel.queued.iter_mut().find(|(of, _)| *of == job);
        of_job.expect("it entered").1 -= 1;
    }

    /// A packet is sent until a time and takes room at the other end.
    pub(crate) fn record_launch(&mut self, at: ChannelTime, until: u64, (job, room): (u16, u32)) {
        self.sending[at.port] = (job, until);
        self.channel(at).beyond.push_back((job, room));
    }

    /// The oldest packet at the other end of a channel, which is counted up to now, has given back its room.
    pub(crate) fn record_credit(&mut self, at: ChannelTime, bytes: u32) {
        let oldest = self.channel(at).beyond.pop_front();
        debug_assert_eq!(oldest.map(|(_, room)| room), Some(bytes), "credits come back in the order of the packets");
    }

    /// What was counted, channel by channel; all are counted up to the end of the run.
    pub(super) fn into_waits(self) -> Vec<Vec<JobWait>> {
        let (start, end) = (self.start, self.end);
        let waits = |channel: Channel| {
            let left: u64 = channel.queued.iter().map(|(_, packets)| u64::from(*packets)).sum();
            let total = channel.total.wrapping_add(left.wrapping_mul(channel.counted.clamp(start, end)));
            assert_eq!(
                channel.waits.iter().map(|wait| wait.wait_ps).sum::<u64>(),
                total,
                "all waits have a blocking_job"
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
