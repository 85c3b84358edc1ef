//! Updates the record of waits, if there is one: see [`crate::record::JobWait`].

use super::port::End;
use super::Partition;
use crate::credit::Credit;
use crate::record::ChannelTime;

impl Partition {
    /// Counts the waits of channel `vc` of port `o` up to `time`. The port leads to a router.
    fn count_waits(&mut self, o: usize, vc: usize, time: u64) {
        let channel = &self.out_channel[o * self.channels + vc];
        let own = (!channel.queue.is_empty()).then(|| self.pool.get(channel.queue.head));
        // Without credit, a packet in the next buffer is to blame instead.
        let own = own.filter(|head| channel.credit >= head.room(self.full)).map(|head| head.job);
        if let Some(waits) = &mut self.recorder.waits {
            waits.count(ChannelTime { port: o, vc, time }, own);
        }
    }

    /// Records that the packet of `slot` enters the output queue of port `o`.
    #[cold]
    pub(super) fn record_entry(&mut self, o: usize, slot: u32) {
        if self.out[o].end == End::Node {
            return;
        }
        let (now, packet) = (self.now, self.pool.get(slot));
        let (vc, job) = (usize::from(packet.out_vc()), packet.job);
        self.collect_credits(o, now);
        self.count_waits(o, vc, now);
        if let Some(waits) = &mut self.recorder.waits {
            waits.record_entry(ChannelTime { port: o, vc, time: now }, job);
        }
    }

    /// Records that the packet of `slot`, the head of its queue at port `o`, departs.
    #[cold]
    pub(super) fn record_departure(&mut self, o: usize, slot: u32, now: u64) {
        if self.out[o].end == End::Node {
            return;
        }
        let packet = self.pool.get(slot);
        let (vc, job) = (usize::from(packet.out_vc()), packet.job);
        self.count_all_waits(o, now);
        if let Some(waits) = &mut self.recorder.waits {
            waits.record_departure(ChannelTime { port: o, vc, time: now }, job);
        }
    }

    /// Records that the packet of `slot` occupies the link of port `o` until `until`.
    #[cold]
    pub(super) fn record_launch(&mut self, o: usize, slot: u32, now: u64, until: u64) {
        let packet = self.pool.get(slot);
        let (vc, of) = (usize::from(packet.out_vc()), (packet.job, packet.room(self.full)));
        if let Some(waits) = &mut self.recorder.waits {
            waits.record_launch(ChannelTime { port: o, vc, time: now }, until, of);
        }
    }

    /// Applies the credits that have arrived at port `o` by `now`, one after the other: each ends a different wait.
    #[cold]
    pub(super) fn record_credits(&mut self, o: usize, now: u64) {
        while let Some(Credit { at, bytes, vc }) = self.credits.front(self.out[o].credits) {
            if at > now {
                break;
            }
            let channel = usize::from(vc);
            self.count_waits(o, channel, at);
            if let Some(waits) = &mut self.recorder.waits {
                waits.record_credit(ChannelTime { port: o, vc: channel, time: at }, bytes);
            }
            self.apply_credit(o, bytes, vc);
        }
    }

    fn count_all_waits(&mut self, o: usize, now: u64) {
        self.collect_credits(o, now);
        // Empty channels have no waits.
        let mut occupied = self.out[o].occupied;
        while occupied != 0 {
            self.count_waits(o, occupied.trailing_zeros() as usize, now);
            occupied &= occupied - 1;
        }
    }

    /// Counts all waits up to the end of the run.
    pub(super) fn finish_waits(&mut self, end: u64) {
        if self.recorder.waits.is_none() {
            return;
        }
        for o in 0..self.out.len() {
            if self.out[o].end != End::Node {
                self.count_all_waits(o, end);
            }
        }
    }
}
