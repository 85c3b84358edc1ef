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
mod end;
mod input;
mod link;
mod nic;
mod port;
mod told;
mod view;
mod waits;

use crate::credit::{Credit, Credits};
use crate::division::Division;
use crate::endpoint::{Endpoints, Listens};
use crate::fabric::Fabric;
use crate::mail::{Mail, Outbox};
use crate::packet::{Beside, Carries, Pool, NONE};
use crate::queue::{EventQueue, Key};
use crate::record::Recorder;
use crate::settings::{Arbitration, QueueEstimate};
use odonata_checkpoint::state;
use odonata_routing::algorithm::{Feedback, Memory, Routing};
use odonata_units::{RouterId, Stream};
use port::{InChannel, InPort, Kind, Nic, OutChannel, OutPort};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use told::Listening;

pub(crate) use end::Waits;

/// State of one router beyond its ports.
struct Router {
    /// The machine's number.
    id: RouterId,
    /// Its ports (of the partition) and its NICs (of the machine).
    ports: Range<u32>,
    nics: Range<u32>,
    /// What the port numbers of a routing algorithm, which are those of links, count from.
    link_ports_from: u32,
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
    /// A time before which nothing happens here, of what is known; 0 unless that was asked for since something came or happened.
    quiet_until: u64,
    /// When the last packet to leave an interface leaves it with its last byte.
    last_left: u64,
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
    /// When a packet of each input channel last crossed; empty unless the least recently used one comes first.
    served: Vec<u64>,
    /// The input channel that each output channel served last, among its router's; empty unless they take turns.
    last_served: Vec<u16>,
    /// Feedback on its way to each port and when the first of it arrives; empty where nothing learns.
    feedback: Vec<VecDeque<(u64, Feedback)>>,
    feedback_at: Vec<u64>,
    /// Packets on the link of each port, by arrival; empty unless the queue estimate leaves them out.
    sent: Vec<VecDeque<Credit>>,
    /// First reserved channel, and bytes promised in each output channel to packets that have not crossed yet; empty
    /// where no channel is reserved.
    reserved_from: u8,
    promised: Vec<u32>,
    /// The channel of rings that packets enter only where they leave room for another, 255 if there is none; for each input
    /// port the output by which its ring goes on, and whether each output is part of a ring; empty without rings.
    bubble: u8,
    stays: Vec<u32>,
    in_ring: Vec<bool>,
    nic: Vec<Nic>,
    /// Output ports to settle at the end of this instant, and one bit for each of them.
    noted: Vec<u32>,
    is_noted: Vec<u64>,
    /// One bit per port that has deferred its departures.
    deferred: Vec<u64>,
    /// Where it writes what crosses the border; its thread's, which lends it for a window.
    pub(crate) outbox: Outbox,
    learns: bool,
    /// Whether the routing tells messages apart.
    sorts: bool,
    /// Whether any decision reads the load.
    looks: bool,
    /// Whether anything travels beside every packet.
    beside: bool,
    /// Whether packets may come from programs, and whether any endpoint listens and what such endpoints asked for.
    strangers: bool,
    listens: bool,
    listening: Listening,
    /// Jobs that the run waits for.
    awaited: Vec<usize>,
}

/// What is behind the interfaces of a partition.
pub(crate) struct Behind {
    pub(crate) endpoints: Box<dyn Endpoints>,
    /// Whether packets may come from programs.
    pub(crate) strangers: bool,
    /// Jobs that the run waits for.
    pub(crate) awaited: Vec<usize>,
}

/// Where the keys of each kind of event start, in the order in which the kinds happen at one time: a packet's head
/// reaches the input queue of a port (from 0 on); an output port has something to do; and where endpoints listen, a packet's
/// tail has left a NIC or its head leaves; a packet's tail reaches a node; a timer runs out or a message comes on the node.
#[derive(Clone, Copy, Debug)]
struct Keys {
    look: Key,
    inject: Key,
    deliver: Key,
    wake: Key,
}

impl Keys {
    fn new(ports: usize, nics: usize) -> Self {
        let (look, inject, nics) = (ports as Key, 2 * ports as Key, nics as Key);
        Self { look, inject, deliver: inject + nics, wake: inject + 2 * nics }
    }
}

state!(Router {
    whole: next_feedback, random, memory;
    built: id, ports, nics, link_ports_from
});

impl Router {
    /// Router `r` of the fabric, in a partition whose ports start at `first`.
    fn new(fabric: &Fabric, routing: &dyn Routing, r: u32, first: u32, seed: u64) -> Self {
        let (id, n) = (fabric.line[r as usize], r as usize);
        Self {
            id,
            random: Stream::new(seed, "routing", &[u64::from(id.0)]),
            memory: routing.memory(id),
            next_feedback: u64::MAX,
            ports: fabric.first_port[n] - first..fabric.first_port[n + 1] - first,
            nics: fabric.first_nic[n]..fabric.first_nic[n + 1],
            link_ports_from: fabric.link_ports_from(r) - first,
        }
    }
}

// Taken between windows: nothing is noted then, and the mail that came is taken in.
state!(Partition {
    whole: now, quiet_until, last_left, event_count;
    fixed: stalled_since, out_channel, served, last_served, feedback, feedback_at, sent, promised, deferred;
    inside: endpoints, recorder, events, pool, router, out, credits, inputs, input, nic, listening;
    built: fabric, routing, routers, ports, nics, channels, full, output_room, keys, kinds, reserved_from, bubble, stays, in_ring,
        noted, is_noted, outbox, learns, sorts, looks, beside, strangers, listens, awaited
});

impl Partition {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        fabric: Arc<Fabric>,
        routing: Arc<dyn Routing>,
        Behind { endpoints, strangers, awaited }: Behind,
        recorder: Recorder,
        routers: Range<u32>,
        division: &Division,
        seed: u64,
    ) -> Self {
        let (ports, nics) = (fabric.ports_of(&routers), fabric.nics_of(&routers));
        let channels = usize::from(routing.virtual_channels());
        let count = ports.len();
        let (learns, looks, sorts) = (routing.learns(), routing.reads_any_load(), routing.tells_messages_apart());
        let moves = endpoints.offers_move();
        let listens = moves || (0..nics.len() as u32).any(|nic| endpoints.listens(nic) > Listens::ToNothing);
        let counts_sent = fabric.settings.estimate == QueueEstimate::DownstreamArrived;
        let room = fabric.settings.input_buffer.0 as u32;
        let reserved_from = routing.reserved_from();
        let keys = Keys::new(count, nics.len());
        let carries = Carries { told: learns, ways: recorder.has_ways(), entered: fabric.picker.is_some() };
        let (kinds, kind_of) = port::kinds(&fabric, &ports);
        let kind_of = |port: u32| kind_of[(port - ports.start) as usize];
        let out = |p| OutPort::new(&fabric, p, &ports, nics.start, division, kind_of(p));
        let input = |p| InPort::new(&fabric, p, &ports, nics.start, division, kind_of(p));
        let nic = |n| Nic::new(&fabric, n, ports.start, kind_of(fabric.nic_port[n as usize]));
        let (stays, in_ring) = port::rings(&fabric, &*routing, &ports);
        let by_turns = fabric.settings.arbitration == Arbitration::RoundRobin;
        let mut partition = Self {
            channels,
            full: fabric.settings.packet.0 as u32,
            output_room: fabric.settings.output_buffer.0 as u32,
            now: 0,
            quiet_until: 0,
            last_left: 0,
            events: wheel(&fabric, &routers, listens),
            keys,
            event_count: 0,
            pool: Pool::new(carries),
            router: routers.clone().map(|r| Router::new(&fabric, &*routing, r, ports.start, seed)).collect(),
            out: ports.clone().map(out).collect(),
            out_channel: (0..count * channels).map(|_| OutChannel::new(room)).collect(),
            inputs: ports.clone().map(input).collect(),
            input: (0..count * channels).map(|c| InChannel::new((c / channels) as u32)).collect(),
            served: vec![0; if by_turns { 0 } else { count * channels }],
            last_served: vec![0; if by_turns { count * channels } else { 0 }],
            kinds,
            credits: Credits::default(),
            stalled_since: vec![0; count],
            feedback: if learns { vec![VecDeque::new(); count] } else { Vec::new() },
            feedback_at: if learns { vec![u64::MAX; count] } else { Vec::new() },
            sent: if counts_sent { vec![VecDeque::new(); count] } else { Vec::new() },
            reserved_from,
            promised: vec![0; if usize::from(reserved_from) < channels { count * channels } else { 0 }],
            bubble: routing.rings().map_or(u8::MAX, |rings| rings.channel()),
            stays,
            in_ring,
            nic: nics.clone().map(nic).collect(),
            noted: Vec::new(),
            is_noted: vec![0; count.div_ceil(64)],
            deferred: vec![0; count.div_ceil(64)],
            outbox: Outbox::default(),
            listening: Listening::new(nics.len(), listens),
            fabric,
            routing: Some(routing),
            endpoints,
            recorder,
            routers,
            ports,
            nics,
            learns,
            sorts,
            looks,
            beside: carries.told || carries.ways || carries.entered,
            strangers: strangers || moves,
            listens,
            awaited,
        };
        partition.note_listeners();
        partition
    }

    fn routing(&self) -> &dyn Routing {
        self.routing.as_deref().expect("nobody else decides at this time")
    }

    /// Handles all events before `until`. Most of a large machine may be idle: its parts cost nothing then.
    pub(crate) fn advance(&mut self, until: u64) {
        if self.quiet_until >= until {
            return;
        }
        self.quiet_until = 0;
        while let Some((time, key)) = self.events.pop(until) {
            self.now = time;
            self.event_count += 1;
            if key < self.keys.look {
                self.arrive(key as usize);
            } else if key < self.keys.inject {
                self.look((key - self.keys.look) as usize);
            } else {
                self.endpoint_event(key);
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
    pub(crate) fn deliver(&mut self, mail: &mut Mail) {
        self.quiet_until = 0;
        let first = self.ports.start;
        let mut ways = mail.take_ways().into_iter();
        let (mut told, mut entered, mut envelopes) =
            (mail.told().iter(), mail.entered().iter(), mail.envelopes().iter());
        let beside = self.beside || envelopes.len() > 0;
        for chunk in mail.packets() {
            for letter in chunk {
                let slot = self.pool.insert(&letter.packet());
                if beside {
                    let envelope = if letter.is_sealed() { envelopes.next() } else { None };
                    let (told, way, entered) = (told.next(), ways.next(), entered.next());
                    self.pool.put_beside(slot, Beside { told, way, entered, envelope });
                }
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
        if self.quiet_until == 0 {
            self.quiet_until = self.events.earliest().min(self.first_deferred());
        }
        self.quiet_until
    }
}

/// A time wheel whose buckets hold about one event each when the network is busy, and that reaches beyond the longest
/// latency. Events of a port belong to its router, those of a NIC, where endpoints listen, to nobody that the router has to
/// wait for.
fn wheel(fabric: &Fabric, routers: &Range<u32>, listens: bool) -> EventQueue {
    let (ports, nics) = (fabric.ports_of(routers), fabric.nics_of(routers));
    let packet_time = nics.clone().map(|n| fabric.full_time[fabric.nic_port[n as usize] as usize]).min();
    // At half load a NIC sends every second packet time, and a packet costs some six events.
    let per_event = packet_time.unwrap_or(1_000) / (3 * nics.len() as u64).max(1);
    let shift = (WIDTH * per_event).max(1).ilog2().clamp(2, 24);
    let reach = ports.clone().map(|p| fabric.forward_latency(p) + fabric.full_time[p as usize]).max().unwrap_or(1);
    let buckets = (reach >> shift).max(1).ilog2() + 1;
    let of_ports = ports.map(|p| fabric.port_router[p as usize] - routers.start);
    let of_nics = if listens { 3 * nics.len() } else { 0 };
    let owners = of_ports.clone().chain(of_ports).chain(std::iter::repeat_n(u32::MAX, of_nics));
    EventQueue::new(shift, buckets.clamp(6, 20), owners)
}

/// Width of a bucket in mean times between events.
const WIDTH: u64 = 2;
