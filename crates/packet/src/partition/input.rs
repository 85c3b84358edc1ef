//! Input queues: packets arrive from links, and the routing algorithm decides where they go.

use super::port::End;
use super::Partition;
use crate::packet::NONE;
use crate::queue::Key;

impl Partition {
    /// Handles the arrival of a packet's head at the input queue of port `i`.
    #[inline]
    pub(super) fn arrive(&mut self, i: usize) {
        let port = &self.inputs[i];
        let router = port.router;
        // Without subscriptions, a packet leaves its NIC in the event of its arrival here.
        let slot = if port.end == End::Node && !self.has_listeners {
            let nic = port.peer as usize;
            self.inject_packet(nic)
        } else {
            let slot = if port.end == End::Node { self.take_node_arrival(i) } else { self.take_arrival(i) };
            if slot == NONE {
                return;
            }
            slot
        };
        let vc = self.pool.get(slot).header.state.vc;
        let channel = i * self.channels + usize::from(vc);
        if let Some(queues) = &mut self.recorder.queues {
            queues.record_join(channel, self.now);
        }
        // Routing decides only for the head of a queue: a packet behind others just joins.
        if self.inputs[i].occupied >> vc & 1 == 1 {
            self.input[channel].queue.push(slot, &mut self.pool);
            return;
        }
        // No output has settled in this instant, so the decision sees the state before it.
        let out = self.route(i, slot, 0);
        if self.is_alone(router) && self.pass_through(i, slot, out) {
            if let Some(queues) = &mut self.recorder.queues {
                queues.record_leave(channel, self.now, self.now);
            }
            return;
        }
        self.recorder.record_head(channel, self.now.max(self.inputs[i].crossbar_free));
        self.inputs[i].occupied |= 1 << vc;
        self.input[channel].queue.push(slot, &mut self.pool);
        self.add_waiter(channel, out);
        self.mark_pending(out);
    }

    /// Takes the packet that arrives now from the link of port `i`, and schedules the next arrival. Returns
    /// `NONE` if no packet arrives: the sender expected a departure that did not happen.
    #[inline]
    fn take_arrival(&mut self, i: usize) -> u32 {
        if self.inputs[i].deferred {
            let sender = self.inputs[i].peer as usize;
            self.catch_up_to(sender, self.now);
        }
        let port = &mut self.inputs[i];
        let slot = port.flight.head;
        let mut next = slot;
        let mut arrived = NONE;
        if slot != NONE {
            let packet = self.pool.get(slot);
            if packet.arrived <= self.now {
                (arrived, next) = (slot, packet.next);
                port.flight.head = next;
            }
        }
        if next != NONE {
            self.events.wake(self.pool.get(next).arrived, i as Key);
        } else if port.deferred {
            let sender = &self.out[port.peer as usize];
            self.events.wake(sender.link_free + self.kinds[sender.kind as usize].latency, i as Key);
        }
        arrived
    }

    /// Adds an input channel to the waiters of output port `o`.
    #[inline]
    pub(super) fn add_waiter(&mut self, channel: usize, o: usize) {
        let first = std::mem::replace(&mut self.out[o].first_waiter, channel as u32);
        self.input[channel].next_waiter = first;
    }

    /// Puts a packet on the link to input port `i`, where it arrives at `arrives`.
    #[inline]
    pub(super) fn put_on_link(&mut self, i: usize, slot: u32, arrives: u64) {
        let flight = &mut self.inputs[i].flight;
        let was_empty = flight.is_empty();
        flight.push(slot, &mut self.pool);
        // A deferred departure has an event already.
        if was_empty && !self.inputs[i].deferred {
            self.events.wake(arrives, i as Key);
        }
    }

    /// Decides the output port of the packet at the head of an input channel of port `i`. The decision sees
    /// what the output ports before `settled` did in this instant.
    pub(super) fn route(&mut self, i: usize, slot: u32, settled: usize) -> usize {
        let local = self.inputs[i].router as usize;
        let state = &self.router[local];
        let (first, link_ports_from) = (state.ports.start as usize, state.link_ports_from as usize);
        let destination = self.pool.get(slot).header.destination;
        // Wraps around for nodes of other routers, so one comparison decides.
        let place = self.fabric.node_nic[destination.index()].wrapping_sub(state.nics.start);
        if self.learns && state.next_feedback <= self.now {
            self.learn(local);
        }
        if place < self.router[local].nics.len() as u32 {
            if self.learns {
                self.query_routing(i, slot, settled, |routing, decision, header| {
                    routing.report_arrival(decision, header)
                });
            }
            let packet = self.pool.get_mut(slot);
            let vc = packet.header.state.vc;
            packet.set_out_vc(vc);
            return first + place as usize + usize::from(packet.nic);
        }
        let hop = self.query_routing(i, slot, settled, |routing, decision, header| routing.decide(decision, header));
        assert!(usize::from(hop.vc) < self.channels, "the routing algorithm stays within its virtual channels");
        let packet = self.pool.get_mut(slot);
        packet.set_out_vc(hop.vc);
        let out = link_ports_from + usize::from(hop.port);
        // In a ring, every packet takes a full packet's space, so that bubbles do not fragment.
        if hop.vc == self.bubble {
            let stays_in_ring = packet.header.state.vc == self.bubble && self.stays[i] == out as u32;
            packet.reserve_full_room(self.in_ring[out] && !stays_in_ring);
        }
        // Reserved space is promised at the decision, so no other packet takes it before the crossing.
        if hop.vc >= self.reserved_from {
            self.promised[out * self.channels + usize::from(hop.vc)] += packet.size();
        }
        out
    }
}
