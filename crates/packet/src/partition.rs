//! A partition: a range of routers with their nodes. It advances independently up to a given time.
//!
//! ```text
//!            deliver(mail)     ──► ┌───────────┐ ──► outbox : packets, credits, feedback, by partition
//!            advance(until)    ──► │ partition │
//!                                  └───────────┘
//! ```
//! A partition knows no other partition. Everything that leaves it carries its arrival time, at least one
//! cable latency ahead. Therefore all partitions may advance by the least such latency before they exchange
//! mail. No result depends on the division of routers: events are ordered by (time, kind, component), and
//! every router has its own random stream. Events of different routers at one time do not affect each
//! other.
//!
//! One instant of a router has two phases. First, all events of that time: arrivals join their input queues
//! and mark their output ports. Then every marked output settles, in port order: crossbar, link, and the
//! crossbar again if the departure freed space. So arrivals of one instant compete on equal terms. An
//! arrival that is the only event of its router settles at once. If no other packet waits for its output,
//! it passes without entering a queue.
//!
//! Credits and feedback have no events. A port keeps a list of (arrival time, amount) and applies the
//! arrived entries when it needs them. Only a port that waits for a credit gets an event at the credit's
//! arrival.

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
use odonata_routing::algorithm::{Feedback, Memory, Needs, Routing};
use odonata_units::{RouterId, Stream};
use port::{InChannel, InPort, Kind, Nic, OutChannel, OutPort};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use end::BlockedHead;

/// State of a router in addition to its ports.
struct Router {
    /// Number in the machine.
    id: RouterId,
    /// Its ports (in the partition) and its NICs (in the machine).
    ports: Range<u32>,
    nics: Range<u32>,
    /// First port that the port numbers of routing algorithms count from; those number links only.
    link_ports_from: u32,
    /// Arrival time of the earliest feedback that is not applied yet.
    next_feedback: u64,
    random: Stream,
    memory: Memory,
}

pub(crate) struct Partition {
    fabric: Arc<Fabric>,
    /// Taken out while it decides: reading the load may change the partition.
    routing: Option<Arc<dyn Routing>>,
    endpoints: Box<dyn Endpoints>,
    pub(crate) recorder: Recorder,
    /// Routers, ports and NICs of this partition by global number. All arrays below count from their starts.
    routers: Range<u32>,
    ports: Range<u32>,
    nics: Range<u32>,
    channels: usize,
    /// Size of a full packet.
    full: u32,
    /// Capacity of an output channel.
    output_room: u32,
    now: u64,
    /// No known event lies before this time. 0 if that is unknown because something happened or arrived.
    quiet_until: u64,
    /// Latest time at which the last byte of a packet leaves a NIC.
    last_departure: u64,
    events: EventQueue,
    keys: Keys,
    pub(crate) event_count: u64,
    pub(crate) pool: Pool,
    router: Vec<Router>,
    kinds: Vec<Kind>,
    out: Vec<OutPort>,
    /// Credits in flight to the ports.
    credits: Credits,
    /// Start of the stall of each port that is `STALLED`.
    stalled_since: Vec<u64>,
    /// Channel vc of port p is at `p * channels + vc`, as in `input`.
    out_channel: Vec<OutChannel>,
    inputs: Vec<InPort>,
    input: Vec<InChannel>,
    /// Last crossing time of each input channel; empty under round-robin arbitration.
    served: Vec<u64>,
    /// Input channel that each output channel served last, within its router; empty unless arbitration is
    /// round-robin.
    last_served: Vec<u16>,
    /// Feedback in flight to each port, and the arrival time of the first; empty without learning.
    feedback: Vec<VecDeque<(u64, Feedback)>>,
    feedback_at: Vec<u64>,
    /// Packets on the link of each port, by arrival; empty unless the queue estimate excludes them.
    sent: Vec<VecDeque<Credit>>,
    /// First reserved channel, and bytes promised in each output channel to packets that have not crossed yet.
    /// Empty without reserved channels.
    reserved_from: u8,
    promised: Vec<u32>,
    /// Channel of the bubble rings (255 if there is none), the output that continues the ring of each input
    /// port, and whether each output belongs to a ring. Empty without rings.
    bubble: u8,
    stays: Vec<u32>,
    in_ring: Vec<bool>,
    nic: Vec<Nic>,
    /// Output ports to settle at the end of this instant, and one bit for each of them.
    pending_outputs: Vec<u32>,
    is_pending: Vec<u64>,
    /// One bit per port with deferred departures.
    deferred: Vec<u64>,
    /// Mail to other partitions. It belongs to the thread, which lends it for a window.
    pub(crate) outbox: Outbox,
    learns: bool,
    /// Whether routing depends on the size of the message.
    orders_messages: bool,
    /// Whether any decision reads the load.
    reads_load: bool,
    /// Whether every packet has side data.
    has_side_data: bool,
    /// Whether packets may come from programs, whether any endpoint has a subscription, and the state of these
    /// endpoints.
    has_programs: bool,
    has_listeners: bool,
    listeners: ListenerState,
    /// Jobs that the run waits for.
    awaited: Vec<usize>,
}

/// Endpoints of the NICs of a partition.
pub(crate) struct EndpointSet {
    pub(crate) endpoints: Box<dyn Endpoints>,
    /// Whether packets may come from programs.
    pub(crate) has_programs: bool,
    /// Jobs that the run waits for.
    pub(crate) awaited: Vec<usize>,
}

/// First keys of each kind of event. The order of the kinds is their order within one instant:
///
/// 1. a packet's head reaches an input queue (from key 0);
/// 2. an output port acts;
/// 3. a packet leaves a NIC;
/// 4. a packet's tail reaches a node;
/// 5. a timer expires, or a message within a node arrives.
///
/// NICs have keys only if endpoints have subscriptions.
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
    /// Creates router `r` of the fabric, in a partition whose ports start at `first`.
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

// Saved between windows: then no output is pending, and all mail has been delivered.
state!(Partition {
    value: now, quiet_until, last_departure, event_count;
    same_length: stalled_since, out_channel, served, last_served, feedback, feedback_at, sent, promised, deferred;
    nested: endpoints, recorder, events, pool, router, out, credits, inputs, input, nic, listeners;
    rebuilt: fabric, routing, routers, ports, nics, channels, full, output_room, keys, kinds, reserved_from, bubble, stays, in_ring,
        pending_outputs, is_pending, outbox, learns, orders_messages, reads_load, has_side_data, has_programs, has_listeners, awaited
});

impl SideDataKinds {
    fn new(learns: bool, recorder: &Recorder, fabric: &Fabric) -> Self {
        Self { hop_estimates: learns, paths: recorder.records_paths(), entry_times: fabric.selector.is_some() }
    }

    fn any(self) -> bool {
        self.hop_estimates || self.paths || self.entry_times
    }
}

impl Partition {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        fabric: Arc<Fabric>,
        routing: Arc<dyn Routing>,
        needs: Needs,
        EndpointSet { endpoints, has_programs, awaited }: EndpointSet,
        recorder: Recorder,
        routers: Range<u32>,
        division: &Division,
        seed: u64,
    ) -> Self {
        let (ports, nics) = (fabric.ports_of(&routers), fabric.nics_of(&routers));
        let (count, channels) = (ports.len(), usize::from(routing.virtual_channels()));
        let Needs { reports: learns, load: reads_load, messages: orders_messages, .. } = needs;
        let moves = endpoints.has_coupled_offers();
        let has_listeners =
            moves || (0..nics.len() as u32).any(|nic| endpoints.subscription(nic) > Subscription::Nothing);
        let counts_sent = fabric.settings.estimate == QueueEstimate::DownstreamArrived;
        let (room, reserved_from) = (fabric.settings.input_buffer.0 as u32, routing.reserved_from());
        let side_data = SideDataKinds::new(learns, &recorder, &fabric);
        // Few different kinds exist, so ports share one entry per kind and stay small.
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
            keys: Keys::new(count, nics.len()),
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
            has_side_data: side_data.any(),
            has_programs: has_programs || moves,
            has_listeners,
            awaited,
        };
        partition.store_subscriptions();
        partition
    }

    fn routing(&self) -> &dyn Routing {
        self.routing.as_deref().expect("no other decision is active")
    }

    /// Handles all events before `until`. An idle partition costs nothing, and most of a large machine may be
    /// idle.
    pub(crate) fn advance(&mut self, until: u64) {
        // Idle partitions skip the window without touching their queue.
        if self.quiet_until >= until {
            return;
        }
        self.quiet_until = 0;
        while let Some((time, key)) = self.events.pop(until) {
            self.now = time;
            self.event_count += 1;
            // Key ranges replace a tag: the queue stores a single 32-bit number per event.
            if key < self.keys.output {
                self.arrive(key as usize);
            } else if key < self.keys.injection {
                self.output_event((key - self.keys.output) as usize);
            } else {
                self.endpoint_event(key);
            }
            // Settle after the last event of the instant, so that all its arrivals compete.
            if !self.pending_outputs.is_empty() && !self.events.has_more_at(time) {
                self.settle();
            }
        }
        // Other partitions must see all departures of this window.
        self.catch_up_all(until);
    }

    /// Marks an output port: it acts in the second phase of this instant.
    #[inline]
    fn mark_pending(&mut self, out: usize) {
        let (word, bit) = (&mut self.is_pending[out >> 6], 1 << (out & 63));
        // Several arrivals of an instant may mark the same output.
        if *word & bit == 0 {
            *word |= bit;
            self.pending_outputs.push(out as u32);
        }
    }

    /// Runs the second phase of an instant.
    fn settle(&mut self) {
        let mut pending_outputs = std::mem::take(&mut self.pending_outputs);
        // Port order, not order of events: the result must not depend on which arrival came first.
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

    /// Runs an output: crossbar, link, and the crossbar again if the departure freed space.
    #[inline]
    fn serve(&mut self, o: usize) {
        self.catch_up_to(o, self.now);
        // The crossbar goes first: a packet that enters the output queue may depart at once.
        let granted = self.out[o].first_waiter != NONE && self.arbitrate(o);
        if self.out[o].occupied == 0 || !self.send(o) || granted || self.out[o].first_waiter == NONE {
            return;
        }
        // The departure freed space: another waiter may fit now.
        if self.arbitrate(o) {
            // If the buffer holds one packet only, the queue was empty after the departure, and no other call defers
            // it.
            self.defer(o);
        }
    }

    /// Runs output `o` now if its router has no other event at this instant, else at the end of the instant.
    #[inline]
    fn output_event(&mut self, o: usize) {
        // Without another event of this router there is nothing to wait for.
        if self.is_alone(self.inputs[o].router) {
            self.serve(o);
        } else {
            self.mark_pending(o);
        }
    }

    /// Whether a router (of the partition) has no other event at this time. Other routers do not matter: every
    /// path to them takes time.
    #[inline]
    fn is_alone(&self, router: u32) -> bool {
        self.pending_outputs.iter().all(|&o| self.inputs[o as usize].router != router)
            && self.events.is_alone(self.now, router)
    }

    /// Schedules output `o` at `time` or earlier.
    #[inline]
    fn schedule_output(&mut self, o: usize, time: u64) {
        self.events.wake(time, self.keys.output + o as Key);
    }

    /// Delivers mail from other partitions.
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
                // Rare data is in separate lists, so that most packets stay one cache line.
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

    /// A lower bound of the next event; `u64::MAX` if nothing happens without further mail.
    pub(crate) fn earliest(&mut self) -> u64 {
        if self.quiet_until == 0 {
            self.quiet_until = self.events.earliest().min(self.first_deferred());
        }
        self.quiet_until
    }
}

/// Creates the time wheel. Its buckets hold about one event in a busy network, and it spans the longest
/// latency. The owner of a port's events is its router. Events of NICs have no owner, since routers need
/// not wait for them.
fn wheel(fabric: &Fabric, routers: &Range<u32>, has_listeners: bool) -> EventQueue {
    let (ports, nics) = (fabric.ports_of(routers), fabric.nics_of(routers));
    let packet_time = nics.clone().map(|n| fabric.full_time[fabric.nic_port[n as usize] as usize]).min();
    // At half load a NIC sends every second packet time, and a packet takes about six events.
    let per_event = packet_time.unwrap_or(1_000) / (3 * nics.len() as u64).max(1);
    let shift = (WIDTH * per_event).max(1).ilog2().clamp(2, 24);
    // The wheel must span the longest arrival, or events go through the slower heap.
    let reach = ports.clone().map(|p| fabric.forward_latency(p) + fabric.full_time[p as usize]).max().unwrap_or(1);
    let buckets = (reach >> shift).max(1).ilog2() + 1;
    let of_ports = ports.map(|p| fabric.port_router[p as usize] - routers.start);
    let of_nics = if has_listeners { 3 * nics.len() } else { 0 };
    let owners = of_ports.clone().chain(of_ports).chain(std::iter::repeat_n(u32::MAX, of_nics));
    EventQueue::new(shift, buckets.clamp(6, 20), owners)
}

/// Width of a bucket in mean times between events. Wider buckets sort more entries. Narrower ones gained
/// nothing (README.md).
const WIDTH: u64 = 2;
