//! Input queues: packets arrive from links, and the routing algorithm decides where they go.

use super::section::End;
use super::state::Partition;
use crate::packet::NONE;
use crate::settings::QueueEstimate;
use odonata_routing::algorithm::{Decision, Feedback, Header, Hop, ReceivedReport, Routing};
use odonata_routing::next_hop::Port;
use odonata_routing::view::LoadView;
use std::cell::{RefCell, RefMut};
use std::ops::Range;

impl Partition {
    /// Handles the arrival of a packet's head at the input queue of port `i`.
    #[inline]
    pub(super) fn arrive(&mut self, i: usize) {
        let port = &self.inputs.ports[i];
        let router = port.router;
        let slot = match port.end {
            // Without subscriptions, a packet leaves its NIC in the event of its arrival here.
            End::Node if !self.nics.have_listeners() => self.inject_packet(port.peer as usize),
            End::Node => self.take_node_arrival(i),
            End::Local | End::Remote => self.take_arrival(i),
        };
        if slot == NONE {
            return;
        }
        let vc = self.pool.get(slot).header.state.vc;
        let channel = self.section.channel(i, vc);
        if self.observes_arrivals {
            self.observe_arrival(router as usize, channel, slot);
        }
        // Routing decides only for the head of a queue: a packet behind others just joins.
        if self.inputs.ports[i].occupied >> vc & 1 == 1 {
            self.inputs.channels[channel].queue.push(slot, &mut self.pool);
            return;
        }
        // No output has settled in this instant, so the decision sees the state before it.
        let out = self.route(i, slot, 0);
        if self.is_alone(router) && self.pass_through(i, slot, out) {
            if let Some(queues) = &mut self.recorder.queues {
                queues.record_leave(channel, self.clock.now, self.clock.now);
            }
            return;
        }
        self.recorder.record_head(channel, self.clock.now.max(self.inputs.ports[i].crossbar_free));
        self.inputs.ports[i].occupied |= 1 << vc;
        self.inputs.channels[channel].queue.push(slot, &mut self.pool);
        self.add_waiter(channel, out);
        self.pending.mark(out);
    }

    /// Records the arrival of the packet of `slot` in an input channel, and informs the congestion control.
    #[cold]
    fn observe_arrival(&mut self, router: usize, channel: usize, slot: u32) {
        if self.control.is_some() {
            self.control_arrival(router, slot);
        }
        if let Some(queues) = &mut self.recorder.queues {
            queues.record_join(channel, self.clock.now);
        }
    }

    /// Takes the packet that arrives now from the link of port `i`, and schedules the next arrival. Returns
    /// `NONE` if no packet arrives: the sender expected a departure that did not happen.
    #[inline]
    fn take_arrival(&mut self, i: usize) -> u32 {
        if self.inputs.ports[i].has_deferred {
            let sender = self.inputs.ports[i].peer as usize;
            self.catch_up_to(sender, self.clock.now);
        }
        let port = &mut self.inputs.ports[i];
        let slot = port.flight.head;
        let mut next = slot;
        let mut arrived = NONE;
        if slot != NONE {
            let packet = self.pool.get(slot);
            if packet.arrived <= self.clock.now {
                (arrived, next) = (slot, packet.next);
                port.flight.head = next;
            }
        }
        if next != NONE {
            self.agenda.wake_input(i, self.pool.get(next).arrived);
        } else if port.has_deferred {
            let sender = &self.outputs.ports[port.peer as usize];
            self.agenda.wake_input(i, sender.link_free + self.section.kind(sender.kind).latency);
        }
        arrived
    }

    /// Adds an input channel to the waiters of output port `o`.
    #[inline]
    pub(super) fn add_waiter(&mut self, channel: usize, o: usize) {
        self.turns.record_waiter(channel, o);
        let first = std::mem::replace(&mut self.outputs.ports[o].first_waiter, channel as u32);
        self.inputs.channels[channel].next_waiter = first;
    }

    /// Puts a packet on the link to input port `i`, where it arrives at `arrives`.
    #[inline]
    pub(super) fn put_on_link(&mut self, i: usize, slot: u32, arrives: u64) {
        let flight = &mut self.inputs.ports[i].flight;
        let was_empty = flight.is_empty();
        flight.push(slot, &mut self.pool);
        // A deferred departure has an event already.
        if was_empty && !self.inputs.ports[i].has_deferred {
            self.agenda.wake_input(i, arrives);
        }
    }

    /// Decides the output port of the packet at the head of an input channel of port `i`. The decision sees
    /// what the output ports before `settled` did in this instant.
    pub(super) fn route(&mut self, i: usize, slot: u32, settled: usize) -> usize {
        let local = self.inputs.ports[i].router as usize;
        let state = &self.routers.list[local];
        let (first, link_ports_from) = (state.ports.start as usize, state.link_ports_from as usize);
        let destination = self.pool.get(slot).header.destination;
        // Wraps around for nodes of other routers, so one comparison decides.
        let place = self.section.fabric.node_nic[destination.index()].wrapping_sub(state.nics.start);
        if self.routers.needs.reports && state.next_feedback <= self.clock.now {
            self.learn(local);
        }
        if place < self.routers.list[local].nics.len() as u32 {
            if self.routers.needs.reports {
                self.query_routing(i, slot, settled, |routing, decision, header| {
                    routing.report_arrival(decision, header)
                });
            }
            let packet = self.pool.get_mut(slot);
            let vc = packet.header.state.vc;
            packet.set_out_vc(vc);
            return first + place as usize + usize::from(packet.nic);
        }
        let hop = match self.section.has_classes() {
            false => self.query_in_class(i, slot, settled, Self::decide, 0),
            true => self.decide_in_flow(i, slot, settled),
        };
        assert!(usize::from(hop.vc) < self.section.channels, "the routing algorithm stays within its virtual channels");
        let packet = self.pool.get_mut(slot);
        packet.set_out_vc(hop.vc);
        let out = link_ports_from + usize::from(hop.port);
        // In a ring, every packet takes a full packet's space, so that bubbles do not fragment.
        if self.rings.have_channel(hop.vc) {
            packet.reserve_full_room(self.rings.are_entered(i, packet.header.state.vc, out));
        }
        // Reserved space is promised at the decision, so no other packet takes it before the crossing.
        self.reservations.promise(hop.vc, self.section.channel(out, hop.vc), packet.size());
        out
    }

    /// The question for the next hop.
    #[inline(always)]
    pub(super) fn decide(routing: &dyn Routing, decision: &mut Decision<'_>, header: &mut Header) -> Hop {
        routing.decide(decision, header)
    }

    /// Asks the routing algorithm about the head packet of an input channel of port `i`, and stores its report.
    #[inline]
    fn query_routing<T>(
        &mut self,
        i: usize,
        slot: u32,
        settled: usize,
        question: impl FnOnce(&dyn Routing, &mut Decision<'_>, &mut Header) -> T,
    ) -> T {
        match self.section.has_classes() {
            false => self.query_in_class(i, slot, settled, question, 0),
            true => self.query_among_classes(i, slot, settled, question),
        }
    }

    /// The same with several classes: the algorithm counts the channels of the packet's class.
    #[inline(never)]
    pub(super) fn query_among_classes<T>(
        &mut self,
        i: usize,
        slot: u32,
        settled: usize,
        question: impl FnOnce(&dyn Routing, &mut Decision<'_>, &mut Header) -> T,
    ) -> T {
        let first_channel = self.section.first_channel_of(self.pool.get(slot).header.state.vc);
        let answer = self.query_in_class(i, slot, settled, question, first_channel);
        self.pool.get_mut(slot).header.state.vc += first_channel;
        answer
    }

    #[inline(always)]
    fn query_in_class<T>(
        &mut self,
        i: usize,
        slot: u32,
        settled: usize,
        question: impl FnOnce(&dyn Routing, &mut Decision<'_>, &mut Header) -> T,
        first_channel: u8,
    ) -> T {
        let local = self.inputs.ports[i].router as usize;
        let state = &mut self.routers.list[local];
        let received = if self.routers.needs.reports && self.inputs.ports[i].end != End::Node {
            self.pool.received_note(slot)
        } else {
            None
        };
        let received = received.map(|note| ReceivedReport { port: (i - state.link_ports_from as usize) as Port, note });
        let routing = self.routers.routing.as_deref().expect("no other decision is active");
        // Most algorithms never read the load. They get no view, which saves the copies below.
        let header = &mut self.pool.get_mut(slot).header;
        header.state.vc -= first_channel;
        if !self.routers.needs.load || !routing.reads_load(header) {
            let (router, now_ps) = (state.id, self.clock.now);
            let (random, memory) = (&mut state.random, &mut state.memory);
            let mut decision = Decision { now_ps, received, ..Decision::new(router, &NoLoad, random, memory) };
            let answer = question(routing, &mut decision, header);
            let report = decision.report;
            if self.routers.needs.reports {
                self.pool.set_report(slot, report);
            }
            return answer;
        }
        let view = LoadScope { settled, first_channel };
        self.query_with_load(local, slot, received, view, question)
    }

    /// Inlined, since most decisions of adaptive routings come here.
    #[inline(always)]
    fn query_with_load<T>(
        &mut self,
        local: usize,
        slot: u32,
        received: Option<ReceivedReport>,
        scope: LoadScope,
        question: impl FnOnce(&dyn Routing, &mut Decision<'_>, &mut Header) -> T,
    ) -> T {
        let state = &mut self.routers.list[local];
        let (router, now_ps) = (state.id, self.clock.now);
        let first = state.link_ports_from as usize;
        // The view may change the partition, so the decision works on copies.
        let mut random = state.random.clone();
        let mut memory = std::mem::take(&mut state.memory);
        let mut header = self.pool.get(slot).header;
        let routing = self.routers.routing.take().expect("no other decision is active");
        let partition = RefCell::new(&mut *self);
        let load = RouterLoad { partition: &partition, first, scope };
        let mut decision = Decision { now_ps, received, ..Decision::new(router, &load, &mut random, &mut memory) };
        let answer = question(&*routing, &mut decision, &mut header);
        let report = decision.report;
        self.routers.routing = Some(routing);
        self.pool.get_mut(slot).header = header;
        let state = &mut self.routers.list[local];
        (state.random, state.memory) = (random, memory);
        if self.routers.needs.reports {
            self.pool.set_report(slot, report);
        }
        answer
    }

    /// Applies the feedback that has reached a router.
    fn learn(&mut self, local: usize) {
        let Self { routers, feedback, recorder, .. } = self;
        let routing = routers.routing.as_deref().expect("no other decision is active");
        let state = &mut routers.list[local];
        let (router, memory) = (state.id, &mut state.memory);
        let ports = state.link_ports_from as usize..state.ports.end as usize;
        state.next_feedback = feedback.take_due(ports, self.clock.now, |port, arrives, report| {
            let error_ns = routing.learn(router, memory, port, report);
            error_ns.into_iter().for_each(|error_ns| recorder.record_learning(arrives, error_ns));
        });
    }

    /// Adds feedback in flight to port `o`.
    pub(super) fn take_feedback(&mut self, o: usize, at: u64, feedback: Feedback) {
        let router = &mut self.routers.list[self.inputs.ports[o].router as usize];
        router.next_feedback = router.next_feedback.min(at);
        self.feedback.add(o, at, feedback);
    }

    /// Bytes queued and credit in use of some channels of port `o`.
    pub(super) fn class_bytes(&self, o: usize, channels: Range<u8>) -> (u32, u32) {
        let room = self.section.fabric.settings.input_buffer.0 as u32;
        let channels = channels.map(|vc| &self.queues.channels[self.section.channel(o, vc)]);
        channels.fold((0, 0), |sum, channel| (sum.0 + channel.bytes, sum.1 + room - channel.credit))
    }

    /// The load of some channels of port `o`, as settings count it.
    #[inline(always)]
    fn load(&self, o: usize, queued: u32, in_use: u32, channels: impl FnOnce() -> Range<u8>) -> u64 {
        let queued = u64::from(queued);
        match self.section.fabric.settings.estimate {
            QueueEstimate::Output => queued,
            QueueEstimate::Downstream => queued + u64::from(in_use),
            QueueEstimate::DownstreamArrived => {
                queued + u64::from(in_use) - self.on_link.bytes(o, &channels(), self.clock.now)
            }
        }
    }
}

/// Ports of one router at one time. Reading a port first computes its deferred departures.
struct RouterLoad<'a, 'b> {
    partition: &'a RefCell<&'b mut Partition>,
    /// First port that the router's port numbers count from.
    first: usize,
    scope: LoadScope,
}

/// What a decision sees of the ports.
#[derive(Clone, Copy)]
struct LoadScope {
    /// Ports before this one have settled in this instant.
    settled: usize,
    /// First channel of the packet's class.
    first_channel: u8,
}

impl<'a, 'b> RouterLoad<'a, 'b> {
    /// Channels of the packet's class.
    fn channels(&self, partition: &Partition) -> Range<u8> {
        partition.section.channels_of(self.scope.first_channel)
    }

    /// The partition and the port's number in it, after departures and credits are applied.
    #[inline]
    fn at(&self, port: u16) -> (RefMut<'a, &'b mut Partition>, usize) {
        let o = self.first + usize::from(port);
        let mut partition = self.partition.borrow_mut();
        // A settled port also shows its departures of this instant.
        let limit = partition.clock.now + u64::from(o < self.scope.settled);
        partition.catch_up_to(o, limit);
        let now = partition.clock.now;
        partition.collect_credits(o, now);
        (partition, o)
    }
}

impl LoadView for RouterLoad<'_, '_> {
    #[inline]
    fn port_bytes(&self, port: u16) -> u64 {
        let (partition, o) = self.at(port);
        if partition.section.has_classes() {
            let channels = self.channels(&partition);
            let (queued, in_use) = partition.class_bytes(o, channels.clone());
            return partition.load(o, queued, in_use, || channels);
        }
        let out = &partition.outputs.ports[o];
        partition.load(o, out.queued_bytes, out.downstream_bytes, || 0..partition.section.class_channels)
    }

    #[inline]
    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        let (partition, o) = self.at(port);
        let vc = vc + self.scope.first_channel;
        let channel = &partition.queues.channels[partition.section.channel(o, vc)];
        let room = partition.section.fabric.settings.input_buffer.0 as u32;
        partition.load(o, channel.bytes, room - channel.credit, || vc..vc + 1)
    }

    fn packet_bytes(&self) -> u64 {
        self.partition.borrow().section.full.into()
    }

    fn waiting_bytes(&self, port: u16) -> u64 {
        let partition = self.partition.borrow();
        let mut waiter = partition.outputs.ports[self.first + usize::from(port)].first_waiter;
        let (mut bytes, channels) = (0, self.channels(&partition));
        while waiter != NONE {
            let channel = &partition.inputs.channels[waiter as usize];
            let packet = partition.pool.get(channel.queue.head);
            let is_of_class = channels.contains(&packet.out_vc());
            bytes += if is_of_class { u64::from(packet.size()) } else { 0 };
            waiter = channel.next_waiter;
        }
        bytes
    }

    /// Whether a full packet fits behind everything queued or promised, here and with the known credits.
    fn has_room(&self, port: u16, vc: u8) -> bool {
        self.tokens(port, vc).is_some()
    }

    fn tokens(&self, port: u16, vc: u8) -> Option<u64> {
        let (partition, o) = self.at(port);
        let i = partition.section.channel(o, vc + self.scope.first_channel);
        let channel = &partition.queues.channels[i];
        // Promised space counts as taken, so no other packet gets it.
        let taken = channel.bytes + partition.reservations.promised[i];
        let needed = taken + partition.section.full;
        let fits = needed <= partition.section.output_room && needed <= channel.credit;
        fits.then(|| u64::from(channel.credit - taken))
    }
}

/// For decisions that do not read the load.
struct NoLoad;

impl LoadView for NoLoad {
    fn port_bytes(&self, _: u16) -> u64 {
        unreachable!("the algorithm does not read the load")
    }

    fn channel_bytes(&self, port: u16, _: u8) -> u64 {
        self.port_bytes(port)
    }

    fn has_room(&self, port: u16, _: u8) -> bool {
        self.port_bytes(port) > 0
    }
}
