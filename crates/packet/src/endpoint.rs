//! The socket: what sits behind network interfaces.
//!
//! The network asks its endpoints for packets when an interface can send, and tells those that listen what left and what
//! arrived. It does not know whether a synthetic source, a list of messages or a rank of a program answers.
//! `docs/decisions/endpoints.md` says why it is made so and what each call costs.
//!
//! A program is given the interfaces of one part of the machine at a time, numbered from 0. Calls for the interfaces of
//! one node come in the order of time. Calls for different nodes come in any order, so nodes must not share any state.

use crate::fabric::Fabric;
use crate::injection::{FifoSelector, InjectionFifos};
use crate::rail_map::RailMap;
use odonata_checkpoint::{DecodeError, Reader, State};
use odonata_units::{NodeId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// What travels with the first packet of a message. The engine looks at none of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Bytes of the message.
    pub bytes: u64,
    /// Tag of the program's own.
    pub tag: u32,
    /// Number of the message among those that its receiver keeps in order.
    pub sequence: u32,
    /// Sending rank.
    pub source: u32,
    /// Receiving rank.
    pub destination: u32,
    /// Number of the message among those of its kind from the one rank to the other, where they may overtake each other.
    pub order: u32,
    /// Communicator within which ranks are numbered.
    pub communicator: u16,
    /// Kind of message: a protocol's own numbers.
    pub kind: u8,
}

/// A packet that an endpoint sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutgoingPacket {
    /// When it was made, in ps: not later than it leaves. Latency counts from here.
    pub created_ps: u64,
    /// How long before that it was due, in ps, if its source was held up.
    pub delay_ps: u64,
    /// Node it goes to, another one.
    pub destination: NodeId,
    /// The interface of that node at which it arrives, from 0.
    pub nic: u8,
    /// Bytes of a message, at least one and at most those of a full packet.
    pub size: u32,
    /// Bytes of the whole message that it is of, by which some routings choose.
    pub message_bytes: u64,
    /// Job that it counts for.
    pub job: u16,
    /// Whatever sender and receiver make of it; the message that it is of, say.
    pub message: u32,
    /// What travels with it.
    pub envelope: Option<Envelope>,
    /// Whether [`Endpoints::on_departure`] is to be called for it, if its endpoint listens to departures.
    pub notifies_departure: bool,
}

impl OutgoingPacket {
    /// A packet of job 0 that was made at `created_ps`, without an envelope, to the first interface of a node.
    pub fn new(created_ps: u64, destination: NodeId, size: u32) -> Self {
        Self {
            created_ps,
            delay_ps: 0,
            destination,
            nic: 0,
            size,
            message_bytes: u64::from(size),
            job: 0,
            message: 0,
            envelope: None,
            notifies_departure: false,
        }
    }
}

/// A packet left its interface with its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Departure {
    /// When, in ps.
    pub at_ps: u64,
    /// What was given at its injection.
    pub job: u16,
    /// What was given at its injection.
    pub message: u32,
}

/// How a packet got from its node into the network, through injection FIFOs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InjectionTimes {
    /// When it was made, in ps.
    pub created_ps: u64,
    /// When a torus FIFO took it from its memory FIFO.
    pub taken_ps: u64,
    /// When the router took it from the torus FIFO.
    pub injected_ps: u64,
}

/// A packet that reached a node with its last byte, or a message of the node to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// When, in ps.
    pub at_ps: u64,
    /// Node that it came from.
    pub source: NodeId,
    /// Bytes.
    pub size: u32,
    /// What was given at its injection.
    pub job: u16,
    /// What was given at its injection.
    pub message: u32,
    /// What travelled with it.
    pub envelope: Option<Envelope>,
    /// How it got into the network, where nodes have injection FIFOs.
    pub injection_times: Option<InjectionTimes>,
}

/// What an endpoint wants to be told of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Subscription {
    /// Nothing: it only sends, and what it sends depends on nothing that happens.
    #[default]
    Nothing,
    /// What arrives, and its timer.
    Arrivals,
    /// The same and, of packets that ask for it, when they left. Costs an event for every packet that leaves.
    Departures,
}

/// Whether an endpoint that was told something still offers what it offered before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Offer {
    /// The next packet of every interface of its node, and when it is made, are what they were: nobody asks again.
    Same,
    /// They may have changed.
    Changed,
}

/// What an endpoint may ask for while it is told something: its interface's timer and messages on its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Socket {
    now_ps: u64,
    timer_ps: u64,
    deliveries: Vec<Arrival>,
}

impl Socket {
    /// At a time, with the timer set to `timer_ps` if it is set.
    pub fn new(now_ps: u64, timer_ps: Option<u64>) -> Self {
        Self { now_ps, timer_ps: timer_ps.unwrap_or(u64::MAX), deliveries: Vec::new() }
    }

    /// The time of the call, in ps.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// When the timer runs out, in ps.
    pub fn timer_ps(&self) -> Option<u64> {
        (self.timer_ps != u64::MAX).then_some(self.timer_ps)
    }

    /// Sets the timer, which each interface has one of, instead of what it was set to.
    ///
    /// # Panics
    /// If that time is over.
    pub fn wake_at(&mut self, at_ps: u64) {
        assert!(at_ps >= self.now_ps, "a timer set at {} ps for {at_ps} ps, which is over", self.now_ps);
        self.timer_ps = at_ps;
    }

    /// Stops the timer.
    pub fn stop_timer(&mut self) {
        self.timer_ps = u64::MAX;
    }

    /// Delivers a message of the node to itself: [`Endpoints::on_arrival`] gets it at its time. Of messages of one time the one
    /// that was delivered first comes first.
    ///
    /// # Panics
    /// If that time is over.
    pub fn deliver(&mut self, arrival: Arrival) {
        assert!(
            arrival.at_ps >= self.now_ps,
            "delivered at {} ps for {} ps, which is over",
            self.now_ps,
            arrival.at_ps
        );
        self.deliveries.push(arrival);
    }

    /// Takes what was delivered since the last time.
    pub fn take_deliveries(&mut self) -> Vec<Arrival> {
        std::mem::take(&mut self.deliveries)
    }

    /// As for the next call.
    pub(crate) fn turn_to(&mut self, now_ps: u64, timer_ps: u64) {
        (self.now_ps, self.timer_ps) = (now_ps, timer_ps);
    }

    pub(crate) fn deliveries(&mut self) -> &mut Vec<Arrival> {
        &mut self.deliveries
    }
}

/// Why something is not finished.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Activity {
    /// It computes, or waits on purpose, until a time.
    Computing {
        /// Until when.
        until: Time,
    },
    /// It has more to send than the network took.
    Sending {
        /// Messages that are not sent in full.
        messages: u64,
    },
    /// It waits for something that did not happen.
    Waiting {
        /// Since when.
        since: Time,
        /// The rank that it waits for, if it is one.
        peer: Option<u32>,
        /// What it waits for, in words.
        what: String,
    },
}

/// An endpoint that is not finished at the end of a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct UnfinishedEndpoint {
    /// Its job.
    pub job: u16,
    /// Its rank, where ranks have numbers.
    pub rank: Option<u32>,
    /// Its node.
    pub node: NodeId,
    /// What it does instead of being finished.
    pub activity: Activity,
}

/// The endpoints of a range of interfaces. Their [`State`] is what a program that was made anew needs to go on as this one does.
pub trait Endpoints: State + Send {
    /// When the next packet of `nic` is or was made, in ps: `None` if it has none in sight. The answer may change only with
    /// [`Self::take`] and, if this endpoint listens, with a call that returns [`Offer::Changed`].
    fn next_created_ps(&mut self, nic: u32) -> Option<u64>;

    /// Takes that packet, whose head leaves at `leaves_ps`. An endpoint that listens to no departures may be asked some time
    /// after that, but always before it is told of anything later.
    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket;

    /// What it wants to be told of; asked once, before the run.
    fn subscription(&self, nic: u32) -> Subscription {
        let _ = nic;
        Subscription::Nothing
    }

    /// Whether a packet taken at one interface of a node may change what its others offer, although they listen to nothing.
    fn has_coupled_offers(&self) -> bool {
        false
    }

    /// The run begins; told to endpoints that listen, before anything else. Offers are asked for after this.
    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        let _ = (nic, socket);
    }

    /// A packet that asked for it left.
    fn on_departure(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        let _ = (nic, departure, socket);
        Offer::Same
    }

    /// A packet arrived, or a message on the node.
    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let _ = (nic, arrival, socket);
        Offer::Same
    }

    /// The timer ran out.
    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        let _ = (nic, socket);
        Offer::Same
    }

    /// Whether something is left to do before a run may be complete: a packet made before `before_ps`, the end of the
    /// measurement, that was not taken; a message not sent; a program not at its end.
    fn has_work(&self, before_ps: u64) -> bool;

    /// Goes on, after its state was loaded, with the loads that its job has from then on. Whether what `nic` sends next may have changed.
    fn apply_load_steps(&mut self, _nic: u32) -> bool {
        false
    }

    /// Whether anything of what the run waits for will happen though no further packet comes: something is on its way out, or a time
    /// will come after `now_ps`. Where nobody has such a thing and nothing is under way, what is owed never happens.
    fn will_act(&self, now_ps: u64) -> bool {
        let _ = now_ps;
        self.has_work(0)
    }

    /// Memory that it takes, about.
    fn memory_bytes(&self) -> usize {
        0
    }

    /// The run is over; says who is not finished. Here a program hands over what it recorded.
    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        let _ = end_ps;
        Vec::new()
    }
}

/// What sits behind the interfaces of a machine.
pub trait Program: Send + Sync {
    /// Makes the endpoints of `interfaces`, one part of the machine, for `jobs`: the numbers of the jobs whose traffic this
    /// program is.
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints>;

    /// Whether a job comes to an end of its own, so that a run waits for it. One that does not goes on until all others have ended.
    fn is_finite(&self, job: u16) -> bool {
        let _ = job;
        true
    }

    /// Takes away what its endpoints in this process handed over at the end of a run, for [`Self::import_records`] in another process of that run.
    fn export_records(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Adds what the same program handed over in another process.
    ///
    /// # Errors
    /// The bytes are not from there.
    fn import_records(&self, handed: &[u8]) -> Result<(), DecodeError> {
        Reader::new(handed).end()
    }
}

/// Which memory FIFO of its node a message takes.
#[derive(Clone, Debug)]
pub struct MemoryFifos {
    selector: Arc<FifoSelector>,
    /// By node, how many messages it sent.
    numbers: BTreeMap<NodeId, u64>,
}

odonata_checkpoint::state!(MemoryFifos { value: numbers; rebuilt: selector });

impl MemoryFifos {
    /// Number of the memory FIFO for the next message of `source` to `destination`.
    pub fn select(&mut self, source: NodeId, destination: NodeId) -> u32 {
        let number = self.numbers.entry(source).or_default();
        *number += 1;
        self.selector.select(source, destination, *number - 1)
    }
}

/// The interfaces of one part of a machine, numbered from 0; those of a node have consecutive numbers. A node with several that end at
/// routers of their own is in one part with all of them ([`Program`]s see nodes, the network sees each interface as a node by itself).
#[derive(Clone, Copy, Debug)]
pub struct Nics<'a> {
    fabric: &'a Fabric,
    first: u32,
    count: u32,
    /// Interfaces of the network: of these nodes, and torus FIFOs where there are such.
    in_network: u32,
    seed: u64,
    /// Where they are those of nodes with rails.
    rail_map: Option<&'a RailMap>,
}

impl<'a> Nics<'a> {
    pub(crate) fn new(fabric: &'a Fabric, nics: &Range<u32>, seed: u64) -> Self {
        let in_network = nics.end - nics.start;
        let all = Self { fabric, first: nics.start, count: 0, in_network, seed, rail_map: None };
        Self { count: in_network / fabric.nics_per_node * all.per_node(), ..all }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The same, node by node.
    pub(crate) fn with_rail_map(self, rail_map: &'a RailMap) -> Self {
        Self { rail_map: Some(rail_map), ..self }
    }

    /// The nodes that they are of, where these have rails.
    pub(crate) fn rail_map(&self) -> RailMap {
        RailMap::new(self.fabric, self.first..self.first + self.in_network)
    }

    /// Whether nodes have rails.
    pub(crate) fn has_rails(&self) -> bool {
        self.fabric.rails > 1
    }

    /// Nodes of the machine.
    pub(crate) fn host_count(&self) -> u32 {
        self.fabric.hosts()
    }

    /// Interfaces of each node; where it has injection FIFOs, one for each of its memory FIFOs.
    pub fn per_node(&self) -> u32 {
        if self.rail_map.is_some() {
            return self.fabric.rails;
        }
        self.fabric.selector.as_ref().map_or(self.fabric.nics_per_node, |selector| selector.fifos.map.len() as u32)
    }

    pub(crate) fn fifos(&self) -> Option<&InjectionFifos> {
        self.fabric.selector.as_ref().map(|selector| &selector.fifos)
    }

    pub(crate) fn selector(&self) -> Option<Arc<FifoSelector>> {
        self.fabric.selector.clone()
    }

    /// Whether interfaces are memory FIFOs: then a message goes to the one that [`Self::memory_fifos`] picks, and all packets arrive at a node's
    /// first.
    pub fn are_memory_fifos(&self) -> bool {
        self.fabric.selector.is_some()
    }

    /// Picks among a node's interfaces where they are memory FIFOs.
    pub fn memory_fifos(&self) -> Option<MemoryFifos> {
        self.selector().map(|selector| MemoryFifos { selector, numbers: BTreeMap::new() })
    }

    /// The interface of the network that is, or is the first of the node of, an interface.
    fn network_nic(&self, nic: u32) -> u32 {
        if let Some(rail_map) = self.rail_map {
            return self.first + rail_map.network_nic(nic);
        }
        self.first
            + nic / self.per_node() * self.fabric.nics_per_node
            + if self.are_memory_fifos() { 0 } else { nic % self.per_node() }
    }

    /// Node of an interface.
    pub fn node(&self, nic: u32) -> NodeId {
        let end = self.fabric.node_of(self.network_nic(nic));
        if self.rail_map.is_some() {
            return NodeId(end.0 % self.fabric.hosts());
        }
        end
    }

    /// The first interface of a node, if the node is in this part.
    pub fn first_of(&self, node: NodeId) -> Option<u32> {
        let nic = self.fabric.node_nic.get(node.index())?.wrapping_sub(self.first);
        // Every part looks through all messages, so those of other parts cost no division.
        if nic >= self.in_network {
            return None;
        }
        if let Some(rail_map) = self.rail_map {
            return Some(rail_map.program_nic(nic));
        }
        Some(if self.are_memory_fifos() { nic / self.fabric.nics_per_node * self.per_node() } else { nic })
    }

    /// Bytes of a message in a full packet.
    pub fn payload(&self) -> u32 {
        self.fabric.settings.payload().0 as u32
    }

    /// Bytes of which endpoints make their packets multiples, if they make whole flits: 1 where packets have headers, since the last
    /// flit is filled up with these.
    pub fn flit(&self) -> u32 {
        if self.fabric.settings.header.0 > 0 {
            1
        } else {
            self.fabric.settings.flit.0 as u32
        }
    }

    /// Time in ps of a packet with so many bytes of a message on the link of an interface.
    pub fn time_ps(&self, nic: u32, bytes: u32) -> u64 {
        let size = bytes + self.fabric.overhead(bytes);
        self.fabric.link_time(self.fabric.nic_port[self.network_nic(nic) as usize], size)
    }

    /// Seed of the run, for named random streams.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}
