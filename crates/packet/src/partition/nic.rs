//! Network interfaces: from endpoints to the network and back.
//!
//! An open-loop source runs ahead of nothing: the NIC asks for the next packet only when it can send, and a packet made
//! long ago keeps its birth time. So the queue of a saturated source takes no memory, however long it is.

use super::port::Credit;
use super::Partition;
use crate::endpoint::Arrival;
use crate::packet::{Packet, Told};
use odonata_routing::algorithm::{Header, RouteState};

impl Partition {
    /// Schedules the next look at a NIC: when its next packet is made and its link is free.
    pub(super) fn arm_nic(&mut self, n: usize) {
        if let Some(birth) = self.endpoints.next_birth_ps(n as u32) {
            let nic = &self.nic[n];
            let time = birth.max(nic.link_free).max(self.now);
            self.events.wake(time, self.keys.inject + n as u32);
        }
    }

    /// Sends the next packet of a NIC if it is made, the link free and the router's input buffer has room.
    pub(super) fn inject(&mut self, n: usize) {
        let now = self.now;
        if self.endpoints.next_birth_ps(n as u32).is_none_or(|birth| birth > now) || self.nic[n].link_free > now {
            self.arm_nic(n);
            return;
        }
        let nic = &mut self.nic[n];
        while let Some(&Credit { at, bytes, .. }) = nic.credits.front() {
            if at > now {
                break;
            }
            nic.credits.pop_front();
            nic.credit += bytes;
        }
        // The size is known only when the packet is taken, so room for a full one is asked for.
        if u64::from(nic.credit) < self.fabric.settings.packet.0 {
            nic.starved = true;
            if nic.stalled_since == u64::MAX {
                nic.stalled_since = now;
            }
            if let Some(credit) = nic.credits.front() {
                self.events.wake(credit.at, self.keys.inject + n as u32);
            }
            return;
        }
        self.launch_from_node(n);
        self.arm_nic(n);
    }

    fn launch_from_node(&mut self, n: usize) {
        let now = self.now;
        let injection = self.endpoints.take(n as u32);
        let global = self.nics.start + n as u32;
        let nic = &mut self.nic[n];
        if nic.stalled_since != u64::MAX {
            self.recorder.nic_stalled(n, nic.stalled_since, now);
            nic.stalled_since = u64::MAX;
        }
        nic.starved = false;
        nic.credit -= injection.size;
        let busy = if injection.size == self.full {
            nic.full_time
        } else {
            self.fabric.link_time(self.fabric.nic_port[global as usize], injection.size)
        };
        nic.link_free = now + busy;
        let header = Header {
            source: self.fabric.node_of(global),
            destination: injection.destination,
            state: RouteState::default(),
        };
        let arrives = now + nic.latency;
        let mut packet = Packet::new(header, injection.size, (injection.birth_ps, now, arrives));
        packet.message = injection.message;
        packet.job = injection.job;
        let port = nic.port as usize;
        self.recorder.injected(n, &packet);
        let slot = self.pool.insert(&packet, Told::NOTHING);
        self.fly(port, slot, arrives);
    }

    /// A credit is on its way to NIC `n`.
    #[inline]
    pub(super) fn take_nic_credit(&mut self, n: usize, credit: Credit) {
        let nic = &mut self.nic[n];
        nic.credits.push_back(credit);
        if nic.starved {
            self.events.wake(credit.at, self.keys.inject + n as u32);
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
