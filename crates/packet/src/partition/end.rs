//! What a partition reports between windows and at the end of a run.

use super::inputs::{InChannel, InPort};
use super::nics::Nic;
use super::outputs::{OutChannel, OutPort, STALLED};
use super::routers::Router;
use super::section::End;
use super::state::Partition;
use crate::packet::NONE;
use crate::record::Part;
use odonata_routing::algorithm::Feedback;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What blocks the packet at the head of an input channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BlockedHead {
    /// Output port (global) and its channel.
    pub(crate) output: u32,
    pub(crate) vc: u8,
    /// Source and destination of the packet.
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Input port (global) and channel at the other end of the link, which must free space first.
    pub(crate) next: (u32, u8),
}

impl Partition {
    /// Blocked input channels (global port, channel): the head packet waits for a full output channel without
    /// credit.
    pub(crate) fn blocked_heads(&self) -> Vec<((u32, u8), BlockedHead)> {
        let mut waits = Vec::new();
        for (o, out) in self.outputs.ports.iter().enumerate().filter(|(_, out)| out.end != End::Node) {
            let mut waiter = out.first_waiter;
            while waiter != NONE {
                let input = &self.inputs.channels[waiter as usize];
                let place =
                    (self.section.ports.start + input.port, (waiter - input.port * self.section.channels as u32) as u8);
                waiter = input.next_waiter;
                let packet = self.pool.get(input.queue.head);
                let channel = &self.queues.channels[self.section.channel(o, packet.out_vc())];
                let has_room = channel.bytes + packet.required_room(self.section.full) <= self.section.output_room;
                // Not blocked: the packet can move without the next buffer.
                if has_room || channel.credit >= packet.room(self.section.full) {
                    continue;
                }
                let output = self.section.ports.start + o as u32;
                let wait = BlockedHead {
                    output,
                    vc: packet.out_vc(),
                    source: packet.header.source.0,
                    destination: packet.header.destination.0,
                    next: (self.section.fabric.peer[output as usize], packet.out_vc()),
                };
                waits.push((place, wait));
            }
        }
        waits
    }

    /// Packets in this partition.
    pub(crate) fn in_flight(&self) -> usize {
        self.pool.len()
    }

    /// Time of the last progress: the last byte of a packet arrived at a node or left one, or a timer expired.
    pub(crate) fn last_progress(&self) -> u64 {
        let arrived = self.recorder.jobs.iter().map(|job| job.last_arrival_ps).max().unwrap_or(0);
        arrived.max(self.clock.last_departure).max(self.nics.listeners.last_timer())
    }

    /// Events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.clock.events
    }

    /// Whether endpoints wait for a timer.
    pub(crate) fn has_timers(&self) -> bool {
        self.nics.listeners.has_timers()
    }

    /// Records stalls up to now and restarts them, at the end of an interval of the series.
    pub(crate) fn cut_stalls(&mut self, now: u64) {
        for (o, out) in self.outputs.ports.iter().enumerate() {
            if out.has_flag(STALLED) {
                // The stall continues in the next interval, from here on.
                let since = std::mem::replace(&mut self.queues.stalled_since[o], now);
                self.recorder.record_stall(o, since, now);
                self.recorder.record_stall_start(o, out.occupied, now);
            }
        }
    }

    /// Records packets between a node and its router at the end of the run, and stalls that last.
    pub(crate) fn finish(&mut self, end: u64) {
        self.finish_waits(end);
        if let Some(queues) = &mut self.recorder.queues {
            for (channel, input) in self.inputs.channels.iter().enumerate() {
                let mut slot = input.queue.head;
                while slot != NONE {
                    let packet = self.pool.get(slot);
                    queues.record_wait(channel, packet.arrived, end);
                    slot = packet.next;
                }
            }
        }
        for n in 0..self.nics.list.len() {
            // These packets left their NIC before the end, but their arrival lies after it.
            while self.nics.list[n].leaves < end {
                self.inject_packet(n);
            }
        }
        for (o, out) in self.outputs.ports.iter().enumerate() {
            if out.has_flag(STALLED) {
                self.recorder.record_stall(o, self.queues.stalled_since[o], end);
            }
            let mut waiter = out.first_waiter;
            while waiter != NONE {
                self.recorder.record_crossing(waiter as usize, o, end);
                let input = &self.inputs.channels[waiter as usize];
                let port = &self.inputs.ports[input.port as usize];
                // Heads from NICs also count in the records of their torus FIFO.
                if port.end == End::Node {
                    self.recorder.record_fifo_exit(
                        port.peer as usize,
                        self.pool.get(input.queue.head).arrived,
                        None,
                        end,
                    );
                }
                waiter = input.next_waiter;
            }
        }
        for (n, nic) in self.nics.list.iter().enumerate() {
            if nic.is_stalled && nic.next_ready < end {
                self.recorder.record_nic_stall(n, nic.next_ready, end);
            }
        }
    }

    /// Learning of each router, by its number in the machine: number of updates and sum of their absolute
    /// errors in ns.
    pub(crate) fn learning(&self) -> impl Iterator<Item = (u32, u64, f64)> + '_ {
        let learnt = self.routers.list.iter().filter(|router| router.memory.updates > 0);
        learnt.map(|router| (router.id.0, router.memory.updates, router.memory.error_ns))
    }

    /// Loads the estimates that routers learned in another run, by number of the router in the machine.
    pub(crate) fn load_tables(&mut self, tables: &[Vec<f32>]) {
        for router in &mut self.routers.list {
            router.memory.fill(&tables[router.id.index()]);
        }
    }

    /// Returns the records of its ports at the end of the run and, on request, the estimates of its routers.
    pub(crate) fn into_part(self, end: u64, records_tables: bool) -> Part {
        let (control, control_series) = self.control_records();
        let mut part = self.recorder.into_part(end, |port| self.section.kind(self.outputs.ports[port].kind).full_time);
        (part.control, part.control_series) = (control, control_series);
        if records_tables && self.routers.needs.estimates {
            // The run is over, so nobody holds the routing.
            let routers = self.routers;
            let estimates = |router: &Router| routers.routing().estimates(router.id, &router.memory);
            part.tables = routers.list.iter().map(estimates).collect();
        }
        part
    }

    /// Memory of packets, and memory of everything else.
    pub(crate) fn memory_bytes(&self) -> (usize, usize) {
        let ports = size_of::<OutPort>() + size_of::<InPort>();
        let channels = size_of::<OutChannel>() + size_of::<InChannel>();
        let routers = &self.routers.list;
        let memories: usize = routers.iter().map(|router| router.memory.bytes()).sum();
        let feedback: usize = self.feedback.in_flight.iter().map(VecDeque::capacity).sum();
        let other = self.outputs.ports.len() * ports
            + self.queues.channels.len() * channels
            + self.outputs.credits.memory_bytes()
            + 8 * self.turns.served.len()
            + 4 * self.turns.last_served.len()
            + 4 * self.reservations.promised.len()
            + 8 * self.rings.continuation.len()
            + routers.len() * size_of::<Router>()
            + memories
            + feedback * size_of::<(u64, Feedback)>()
            + self.recorder.waits.as_ref().map_or(0, |waits| waits.memory_bytes())
            + self.agenda.queue.memory_bytes()
            + self.control_bytes()
            + self.classes.as_ref().map_or(0, |classes| classes.memory_bytes())
            + self.nics.listeners.memory_bytes()
            + self.nics.list.len() * size_of::<Nic>()
            + self.endpoints.memory_bytes();
        (self.pool.memory_bytes(), other)
    }
}
