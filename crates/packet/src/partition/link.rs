//! The link: from output queues to the next router or node, and what returns over it.

use super::outputs::{Trip, DEFERRED, MARKS, NOTIFIES, STALLED, UNREADY};
use super::section::End;
use super::state::Partition;
use crate::credit::{Credit, Credits};
use crate::packet::{PathHop, NONE};
use crate::record::ChannelTime;

impl Partition {
    /// Sends the next packet of port `o`, which has packets, if the link is free and a channel has credit for its
    /// first packet. Channels take turns. Returns whether a packet was sent.
    pub(super) fn send(&mut self, o: usize) -> bool {
        let now = self.clock.now;
        // Still sending: the departure follows from known state later.
        if self.outputs.ports[o].link_free > now {
            self.defer(o);
            return false;
        }
        // `ready` distinguishes a stall (no credit) from a delayed head.
        let (slot, ready) = self.next_packet(o, now);
        if slot == NONE {
            if ready == u64::MAX {
                self.stall(o, now);
            }
            let next = self.earliest_departure(o, now, ready);
            self.schedule_when_possible(o, next);
            return false;
        }
        self.release(o, slot, now);
        if self.outputs.ports[o].occupied != 0 {
            self.defer(o);
        } else if self.outputs.ports[o].has_flag(DEFERRED) {
            self.undefer(o);
        }
        true
    }

    /// Packets of port `o` wait for its busy link. Their departures follow from the known state of the port, so they
    /// need no event. They are computed on demand (`catch_up`):
    ///
    /// - the next router needs them when the first packet can arrive;
    /// - this router needs them when it reads the port;
    /// - all are computed at the end of a window.
    ///
    /// Only a packet that waits for space in the output buffer needs an event at the departure. A node with a
    /// subscription asks after it was notified of the packet on the link.
    pub(super) fn defer(&mut self, o: usize) {
        let out = &mut self.outputs.ports[o];
        let free = out.link_free;
        // The departure must happen at its time if a head waits for space in this buffer.
        if out.first_waiter != NONE {
            if out.has_flag(DEFERRED) {
                self.undefer(o);
            }
            self.agenda.wake_output(o, free);
            return;
        }
        if out.has_flag(DEFERRED | NOTIFIES) {
            // Notices must leave on time.
            if out.has_flag(NOTIFIES) {
                self.agenda.wake_output(o, free);
            }
            return;
        }
        out.set_flag(DEFERRED);
        self.deferred.insert(o);
        if out.end == End::Local {
            let (peer, arrives) = (out.peer as usize, free + self.section.kind(out.kind).latency);
            let input = &mut self.inputs.ports[peer];
            input.has_deferred = true;
            // Otherwise the first packet in flight has the arrival event.
            if input.flight.is_empty() {
                self.agenda.wake_input(peer, arrives);
            }
        }
    }

    /// Next known departure from port `o`, as packet and time; `None` if the port has deferred none.
    pub(super) fn next_deferred(&mut self, o: usize) -> Option<(u32, u64)> {
        if !self.outputs.ports[o].has_flag(DEFERRED) {
            return None;
        }
        let free = self.outputs.ports[o].link_free;
        match self.next_packet(o, free) {
            // No packet is ready when the link gets free, but one will be at `ready`.
            (NONE, ready) => Some((self.next_packet(o, ready).0, ready)),
            (slot, _) => Some((slot, free)),
        }
    }

    /// Ends the deferral of port `o`: its departures are all computed, or have events again.
    fn undefer(&mut self, o: usize) {
        let out = &mut self.outputs.ports[o];
        out.clear_flag(DEFERRED);
        self.deferred.remove(o);
        if out.end == End::Local {
            self.inputs.ports[out.peer as usize].has_deferred = false;
        }
    }

    /// Computes all departures from port `o` before `limit`.
    #[inline]
    pub(super) fn catch_up_to(&mut self, o: usize, limit: u64) {
        if self.outputs.ports[o].has_flag(DEFERRED) && self.outputs.ports[o].link_free < limit {
            self.catch_up(o, limit);
        }
    }

    /// Computes the deferred departures of a port before `limit`. Since the deferral nothing waited for the port and
    /// nothing entered it. Therefore each departure is the same as it would have been at its time.
    fn catch_up(&mut self, o: usize, limit: u64) {
        let mut at = self.outputs.ports[o].link_free;
        while at < limit {
            let (slot, ready) = self.next_packet(o, at);
            if slot != NONE {
                self.release(o, slot, at);
                if self.outputs.ports[o].occupied == 0 {
                    self.undefer(o);
                    return;
                }
                at = self.outputs.ports[o].link_free;
                continue;
            }
            if ready == u64::MAX {
                self.stall(o, at);
            }
            let next = self.earliest_departure(o, at, ready);
            // The state may still change before `next`, so the attempt becomes an event.
            if next >= limit {
                self.schedule_when_possible(o, next);
                return;
            }
            at = next;
        }
    }

    /// Computes the deferred departures of all ports before `until`, the end of a window.
    pub(super) fn catch_up_all(&mut self, until: u64) {
        for word in self.deferred.words() {
            for o in self.deferred.in_word(word) {
                self.catch_up(o, until);
            }
        }
    }

    /// Time of the first deferred departure; `u64::MAX` if there is none.
    pub(super) fn first_deferred(&self) -> u64 {
        let ports = self.deferred.words().flat_map(|word| self.deferred.in_word(word));
        ports.map(|o| self.outputs.ports[o].link_free).min().unwrap_or(u64::MAX)
    }

    /// The packet that departs at time `at`, or `NONE` and the time at which a packet with credit becomes ready.
    #[inline]
    fn next_packet(&mut self, o: usize, at: u64) -> (u32, u64) {
        if self.classes.is_some() {
            return self.next_packet_by_class(o, at);
        }
        let (occupied, next_vc) = (self.outputs.ports[o].occupied, self.outputs.ports[o].next_vc);
        self.next_packet_of(o, at, occupied, next_vc)
    }

    /// The same among the channels `occupied`, which take turns from `next_vc` on.
    #[inline(always)]
    pub(super) fn next_packet_of(&mut self, o: usize, at: u64, occupied: u64, next_vc: u8) -> (u32, u64) {
        let mut ready = u64::MAX;
        // First the channels from `next_vc` on, then the lower ones.
        // Two masks give the order of turns without a loop over all channels.
        let upper = occupied & u64::MAX.checked_shl(u32::from(next_vc)).unwrap_or(0);
        for mut part in [upper, occupied & !upper] {
            while part != 0 {
                let vc = part.trailing_zeros() as u8;
                part &= part - 1;
                let head = self.queues.channels[self.section.channel(o, vc)].queue.head;
                let packet = self.pool.get(head);
                let leaves = packet.ready;
                if !self.has_credit(o, vc, packet.room(self.section.full), at) {
                    continue;
                }
                if leaves > at {
                    ready = ready.min(leaves);
                    continue;
                }
                return (head, 0);
            }
        }
        (NONE, ready)
    }

    /// Whether the next buffer has space at time `at`. Looks at credits in flight only if the known credit does not
    /// suffice.
    #[inline]
    fn has_credit(&mut self, o: usize, vc: u8, room: u32, at: u64) -> bool {
        let channel = self.section.channel(o, vc);
        if self.queues.channels[channel].credit >= room || self.outputs.ports[o].end == End::Node {
            return true;
        }
        self.collect_credits(o, at);
        self.queues.channels[channel].credit >= room
    }

    /// Stalls port `o` at time `at`: no packet has a credit.
    fn stall(&mut self, o: usize, at: u64) {
        let out = &mut self.outputs.ports[o];
        if !out.has_flag(STALLED) {
            out.set_flag(STALLED);
            self.queues.stalled_since[o] = at;
        }
        self.recorder.count_stall(o, at);
        self.recorder.record_stall_start(o, out.occupied, at);
    }

    /// Earliest known time for a departure when nothing can leave port `o` at time `at`. A packet with credit becomes
    /// `ready`, or another packet gets a credit earlier. `u64::MAX` if the credit is not sent yet.
    fn earliest_departure(&mut self, o: usize, at: u64, ready: u64) -> u64 {
        self.collect_credits(o, at);
        self.outputs.first_credit(o).map_or(ready, |credit| ready.min(credit.at))
    }

    /// Schedules the next attempt of port `o` at `next`; no departure is possible before.
    fn schedule_when_possible(&mut self, o: usize, next: u64) {
        if self.outputs.ports[o].has_flag(DEFERRED) {
            self.undefer(o);
        }
        if !self.outputs.ports[o].has_flag(STALLED) {
            self.outputs.ports[o].set_flag(UNREADY);
        }
        if next != u64::MAX {
            self.agenda.wake_output(o, next);
        }
    }

    /// Removes the first packet of a channel from the output queue of port `o`, whose link is free at time `now`, and
    /// sends it.
    #[inline(always)]
    fn release(&mut self, o: usize, slot: u32, now: u64) {
        if self.recorder.waits.is_some() {
            self.record_departure(o, slot, now);
        }
        if self.outputs.ports[o].has_flag(STALLED | UNREADY | MARKS) {
            self.end_wait(o, slot, now);
        }
        let packet = self.pool.get_mut(slot);
        let (vc, size, room) = (packet.out_vc(), packet.size(), packet.room(self.section.full));
        let channel = &mut self.queues.channels[self.section.channel(o, vc)];
        let out = &mut self.outputs.ports[o];
        // Unlinked in place: the packet is the head of its queue.
        channel.queue.head = packet.next;
        channel.bytes -= room;
        if channel.queue.is_empty() {
            out.occupied &= !(1 << vc);
        }
        out.queued_bytes -= room;
        let kind = self.section.kind(out.kind);
        let busy = self.section.link_time(o, kind, size);
        // All that the next steps need is in `trip`, so they look nothing up again.
        let trip = out.start(packet, channel, room, now, busy, kind.latency);
        self.forward(o, slot, trip);
    }

    /// Marks the packet of `slot`, which departs from port `o`, if the queue of its class is long. Ends a stall.
    #[inline]
    fn end_wait(&mut self, o: usize, slot: u32, now: u64) {
        if self.outputs.ports[o].has_flag(MARKS) {
            let vc = self.pool.get(slot).out_vc();
            let (queued, class) = match self.section.has_classes() {
                false => (self.outputs.ports[o].queued_bytes, 0),
                true => (self.class_bytes(o, self.section.channels_of(vc)).0, self.section.class_of(vc)),
            };
            let packet = self.pool.get_mut(slot);
            if self.section.marking[class].marks(queued, packet.injected, packet.header.source.0) {
                packet.mark();
            }
        }
        let out = &mut self.outputs.ports[o];
        if out.has_flag(STALLED) {
            self.recorder.record_stall(o, self.queues.stalled_since[o], now);
            self.recorder.end_stall(o, now);
        }
        out.clear_flag(STALLED | UNREADY);
    }

    /// Forwards a packet that departs from port `o` to the other end of the link.
    #[inline(always)]
    pub(super) fn forward(&mut self, o: usize, slot: u32, trip: Trip) {
        let Trip { now, busy, before, arrives, peer, part, end, vc, inter_group } = trip;
        if self.classes.is_some() {
            self.charge_class(o, slot, vc, now, busy);
        }
        let packet = self.pool.get(slot);
        // Recorded before the packet moves on, since it may leave this partition.
        self.recorder.record_send(o, vc, packet, now, busy);
        if end == End::Node {
            self.recorder.record_ejection(peer as usize, before, now, now + busy);
            if self.control.is_some() && self.control_departure(o, peer as usize, slot, arrives + busy) {
                return;
            }
            self.eject(peer as usize, slot, arrives + busy);
            return;
        }
        if self.recorder.waits.is_some() {
            self.record_launch(o, slot, now, now + busy);
        }
        if self.pool.has_side_data() {
            self.pool.record_hop(slot, arrives - before, PathHop { port: self.recorder.number(o), vc });
        }
        if !self.on_link.is_empty() {
            let bytes = self.pool.get(slot).room(self.section.full);
            self.on_link.add(o, Credit { at: arrives, bytes, vc }, self.clock.now);
        }
        if inter_group {
            self.change_group(o, slot);
        }
        if end == End::Remote {
            let packet = self.pool.get(slot);
            // The mail holds a copy, so the slot is free at once.
            self.outbox.packet(part, packet, peer);
            if self.pool.has_side_data() || packet.has_envelope() {
                self.outbox.side_data(part, &mut self.pool, slot);
            }
            self.pool.free(slot);
        } else {
            self.put_on_link(peer as usize, slot, arrives);
        }
    }

    /// Records that a packet enters a group other than the groups of its source and destination.
    fn change_group(&mut self, o: usize, slot: u32) {
        let header = &mut self.pool.get_mut(slot).header;
        if header.state.path_kind.is_via_intermediate_group() {
            return;
        }
        let next = self.section.fabric.far_group(self.section.ports.start + o as u32);
        // Only a third group counts as an intermediate group.
        if next != self.section.fabric.group_of_node(header.destination)
            && next != self.section.fabric.group_of_node(header.source)
        {
            header.state.path_kind.mark_intermediate_group();
        }
    }

    /// Delivers a packet: its last byte reaches the node at `at`. Nothing can change that, so it is recorded now.
    /// Only an endpoint with a subscription needs an event at that time.
    #[inline]
    fn eject(&mut self, nic: usize, slot: u32, at: u64) {
        self.recorder.record_delivery(self.pool.get(slot), at);
        if self.pool.has_side_data() {
            let path = self.pool.take_path(slot);
            self.recorder.record_path(self.pool.get(slot), path);
        }
        if !self.nics.have_listeners() || !self.nics.list[nic].reports_arrivals {
            self.pool.free(slot);
            return;
        }
        debug_assert!(at >= self.clock.now, "earlier arrivals were notified earlier");
        self.pool.get_mut(slot).arrived = at;
        let incoming = &mut self.nics.list[nic].incoming;
        if incoming.is_empty() {
            self.agenda.wake_delivery(nic, at);
        }
        incoming.push(slot, &mut self.pool);
    }

    /// Applies the credits that have arrived at port `o` by `now`.
    #[inline]
    pub(super) fn collect_credits(&mut self, o: usize, now: u64) {
        if self.recorder.waits.is_some() {
            self.record_credits(o, now);
        }
        while let Some(Credit { at, bytes, vc }) = self.outputs.first_credit(o) {
            if at > now {
                break;
            }
            self.apply_credit(o, bytes, vc);
        }
    }

    /// Applies the first credit in flight to port `o`.
    #[inline(always)]
    fn apply_credit(&mut self, o: usize, bytes: u32, vc: u8) {
        let out = &mut self.outputs.ports[o];
        Credits::pop(&mut out.credits);
        out.downstream_bytes -= bytes;
        self.queues.channels[self.section.channel(o, vc)].credit += bytes;
    }

    /// Adds a credit in flight to port `o`.
    #[inline(always)]
    pub(super) fn take_credit(&mut self, o: usize, credit: Credit) {
        let out = &mut self.outputs.ports[o];
        // Apply the arrived credits before the list grows: most of it is usually due.
        if Credits::is_full(out.credits) {
            self.catch_up_to(o, self.clock.now);
            self.collect_credits(o, self.clock.now);
        }
        let out = &mut self.outputs.ports[o];
        self.outputs.credits.push(&mut out.credits, credit);
        if out.has_flag(STALLED | UNREADY) {
            self.agenda.wake_output(o, credit.at);
        }
    }

    // Waits by blocking job, if they are recorded: see [`crate::record::JobWait`].

    /// Counts the waits of channel `vc` of port `o` up to `time`. The port leads to a router.
    fn count_waits(&mut self, o: usize, vc: u8, time: u64) {
        let channel = &self.queues.channels[self.section.channel(o, vc)];
        let own = (!channel.queue.is_empty()).then(|| self.pool.get(channel.queue.head));
        // Without credit, a packet in the next buffer is to blame instead.
        let own = own.filter(|head| channel.credit >= head.room(self.section.full)).map(|head| head.job);
        if let Some(waits) = &mut self.recorder.waits {
            waits.count(ChannelTime { port: o, vc, time }, own);
        }
    }

    /// Records that the packet of `slot` enters the output queue of port `o`.
    #[cold]
    pub(super) fn record_entry(&mut self, o: usize, slot: u32) {
        if self.outputs.ports[o].end == End::Node {
            return;
        }
        let (now, packet) = (self.clock.now, self.pool.get(slot));
        let (vc, job) = (packet.out_vc(), packet.job);
        self.collect_credits(o, now);
        self.count_waits(o, vc, now);
        if let Some(waits) = &mut self.recorder.waits {
            waits.record_entry(ChannelTime { port: o, vc, time: now }, job);
        }
    }

    /// Records that the packet of `slot`, the head of its queue at port `o`, departs.
    #[cold]
    fn record_departure(&mut self, o: usize, slot: u32, now: u64) {
        if self.outputs.ports[o].end == End::Node {
            return;
        }
        let packet = self.pool.get(slot);
        let (vc, job) = (packet.out_vc(), packet.job);
        self.count_all_waits(o, now);
        if let Some(waits) = &mut self.recorder.waits {
            waits.record_departure(ChannelTime { port: o, vc, time: now }, job);
        }
    }

    /// Records that the packet of `slot` occupies the link of port `o` until `until`.
    #[cold]
    fn record_launch(&mut self, o: usize, slot: u32, now: u64, until: u64) {
        let packet = self.pool.get(slot);
        let (vc, job, room) = (packet.out_vc(), packet.job, packet.room(self.section.full));
        if let Some(waits) = &mut self.recorder.waits {
            waits.record_launch(ChannelTime { port: o, vc, time: now }, until, job, room);
        }
    }

    /// Applies the credits that have arrived at port `o` by `now`, one after the other: each ends a different wait.
    #[cold]
    fn record_credits(&mut self, o: usize, now: u64) {
        while let Some(Credit { at, bytes, vc }) = self.outputs.first_credit(o) {
            if at > now {
                break;
            }
            self.count_waits(o, vc, at);
            if let Some(waits) = &mut self.recorder.waits {
                waits.record_credit(ChannelTime { port: o, vc, time: at }, bytes);
            }
            self.apply_credit(o, bytes, vc);
        }
    }

    fn count_all_waits(&mut self, o: usize, now: u64) {
        self.collect_credits(o, now);
        // Empty channels have no waits.
        let mut occupied = self.outputs.ports[o].occupied;
        while occupied != 0 {
            self.count_waits(o, occupied.trailing_zeros() as u8, now);
            occupied &= occupied - 1;
        }
    }

    /// Counts all waits up to the end of the run.
    pub(super) fn finish_waits(&mut self, end: u64) {
        if self.recorder.waits.is_none() {
            return;
        }
        for o in 0..self.outputs.ports.len() {
            if self.outputs.ports[o].end != End::Node {
                self.count_all_waits(o, end);
            }
        }
    }
}
