//! The crossbar: from input queues to output queues.
//!
//! Each input and each output carries one packet at a time, for the packet's size over the crossbar's bandwidth. An
//! output serves a waiting packet if the packet's input is free and its output channel has room for all of it. The
//! packet enters the output queue at once (cut-through) and its credit goes back at the same moment.

use super::port::{Credit, Waiter};
use super::{kind, Message, Partition};
use crate::settings::Arbitration;
use odonata_routing::algorithm::Feedback;

impl Partition {
    /// Lets output port `o` choose among the packets that wait for it; whether one was granted.
    pub(super) fn arbitrate(&mut self, o: usize) -> bool {
        let now = self.now;
        if self.out[o].waiters.is_empty() {
            return false;
        }
        if self.out[o].crossbar_free > now {
            self.wake_crossbar(o, self.out[o].crossbar_free);
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
        if !self.out[o].waiters.is_empty() {
            self.wake_crossbar(o, self.out[o].crossbar_free);
        }
        true
    }

    /// The waiter to serve, and when the first input that is busy gets free. A packet without room in the output
    /// buffer waits for a departure, which settles this output again.
    #[inline]
    fn choose(&self, o: usize) -> (Option<usize>, u64) {
        let room = self.fabric.settings.output_buffer.0 as u32;
        let mut best: Option<(u64, usize)> = None;
        let mut next_free = u64::MAX;
        for (w, &waiter) in self.out[o].waiters.iter().enumerate() {
            let slot = self.input[self.channel(waiter)].head;
            let packet = self.pool.get(slot);
            if self.out_channel[o * self.channels + usize::from(packet.out_vc)].bytes + packet.size > room {
                continue;
            }
            let free = self.inputs[waiter.input as usize].crossbar_free;
            if free > self.now {
                next_free = next_free.min(free);
                continue;
            }
            let rank = self.rank(o, waiter);
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
    #[inline]
    fn rank(&self, o: usize, waiter: Waiter) -> u64 {
        let channels = self.channels as u64;
        let (first, ports) = self.siblings(o);
        let input = waiter.input - first;
        match self.fabric.settings.arbitration {
            // Inputs never served rank in the order of their numbers, the channels of one input likewise.
            Arbitration::LeastRecentlyUsed => {
                let served = self.served[(self.first_served[o] + input) as usize];
                let order = if served == 0 { u64::from(input) } else { u64::from(served) + u64::from(ports) };
                order * channels + u64::from(waiter.vc)
            }
            Arbitration::RoundRobin => {
                let distance = (input + ports - self.out[o].last_input - 1) % ports;
                u64::from(distance) * channels + u64::from(waiter.vc)
            }
        }
    }

    /// First port (of the partition) and number of ports of the router of output port `o`.
    #[inline]
    fn siblings(&self, o: usize) -> (u32, u32) {
        let router = self.fabric.port_router[self.ports.start as usize + o] as usize;
        let first = self.fabric.first_port[router];
        (first - self.ports.start, self.fabric.first_port[router + 1] - first)
    }

    fn grant(&mut self, o: usize, w: usize) {
        let now = self.now;
        let waiter = self.out[o].waiters.swap_remove(w);
        let (i, channel) = (waiter.input as usize, self.channel(waiter));
        let slot = self.input[channel].pop(&self.pool);
        let router = self.fabric.port_router[self.ports.start as usize + o];
        let size = self.pool.get(slot).size;
        let until = now + self.fabric.transfer_time(router, size);
        self.inputs[i].crossbar_free = until;
        self.out[o].crossbar_free = until;
        self.note_service(o, waiter, (router - self.routers.start) as usize);
        self.return_credit(i, waiter.vc, slot);
        self.enqueue(o, i, slot);
        if !self.input[channel].is_empty() {
            let next = self.input[channel].head;
            let wanted = self.route(i, next);
            self.out[wanted].waiters.push(waiter);
            // Its input is busy with the packet before it.
            let when = until.max(self.out[wanted].crossbar_free);
            self.wake_crossbar(wanted, when);
        }
    }

    fn note_service(&mut self, o: usize, waiter: Waiter, router: usize) {
        let (first, _) = self.siblings(o);
        let input = waiter.input - first;
        self.out[o].last_input = input;
        self.router[router].grants += 1;
        self.served[(self.first_served[o] + input) as usize] = self.router[router].grants;
    }

    /// Puts a packet into its output queue.
    #[inline]
    fn enqueue(&mut self, o: usize, i: usize, slot: u32) {
        let packet = self.pool.get_mut(slot);
        let (vc, size) = (packet.out_vc, packet.size);
        // From a slow link to a fast one: leave so late that the last byte has arrived when it must leave.
        let (arrives_in, leaves_in) = (
            self.fabric.link_time(self.ports.start + i as u32, size),
            self.fabric.link_time(self.ports.start + o as u32, size),
        );
        packet.ready = self.now.max((packet.arrived + arrives_in).saturating_sub(leaves_in));
        let channel = &mut self.out_channel[o * self.channels + usize::from(vc)];
        channel.queue.push(slot, &mut self.pool);
        channel.bytes += size;
        let out = &mut self.out[o];
        out.queued_bytes += size;
        out.occupied |= 1 << vc;
        self.recorder.enqueued(o, usize::from(vc), channel.bytes);
    }

    /// Sends credit, and feedback if the router before learns, over the reverse link of input port `i`.
    #[inline]
    fn return_credit(&mut self, i: usize, vc: u8, slot: u32) {
        let packet = self.pool.get(slot);
        let global = self.ports.start as usize + i;
        let credit = Credit { at: self.now + self.fabric.cable[global], bytes: packet.size, vc };
        if packet.header.state.hops == 0 {
            let nic = (self.fabric.peer[global] - self.nics.start) as usize;
            self.take_nic_credit(nic, credit);
            return;
        }
        let peer = self.fabric.peer[global];
        let estimate = packet.estimate;
        let feedback = Feedback {
            source: packet.header.source,
            destination: packet.header.destination,
            elapsed_ns: (packet.arrived - packet.previous) as f32 / 1e3,
            estimate_ns: estimate,
        };
        if self.out[i].remote {
            self.outgoing.push(Message::Credit { port: peer, credit });
            if self.learns && !estimate.is_nan() {
                self.outgoing.push(Message::Feedback { port: peer, at: credit.at, feedback });
            }
        } else {
            let local = (peer - self.ports.start) as usize;
            self.take_credit(local, credit);
            if self.learns && !estimate.is_nan() {
                self.take_feedback(local, credit.at, feedback);
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
