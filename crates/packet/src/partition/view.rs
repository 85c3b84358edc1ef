//! What a routing algorithm sees of its router, and how routers learn.

use super::port::End;
use super::Partition;
use crate::settings::QueueEstimate;
use odonata_routing::algorithm::{Decision, Header, ReceivedReport, Routing};
use odonata_routing::next_hop::Port;
use odonata_routing::view::LoadView;
use std::cell::{RefCell, RefMut};

/// Ports of one router at one time. Reading a port first computes its deferred departures.
struct RouterLoad<'a, 'b> {
    partition: &'a RefCell<&'b mut Partition>,
    /// First port that the router's port numbers count from.
    first: usize,
    /// Ports before this one have settled in this instant.
    settled: usize,
}

impl Partition {
    /// Bytes on the link of port `o`; for `DownstreamArrived` only.
    fn on_link(&self, o: usize, vc: Option<u8>) -> u64 {
        let still = self.sent[o].iter().rev().take_while(|s| s.at > self.now);
        still.filter(|s| vc.is_none_or(|vc| s.vc == vc)).map(|s| u64::from(s.bytes)).sum()
    }

    #[inline]
    fn load(&self, o: usize, queued: u32, in_use: u32, vc: Option<u8>) -> u64 {
        let queued = u64::from(queued);
        match self.fabric.settings.estimate {
            QueueEstimate::Output => queued,
            QueueEstimate::Downstream => queued + u64::from(in_use),
            QueueEstimate::DownstreamArrived => queued + u64::from(in_use) - self.on_link(o, vc),
        }
    }
}

impl<'a, 'b> RouterLoad<'a, 'b> {
    /// The partition and the port's number in it, after departures and credits are applied.
    #[inline]
    fn at(&self, port: u16) -> (RefMut<'a, &'b mut Partition>, usize) {
        let o = self.first + usize::from(port);
        let mut partition = self.partition.borrow_mut();
        // A settled port also shows its departures of this instant.
        let limit = partition.now + u64::from(o < self.settled);
        partition.catch_up_to(o, limit);
        let now = partition.now;
        partition.collect_credits(o, now);
        (partition, o)
    }
}

impl LoadView for RouterLoad<'_, '_> {
    #[inline]
    fn port_bytes(&self, port: u16) -> u64 {
        let (partition, o) = self.at(port);
        let out = &partition.out[o];
        partition.load(o, out.queued_bytes, out.downstream_bytes, None)
    }

    #[inline]
    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        let (partition, o) = self.at(port);
        let channel = &partition.out_channel[o * partition.channels + usize::from(vc)];
        let room = partition.fabric.settings.input_buffer.0 as u32;
        partition.load(o, channel.bytes, room - channel.credit, Some(vc))
    }

    /// Whether a full packet fits behind everything queued or promised, here and with the known credits.
    fn has_room(&self, port: u16, vc: u8) -> bool {
        self.tokens(port, vc).is_some()
    }

    fn tokens(&self, port: u16, vc: u8) -> Option<u64> {
        let (partition, o) = self.at(port);
        let i = o * partition.channels + usize::from(vc);
        let channel = &partition.out_channel[i];
        // Promised space counts as taken, so no other packet gets it.
        let taken = channel.bytes + partition.promised[i];
        let needed = taken + partition.full;
        let fits = needed <= partition.output_room && needed <= channel.credit;
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

impl Partition {
    /// Asks the routing algorithm about the head packet of an input channel of port `i`, and stores its report.
    #[inline]
    pub(super) fn query_routing<T>(
        &mut self,
        i: usize,
        slot: u32,
        settled: usize,
        question: impl FnOnce(&dyn Routing, &mut Decision<'_>, &mut Header) -> T,
    ) -> T {
        let local = self.inputs[i].router as usize;
        let state = &mut self.router[local];
        let received =
            if self.learns && self.inputs[i].end != End::Node { self.pool.received_note(slot) } else { None };
        let received = received.map(|note| ReceivedReport { port: (i - state.link_ports_from as usize) as Port, note });
        let routing = self.routing.as_deref().expect("no other decision is active");
        // Most algorithms never read the load. They get no view, which saves the copies below.
        let header = &mut self.pool.get_mut(slot).header;
        if !self.reads_load || !routing.reads_load(header) {
            let (router, now_ps) = (state.id, self.now);
            let (random, memory) = (&mut state.random, &mut state.memory);
            let mut decision = Decision { now_ps, received, ..Decision::new(router, &NoLoad, random, memory) };
            let answer = question(routing, &mut decision, header);
            let report = decision.report;
            if self.learns {
                self.pool.set_report(slot, report);
            }
            return answer;
        }
        self.query_with_load(local, (slot, received), settled, question)
    }

    fn query_with_load<T>(
        &mut self,
        local: usize,
        (slot, received): (u32, Option<ReceivedReport>),
        settled: usize,
        question: impl FnOnce(&dyn Routing, &mut Decision<'_>, &mut Header) -> T,
    ) -> T {
        let state = &mut self.router[local];
        let (router, now_ps) = (state.id, self.now);
        let first = state.link_ports_from as usize;
        // The view may change the partition, so the decision works on copies.
        let mut random = state.random.clone();
        let mut memory = std::mem::take(&mut state.memory);
        let mut header = self.pool.get(slot).header;
        let routing = self.routing.take().expect("no other decision is active");
        let partition = RefCell::new(&mut *self);
        let load = RouterLoad { partition: &partition, first, settled };
        let mut decision = Decision { now_ps, received, ..Decision::new(router, &load, &mut random, &mut memory) };
        let answer = question(&*routing, &mut decision, &mut header);
        let report = decision.report;
        self.routing = Some(routing);
        self.pool.get_mut(slot).header = header;
        let state = &mut self.router[local];
        (state.random, state.memory) = (random, memory);
        if self.learns {
            self.pool.set_report(slot, report);
        }
        answer
    }

    /// Applies the feedback that has reached a router: port by port, in order of arrival.
    pub(super) fn learn(&mut self, local: usize) {
        let routing = self.routing.as_deref().expect("no other decision is active");
        let state = &mut self.router[local];
        let router = state.id;
        let (first, end) = (state.link_ports_from as usize, state.ports.end as usize);
        let now = self.now;
        let mut next = u64::MAX;
        // One comparison per port finds the feedback that is due.
        for (port, at) in self.feedback_at[first..end].iter_mut().enumerate() {
            if *at <= now {
                let waiting = &mut self.feedback[first + port];
                *at = u64::MAX;
                while let Some(&(arrives, feedback)) = waiting.front() {
                    if arrives > now {
                        *at = arrives;
                        break;
                    }
                    waiting.pop_front();
                    let error_ns = routing.learn(router, &mut state.memory, port as u16, &feedback);
                    error_ns.into_iter().for_each(|error_ns| self.recorder.record_learning(arrives, error_ns));
                }
            }
            next = next.min(*at);
        }
        state.next_feedback = next;
    }
}
