//! Network interfaces: from endpoints to the network.
//!
//! An open-loop source runs ahead of nothing: the NIC asks for the next packet only when it can send, and a packet made
//! long ago keeps its created time. So the queue of a saturated source takes no memory, however long it is.
//!
//! When a packet leaves follows from when it was made, from the link and from credits that are known at least one
//! cable latency ahead. So a NIC has no events of its own, unless its endpoint has to know of departures: the packet comes into
//! being when its head reaches the router, with the time at which it left.

use super::Partition;
use crate::credit::{Credit, Credits};
use crate::endpoint::OutgoingPacket;
use crate::packet::{Packet, NONE};
use crate::queue::Key;
use odonata_routing::algorithm::{Header, RouteState};
use odonata_units::NodeId;

impl Partition {
    /// Finds out when the next packet of a NIC leaves: when it is made, the link free and room at the router.
    pub(super) fn arm_nic(&mut self, n: usize) {
        let created = self.endpoints.next_created_ps(n as u32);
        let nic = &mut self.nic[n];
        nic.next_ready = created.map_or(u64::MAX, |created| created.max(nic.link_free));
        self.schedule(n);
    }

    /// Finds out when the packet leaves that NIC `n` wants to send from `wanted` on.
    pub(super) fn schedule(&mut self, n: usize) {
        let nic = &mut self.nic[n];
        nic.leaves = nic.next_ready;
        nic.stalled = false;
        if nic.next_ready == u64::MAX {
            return;
        }
        // The size is known only when the packet is taken, so room for a full one is asked for.
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

    /// Goes on with the loads of its traffic, where a state was kept under others.
    pub(crate) fn apply_load_steps(&mut self) {
        for n in 0..self.nic.len() {
            if self.endpoints.apply_load_steps(n as u32) {
                debug_assert!(!self.nic[n].has_departure_events, "sources of open traffic are told nothing");
                self.events.cancel(self.nic[n].port);
                self.arm_nic(n);
                self.quiet_until = 0;
            }
        }
    }

    /// The next packet leaves NIC `n`, at the time that was found for it.
    pub(super) fn inject_packet(&mut self, n: usize) -> u32 {
        let nic = &mut self.nic[n];
        let leaves = std::mem::replace(&mut nic.leaves, u64::MAX);
        while let Some(Credit { at, bytes, .. }) = self.credits.front(nic.credits) {
            if at > leaves {
                break;
            }
            Credits::pop(&mut nic.credits);
            nic.credit += bytes;
        }
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

    /// What the header of a packet says where the routing tells messages apart.
    #[cold]
    fn initial_state(&self, source: NodeId, packet: &OutgoingPacket) -> RouteState {
        self.routing().initial_state(source, packet.destination, packet.message_bytes)
    }

    /// What a program hands over has to be a packet of this machine.
    fn check(&self, injection: &OutgoingPacket, leaves: u64) {
        let OutgoingPacket { created_ps, destination, interface, size, job, .. } = *injection;
        assert!(
            size.wrapping_sub(1) < self.fabric.settings.payload().0 as u32
                && created_ps <= leaves
                && destination.index() < self.fabric.node_nic.len()
                && u32::from(interface) < self.fabric.arrival_nics()
                && usize::from(job) < self.recorder.jobs.len(),
            "an endpoint handed over what is no packet at {leaves} ps: {injection:?}"
        );
    }

    /// A credit is on its way to NIC `n`.
    #[inline]
    pub(super) fn take_nic_credit(&mut self, n: usize, credit: Credit) {
        let nic = &mut self.nic[n];
        self.credits.push(&mut nic.credits, credit);
        if nic.stalled {
            self.schedule(n);
        }
    }

    /// The packet whose head reaches input port `i` now from a NIC, where endpoints listen: one that left before its node was
    /// told something, or else one that comes into being now. `NONE` if none arrives: the endpoint thought better of it.
    pub(super) fn take_node_arrival(&mut self, i: usize) -> u32 {
        let input = &mut self.inputs[i];
        let (n, head, latency) =
            (input.peer as usize, input.flight.head, self.kinds[input.kind as usize].injection_latency);
        let nic = &self.nic[n];
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

    /// The next packet from a NIC reaches input port `i` at `arrives`, if one is known of.
    #[inline]
    fn expect_from_node(&mut self, i: usize, arrives: u64) {
        if arrives != u64::MAX {
            self.events.wake(arrives, i as Key);
        }
    }
}
