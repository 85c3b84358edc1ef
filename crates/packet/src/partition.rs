//! A partition: a range of routers with their nodes, advanced on its own up to a time.
//!
//! ```text
//!            deliver(messages) ──► ┌───────────┐ ──► take_outgoing() : packets, credits, feedback
//!            advance(until)    ──► │ partition │
//!                                  └───────────┘
//! ```
//! A partition knows no other one. Whatever leaves it carries the time at which it arrives elsewhere, at least one
//! cable latency ahead; so all partitions may advance by the least such latency before they exchange messages.
//! Nothing here depends on how routers are divided: events are ordered by (time, kind, component), a router's
//! random stream is its own, and no result depends on the order of events of different routers at one time.
//!
//! One instant of a router has two phases. First all events of that time: arrivals join their input queues, and the
//! output ports concerned are noted. Then every noted output settles, in port order: crossbar, link, and the crossbar
//! again where the departure made room. So arrivals of the same instant compete on equal terms.
//!
//! Credits and feedback have no events of their own: a port keeps a list of (arrival time, amount) and takes in what
//! has arrived when it looks. Only a port that waits for a credit gets an event, at the credit's arrival.

mod crossbar;
mod link;
mod nic;
mod port;
mod view;

use crate::endpoint::Endpoints;
use crate::fabric::Fabric;
use crate::packet::{Fifo, Packet, Pool};
use crate::queue::EventQueue;
use crate::record::Recorder;
use crate::settings::QueueEstimate;
use odonata_routing::algorithm::{Feedback, Memory, Routing};
use odonata_units::{RouterId, Stream};
use port::{Credit, InPort, Nic, OutChannel, OutPort};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Kinds of events, in the order in which they happen at one time.
mod kind {
    use crate::queue::Key;

    /// A packet's head reaches the input queue of a port.
    pub(super) const ARRIVE: Key = 0;
    /// The crossbar may serve an output port.
    pub(super) const CROSSBAR: Key = 1 << 29;
    /// The link of a port may take a packet.
    pub(super) const SEND: Key = 2 << 29;
    /// A NIC may send.
    pub(super) const INJECT: Key = 3 << 29;
    /// A packet's tail reaches a node whose endpoint listens.
    pub(super) const DELIVER: Key = 4 << 29;
    /// Bits of the component's number.
    pub(super) const COMPONENT: Key = (1 << 29) - 1;
}

/// Something that crosses from one partition to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Message {
    /// A packet whose head arrives at the global port at `packet.arrived`.
    Packet { port: u32, packet: Packet },
    /// Room at the other end of the link of the global port.
    Credit { port: u32, credit: Credit },
    /// What became of a packet sent out of the global port.
    Feedback { port: u32, at: u64, feedback: Feedback },
}

impl Message {
    /// The global port concerned.
    pub(crate) fn port(&self) -> u32 {
        match self {
            Self::Packet { port, .. } | Self::Credit { port, .. } | Self::Feedback { port, .. } => *port,
        }
    }
}

/// What the packet at the head of an input channel waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waits {
    /// Output port (global) and its channel.
    pub(crate) output: u32,
    pub(crate) vc: u8,
    /// Nodes of the packet.
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Input port (global) and channel at the other end of the link, which must give room first.
    pub(crate) then: (u32, u8),
}

/// State of one router beyond its ports.
struct Router {
    random: Stream,
    memory: Memory,
    /// Number of grants, the clock of least-recently-used arbitration.
    grants: u32,
    /// Arrival of the earliest feedback not yet learnt from.
    next_feedback: u64,
    /// Its ports (of the partition) and its NICs (of the machine).
    ports: Range<u32>,
    nics: Range<u32>,
}

pub(crate) struct Partition {
    fabric: Arc<Fabric>,
    routing: Arc<dyn Routing>,
    endpoints: Box<dyn Endpoints>,
    pub(crate) recorder: Recorder,
    /// Routers, ports and NICs of this partition, by global number; all arrays below count from their starts.
    routers: Range<u32>,
    ports: Range<u32>,
    nics: Range<u32>,
    channels: usize,
    /// Size of a full packet.
    full: u32,
    /// Room in an output channel.
    output_room: u32,
    now: u64,
    events: EventQueue,
    pub(crate) event_count: u64,
    pub(crate) pool: Pool,
    router: Vec<Router>,
    out: Vec<OutPort>,
    /// Channel vc of port p at `p * channels + vc`, as in `input`.
    out_channel: Vec<OutChannel>,
    inputs: Vec<InPort>,
    input: Vec<Fifo>,
    /// When output o of a router last served input i, at `out[o].first_served + i`.
    served: Vec<u32>,
    /// Feedback on its way to each port; empty where nothing learns.
    feedback: Vec<VecDeque<(u64, Feedback)>>,
    /// Packets on the link of each port, by arrival; empty unless the queue estimate leaves them out.
    sent: Vec<VecDeque<Credit>>,
    nic: Vec<Nic>,
    /// Output ports to settle at the end of this instant.
    noted: Vec<u32>,
    outgoing: Vec<Message>,
    learns: bool,
    listens: bool,
}

impl Partition {
    pub(crate) fn new(
        fabric: Arc<Fabric>,
        routing: Arc<dyn Routing>,
        endpoints: Box<dyn Endpoints>,
        recorder: Recorder,
        routers: Range<u32>,
        seed: u64,
    ) -> Self {
        let (ports, nics) = (fabric.ports_of(&routers), fabric.nics_of(&routers));
        assert!(ports.len() <= kind::COMPONENT as usize, "ports of a partition fit in 29 bits");
        let channels = usize::from(routing.virtual_channels());
        let count = ports.len();
        let mut first_served = Vec::with_capacity(count);
        let mut served = 0u32;
        for port in ports.clone() {
            first_served.push(served);
            let router = fabric.port_router[port as usize] as usize;
            served += fabric.first_port[router + 1] - fabric.first_port[router];
        }
        let learns = routing.learns();
        let listens = endpoints.listens();
        let counts_sent = fabric.settings.estimate == QueueEstimate::DownstreamArrived;
        let mut partition = Self {
            channels,
            full: fabric.settings.packet.0 as u32,
            output_room: fabric.settings.output_buffer.0 as u32,
            now: 0,
            events: wheel(&fabric, &ports, &nics),
            event_count: 0,
            pool: Pool::default(),
            router: routers
                .clone()
                .map(|r| Router {
                    random: Stream::new(seed, "routing", &[u64::from(r)]),
                    memory: routing.memory(RouterId(r)),
                    grants: 0,
                    next_feedback: u64::MAX,
                    ports: fabric.first_port[r as usize] - ports.start..fabric.first_port[r as usize + 1] - ports.start,
                    nics: fabric.first_nic[r as usize]..fabric.first_nic[r as usize + 1],
                })
                .collect(),
            out: ports.clone().zip(first_served).map(|(p, s)| OutPort::new(&fabric, p, &ports, s)).collect(),
            out_channel: Vec::with_capacity(count * channels),
            inputs: ports.clone().map(|p| InPort::new(&fabric, p, &ports, nics.start)).collect(),
            input: vec![Fifo::default(); count * channels],
            served: vec![0; served as usize],
            feedback: if learns { vec![VecDeque::new(); count] } else { Vec::new() },
            sent: if counts_sent { vec![VecDeque::new(); count] } else { Vec::new() },
            nic: nics.clone().map(|n| Nic::new(&fabric, n, ports.start)).collect(),
            noted: Vec::new(),
            outgoing: Vec::new(),
            fabric,
            routing,
            endpoints,
            recorder,
            routers,
            ports,
            nics,
            learns,
            listens,
        };
        let room = partition.fabric.settings.input_buffer.0 as u32;
        partition.out_channel.resize_with(count * channels, || OutChannel::new(room));
        partition
    }

    /// Asks every endpoint for its first packet. Call once, before the first advance.
    pub(crate) fn start(&mut self) {
        for nic in 0..self.nic.len() {
            self.arm_nic(nic);
        }
    }

    /// Handles all events before `until`.
    pub(crate) fn advance(&mut self, until: u64) {
        while let Some((time, key)) = self.events.pop(until) {
            self.now = time;
            self.event_count += 1;
            let i = (key & kind::COMPONENT) as usize;
            match key & !kind::COMPONENT {
                kind::ARRIVE => self.arrive(i),
                kind::CROSSBAR => {
                    if self.out[i].crossbar_at == time {
                        self.out[i].crossbar_at = u64::MAX;
                        self.note(i);
                    }
                }
                kind::SEND => {
                    if self.out[i].send_at == time {
                        self.out[i].send_at = u64::MAX;
                        self.note(i);
                    }
                }
                kind::INJECT => {
                    if self.nic[i].send_at == time {
                        self.nic[i].send_at = u64::MAX;
                        self.inject(i);
                    }
                }
                _ => self.deliver_tail(i),
            }
            if !self.noted.is_empty() && !self.events.more_at(time) {
                self.settle();
            }
        }
    }

    /// Notes that an output port has something to do at this instant.
    #[inline]
    fn note(&mut self, out: usize) {
        if !self.out[out].noted {
            self.out[out].noted = true;
            self.noted.push(out as u32);
        }
    }

    /// The second phase of an instant.
    fn settle(&mut self) {
        let mut noted = std::mem::take(&mut self.noted);
        if noted.len() > 1 {
            noted.sort_unstable();
        }
        for &out in &noted {
            let out = out as usize;
            self.out[out].noted = false;
            let granted = self.arbitrate(out);
            if self.send(out) && !granted {
                self.arbitrate(out);
            }
        }
        noted.clear();
        self.noted = noted;
    }

    /// Takes in what other partitions sent.
    pub(crate) fn deliver(&mut self, messages: &mut Vec<Message>) {
        for message in messages.drain(..) {
            let local = (message.port() - self.ports.start) as usize;
            match message {
                Message::Packet { packet, .. } => {
                    let slot = self.pool.insert(packet);
                    self.fly(local, slot);
                }
                Message::Credit { credit, .. } => self.take_credit(local, credit),
                Message::Feedback { at, feedback, .. } => self.take_feedback(local, at, feedback),
            }
        }
    }

    /// Hands out what crossed the border since the last call.
    pub(crate) fn take_outgoing(&mut self) -> std::vec::Drain<'_, Message> {
        self.outgoing.drain(..)
    }

    /// A time not later than the next event; `u64::MAX` if nothing will ever happen here unless something comes in.
    pub(crate) fn earliest(&self) -> u64 {
        self.events.earliest()
    }

    /// A packet's head reaches the input queue of port `i`.
    fn arrive(&mut self, i: usize) {
        let port = &mut self.inputs[i];
        let slot = port.flight.pop(&self.pool);
        if !port.flight.is_empty() {
            let next = self.pool.get(port.flight.head).arrived;
            self.events.schedule(next, kind::ARRIVE | i as u32);
        }
        let vc = usize::from(self.pool.get(slot).header.state.vc);
        let channel = i * self.channels + vc;
        let was_empty = self.input[channel].is_empty();
        self.input[channel].push(slot, &mut self.pool);
        if was_empty {
            self.recorder.head(channel, self.now.max(self.inputs[i].crossbar_free));
            let out = self.route(i, slot);
            self.out[out].waiters.push(port::Waiter { input: i as u32, vc: vc as u8 });
            self.note(out);
        }
    }

    /// Puts a packet on its way to input port `i`, where it arrives at `packet.arrived`.
    #[inline]
    fn fly(&mut self, i: usize, slot: u32) {
        let flight = &mut self.inputs[i].flight;
        if flight.is_empty() {
            self.events.schedule(self.pool.get(slot).arrived, kind::ARRIVE | i as u32);
        }
        flight.push(slot, &mut self.pool);
    }

    /// Decides where the packet at the head of an input channel of port `i` goes; returns the output port.
    fn route(&mut self, i: usize, slot: u32) -> usize {
        let local = self.inputs[i].router as usize;
        let router = self.routers.start + local as u32;
        let state = &self.router[local];
        if state.next_feedback <= self.now {
            self.learn(local);
        }
        let state = &self.router[local];
        let first = state.ports.start as usize;
        let packet = self.pool.get(slot);
        let nic = self.fabric.node_nic[packet.header.destination.index()];
        if state.nics.contains(&nic) {
            let port = nic - state.nics.start;
            let feedback =
                if self.learns { self.routing.feedback_at_destination(RouterId(router), &packet.header) } else { None };
            let packet = self.pool.get_mut(slot);
            packet.estimate = feedback.unwrap_or(f32::NAN);
            packet.out_port = port as u16;
            packet.out_vc = packet.header.state.vc;
            return first + port as usize;
        }
        let (hop, feedback) = self.decide(local, slot);
        let packet = self.pool.get_mut(slot);
        packet.estimate = feedback.unwrap_or(f32::NAN);
        packet.out_port = hop.port;
        packet.out_vc = hop.vc;
        assert!(usize::from(hop.vc) < self.channels, "the routing algorithm stays within its virtual channels");
        first + usize::from(hop.port)
    }

    /// For every input channel (global port, channel) whose head packet waits for a full output channel that itself
    /// waits for credit: what it waits for.
    pub(crate) fn waits(&self) -> Vec<((u32, u8), Waits)> {
        let mut waits = Vec::new();
        for (o, out) in self.out.iter().enumerate().filter(|(_, out)| !out.ejects) {
            for waiter in &out.waiters {
                let slot = self.input[waiter.input as usize * self.channels + usize::from(waiter.vc)].head;
                let packet = self.pool.get(slot);
                let channel = &self.out_channel[o * self.channels + usize::from(packet.out_vc)];
                if channel.bytes + packet.size <= self.output_room || channel.credit >= packet.size {
                    continue;
                }
                let wait = Waits {
                    output: self.ports.start + o as u32,
                    vc: packet.out_vc,
                    source: packet.header.source.0,
                    destination: packet.header.destination.0,
                    then: (out.peer, packet.out_vc),
                };
                waits.push(((self.ports.start + waiter.input, waiter.vc), wait));
            }
        }
        waits
    }

    /// Packets somewhere in this partition.
    pub(crate) fn in_flight(&self) -> usize {
        self.pool.len()
    }

    /// Whether a packet made before `time` is not yet sent, or packets of the measurement have left from here that
    /// may be under way anywhere; the caller adds up what left and what arrived.
    pub(crate) fn born_before(&self, time: u64) -> bool {
        self.endpoints.born_before(time)
    }

    /// Global numbers of its ports.
    pub(crate) fn port_range(&self) -> Range<usize> {
        self.ports.start as usize..self.ports.end as usize
    }

    /// Its routers.
    pub(crate) fn router_range(&self) -> &Range<u32> {
        &self.routers
    }

    /// Notes stalls that last, up to now: an interval of the series ends.
    pub(crate) fn cut_stalls(&mut self, now: u64) {
        for (o, out) in self.out.iter_mut().enumerate() {
            if out.stalled_since != u64::MAX {
                self.recorder.stalled(o, out.stalled_since, now);
                out.stalled_since = now;
                self.recorder.starved(o, out.occupied, now);
            }
        }
    }

    /// Notes stalls that last at the end of the run.
    pub(crate) fn finish(&mut self, end: u64) {
        for (o, out) in self.out.iter().enumerate() {
            if out.stalled_since != u64::MAX {
                self.recorder.stalled(o, out.stalled_since, end);
            }
            for waiter in &out.waiters {
                let channel = waiter.input as usize * self.channels + usize::from(waiter.vc);
                self.recorder.crossed(channel, o, end);
            }
        }
        for (n, nic) in self.nic.iter().enumerate() {
            if nic.stalled_since != u64::MAX {
                self.recorder.nic_stalled(n, nic.stalled_since, end);
            }
        }
    }

    /// Virtual channels of every port.
    pub(crate) fn channels_per_port(&self) -> usize {
        self.channels
    }

    /// Updates of every router's memory and the sum of their absolute errors in ns, in the order of the routers.
    pub(crate) fn learning(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.router.iter().map(|r| (r.memory.updates, r.memory.error_ns))
    }

    /// The records; the partition keeps none.
    pub(crate) fn take_recorder(self) -> Recorder {
        self.recorder
    }

    /// Bytes held by packets and by everything else.
    pub(crate) fn memory_bytes(&self) -> (usize, usize) {
        let credits: usize = self.out.iter().map(|o| o.credits.capacity() * size_of::<Credit>()).sum();
        let waiters: usize = self.out.iter().map(|o| o.waiters.capacity() * size_of::<port::Waiter>()).sum();
        let memories: usize = self.router.iter().map(|r| 4 * r.memory.values.capacity()).sum();
        let ports = self.out.len() * size_of::<OutPort>()
            + self.out_channel.len() * size_of::<OutChannel>()
            + self.inputs.len() * size_of::<InPort>()
            + self.input.len() * size_of::<Fifo>()
            + 4 * self.served.len();
        let other = ports + credits + waiters + memories + self.router.len() * size_of::<Router>();
        (self.pool.memory_bytes(), other + self.events.memory_bytes() + self.nic.len() * size_of::<Nic>())
    }
}

/// A time wheel whose buckets hold a handful of events each when the network is busy, and that reaches beyond the
/// longest latency.
fn wheel(fabric: &Fabric, ports: &Range<u32>, nics: &Range<u32>) -> EventQueue {
    let packet_time = nics.clone().map(|n| fabric.full_time[fabric.nic_port[n as usize] as usize]).min();
    // At half load a NIC sends every second packet time, and a packet costs some eight events.
    let per_event = packet_time.unwrap_or(1_000) / (4 * nics.len() as u64).max(1);
    let shift = (4 * per_event).max(1).ilog2().clamp(2, 24);
    let reach = ports.clone().map(|p| fabric.forward_latency(p) + fabric.full_time[p as usize]).max().unwrap_or(1);
    let buckets = (reach >> shift).max(1).ilog2() + 1;
    EventQueue::new(shift, buckets.clamp(6, 20))
}
