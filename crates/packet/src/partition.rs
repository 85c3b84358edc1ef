//! A partition: a range of routers with their nodes, advanced on its own up to a time.
//!
//! ```text
//!            deliver(mail)     ──► ┌───────────┐ ──► outbox : packets, credits, feedback, by partition
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
//! again where the departure made room. So arrivals of the same instant compete on equal terms. An arrival that is
//! alone in its instant settles at once, and if nobody waits where it goes it passes without entering a queue.
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
use crate::mail::{Mail, Outbox};
use crate::packet::{Fifo, Pool, Told, NONE};
use crate::queue::{EventQueue, Key};
use crate::record::Recorder;
use crate::settings::{Arbitration, QueueEstimate};
use odonata_routing::algorithm::{Feedback, Memory, Routing};
use odonata_units::{RouterId, Stream};
use port::{Credits, End, InChannel, InPort, Kind, Nic, OutChannel, OutPort, STARVED};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use port::{Credit, Division};

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
    /// Its ports (of the partition) and its NICs (of the machine).
    ports: Range<u32>,
    nics: Range<u32>,
    /// Arrival of the earliest feedback not yet learnt from.
    next_feedback: u64,
    random: Stream,
    memory: Memory,
}

pub(crate) struct Partition {
    fabric: Arc<Fabric>,
    /// Taken out while it decides, since to look at the load may change the partition.
    routing: Option<Arc<dyn Routing>>,
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
    keys: Keys,
    pub(crate) event_count: u64,
    pub(crate) pool: Pool,
    router: Vec<Router>,
    kinds: Vec<Kind>,
    out: Vec<OutPort>,
    /// Credits on their way to the ports.
    credits: Credits,
    /// Since when each port that is `STARVED` waits.
    stalled_since: Vec<u64>,
    /// Channel vc of port p at `p * channels + vc`, as in `input`.
    out_channel: Vec<OutChannel>,
    inputs: Vec<InPort>,
    input: Vec<InChannel>,
    /// When output o of a router last served input i, at `out[o].first_served + i`; empty unless the least recently used
    /// one comes first.
    served: Vec<u16>,
    /// The input that each output served last, among its router's ports; empty unless inputs take turns.
    last_input: Vec<u16>,
    /// Feedback on its way to each port and when the first of it arrives; empty where nothing learns.
    feedback: Vec<VecDeque<(u64, Feedback)>>,
    feedback_at: Vec<u64>,
    /// Packets on the link of each port, by arrival; empty unless the queue estimate leaves them out.
    sent: Vec<VecDeque<Credit>>,
    /// First reserved channel, and bytes promised in each output channel to packets that have not crossed yet; empty
    /// where no channel is reserved.
    reserved_from: u8,
    promised: Vec<u32>,
    nic: Vec<Nic>,
    /// Output ports to settle at the end of this instant, and one bit for each of them.
    noted: Vec<u32>,
    is_noted: Vec<u64>,
    /// One bit per port that has deferred its departures.
    deferred: Vec<u64>,
    /// Where it writes what crosses the border; its thread's, which lends it for a window.
    pub(crate) outbox: Outbox,
    learns: bool,
    listens: bool,
}

/// Where the keys of each kind of event start, in the order in which the kinds happen at one time: a packet's head
/// reaches the input queue of a port (from 0 on); an output port has something to do; a NIC may send; a packet's tail
/// reaches a node whose endpoint listens.
#[derive(Clone, Copy, Debug)]
struct Keys {
    look: Key,
    inject: Key,
    deliver: Key,
}

impl Partition {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        fabric: Arc<Fabric>,
        routing: Arc<dyn Routing>,
        endpoints: Box<dyn Endpoints>,
        recorder: Recorder,
        routers: Range<u32>,
        division: &Division,
        seed: u64,
    ) -> Self {
        let (ports, nics) = (fabric.ports_of(&routers), fabric.nics_of(&routers));
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
        let room = fabric.settings.input_buffer.0 as u32;
        let reserved_from = routing.reserved_from();
        let look = count as Key;
        let keys = Keys { look, inject: 2 * look, deliver: 2 * look + nics.len() as Key };
        let (kinds, kind_of) = port::kinds(&fabric, &ports);
        let kind_of = |port: u32| kind_of[(port - ports.start) as usize];
        let out = |(p, s)| OutPort::new(&fabric, p, &ports, nics.start, division, (kind_of(p), s));
        let input = |p| InPort::new(&fabric, p, &ports, nics.start, division, kind_of(p));
        let by_turns = fabric.settings.arbitration == Arbitration::RoundRobin;
        Self {
            channels,
            full: fabric.settings.packet.0 as u32,
            output_room: fabric.settings.output_buffer.0 as u32,
            now: 0,
            events: wheel(&fabric, &routers),
            keys,
            event_count: 0,
            pool: Pool::new(learns),
            router: routers
                .clone()
                .map(|r| Router {
                    random: Stream::new(seed, "routing", &[u64::from(r)]),
                    memory: routing.memory(RouterId(r)),
                    next_feedback: u64::MAX,
                    ports: fabric.first_port[r as usize] - ports.start..fabric.first_port[r as usize + 1] - ports.start,
                    nics: fabric.first_nic[r as usize]..fabric.first_nic[r as usize + 1],
                })
                .collect(),
            out: ports.clone().zip(first_served).map(out).collect(),
            out_channel: (0..count * channels).map(|_| OutChannel::new(room)).collect(),
            inputs: ports.clone().map(input).collect(),
            input: (0..count * channels).map(|c| InChannel::new((c / channels) as u32)).collect(),
            served: vec![0; if by_turns { 0 } else { served as usize }],
            last_input: vec![0; if by_turns { count } else { 0 }],
            kinds,
            credits: Credits::default(),
            stalled_since: vec![0; count],
            feedback: if learns { vec![VecDeque::new(); count] } else { Vec::new() },
            feedback_at: if learns { vec![u64::MAX; count] } else { Vec::new() },
            sent: if counts_sent { vec![VecDeque::new(); count] } else { Vec::new() },
            reserved_from,
            promised: vec![0; if usize::from(reserved_from) < channels { count * channels } else { 0 }],
            nic: nics
                .clone()
                .map(|n| Nic::new(&fabric, n, ports.start, kind_of(fabric.nic_port[n as usize])))
                .collect(),
            noted: Vec::new(),
            is_noted: vec![0; count.div_ceil(64)],
            deferred: vec![0; count.div_ceil(64)],
            outbox: Outbox::default(),
            fabric,
            routing: Some(routing),
            endpoints,
            recorder,
            routers,
            ports,
            nics,
            learns,
            listens,
        }
    }

    fn routing(&self) -> &dyn Routing {
        self.routing.as_deref().expect("nobody else decides at this time")
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
            if key < self.keys.look {
                self.arrive(key as usize);
            } else if key < self.keys.inject {
                self.look((key - self.keys.look) as usize);
            } else if key < self.keys.deliver {
                self.inject((key - self.keys.inject) as usize);
            } else {
                self.deliver_tail((key - self.keys.deliver) as usize);
            }
            if !self.noted.is_empty() && !self.events.more_at(time) {
                self.settle();
            }
        }
        self.catch_up_all(until);
    }

    /// Notes that an output port has something to do at this instant.
    #[inline]
    fn note(&mut self, out: usize) {
        let (word, bit) = (&mut self.is_noted[out >> 6], 1 << (out & 63));
        if *word & bit == 0 {
            *word |= bit;
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
            self.is_noted[out as usize >> 6] &= !(1 << (out & 63));
            self.serve(out as usize);
        }
        noted.clear();
        self.noted = noted;
    }

    /// Output `o` does what it can: crossbar, link, and the crossbar again where the departure made room.
    #[inline]
    fn serve(&mut self, o: usize) {
        self.bring_up(o, self.now);
        let granted = self.out[o].first_waiter != NONE && self.arbitrate(o);
        if self.out[o].occupied == 0 || !self.send(o) || granted || self.out[o].first_waiter == NONE {
            return;
        }
        if self.arbitrate(o) {
            // Where the buffer holds but one packet, the queue was empty after the departure and nothing else looks.
            self.defer(o);
        }
    }

    /// Output `o` has something to do: at once if nothing else happens at its router at this time.
    #[inline]
    fn look(&mut self, o: usize) {
        if self.alone(self.inputs[o].router) {
            self.serve(o);
        } else {
            self.note(o);
        }
    }

    /// Whether nothing else happens at a router (of the partition) at this time. What happens at other routers does not
    /// matter: every way to them takes time.
    #[inline]
    fn alone(&self, router: u32) -> bool {
        self.noted.iter().all(|&o| self.inputs[o as usize].router != router) && self.events.alone(self.now, router)
    }

    /// Makes sure that output port `o` is looked at at `time` at the latest.
    #[inline]
    fn look_at(&mut self, o: usize, time: u64) {
        self.events.wake(time, self.keys.look + o as Key);
    }

    /// Takes in what another partition sent.
    pub(crate) fn deliver(&mut self, mail: &Mail) {
        let first = self.ports.start;
        let mut told = mail.told().iter();
        for chunk in mail.packets() {
            for letter in chunk {
                let told = told.next().copied().unwrap_or(Told::NOTHING);
                let slot = self.pool.insert(&letter.packet(), told);
                self.fly((letter.port - first) as usize, slot, letter.arrives);
            }
        }
        for chunk in mail.credits() {
            for &(port, credit) in chunk {
                self.take_credit((port - first) as usize, credit);
            }
        }
        for &(port, at, feedback) in mail.feedback() {
            self.take_feedback((port - first) as usize, at, feedback);
        }
    }

    /// A time not later than the next event; `u64::MAX` if nothing will ever happen here unless something comes in.
    pub(crate) fn earliest(&mut self) -> u64 {
        self.events.earliest().min(self.first_deferred())
    }

    /// A packet's head reaches the input queue of port `i`.
    #[inline]
    fn arrive(&mut self, i: usize) {
        let port = &self.inputs[i];
        let router = port.router;
        let slot = if port.end == End::Node && !self.listens {
            let nic = port.peer as usize;
            self.leave_node(nic)
        } else {
            let slot = self.land(i);
            if slot == NONE {
                return;
            }
            slot
        };
        let vc = self.pool.get(slot).header.state.vc;
        let channel = i * self.channels + usize::from(vc);
        if self.inputs[i].occupied >> vc & 1 == 1 {
            self.input[channel].queue.push(slot, &mut self.pool);
            return;
        }
        let out = self.route(i, slot, 0);
        if self.alone(router) && self.pass(i, slot, out) {
            return;
        }
        self.recorder.head(channel, self.now.max(self.inputs[i].crossbar_free));
        self.inputs[i].occupied |= 1 << vc;
        self.input[channel].queue.push(slot, &mut self.pool);
        self.wait(channel, out);
        self.note(out);
    }

    /// Takes the packet that arrives now off the link to port `i`, and expects the next one. `NONE` if none arrives: the
    /// sender deferred a departure that was then kept back.
    #[inline]
    fn land(&mut self, i: usize) -> u32 {
        if self.inputs[i].deferred {
            let sender = self.inputs[i].peer as usize;
            self.bring_up(sender, self.now);
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

    /// The head of an input channel waits for output port `o`.
    #[inline]
    fn wait(&mut self, channel: usize, o: usize) {
        let first = std::mem::replace(&mut self.out[o].first_waiter, channel as u32);
        self.input[channel].next_waiter = first;
    }

    /// Puts a packet on its way to input port `i`, where it arrives at `arrives`.
    #[inline]
    fn fly(&mut self, i: usize, slot: u32, arrives: u64) {
        let flight = &mut self.inputs[i].flight;
        let was_empty = flight.is_empty();
        flight.push(slot, &mut self.pool);
        // A departure that was deferred is expected already.
        if was_empty && !self.inputs[i].deferred {
            self.events.wake(arrives, i as Key);
        }
    }

    /// Decides where the packet at the head of an input channel of port `i` goes; returns the output port. Of this
    /// instant, it sees what the output ports before `settled` did.
    fn route(&mut self, i: usize, slot: u32, settled: usize) -> usize {
        let local = self.inputs[i].router as usize;
        let state = &self.router[local];
        let first = state.ports.start as usize;
        let destination = self.pool.get(slot).header.destination;
        let place = self.fabric.node_nic[destination.index()].wrapping_sub(state.nics.start);
        if self.learns && state.next_feedback <= self.now {
            self.learn(local);
        }
        if place < self.router[local].nics.len() as u32 {
            let router = RouterId(self.routers.start + local as u32);
            if self.learns {
                let feedback = self.routing().feedback_at_destination(router, &self.pool.get(slot).header);
                self.pool.expect(slot, feedback);
            }
            let packet = self.pool.get_mut(slot);
            let vc = packet.header.state.vc;
            packet.choose(place as u16, vc);
            return first + place as usize;
        }
        let (hop, feedback) = self.decide(local, slot, settled);
        if self.learns {
            self.pool.expect(slot, feedback);
        }
        assert!(usize::from(hop.vc) < self.channels, "the routing algorithm stays within its virtual channels");
        let packet = self.pool.get_mut(slot);
        packet.choose(hop.port, hop.vc);
        let out = first + usize::from(hop.port);
        if hop.vc >= self.reserved_from {
            self.promised[out * self.channels + usize::from(hop.vc)] += packet.size();
        }
        out
    }

    /// For every input channel (global port, channel) whose head packet waits for a full output channel that itself
    /// waits for credit: what it waits for.
    pub(crate) fn waits(&self) -> Vec<((u32, u8), Waits)> {
        let mut waits = Vec::new();
        for (o, out) in self.out.iter().enumerate().filter(|(_, out)| out.end != End::Node) {
            let mut waiter = out.first_waiter;
            while waiter != NONE {
                let input = &self.input[waiter as usize];
                let place = (self.ports.start + input.port, (waiter - input.port * self.channels as u32) as u8);
                waiter = input.next_waiter;
                let packet = self.pool.get(input.queue.head);
                let channel = &self.out_channel[o * self.channels + usize::from(packet.out_vc())];
                if channel.bytes + packet.size() <= self.output_room || channel.credit >= packet.size() {
                    continue;
                }
                let output = self.ports.start + o as u32;
                let wait = Waits {
                    output,
                    vc: packet.out_vc(),
                    source: packet.header.source.0,
                    destination: packet.header.destination.0,
                    then: (self.fabric.peer[output as usize], packet.out_vc()),
                };
                waits.push((place, wait));
            }
        }
        waits
    }

    /// Packets somewhere in this partition.
    pub(crate) fn in_flight(&self) -> usize {
        self.pool.len()
    }

    /// When a packet last arrived at a node here or set out from one, with its last byte. An answer after `recent` need not
    /// be the latest.
    pub(crate) fn last_moved(&self, recent: u64) -> u64 {
        let arrived = self.recorder.jobs.iter().map(|job| job.last_arrival_ps).max().unwrap_or(0);
        if arrived > recent {
            return arrived;
        }
        self.nic.iter().map(|nic| nic.link_free).max().unwrap_or(0).max(arrived)
    }

    /// Whether a packet made before `time` is not yet sent, or packets of the measurement have left from here that
    /// may be under way anywhere; the caller adds up what left and what arrived.
    pub(crate) fn born_before(&self, time: u64) -> bool {
        self.endpoints.born_before(time)
    }

    /// Notes stalls that last, up to now: an interval of the series ends.
    pub(crate) fn cut_stalls(&mut self, now: u64) {
        for (o, out) in self.out.iter().enumerate() {
            if out.is(STARVED) {
                let since = std::mem::replace(&mut self.stalled_since[o], now);
                self.recorder.stalled(o, since, now);
                self.recorder.starved(o, out.occupied, now);
            }
        }
    }

    /// Notes packets that are between a node and its router at the end of the run, and stalls that last.
    pub(crate) fn finish(&mut self, end: u64) {
        for n in 0..self.nic.len() {
            while self.nic[n].leaves < end {
                self.leave_node(n);
            }
        }
        for (o, out) in self.out.iter().enumerate() {
            if out.is(STARVED) {
                self.recorder.stalled(o, self.stalled_since[o], end);
            }
            let mut waiter = out.first_waiter;
            while waiter != NONE {
                self.recorder.crossed(waiter as usize, o, end);
                waiter = self.input[waiter as usize].next_waiter;
            }
        }
        for (n, nic) in self.nic.iter().enumerate() {
            if nic.starved && nic.wanted < end {
                self.recorder.nic_stalled(n, nic.wanted, end);
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

    /// Starts with what its routers learnt in another run, by global router.
    pub(crate) fn remember(&mut self, tables: &[Vec<f32>]) {
        for (router, values) in self.router.iter_mut().zip(&tables[self.routers.start as usize..]) {
            router.memory.values.clone_from(values);
        }
    }

    /// What its routers have learnt, in their order.
    pub(crate) fn take_tables(&mut self) -> impl Iterator<Item = Vec<f32>> + '_ {
        self.router.iter_mut().map(|router| std::mem::take(&mut router.memory.values))
    }

    /// The records; the partition keeps none.
    pub(crate) fn take_recorder(mut self) -> Recorder {
        self.recorder.settle(|port| self.kinds[self.out[port].kind as usize].full_time);
        self.recorder
    }

    /// Bytes held by packets and by everything else.
    pub(crate) fn memory_bytes(&self) -> (usize, usize) {
        let credits = self.credits.memory_bytes();
        let memories: usize = self.router.iter().map(|r| 4 * r.memory.values.capacity()).sum();
        let feedback: usize = self.feedback.iter().map(|f| f.capacity() * size_of::<(u64, Feedback)>()).sum();
        let ports = self.out.len() * size_of::<OutPort>()
            + self.out_channel.len() * size_of::<OutChannel>()
            + self.inputs.len() * size_of::<InPort>()
            + self.input.len() * size_of::<Fifo>()
            + 2 * self.served.len()
            + 4 * self.promised.len();
        let other = ports + credits + memories + feedback + self.router.len() * size_of::<Router>();
        (self.pool.memory_bytes(), other + self.events.memory_bytes() + self.nic.len() * size_of::<Nic>())
    }
}

/// A time wheel whose buckets hold about one event each when the network is busy, and that reaches beyond the longest
/// latency. Events of a port belong to its router, those of a NIC to nobody that the router has to wait for.
fn wheel(fabric: &Fabric, routers: &Range<u32>) -> EventQueue {
    let (ports, nics) = (fabric.ports_of(routers), fabric.nics_of(routers));
    let packet_time = nics.clone().map(|n| fabric.full_time[fabric.nic_port[n as usize] as usize]).min();
    // At half load a NIC sends every second packet time, and a packet costs some six events.
    let per_event = packet_time.unwrap_or(1_000) / (3 * nics.len() as u64).max(1);
    let shift = (WIDTH * per_event).max(1).ilog2().clamp(2, 24);
    let reach = ports.clone().map(|p| fabric.forward_latency(p) + fabric.full_time[p as usize]).max().unwrap_or(1);
    let buckets = (reach >> shift).max(1).ilog2() + 1;
    let of_ports = ports.map(|p| fabric.port_router[p as usize] - routers.start);
    let owners = of_ports.clone().chain(of_ports).chain(nics.clone().chain(nics).map(|_| u32::MAX));
    EventQueue::new(shift, buckets.clamp(6, 20), owners)
}

/// Width of a bucket in mean times between events.
const WIDTH: u64 = 2;
