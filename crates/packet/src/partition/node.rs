//! Nodes: from endpoints to the network, and back.
//!
//! An open-loop source creates nothing in advance. The NIC asks for the next packet only when it can send, and a late
//! packet keeps its creation time. So the queue of a saturated source takes no memory, however long it is.
//!
//! The time of an injection follows from the creation time, the link and credits that are known one cable latency
//! ahead. So a NIC needs no events unless its endpoint wants to know of departures. A packet starts to exist in the
//! simulation when its head reaches the router; it carries the time at which it left the NIC.
//!
//! Endpoints with subscriptions are notified of events. Before every notification of a node, all packets depart that
//! can depart by then. So an endpoint always knows what it has sent, although a departure has no event.

use super::agenda::NodeEvent;
use super::state::Partition;
use crate::credit::Credit;
use crate::endpoint::{Arrival, Departure, Endpoints, InjectionTimes, Offer, OutgoingPacket, Socket};
use crate::packet::{Packet, NONE};
use odonata_routing::algorithm::{Header, RouteState};
use odonata_units::NodeId;
use std::sync::Arc;

impl Partition {
    /// Finds the next packet of NIC `n` and schedules its injection.
    #[inline]
    pub(super) fn arm_nic(&mut self, n: usize) {
        match self.classes.is_some() {
            true => self.arm_classes(n),
            false => self.arm_plainly(n),
        }
    }

    /// The same without traffic classes.
    #[inline(always)]
    fn arm_plainly(&mut self, n: usize) {
        let created = self.next_offer(n);
        let nic = &mut self.nics.list[n];
        nic.next_ready = if created == u64::MAX { created } else { created.max(nic.link_free) };
        self.schedule_plainly(n);
    }

    /// Schedules the next injection at NIC `n`, if its time is known.
    pub(super) fn schedule(&mut self, n: usize) {
        match self.classes.is_some() {
            true => self.schedule_classes(n),
            false => self.schedule_plainly(n),
        }
    }

    #[inline(always)]
    fn schedule_plainly(&mut self, n: usize) {
        if self.nics.list[n].schedule(&self.outputs.credits, self.section.full) {
            self.wake_injection(n);
        }
    }

    /// Schedules the event of the next injection at NIC `n`.
    #[inline]
    pub(super) fn wake_injection(&mut self, n: usize) {
        let nic = &self.nics.list[n];
        if nic.has_departure_events {
            self.agenda.wake_injection(n, nic.leaves);
        } else {
            self.agenda.wake_input(nic.port as usize, nic.leaves + self.section.kind(nic.kind).injection_latency);
        }
    }

    /// Applies the load steps of the traffic after a warm-up with other loads was loaded.
    pub(crate) fn apply_load_steps(&mut self) {
        for n in 0..self.nics.list.len() {
            if self.endpoints.apply_load_steps(n as u32) {
                debug_assert!(!self.nics.list[n].has_departure_events, "open traffic has no subscriptions");
                self.agenda.queue.cancel(self.nics.list[n].port);
                self.arm_nic(n);
                self.clock.quiet_until = 0;
            }
        }
    }

    /// Injects the next packet of NIC `n` at its scheduled time. Returns its slot; `NONE` if a congestion control lets no
    /// packet go.
    pub(super) fn inject_packet(&mut self, n: usize) -> u32 {
        let nic = &mut self.nics.list[n];
        let leaves = std::mem::replace(&mut nic.leaves, u64::MAX);
        if self.classes.is_some() {
            return self.inject_by_class(n, leaves);
        }
        // Only credits that had arrived by the injection count.
        nic.collect_credits(&self.outputs.credits, leaves);
        let ready = nic.next_ready;
        if self.control.is_some() {
            return self.inject_controlled(n, ready, leaves);
        }
        let injection = self.endpoints.take(n as u32, leaves);
        self.inject(n, ready, leaves, &injection, None)
    }

    /// Injects a packet of NIC `n` that was ready at `ready` and leaves at `leaves`, in a traffic class if there are any.
    #[inline(always)]
    pub(super) fn inject(
        &mut self,
        n: usize,
        ready: u64,
        leaves: u64,
        injection: &OutgoingPacket,
        class: Option<usize>,
    ) -> u32 {
        // Later than it was ready: the NIC was out of credits.
        if leaves > ready {
            self.recorder.record_nic_stall(n, ready, leaves);
        }
        if self.nics.have_programs() {
            self.check(injection, leaves);
        }
        let overhead = self.section.fabric.overhead(injection.size) + injection.padding;
        let size = injection.size + overhead;
        let (latency, busy) = self.occupy_nic(n, size, leaves, class);
        let source = self.section.fabric.node_of(self.section.nics.start + n as u32);
        let mut state =
            if self.routers.needs.messages { self.initial_state(source, injection) } else { RouteState::default() };
        state.vc += class.map_or(0, |class| self.section.first_channel(class));
        let header = Header { source, destination: injection.destination, state };
        let mut packet = Packet::new(header, size, injection.created_ps, leaves, leaves + latency);
        packet.overhead = overhead as u8;
        packet.message = injection.message;
        packet.job = injection.job;
        self.recorder.record_injection(n, &packet, injection.delay_ps);
        self.recorder.record_fifo_entry(n, &packet, busy);
        let slot = self.pool.insert(&packet);
        if self.nics.have_programs() {
            self.finish_injection(n, slot, injection);
        }
        match class {
            Some(_) => self.arm_classes(n),
            None => self.arm_plainly(n),
        }
        slot
    }

    /// Counts `size` bytes that leave NIC `n` at `leaves`. Returns their latency to the router, and the time that they occupy
    /// the link.
    #[inline(always)]
    pub(super) fn occupy_nic(&mut self, n: usize, size: u32, leaves: u64, class: Option<usize>) -> (u64, u64) {
        let nic = &mut self.nics.list[n];
        let global = self.section.nics.start + n as u32;
        if class.is_none() {
            nic.credit -= size;
        }
        let kind = self.section.kind(nic.kind);
        let (full_time, latency) = (kind.incoming_time, kind.injection_latency);
        let busy = if size == self.section.full { full_time } else { self.section.fabric.injection_time(global, size) };
        nic.link_free = leaves + busy;
        self.clock.last_departure = self.clock.last_departure.max(nic.link_free);
        if let Some(class) = class {
            self.charge_nic(n, class, size, leaves, busy);
        }
        (latency, busy)
    }

    /// First route state of a packet; depends on the message only if the routing does.
    fn initial_state(&self, source: NodeId, packet: &OutgoingPacket) -> RouteState {
        self.routers.routing().initial_state(source, packet.destination, packet.message_bytes)
    }

    /// Checks that a program's packet is a valid packet of this machine.
    fn check(&self, injection: &OutgoingPacket, leaves: u64) {
        let OutgoingPacket { created_ps, destination, nic, size, padding, job, .. } = *injection;
        let full = self.section.fabric.settings.payload().0 as u32;
        assert!(
            size.wrapping_sub(1) < full
                && padding <= full - size
                && created_ps <= leaves
                && destination.index() < self.section.fabric.node_nic.len()
                && u32::from(nic) < self.section.fabric.arrival_nics()
                && usize::from(job) < self.recorder.jobs.len(),
            "an endpoint handed over an invalid packet at {leaves} ps: {injection:?}"
        );
    }

    /// Adds a credit in flight to NIC `n`.
    #[inline]
    pub(super) fn take_nic_credit(&mut self, n: usize, credit: Credit) {
        let nic = &mut self.nics.list[n];
        self.outputs.credits.push(&mut nic.credits, credit);
        if nic.is_stalled {
            self.schedule(n);
        }
    }

    /// The packet from a NIC whose head reaches input port `i` now, where endpoints have subscriptions. It was
    /// injected before an earlier notification of its node, or is injected now. `NONE` if there is none: the endpoint
    /// has withdrawn it.
    pub(super) fn take_node_arrival(&mut self, i: usize) -> u32 {
        let input = &mut self.inputs.ports[i];
        let (n, head, latency) =
            (input.peer as usize, input.flight.head, self.section.kind(input.kind).injection_latency);
        let nic = &self.nics.list[n];
        // Packets with departure events are on the link already.
        let next = if nic.has_departure_events { u64::MAX } else { nic.leaves.saturating_add(latency) };
        if head == NONE {
            if next <= self.clock.now {
                return self.inject_packet(n);
            }
            self.expect_from_node(i, next);
            return NONE;
        }
        let packet = self.pool.get(head);
        if packet.arrived > self.clock.now {
            self.expect_from_node(i, packet.arrived);
            return NONE;
        }
        input.flight.head = packet.next;
        let next = if packet.next == NONE { next } else { self.pool.get(packet.next).arrived };
        self.expect_from_node(i, next);
        head
    }

    /// Schedules the next arrival from a NIC at input port `i`, if it is known.
    #[inline]
    fn expect_from_node(&mut self, i: usize, arrives: u64) {
        if arrives != u64::MAX {
            self.agenda.wake_input(i, arrives);
        }
    }

    /// Starts the endpoints and asks each for its first packet.
    pub(crate) fn start(&mut self) {
        for n in 0..self.nics.list.len() {
            if self.nics.list[n].reports_arrivals {
                self.notify(n, |endpoints, nic, socket| {
                    endpoints.on_start(nic, socket);
                    Offer::Changed
                });
            } else {
                self.arm_nic(n);
            }
        }
    }

    /// Handles an event that an endpoint has subscribed to.
    #[inline(never)]
    pub(super) fn node_event(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Injection(n) => self.injection_event(n),
            NodeEvent::Delivery(n) => self.delivery_event(n),
            NodeEvent::Timer(n) => self.timer_event(n),
        }
    }

    /// Notifies the endpoint of NIC `n`, applies its requests, and asks for the new offers of its node.
    #[inline]
    fn notify(&mut self, n: usize, what: impl FnOnce(&mut dyn Endpoints, u32, &mut Socket) -> Offer) {
        let listeners = &mut self.nics.listeners;
        // The endpoint may change its timer during the call.
        let timer = listeners.timer(n);
        listeners.socket.turn_to(self.clock.now, timer);
        let offer = what(&mut *self.endpoints, n as u32, &mut listeners.socket);
        let wanted = listeners.socket.timer_ps().unwrap_or(u64::MAX);
        if wanted != timer || listeners.socket.has_deliveries() {
            self.store_requests(n, wanted);
        }
        // All NICs of the node offer packets of one endpoint.
        if offer == Offer::Changed {
            self.each_of_node(n, Self::refresh_offer);
        }
    }

    /// Calls `each` for all NICs of the node of NIC `n`.
    #[inline]
    fn each_of_node(&mut self, n: usize, mut each: impl FnMut(&mut Self, usize)) {
        let per_node = self.section.fabric.nics_per_node as usize;
        if self.section.fabric.rails > 1 {
            let fabric = Arc::clone(&self.section.fabric);
            let first = self.section.nics.start;
            fabric.host_nics(first + n as u32).for_each(|nic| {
                (0..per_node).for_each(|i| each(self, (nic - first) as usize + i));
            });
            return;
        }
        let first = n - n % per_node;
        (first..first + per_node).for_each(|m| each(self, m));
    }

    #[cold]
    fn store_requests(&mut self, n: usize, timer: u64) {
        self.nics.listeners.store_requests(n, timer);
        self.schedule_timer(n);
    }

    /// Schedules the next timer or message within the node of NIC `n`.
    fn schedule_timer(&mut self, n: usize) {
        let due = self.nics.listeners.next_due(n);
        if due != u64::MAX {
            self.agenda.wake_timer(n, due);
        }
    }

    /// Notifies the endpoint of NIC `n` of a message within the node or of its expired timer, one of them per event.
    fn timer_event(&mut self, n: usize) {
        let now = self.clock.now;
        if let Some(arrival) = self.nics.listeners.take_on_node(n, now) {
            self.send_due_packets(n);
            self.notify(n, |endpoints, nic, socket| endpoints.on_arrival(nic, &arrival, socket));
        } else if self.nics.listeners.take_expired(n, now) {
            self.send_due_packets(n);
            self.notify(n, |endpoints, nic, socket| endpoints.on_timer(nic, socket));
        }
        self.schedule_timer(n);
    }

    /// Sends everything that NIC `n` can send by now, before its endpoint is notified.
    #[inline]
    fn send_due_packets(&mut self, n: usize) {
        while self.nics.list[n].leaves <= self.clock.now {
            self.send_from_node(n);
        }
    }

    /// Sends the next packet of NIC `n` to the router. Its arrival already has an event unless its departure had one.
    fn send_from_node(&mut self, n: usize) {
        let port = self.nics.list[n].port as usize;
        let slot = self.inject_packet(n);
        if slot == NONE {
            return;
        }
        self.inputs.ports[port].flight.push(slot, &mut self.pool);
        if self.nics.list[n].has_departure_events {
            let arrives = self.pool.get(slot).arrived;
            self.agenda.wake_input(port, arrives);
        }
    }

    /// Asks for the offer of NIC `n` again: packet and time may have changed.
    fn refresh_offer(&mut self, n: usize) {
        if self.classes.is_some() {
            return self.refresh_classes(n);
        }
        let created = self.next_offer(n);
        let (now, nic) = (self.clock.now, &self.nics.list[n]);
        let since = nic.next_ready;
        // The NIC was out of credits until now.
        if since <= now {
            if created <= now {
                // It still waits for credit.
                return;
            }
            self.recorder.record_nic_stall(n, since, now);
        }
        let nic = &mut self.nics.list[n];
        let wanted = if created == u64::MAX { created } else { created.max(nic.link_free).max(now) };
        if wanted != since {
            nic.next_ready = wanted;
            self.schedule(n);
        }
    }

    /// Completes the injection of a program's packet at NIC `n`: stores its envelope, schedules the notification of
    /// its departure, and asks for the offers of the node's other NICs.
    fn finish_injection(&mut self, n: usize, slot: u32, packet: &OutgoingPacket) {
        self.pool.get_mut(slot).nic = packet.nic;
        if let Some(envelope) = packet.envelope {
            self.pool.set_envelope(slot, envelope);
        }
        let nic = &self.nics.list[n];
        // Costs an event, so only on request.
        if packet.notifies_departure && nic.reports_departures {
            let departure = Departure { at_ps: nic.link_free, job: packet.job, message: packet.message };
            self.nics.listeners.departures[n] = Some(departure);
            self.agenda.wake_injection(n, departure.at_ps);
        }
        if nic.has_departure_events {
            self.refresh_others(n);
        }
    }

    /// Asks for the offers of the other NICs of the node of NIC `n` again.
    pub(super) fn refresh_others(&mut self, n: usize) {
        self.each_of_node(n, |partition, m| {
            if m != n {
                partition.refresh_offer(m);
            }
        });
    }

    /// Notifies the endpoint of a departure from NIC `n`, or sends its next packet.
    fn injection_event(&mut self, n: usize) {
        // A departure before the next injection: both may be due now.
        let left = self.nics.listeners.departures[n].take_if(|departure| departure.at_ps <= self.clock.now);
        if let Some(departure) = left {
            self.notify(n, |endpoints, nic, socket| endpoints.on_departure(nic, &departure, socket));
        } else if self.nics.list[n].leaves <= self.clock.now {
            self.send_from_node(n);
        }
        let nic = &self.nics.list[n];
        let next = self.nics.listeners.departures[n].map_or(nic.leaves, |departure| departure.at_ps);
        if next != u64::MAX {
            self.agenda.wake_injection(n, next);
        }
    }

    /// Notifies the endpoint of NIC `n` of an arrived packet.
    fn delivery_event(&mut self, n: usize) {
        let incoming = &mut self.nics.list[n].incoming;
        let slot = incoming.head;
        // The event may be early: a deferred departure can be computed late.
        if slot != NONE {
            let packet = self.pool.get(slot);
            if packet.arrived <= self.clock.now {
                incoming.head = packet.next;
                let injection_times = self.pool.entered(slot).map(|injected_ps| InjectionTimes {
                    created_ps: packet.created,
                    taken_ps: packet.injected,
                    injected_ps,
                });
                let arrival = Arrival {
                    at_ps: packet.arrived,
                    source: packet.header.source,
                    size: packet.payload(),
                    job: packet.job,
                    message: packet.message,
                    envelope: self.pool.envelope(slot),
                    injection_times,
                };
                // Freed before the notification, which may inject a packet.
                self.pool.free(slot);
                self.send_due_packets(n);
                self.notify(n, |endpoints, nic, socket| endpoints.on_arrival(nic, &arrival, socket));
            }
        }
        let nic = &self.nics.list[n];
        // Nothing is in flight, but the port may have deferred departures.
        if nic.incoming.is_empty() {
            self.expect_deferred(n, nic.port as usize);
        } else {
            self.agenda.wake_delivery(n, self.pool.get(nic.incoming.head).arrived);
        }
    }

    /// Schedules the arrival of the first deferred packet from port `o` to NIC `n`, if none is in flight.
    #[inline]
    fn expect_deferred(&mut self, n: usize, o: usize) {
        // If the link takes any time, the next packet has departed already and its arrival gets an event here.
        self.catch_up_to(o, self.clock.now);
        if !self.nics.list[n].incoming.is_empty() {
            return;
        }
        if let Some((slot, leaves)) = self.next_deferred(o) {
            let size = self.pool.get(slot).size();
            let kind = self.section.kind(self.outputs.ports[o].kind);
            let arrives = leaves + kind.latency + self.section.link_time(o, kind, size);
            self.agenda.wake_delivery(n, arrives);
        }
    }
}
