//! The crossbar: from input queues to output queues.
//!
//! Each input and each output carries one packet at a time. A transfer takes the packet's size divided by
//! the crossbar's bandwidth. An output serves a waiting packet if its input is free and its output channel
//! has space for all of it. The packet enters the output queue at once (cut-through), and its credit
//! returns at the same moment.
//!
//! Arbitration is among input *channels*, not inputs: a waiting channel gets its turn, however many packets
//! arrive on the other channels of its input. (Among inputs, a channel starves if its input has another
//! channel with endless traffic.)

use super::outputs::{Trip, STALLED};
use super::section::{End, FarEnd};
use super::state::Partition;
use crate::credit::Credit;
use crate::packet::NONE;
use crate::settings::Arbitration;
use odonata_routing::algorithm::Feedback;

/// Credit for the sender of a packet that crossed.
struct CreditReturn {
    sender: FarEnd,
    credit: Credit,
}

impl Partition {
    /// Lets output port `o` select one of its waiting packets, of which there is at least one. Returns whether
    /// it granted one.
    #[inline(never)]
    pub(super) fn arbitrate(&mut self, o: usize) -> bool {
        let out = &self.outputs.ports[o];
        if out.crossbar_free > self.clock.now {
            let free = out.crossbar_free;
            self.agenda.wake_output(o, free);
            return false;
        }
        let (chosen, next_free) = self.choose(o);
        if chosen == NONE {
            if next_free != u64::MAX {
                // Nobody can be served: try again when the first busy input is free.
                self.agenda.wake_output(o, next_free);
            }
            return false;
        }
        // One grant per transfer time; other waiters get an event for its end.
        self.grant(o, chosen as usize);
        let out = &self.outputs.ports[o];
        if out.first_waiter != NONE {
            let free = out.crossbar_free;
            self.agenda.wake_output(o, free);
        }
        true
    }

    /// Selects the input channel to serve. If none can be served, returns the time at which the first busy
    /// input becomes free. A packet without space in the output buffer waits for a departure, which settles
    /// this output again.
    #[inline]
    fn choose(&self, o: usize) -> (u32, u64) {
        let out = &self.outputs.ports[o];
        let mut best = (u64::MAX, NONE);
        let mut next_free = u64::MAX;
        let mut waiter = out.first_waiter;
        while waiter != NONE {
            let (input, this) = (&self.inputs.channels[waiter as usize], waiter);
            waiter = input.next_waiter;
            let packet = self.pool.get(input.queue.head);
            let queued = self.queues.channels[self.section.channel(o, packet.out_vc())].bytes;
            if queued + packet.required_room(self.section.full) > self.section.output_room {
                continue;
            }
            let free = self.inputs.ports[input.port as usize].crossbar_free;
            if free > self.clock.now {
                next_free = next_free.min(free);
                continue;
            }
            let mut rank = self.rank(o, this, packet.out_vc());
            if let Some(classes) = &self.classes {
                rank |= classes.crossbar_rank(self.section.class_of(packet.out_vc()));
            }
            best = best.min((rank, this));
        }
        (best.1, next_free)
    }

    /// Rank of an input channel that requests channel `vc` of output `o`: the lowest is served first. Equal
    /// ranks are served by channel number.
    #[inline]
    fn rank(&self, o: usize, channel: u32, vc: u8) -> u64 {
        match self.section.fabric.settings.arbitration {
            Arbitration::LeastRecentlyUsed => self.turns.served[channel as usize],
            Arbitration::TransitFirst => {
                let port = self.inputs.channels[channel as usize].port as usize;
                // Packets from nodes rank after all transit packets, unless enough of these have passed.
                let yields =
                    self.inputs.ports[port].end == End::Node && !self.turns.has_waited_enough(channel as usize, o);
                self.turns.served[channel as usize] | u64::from(yields) << 63
            }
            Arbitration::RoundRobin => {
                let ports = &self.routers.list[self.inputs.ports[o].router as usize].ports;
                let (count, channels) = (ports.len() * self.section.channels, self.section.channels);
                // Distance from the channel and input after the last served ones.
                let last = self.turns.last_served[self.section.channel(o, vc)] as usize;
                let place = channel as usize - ports.start as usize * channels;
                let turn = usize::from(vc) + channels - usize::from(self.outputs.ports[o].crossed_vc) - 1;
                (turn % channels * count + (place + count - last - 1) % count) as u64
            }
        }
    }

    /// Passes a packet to output `o` at once if nothing blocks it. The packet has just arrived and is the only
    /// event of its router. Returns whether it passed.
    #[inline]
    pub(super) fn pass_through(&mut self, i: usize, slot: u32, o: usize) -> bool {
        let now = self.clock.now;
        self.catch_up_to(o, now);
        let (out, input) = (&self.outputs.ports[o], &self.inputs.ports[i]);
        if out.first_waiter != NONE || out.crossbar_free > now || input.crossbar_free > now {
            return false;
        }
        let packet = self.pool.get(slot);
        let (room, vc) = (packet.room(self.section.full), packet.out_vc());
        let into = &self.queues.channels[self.section.channel(o, vc)];
        if into.bytes + packet.required_room(self.section.full) > self.section.output_room {
            return false;
        }
        // The link may take it in the same step: then it never enters a queue.
        let bytes = into.bytes + room;
        let (link_free, port_bytes) = (out.link_free, out.queued_bytes + room);
        let free = out.occupied == 0
            && link_free <= now
            && (into.credit >= room || out.end == End::Node)
            && self.class_may_start(o, vc, now);
        let (vc_in, from_node) = (packet.header.state.vc, input.end == End::Node);
        if from_node {
            self.pool.enter(slot, now);
        }
        // `free` decides whether the packet skips the output queue.
        let (back, trip) = self.transfer(i, vc_in, o, slot, free);
        self.recorder.record_enqueue(o, vc, bytes, port_bytes, now);
        self.return_credit(back, slot);
        if let Some(trip) = trip {
            self.forward(o, slot, trip);
            return true;
        }
        self.enqueue(o, slot);
        if link_free > now {
            self.defer(o);
        } else {
            self.send(o);
        }
        true
    }

    /// Transfers the head of an input channel to output `o`.
    fn grant(&mut self, o: usize, channel: usize) {
        self.remove_waiter(o, channel as u32);
        let input = &mut self.inputs.channels[channel];
        let i = input.port as usize;
        let slot = input.queue.pop(&self.pool);
        let next = input.queue.head;
        let vc_in = (channel - i * self.section.channels) as u8;
        // Bit sets find occupied channels without a scan.
        if next == NONE {
            self.inputs.ports[i].occupied &= !(1 << vc_in);
        }
        if self.inputs.ports[i].end != End::Node {
            self.turns.record_transit(o);
        } else {
            let arrived = |slot: u32| self.pool.get(slot).arrived;
            let (nic, next) = (self.inputs.ports[i].peer as usize, (next != NONE).then(|| arrived(next)));
            self.recorder.record_fifo_exit(nic, arrived(slot), next, self.clock.now);
            self.pool.enter(slot, self.clock.now);
        }
        if let Some(queues) = &mut self.recorder.queues {
            queues.record_leave(channel, self.pool.get(slot).arrived, self.clock.now);
        }
        let (back, _) = self.transfer(i, vc_in, o, slot, false);
        self.return_credit(back, slot);
        self.enqueue(o, slot);
        let packet = self.pool.get(slot);
        let vc = packet.out_vc();
        let bytes = self.queues.channels[self.section.channel(o, vc)].bytes;
        self.recorder.record_enqueue(o, vc, bytes, self.outputs.ports[o].queued_bytes, self.clock.now);
        self.recorder.record_crossing(channel, o, self.clock.now);
        if next != NONE {
            // The next packet becomes the head: only now does it get a route.
            self.recorder.record_head(channel, self.inputs.ports[i].crossbar_free);
            let wanted = self.route(i, next, o);
            self.add_waiter(channel, wanted);
            // Its input is busy with the packet before it.
            let when = self.inputs.ports[i].crossbar_free.max(self.outputs.ports[wanted].crossbar_free);
            self.agenda.wake_output(wanted, when);
        }
    }

    /// Removes an input channel from the waiters of output `o`.
    #[inline]
    fn remove_waiter(&mut self, o: usize, channel: u32) {
        let next = self.inputs.channels[channel as usize].next_waiter;
        let mut before = self.outputs.ports[o].first_waiter;
        if before == channel {
            self.outputs.ports[o].first_waiter = next;
            return;
        }
        while self.inputs.channels[before as usize].next_waiter != channel {
            before = self.inputs.channels[before as usize].next_waiter;
        }
        self.inputs.channels[before as usize].next_waiter = next;
    }

    /// Occupies the crossbar with a packet from a channel of input `i` to output `o`; returns its credit. If
    /// the link is `free` and the packet need not wait for its last byte, the packet departs at once, without a
    /// queue.
    #[inline(always)]
    fn transfer(&mut self, i: usize, vc_in: u8, o: usize, slot: u32, free: bool) -> (CreditReturn, Option<Trip>) {
        let now = self.clock.now;
        if self.classes.is_some() {
            self.leave_in_flow(self.section.channel(i, vc_in), slot);
        }
        let packet = self.pool.get_mut(slot);
        let (size, vc) = (packet.size(), packet.out_vc());
        let (out, input) = (&mut self.outputs.ports[o], &mut self.inputs.ports[i]);
        // A delivered packet has no promised space; it keeps the channel of its arrival.
        if out.end != End::Node {
            self.reservations.redeem(vc, self.section.channel(o, vc), size);
        }
        let kind = self.section.kind(out.kind);
        // Ports of one kind share latencies and times: mostly one look-up serves both.
        let kind_in = if input.kind == out.kind { kind } else { self.section.kind(input.kind) };
        let full = size == self.section.full;
        let busy = if full {
            kind.crossbar_time
        } else {
            self.section.fabric.transfer_time(self.section.routers.start + input.router, size)
        };
        input.crossbar_free = now + busy;
        out.crossbar_free = now + busy;
        let place = self.section.channel(input.place.into(), vc_in);
        if self.turns.record(self.section.channel(i, vc_in), self.section.channel(o, vc), place, now) {
            out.crossed_vc = vc;
        }
        let bytes = if self.rings.have_channel(vc_in) && input.end != End::Node { self.section.full } else { size };
        let credit = Credit { at: now + kind_in.credit_latency, bytes, vc: vc_in };
        let back = CreditReturn { sender: FarEnd { peer: input.peer, end: input.end, part: input.part }, credit };
        // On a faster outgoing link, the head is delayed so that transmission never underruns.
        packet.ready = now;
        let leaves_in = if full && kind_in.incoming_time == kind.full_time {
            kind.full_time
        } else {
            let arrives_in = self.section.fabric.incoming_time(self.section.ports.start + i as u32, size);
            let leaves_in = self.section.fabric.link_time(self.section.ports.start + o as u32, size);
            packet.ready = now.max((packet.arrived + arrives_in).saturating_sub(leaves_in));
            leaves_in
        };
        if !free || packet.ready > now {
            return (back, None);
        }
        let room = packet.room(self.section.full);
        let channel = &mut self.queues.channels[self.section.channel(o, vc)];
        (back, Some(out.start(packet, channel, room, now, leaves_in, kind.latency)))
    }

    /// Appends a packet to the output queue of its channel.
    #[inline(always)]
    fn enqueue(&mut self, o: usize, slot: u32) {
        if self.recorder.waits.is_some() {
            self.record_entry(o, slot);
        }
        let packet = self.pool.get(slot);
        let (room, vc) = (packet.room(self.section.full), packet.out_vc());
        let channel = &mut self.queues.channels[self.section.channel(o, vc)];
        channel.bytes += room;
        channel.queue.push(slot, &mut self.pool);
        let out = &mut self.outputs.ports[o];
        out.queued_bytes += room;
        out.occupied |= 1 << vc;
        if out.has_flag(STALLED) {
            self.recorder.restart_stall(o, self.clock.now);
        }
    }

    /// Sends a credit over the reverse link of an input port, and feedback if routers learn.
    #[inline(always)]
    fn return_credit(&mut self, CreditReturn { sender: FarEnd { peer, end, part }, credit }: CreditReturn, slot: u32) {
        match end {
            End::Node => return self.take_nic_credit(peer as usize, credit),
            End::Local => self.take_credit(peer as usize, credit),
            End::Remote => self.outbox.credit(part, peer, credit),
        }
        if !self.routers.needs.reports {
            return;
        }
        let estimate = self.pool.hop_estimate(slot);
        if estimate.estimate_ns.is_nan() {
            return;
        }
        let header = &self.pool.get(slot).header;
        let feedback = Feedback {
            source: header.source,
            destination: header.destination,
            elapsed_ns: estimate.elapsed_ns,
            estimate_ns: estimate.estimate_ns,
            note: estimate.note,
        };
        if end == End::Remote {
            self.outbox.feedback(part, peer, credit.at, feedback);
        } else {
            self.take_feedback(peer as usize, credit.at, feedback);
        }
    }
}
