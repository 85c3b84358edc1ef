//! Network interfaces: from endpoints to the network and back.
//!
//! An open-loop source runs ahead of nothing: the NIC asks for the next packet only when it can send, and a packet made
//! long ago keeps its birth time. So the queue of a saturated source takes no memory, however long it is.
//!
//! When a packet leaves follows from when it was made, from the link and from credits that are known at least one
//! cable latency ahead. So unless its endpoint listens, a NIC has no events of its own: the packet comes into being when its head
//! reaches the router, with the time at which it left.

use super::Partition;
use crate::credit::{Credit, Credits};
use crate::endpoint::Arrival;
use crate::packet::{Packet, Told};
use odonata_routing::algorithm::{Header, RouteState};

impl Partition {
    /// Finds out when the next packet of a NIC leaves: when it is made, the link free and room at the router.
    pub(super) fn arm_nic(&mut self, n: usize) {
        let Some(birth) = self.endpoints.next_birth_ps(n as u32) else { return };
        let nic = &mut self.nic[n];
        nic.wanted = birth.max(nic.link_free);
        if self.listens {
            nic.wanted = nic.wanted.max(self.now);
        }
        nic.leaves = nic.wanted;
        // The size is known only when the packet is taken, so room for a full one is asked for.
        let mut room = nic.credit;
        let mut credits = self.credits.iter(nic.credits);
        while room < self.full {
            let Some(credit) = credits.next() else {
                nic.starved = true;
                nic.leaves = u64::MAX;
                return;
            };
            room += credit.bytes;
            nic.leaves = nic.leaves.max(credit.at);
        }
        nic.starved = false;
        if self.listens {
            self.events.wake(nic.leaves, self.keys.inject + n as u32);
        } else {
            self.events.wake(nic.leaves + self.kinds[nic.kind as usize].injection_latency, nic.port);
        }
    }

    /// A NIC whose endpoint listens sends a packet.
    pub(super) fn inject(&mut self, n: usize) {
        let port = self.nic[n].port as usize;
        let slot = self.leave_node(n);
        let arrives = self.pool.get(slot).arrived;
        self.fly(port, slot, arrives);
    }

    /// The next packet leaves NIC `n`, at the time that was found for it.
    pub(super) fn leave_node(&mut self, n: usize) -> u32 {
        let nic = &mut self.nic[n];
        let leaves = std::mem::replace(&mut nic.leaves, u64::MAX);
        while let Some(Credit { at, bytes, .. }) = self.credits.front(nic.credits) {
            if at > leaves {
                break;
            }
            Credits::pop(&mut nic.credits);
            nic.credit += bytes;
        }
        if leaves > nic.wanted {
            self.recorder.nic_stalled(n, nic.wanted, leaves);
        }
        let injection = self.endpoints.take(n as u32);
        let global = self.nics.start + n as u32;
        nic.credit -= injection.size;
        let kind = &self.kinds[nic.kind as usize];
        let busy = if injection.size == self.full {
            kind.full_time
        } else {
            self.fabric.link_time(self.fabric.nic_port[global as usize], injection.size)
        };
        nic.link_free = leaves + busy;
        let header = Header {
            source: self.fabric.node_of(global),
            destination: injection.destination,
            state: RouteState::default(),
        };
        let mut packet =
            Packet::new(header, injection.size, (injection.birth_ps, leaves, leaves + kind.injection_latency));
        packet.message = injection.message;
        packet.job = injection.job;
        self.recorder.injected(n, &packet);
        let slot = self.pool.insert(&packet, Told::NOTHING);
        self.arm_nic(n);
        slot
    }

    /// A credit is on its way to NIC `n`.
    #[inline]
    pub(super) fn take_nic_credit(&mut self, n: usize, credit: Credit) {
        let nic = &mut self.nic[n];
        self.credits.push(&mut nic.credits, credit);
        if nic.starved {
            self.arm_nic(n);
        }
    }

    /// The last byte of a packet has reached a node whose endpoint listens.
    pub(super) fn deliver_tail(&mut self, n: usize) {
        let nic = &mut self.nic[n];
        let slot = nic.incoming.pop(&self.pool);
        let packet = *self.pool.get(slot);
        self.pool.free(slot);
        if !nic.incoming.is_empty() {
            let next = self.pool.get(nic.incoming.head).arrived;
            self.events.wake(next, self.keys.deliver + n as u32);
        }
        self.recorder.delivered(&packet, packet.arrived);
        let arrival = Arrival {
            at_ps: packet.arrived,
            source: packet.header.source,
            size: packet.size(),
            job: packet.job,
            message: packet.message,
        };
        self.endpoints.arrived(n as u32, &arrival);
        self.arm_nic(n);
    }
}
