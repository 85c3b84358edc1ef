//! The twin's nodes: all events of a node at an instant, one after the other.

use super::control_packets::Content;
use super::parts::{in_network, set_out, Packet};
use super::{Event, Twin};
use odonata_machine::Machine;
use odonata_packet::{
    Arrival, Departure, Endpoints, InjectionTimes, Nics, Offer, OutgoingPacket, PacketSettings, Socket, Subscription,
};
use odonata_units::NodeId;
use std::collections::VecDeque;

/// A NIC of a node.
pub(super) struct Node {
    pub(super) node: NodeId,
    /// Router and port at the other end.
    pub(super) router: usize,
    pub(super) port: usize,
    link_free: u64,
    pub(super) credit: u64,
    subscription: Subscription,
    timer: Option<u64>,
    /// Messages within the node by time, and at one time by order of delivery.
    on_node: Vec<Arrival>,
    /// Packet whose last byte is about to leave.
    departure: Option<Departure>,
    /// For a torus FIFO: the memory FIFOs that feed it, numbered as in the endpoints. The next one to serve is at the
    /// front.
    fed_by: VecDeque<u32>,
    /// Arrival time of each packet on the last link, and its source.
    pub(super) incoming: VecDeque<(u64, OutgoingPacket, NodeId, Option<InjectionTimes>)>,
}

impl Node {
    /// All NICs of a machine.
    pub(super) fn all(
        machine: &Machine,
        settings: &PacketSettings,
        nics: &Nics<'_>,
        endpoints: &dyn Endpoints,
    ) -> Vec<Self> {
        let each = per_node(settings) as u32;
        let of = |nic: u32| {
            // Endpoints number memory FIFOs, the network numbers torus FIFOs.
            let (first, place) = (nic / each * nics.per_node(), nic % each);
            let node = nics.node(first);
            let fed_by = settings.injection.iter().flat_map(|fifos| {
                let feeds = (0..fifos.map.len() as u32).filter(|m| fifos.map[*m as usize] & 1 << place > 0);
                feeds.map(|m| first + m).collect::<Vec<_>>()
            });
            let room = settings.injection.as_ref().map(|fifos| u64::from(fifos.fifo_packets) * settings.packet.0);
            Self {
                fed_by: fed_by.collect(),
                node,
                router: machine.router_of(node).index(),
                port: (machine.slot_of(node) * each + place) as usize,
                link_free: 0,
                credit: room.unwrap_or(settings.input_buffer.0),
                subscription: endpoints.subscription(if room.is_some() { first } else { nic }),
                timer: None,
                on_node: Vec::new(),
                departure: None,
                incoming: VecDeque::new(),
            }
        };
        (0..nics.count() / nics.per_node() * each).map(of).collect()
    }
}

/// NICs of a node in the network.
pub(super) fn per_node(settings: &PacketSettings) -> usize {
    settings.injection.as_ref().map_or(settings.nics_per_node, |fifos| fifos.fifos) as usize
}

impl Twin<'_> {
    /// NIC of the endpoints from which a NIC of the network may take a packet now: the same one, or a memory FIFO.
    fn takes(&mut self, nic: usize) -> Option<u32> {
        let from: Vec<u32> = match self.settings.injection {
            Some(_) => self.nodes[nic].fed_by.iter().copied().collect(),
            None => vec![nic as u32],
        };
        from.into_iter().find(|&from| self.endpoints.next_created_ps(from).is_some_and(|created| created <= self.now))
    }

    /// NIC at a port of a router.
    pub(super) fn nic(&self, router: usize, port: usize) -> usize {
        self.nodes.iter().position(|node| (node.router, node.port) == (router, port)).unwrap()
    }

    /// First NIC of the same node.
    pub(super) fn first_of(&self, nic: usize) -> usize {
        nic - nic % per_node(self.settings)
    }

    pub(super) fn start(&mut self) {
        for nic in 0..self.nodes.len() {
            if self.nodes[nic].subscription > Subscription::Nothing {
                self.notify(nic, |endpoints, nic, socket| {
                    endpoints.on_start(nic, socket);
                    Offer::Changed
                });
            }
            self.at(0, Event::Node(nic));
        }
    }

    /// Does everything possible at a node now: departures first, then arrivals, then events within the node.
    pub(super) fn at_node(&mut self, first: usize) {
        let own = first..first + per_node(self.settings);
        loop {
            let did = own.clone().any(|nic| self.leave(nic))
                || own.clone().any(|nic| self.arrive(nic))
                || own.clone().any(|nic| self.wake(nic));
            if !did {
                break;
            }
        }
        // Wake when it has a packet to send, or its link is free.
        for nic in own {
            let from: Vec<u32> = match self.settings.injection {
                Some(_) => self.nodes[nic].fed_by.iter().copied().collect(),
                None => vec![nic as u32],
            };
            if let Some(created) = from.into_iter().filter_map(|from| self.endpoints.next_created_ps(from)).min() {
                let at = created.max(self.nodes[nic].link_free);
                if at > self.now {
                    self.at(at, Event::Node(nic));
                }
            }
        }
    }

    fn leave(&mut self, nic: usize) -> bool {
        if let Some(departure) = self.nodes[nic].departure.filter(|departure| departure.at_ps <= self.now) {
            self.nodes[nic].departure = None;
            self.notify(nic, |endpoints, nic, socket| endpoints.on_departure(nic, &departure, socket));
            return true;
        }
        let taken = if self.has_control() { Some(nic as u32) } else { self.takes(nic) };
        let node = &mut self.nodes[nic];
        let Some(from) = taken else { return false };
        if node.link_free > self.now || node.credit < self.settings.packet.0 {
            return false;
        }
        while node.fed_by.back().is_some_and(|&last| last != from) {
            node.fed_by.rotate_left(1);
        }
        if self.send_control_packet(nic) {
            return true;
        }
        let controlled = self.has_control().then(|| self.take_controlled(nic));
        let packet = match controlled {
            None => self.endpoints.take(from, self.now),
            Some(Some(packet)) => packet,
            Some(None) => return false,
        };
        self.inject(nic, packet, in_network(self.settings, packet.size), None);
        true
    }

    /// A packet of `bytes` leaves NIC `nic`.
    pub(super) fn inject(&mut self, nic: usize, packet: OutgoingPacket, bytes: u64, notice: Option<Content>) {
        let node = &self.nodes[nic];
        let (router, port, source) = (node.router, node.port, node.node);
        let free = self.now + self.incoming_time(router, port, bytes);
        let arrives = self.now + self.cable(router, port) + self.settings.input_latency.ps();
        let node = &mut self.nodes[nic];
        node.credit -= bytes;
        node.link_free = free;
        if packet.notifies_departure && node.subscription == Subscription::Departures {
            node.departure = Some(Departure { at_ps: free, job: packet.job, message: packet.message });
        }
        self.at(free, Event::Node(nic));
        self.at(arrives, Event::Arrive(router, port));
        let state = self.routing.initial_state(source, packet.destination, packet.message_bytes);
        let packet = Packet { notice, ..set_out((packet, bytes), source, state, self.now, arrives) };
        self.ports[router][port].wire.push_back(packet);
    }

    /// A packet leaves its last router for NIC `nic`. Its last byte is there at `at`.
    pub(super) fn depart_to_node(&mut self, nic: usize, packet: &Packet, at: u64) {
        if let Some(content) = packet.notice {
            return self.receive_control_packet(nic, packet, content, at);
        }
        self.record(packet, at);
        let injection_times = self.injection_times(packet);
        self.nodes[nic].incoming.push_back((at, packet.what, packet.header.source, injection_times));
        self.at(at, Event::Node(nic));
        self.control_departure(nic, packet, at);
    }

    /// Times of a packet's injection, if nodes have FIFOs.
    pub(super) fn injection_times(&self, packet: &Packet) -> Option<InjectionTimes> {
        let (created_ps, taken_ps, injected_ps) = (packet.what.created_ps, packet.injected, packet.entered);
        self.settings.injection.is_some().then_some(InjectionTimes { created_ps, taken_ps, injected_ps })
    }

    fn arrive(&mut self, nic: usize) -> bool {
        let node = &mut self.nodes[nic];
        if node.incoming.front().is_none_or(|(at, ..)| *at > self.now) {
            return false;
        }
        let (at_ps, packet, source, injection_times) = node.incoming.pop_front().unwrap();
        if node.subscription > Subscription::Nothing {
            let OutgoingPacket { size, job, message, envelope, .. } = packet;
            let arrival = Arrival { at_ps, source, size, job, message, envelope, injection_times };
            self.notify(nic, |endpoints, nic, socket| endpoints.on_arrival(nic, &arrival, socket));
        }
        true
    }

    fn wake(&mut self, nic: usize) -> bool {
        let node = &mut self.nodes[nic];
        if node.on_node.first().is_some_and(|arrival| arrival.at_ps <= self.now) {
            let arrival = node.on_node.remove(0);
            self.notify(nic, |endpoints, nic, socket| endpoints.on_arrival(nic, &arrival, socket));
        } else if node.timer.is_some_and(|timer| timer <= self.now) {
            node.timer = None;
            self.notify(nic, |endpoints, nic, socket| endpoints.on_timer(nic, socket));
        } else {
            return false;
        }
        true
    }

    fn notify(&mut self, nic: usize, event: impl FnOnce(&mut dyn Endpoints, u32, &mut Socket) -> Offer) {
        let mut socket = Socket::new(self.now, self.nodes[nic].timer);
        // The offer does not matter here: the twin always asks again.
        let _ = event(&mut *self.endpoints, nic as u32, &mut socket);
        let node = &mut self.nodes[nic];
        node.timer = socket.timer_ps();
        node.on_node.extend(socket.take_deliveries());
        node.on_node.sort_by_key(|arrival| arrival.at_ps);
        let times = node.on_node.iter().map(|arrival| arrival.at_ps).chain(node.timer);
        // Everything due now is handled in this instant.
        let later: Vec<u64> = times.filter(|&at| at > self.now).collect();
        for at in later {
            self.at(at, Event::Node(nic));
        }
    }
}
