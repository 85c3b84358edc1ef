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
//! output ports concerned are pending_outputs. Then every pending_outputs output settles, in port order: crossbar, link, and the crossbar
//! again where the departure made room. So arrivals of the same instant compete on equal terms. An arrival that is
//! alone in its instant settles at once, and if nobody waits where it goes it passes without entering a queue.
//!
//! Credits and feedback have no events of their own: a port keeps a list of (arrival time, amount) and takes in what
//! has arrived when it reads_load. Only a port that waits for a credit gets an event, at the credit's arrival.

mod crossbar;
mod end;
mod input;
mod link;
mod nic;
mod notifications;
mod port;
mod view;
mod waits;

use crate::credit::{Credit, Credits};
use crate::division::Division;
use crate::endpoint::{Endpoints, Subscription};
use crate::fabric::Fabric;
use crate::mail::{Mail, Outbox};
use crate::packet::{Pool, SideData, SideDataKinds, NONE};
use crate::queue::{EventQueue, Key};
use crate::record::Recorder;
use crate::settings::{Arbitration, QueueEstimate};
use notifications::ListenerState;
use odonata_checkpoint::state;
use odonata_routing::algorithm::{Feedback, Memory, Routing};
use odonata_units::{RouterId, Stream};
use port::{InChannel, InPort, Kind, Nic, OutChannel, OutPort};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use end::BlockedHead;

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
    last_departure: u64,
    events: EventQueue,
    keys: Keys,
    pub(crate) event_count: u64,
    pub(crate) pool: Pool,
    router: Vec<Router>,
    kinds: Vec<Kind>,
    out: Vec<OutPort>,
    /// Credits on their way to the ports.
    credits: Credits,
    /// Since when each port that is `STALLED` waits.
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
    pending_outputs: Vec<u32>,
    is_pending: Vec<u64>,
    /// One bit per port that has deferred its departures.
    deferred: Vec<u64>,
    /// Where it writes what crosses the border; its thread's, which lends it for a window.
    pub(crate) outbox: Outbox,
    learns: bool,
    /// Whether the routing tells messages apart.
    orders_messages: bool,
    /// Whether any decision reads the load.
    reads_load: bool,
    /// Whether anything travels beside every packet.
    has_side_data: bool,
    /// Whether packets may come from programs, and whether any endpoint has_listeners and what such endpoints asked for.
    has_programs: bool,
    has_listeners: bool,
    listeners: ListenerState,
    /// Jobs that the run waits for.
    awaited: Vec<usize>,
}

/// What is behind the interfaces of a partition.
pub(crate) struct EndpointSet {
    pub(crate) endpoints: Box<dyn Endpoints>,
    /// Whether packets may come from programs.
    pub(crate) has_programs: bool,
    /// Jobs that the run waits for.
    pub(crate) awaited: Vec<usize>,
}

/// Where the keys of each kind of event start, in the order in which the kinds happen at one time: a packet's head
/// reaches the input queue of a port (from 0 on); an output port has something to do; and where endpoints listen, a packet's
/// tail has left a NIC or its head leaves; a packet's tail reaches a node; a timer runs out or a message comes on the node.
#[derive(Clone, Copy, Debug)]
struct Keys {
    output: Key,
    injection: Key,
    deliver: Key,
    timer: Key,
}

impl Keys {
    fn new(ports: usize, nics: usize) -> Self {
        let (output, injection, nics) = (ports as Key, 2 * ports as Key, nics as Key);
        Self { output, injection, deliver: injection + nics, timer: injection + 2 * nics }
    }
}

state!(Router {
    value: next_feedback, random, memory;
    rebuilt: id, ports, nics, link_ports_from
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

// Taken between windows: nothing is pending_outputs then, and the mail that came is taken in.
state!(Partition {
    value: now, quiet_until, last_departure, event_count;
    same_length: stalled_since, out_channel, served, last_served, feedback, feedback_at, sent, promised, deferred;
    nested: endpoints, recorder, events, pool, router, out, credits, inputs, input, nic, listeners;
    rebuilt: fabric, routing, routers, ports, nics, channels, full, output_room, keys, kinds, reserved_from, bubble, stays, in_ring,
        pending_outputs, is_pending, outbox, learns, orders_messages, reads_load, has_side_data, has_programs, has_listeners, awaited
});

impl Partition {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        fabric: Arc<Fabric>,
        routing: Arc<dyn Routing>,
        EndpointSet { endpoints, has_programs, awaited }: EndpointSet,
        recorder: Recorder,
        routers: Range<u32>,
        division: &Division,
        seed: u64,
    ) -> Self {
        let (ports, nics) = (fabric.ports_of(&routers), fabric.nics_of(&routers));
        let channels = usize::from(routing.virtual_channels());
        let count = ports.len();
        let (learns, reads_load, orders_messages) =
            (routing.has_feedback(), routing.reads_any_load(), routing.distinguishes_messages());
        let moves = endpoints.has_coupled_offers();
        let has_listeners =
            moves || (0..nics.len() as u32).any(|nic| endpoints.subscription(nic) > Subscription::Nothing);
        let counts_sent = fabric.settings.estimate == QueueEstimate::DownstreamArrived;
        let room = fabric.settings.input_buffer.0 as u32;
        let reserved_from = routing.reserved_from();
        let keys = Keys::new(count, nics.len());
        let side_data = SideDataKinds {
            hop_estimates: learns,
            paths: recorder.records_paths(),
            entry_times: fabric.selector.is_some(),
        };
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
            last_departure: 0,
            events: wheel(&fabric, &routers, has_listeners),
            keys,
            event_count: 0,
            pool: Pool::new(side_data),
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
            pending_outputs: Vec::new(),
            is_pending: vec![0; count.div_ceil(64)],
            deferred: vec![0; count.div_ceil(64)],
            outbox: Outbox::default(),
            listeners: ListenerState::new(nics.len(), has_listeners),
            fabric,
            routing: Some(routing),
            endpoints,
            recorder,
            routers,
            ports,
            nics,
            learns,
            orders_messages,
            reads_load,
            has_side_data: side_data.hop_estimates || side_data.paths || side_data.entry_times,
            has_programs: has_programs || moves,
            has_listeners,
            awaited,
        };
        partition.store_subscriptions();
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
            if key < self.keys.output {
                self.arrive(key as usize);
            } else if key < self.keys.injection {
                self.output_event((key - self.keys.output) as usize);
            } else {
                self.endpoint_event(key);
            }
            if !self.pending_outputs.is_empty() && !self.events.has_more_at(time) {
                self.settle();
            }
        }
        self.catch_up_all(until);
    }

    /// Notes that an output port has something to do at this instant.
    #[inline]
    fn mark_pending(&mut self, out: usize) {
        let (word, bit) = (&mut self.is_pending[out >> 6], 1 << (out & 63));
        if *word & bit == 0 {
            *word |= bit;
            self.pending_outputs.push(out as u32);
        }
    }

    /// The second phase of an instant.
    fn settle(&mut self) {
        let mut pending_outputs = std::mem::take(&mut self.pending_outputs);
        if pending_outputs.len() > 1 {
            pending_outputs.sort_unstable();
        }
        for &out in &pending_outputs {
            self.is_pending[out as usize >> 6] &= !(1 << (out & 63));
            self.serve(out as usize);
        }
        pending_outputs.clear();
        self.pending_outputs = pending_outputs;
    }

    /// Output `o` does what it can: crossbar, link, and the crossbar again where the departure made room.
    #[inline]
    fn serve(&mut self, o: usize) {
        self.catch_up_to(o, self.now);
        let granted = self.out[o].first_waiter != NONE && self.arbitrate(o);
        if self.out[o].occupied == 0 || !self.send(o) || granted || self.out[o].first_waiter == NONE {
            return;
        }
        if self.arbitrate(o) {
            // Where the buffer holds but one packet, the queue was empty after the departure and nothing else reads_load.
            self.defer(o);
        }
    }

    /// Output `o` has something to do: at once if nothing else happens at its router at this time.
    #[inline]
    fn output_event(&mut self, o: usize) {
        if self.is_alone(self.inputs[o].router) {
            self.serve(o);
        } else {
            self.mark_pending(o);
        }
    }

    /// Whether nothing else happens at a router (of the partition) at this time. What happens at other routers does not
    /// matter: every way to them takes time.
    #[inline]
    fn is_alone(&self, router: u32) -> bool {
        self.pending_outputs.iter().all(|&o| self.inputs[o as usize].router != router)
            && self.events.is_alone(self.now, router)
    }

    /// Makes sure that output port `o` is looked at at `time` at the latest.
    #[inline]
    fn schedule_output(&mut self, o: usize, time: u64) {
        self.events.wake(time, self.keys.output + o as Key);
    }

    /// Takes in what another partition sent.
    pub(crate) fn deliver(&mut self, mail: &mut Mail) {
        self.quiet_until = 0;
        let first = self.ports.start;
        let mut paths = mail.take_paths().into_iter();
        let (mut hop_estimates, mut entered, mut envelopes) =
            (mail.hop_estimates().iter(), mail.entered().iter(), mail.envelopes().iter());
        let has_side_data = self.has_side_data || envelopes.len() > 0;
        for chunk in mail.packets() {
            for mailed in chunk {
                let slot = self.pool.insert(&mailed.packet());
                if has_side_data {
                    let envelope = if mailed.has_envelope() { envelopes.next() } else { None };
                    let (hop_estimate, path, entered) = (hop_estimates.next(), paths.next(), entered.next());
                    self.pool.put_side_data(slot, SideData { hop_estimate, path, entered, envelope });
                }
                self.put_on_link((mailed.port - first) as usize, slot, mailed.arrives);
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
fn wheel(fabric: &Fabric, routers: &Range<u32>, has_listeners: bool) -> EventQueue {
    let (ports, nics) = (fabric.ports_of(routers), fabric.nics_of(routers));
    let packet_time = nics.clone().map(|n| fabric.full_time[fabric.nic_port[n as usize] as usize]).min();
    // At half load a NIC sends every second packet time, and a packet costs some six events.
    let per_event = packet_time.unwrap_or(1_000) / (3 * nics.len() as u64).max(1);
    let shift = (WIDTH * per_event).max(1).ilog2().clamp(2, 24);
    let reach = ports.clone().map(|p| fabric.forward_latency(p) + fabric.full_time[p as usize]).max().unwrap_or(1);
    let buckets = (reach >> shift).max(1).ilog2() + 1;
    let of_ports = ports.map(|p| fabric.port_router[p as usize] - routers.start);
    let of_nics = if has_listeners { 3 * nics.len() } else { 0 };
    let owners = of_ports.clone().chain(of_ports).chain(std::iter::repeat_n(u32::MAX, of_nics));
    EventQueue::new(shift, buckets.clamp(6, 20), owners)
}

/// Width of a bucket in mean times between events.
const WIDTH: u64 = 2;
