//! NICs: from endpoints to the network.
//!
//! An open-loop source creates nothing in advance. The NIC asks for the next packet only when it can send, and a late
//! packet keeps its creation time. So the queue of a saturated source takes no memory, however long it is.
//!
//! The time of an injection follows from the creation time, the link and credits that are known one cable latency
//! ahead. So a NIC needs no events unless its endpoint wants to know of departures. A packet starts to exist in the
//! simulation when its head reaches the router; it carries the time at which it left the NIC.

use super::Partition;
use crate::credit::{Credit, Credits};
use crate::endpoint::OutgoingPacket;
use crate::packet::{Packet, NONE};
use crate::queue::Key;
use odonata_routing::algorithm::{Header, RouteState};
use odonata_units::NodeId;

impl Partition {
    /// Finds the next packet of NIC `n` and schedules its injection.
    pub(super) fn arm_nic(&mut self, n: usize) {
        let created = self.endpoints.next_created_ps(n as u32);
        let nic = &mut self.nic[n];
        nic.next_ready = created.map_or(u64::MAX, |created| created.max(nic.link_free));
        self.schedule(n);
    }

    /// Finds the time at which NIC `n` injects its next packet: created, link free, and space at the router.
    pub(super) fn schedule(&mut self, n: usize) {
        let nic = &mut self.nic[n];
        nic.leaves = nic.next_ready;
        nic.stalled = false;
        if nic.next_ready == u64::MAX {
            return;
        }
        // The size is known only when the packet is taken, so this requires space for a full one.
        let mut room = nic.credit;
        let mut credits = self.credits.iter(nic.credits);
        while room < self.full {
            let Some(credit) = credits.next() else {
                nic.stalled = true;
                nic.leaves = u64::MAX;
                return;
            };
            room += credit.bytes;
            nic.leaves = nic.leaves.max(credit.at);
        }
        if nic.has_departure_events {
            self.events.wake(nic.leaves, self.keys.injection + n as Key);
        } else {
            self.events.wake(nic.leaves + self.kinds[nic.kind as usize].injection_latency, nic.port);
        }
    }

    /// Applies the load steps of the traffic after a warm-up with other loads was loaded.
    pub(crate) fn apply_load_steps(&mut self) {
        for n in 0..self.nic.len() {
            if self.endpoints.apply_load_steps(n as u32) {
                debug_assert!(!self.nic[n].has_departure_events, "open traffic has no subscriptions");
                self.events.cancel(self.nic[n].port);
                self.arm_nic(n);
                self.quiet_until = 0;
            }
        }
    }

    /// Injects the next packet of NIC `n` at its scheduled time. Returns its slot.
    pub(super) fn inject_packet(&mut self, n: usize) -> u32 {
        let nic = &mut self.nic[n];
        let leaves = std::mem::replace(&mut nic.leaves, u64::MAX);
        // Only credits that had arrived by the injection count.
        while let Some(Credit { at, bytes, .. }) = self.credits.front(nic.credits) {
            if at > leaves {
                break;
            }
            Credits::pop(&mut nic.credits);
            nic.credit += bytes;
        }
        // Later than it was ready: the NIC was out of credits.
        if leaves > nic.next_ready {
            self.recorder.record_nic_stall(n, nic.next_ready, leaves);
        }
        let injection = self.endpoints.take(n as u32, leaves);
        if self.has_programs {
            self.check(&injection, leaves);
        }
        let nic = &mut self.nic[n];
        let global = self.nics.start + n as u32;
        let overhead = self.fabric.overhead(injection.size);
        let size = injection.size + overhead;
        nic.credit -= size;
        let kind = &self.kinds[nic.kind as usize];
        let busy = if size == self.full { kind.incoming_time } else { self.fabric.injection_time(global, size) };
        nic.link_free = leaves + busy;
        self.last_departure = self.last_departure.max(nic.link_free);
        let source = self.fabric.node_of(global);
        let state = if self.orders_messages { self.initial_state(source, &injection) } else { RouteState::default() };
        let header = Header { source, destination: injection.destination, state };
        let mut packet = Packet::new(header, size, (injection.created_ps, leaves, leaves + kind.injection_latency));
        packet.overhead = overhead as u8;
        packet.message = injection.message;
        packet.job = injection.job;
        self.recorder.record_injection(n, &packet, injection.delay_ps);
        self.recorder.record_fifo_entry(n, &packet, busy);
        let slot = self.pool.insert(&packet);
        if self.has_programs {
            self.finish_injection(n, slot, &injection);
        }
        self.arm_nic(n);
        slot
    }

    /// First route state of a packet; depends on the message only if the routing does.
    #[cold]
    fn initial_state(&self, source: NodeId, packet: &OutgoingPacket) -> RouteState {
        self.routing().initial_state(source, packet.destination, packet.message_bytes)
    }

    /// Checks that a program's packet is a valid packet of this machine.
    fn check(&self, injection: &OutgoingPacket, leaves: u64) {
        let OutgoingPacket { created_ps, destination, nic, size, job, .. } = *injection;
        assert!(
            size.wrapping_sub(1) < self.fabric.settings.payload().0 as u32
                && created_ps <= leaves
                && destination.index() < self.fabric.node_nic.len()
                && u32::from(nic) < self.fabric.arrival_nics()
                && usize::from(job) < self.recorder.jobs.len(),
            "an endpoint handed over an invalid packet at {leaves} ps: {injection:?}"
        );
    }

    /// Adds a credit in flight to NIC `n`.
    #[inline]
    pub(super) fn take_nic_credit(&mut self, n: usize, credit: Credit) {
        let nic = &mut self.nic[n];
        self.credits.push(&mut nic.credits, credit);
        if nic.stalled {
            self.schedule(n);
        }
    }

    /// The packet from a NIC whose head reaches input port `i` now, where endpoints have subscriptions. It was
    /// injected before an earlier notification of its node, or is injected now. `NONE` if there is none: the endpoint
    /// has withdrawn it.
    pub(super) fn take_node_arrival(&mut self, i: usize) -> u32 {
        let input = &mut self.inputs[i];
        let (n, head, latency) =
            (input.peer as usize, input.flight.head, self.kinds[input.kind as usize].injection_latency);
        let nic = &self.nic[n];
        // Packets with departure events are on the link already.
        let next = if nic.has_departure_events { u64::MAX } else { nic.leaves.saturating_add(latency) };
        if head == NONE {
            if next <= self.now {
                return self.inject_packet(n);
            }
            self.expect_from_node(i, next);
            return NONE;
        }
        let packet = self.pool.get(head);
        if packet.arrived > self.now {
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
            self.events.wake(arrives, i as Key);
        }
    }
}
