//! The crossbar: from input queues to output queues.
//!
//! Each input and each output carries one packet at a time, for the packet's size over the crossbar's bandwidth. An
//! output serves a waiting packet if the packet's input is free and its output channel has room for all of it. The
//! packet enters the output queue at once (cut-through) and its credit goes back at the same moment.

use super::port::{Credit, OutPort, Sender, Waiter};
use super::{kind, Message, Partition};
use crate::packet::NONE;
use crate::settings::Arbitration;
use odonata_routing::algorithm::Feedback;

impl Partition {
    /// Lets output port `o` choose among the packets that wait for it; whether one was granted.
    pub(super) fn arbitrate(&mut self, o: usize) -> bool {
        let out = &self.out[o];
        if out.waiters.is_empty() {
            return false;
        }
        if out.crossbar_free > self.now {
            self.wake_crossbar(o, out.crossbar_free);
            return false;
        }
        let (chosen, next_free) = self.choose(o);
        let Some(w) = chosen else {
            if next_free != u64::MAX {
                self.wake_crossbar(o, next_free);
            }
            return false;
        };
        self.grant(o, w);
        let out = &self.out[o];
        if !out.waiters.is_empty() {
            self.wake_crossbar(o, out.crossbar_free);
        }
        true
    }

    /// The waiter to serve, and when the first input that is busy gets free. A packet without room in the output
    /// buffer waits for a departure, which settles this output again.
    #[inline]
    fn choose(&self, o: usize) -> (Option<usize>, u64) {
        let out = &self.out[o];
        let mut best: Option<(u64, usize)> = None;
        let mut next_free = u64::MAX;
        for (w, &waiter) in out.waiters.iter().enumerate() {
            let packet = self.pool.get(self.input[self.channel(waiter)].head);
            let queued = self.out_channel[o * self.channels + usize::from(packet.out_vc)].bytes;
            if queued + packet.size > self.output_room {
                continue;
            }
            let free = self.inputs[waiter.input as usize].crossbar_free;
            if free > self.now {
                next_free = next_free.min(free);
                continue;
            }
            if out.waiters.len() == 1 {
                return (Some(w), next_free);
            }
            let rank = self.rank(out, waiter);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, w));
            }
        }
        (best.map(|(_, w)| w), next_free)
    }

    #[inline]
    fn channel(&self, waiter: Waiter) -> usize {
        waiter.input as usize * self.channels + usize::from(waiter.vc)
    }

    /// The place of a waiter in the order of service; lower is earlier, and no two waiters have the same.
    fn rank(&self, out: &OutPort, waiter: Waiter) -> u64 {
        let input = waiter.input - out.first_sibling;
        let order = match self.fabric.settings.arbitration {
            // Inputs never served rank in the order of their numbers, before all others.
            Arbitration::LeastRecentlyUsed => match self.served[(out.first_served + input) as usize] {
                0 => u64::from(input),
                served => u64::from(served) + u64::from(out.siblings),
            },
            Arbitration::RoundRobin => u64::from((input + out.siblings - out.last_input - 1) % out.siblings),
        };
        order * self.channels as u64 + u64::from(waiter.vc)
    }

    fn grant(&mut self, o: usize, w: usize) {
        let out = &mut self.out[o];
        let waiter = out.waiters.swap_remove(w);
        let (i, channel) = (waiter.input as usize, waiter.input as usize * self.channels + usize::from(waiter.vc));
        let queue = &mut self.input[channel];
        let slot = queue.pop(&self.pool);
        let next = queue.head;
        let packet = self.pool.get_mut(slot);
        let size = packet.size;
        let busy = if size == self.full {
            out.crossbar_time
        } else {
            self.fabric.transfer_time(self.routers.start + out.router, size)
        };
        let until = self.now + busy;
        let input = &mut self.inputs[i];
        input.crossbar_free = until;
        out.crossbar_free = until;
        let local_input = waiter.input - out.first_sibling;
        out.last_input = local_input;
        let router = &mut self.router[out.router as usize];
        router.grants += 1;
        self.served[(out.first_served + local_input) as usize] = router.grants;
        // From a slow link to a fast one: leave so late that the last byte has arrived when it must leave.
        packet.ready = self.now;
        if size != self.full || input.full_time != out.full_time {
            let arrives_in = self.fabric.link_time(self.ports.start + i as u32, size);
            let leaves_in = self.fabric.link_time(self.ports.start + o as u32, size);
            packet.ready = self.now.max((packet.arrived + arrives_in).saturating_sub(leaves_in));
        }
        let vc = packet.out_vc;
        let into = &mut self.out_channel[o * self.channels + usize::from(vc)];
        into.bytes += size;
        out.queued_bytes += size;
        out.occupied |= 1 << vc;
        self.recorder.enqueued(o, usize::from(vc), into.bytes, out.queued_bytes, self.now);
        self.recorder.crossed(channel, o, self.now);
        self.return_credit(i, waiter.vc, slot);
        self.out_channel[o * self.channels + usize::from(vc)].queue.push(slot, &mut self.pool);
        if next != NONE {
            self.recorder.head(channel, until);
            let wanted = self.route(i, next);
            let out = &mut self.out[wanted];
            out.waiters.push(waiter);
            // Its input is busy with the packet before it.
            let when = until.max(out.crossbar_free);
            self.wake_crossbar(wanted, when);
        }
    }

    /// Sends credit, and feedback if the router before learns, over the reverse link of input port `i`.
    #[inline]
    fn return_credit(&mut self, i: usize, vc: u8, slot: u32) {
        let packet = self.pool.get(slot);
        let input = &self.inputs[i];
        let (peer, sender) = (input.peer, input.sender);
        let credit = Credit { at: self.now + input.cable, bytes: packet.size, vc };
        let feedback = (self.learns && !packet.estimate.is_nan()).then(|| Feedback {
            source: packet.header.source,
            destination: packet.header.destination,
            elapsed_ns: (packet.arrived - packet.previous) as f32 / 1e3,
            estimate_ns: packet.estimate,
        });
        match sender {
            Sender::Nic => self.take_nic_credit(peer as usize, credit),
            Sender::Local => {
                self.take_credit(peer as usize, credit);
                if let Some(feedback) = feedback {
                    self.take_feedback(peer as usize, credit.at, feedback);
                }
            }
            Sender::Remote => {
                self.outgoing.push(Message::Credit { port: peer, credit });
                if let Some(feedback) = feedback {
                    self.outgoing.push(Message::Feedback { port: peer, at: credit.at, feedback });
                }
            }
        }
    }

    /// Makes sure that the crossbar looks at output `o` at `time` at the latest.
    #[inline]
    pub(super) fn wake_crossbar(&mut self, o: usize, time: u64) {
        if self.out[o].crossbar_at > time {
            self.out[o].crossbar_at = time;
            self.events.schedule(time, kind::CROSSBAR | o as u32);
        }
    }
}
