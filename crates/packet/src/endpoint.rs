//! Endpoints: the programs and sources at the NICs of a machine.
//!
//! The network asks its endpoints for packets when a NIC can send. It notifies endpoints with a subscription of
//! departures and arrivals. It does not know if an endpoint is a synthetic source, a list of messages or a rank of a
//! program. `docs/decisions/endpoints.md` explains the design and the cost of each call.
//!
//! A program gets the NICs of one part of the machine at a time, numbered from 0. Calls for the NICs of one node come
//! in order of time. Calls for different nodes come in any order, so nodes must not share state.

mod loops;
mod nics;
mod unfinished;

pub use loops::{LoopProgress, SkippedIterations};
pub use nics::{MemoryFifos, Nics};
pub use unfinished::{Activity, UnfinishedEndpoint};

use odonata_checkpoint::{DecodeError, Reader, Snapshot, State};
use odonata_units::NodeId;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// A packet in flight, for a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct PacketInFlight {
    /// Sending node.
    pub source: NodeId,
    /// Receiving node.
    pub destination: NodeId,
    /// NIC of the receiving node.
    pub nic: u8,
    /// Number that the endpoints gave it.
    pub message: u32,
}

/// Data that travels with the first packet of a message. The engine does not read it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Envelope {
    /// Bytes of the message.
    pub bytes: u64,
    /// Tag, for the program.
    pub tag: u32,
    /// Number of the message in the sequence that its receiver keeps in order.
    pub sequence: u32,
    /// Sending rank.
    pub source: u32,
    /// Receiving rank.
    pub destination: u32,
    /// Number of the message among messages of its kind from source to destination, if they may overtake each other.
    pub order: u32,
    /// Communicator of the rank numbers.
    pub communicator: u16,
    /// Kind of message, numbered by the protocol.
    pub kind: u8,
}

/// A packet that an endpoint sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutgoingPacket {
    /// Creation time in ps, at or before its departure. Latency counts from here.
    pub created_ps: u64,
    /// Delay of the creation in ps, if the source was stalled.
    pub delay_ps: u64,
    /// Destination node, different from the source.
    pub destination: NodeId,
    /// NIC of the destination node, from 0.
    pub nic: u8,
    /// Bytes of the message: at least one, at most the payload of a full packet.
    pub size: u32,
    /// Bytes that fill the last flit, for packets without a header. With one, the NIC pads.
    pub padding: u32,
    /// Bytes of the whole message. Some routings depend on it.
    pub message_bytes: u64,
    /// Job of the packet.
    pub job: u16,
    /// Any number for sender and receiver, for example of the message.
    pub message: u32,
    /// Envelope, if any.
    pub envelope: Option<Envelope>,
    /// Whether to call [`Endpoints::on_departure`] for it, if its endpoint subscribes to departures.
    pub notifies_departure: bool,
}

impl OutgoingPacket {
    /// Creates a packet of job 0, without an envelope, to the first NIC of a node.
    pub fn new(created_ps: u64, destination: NodeId, size: u32) -> Self {
        Self {
            created_ps,
            delay_ps: 0,
            destination,
            nic: 0,
            size,
            padding: 0,
            message_bytes: u64::from(size),
            job: 0,
            message: 0,
            envelope: None,
            notifies_departure: false,
        }
    }
}

/// The last byte of a packet left its NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Departure {
    /// Departure time in ps.
    pub at_ps: u64,
    /// Job of the packet.
    pub job: u16,
    /// [`OutgoingPacket::message`] of the packet.
    pub message: u32,
}

/// Times of a packet on its path through injection FIFOs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InjectionTimes {
    /// Creation time in ps.
    pub created_ps: u64,
    /// Time at which a torus FIFO took it from its memory FIFO.
    pub taken_ps: u64,
    /// Time at which the router took it from the torus FIFO.
    pub injected_ps: u64,
}

/// A packet whose last byte reached a node, or a message within a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// Arrival time in ps.
    pub at_ps: u64,
    /// Source node.
    pub source: NodeId,
    /// Bytes.
    pub size: u32,
    /// Job of the packet.
    pub job: u16,
    /// [`OutgoingPacket::message`] of the packet.
    pub message: u32,
    /// Envelope, if any.
    pub envelope: Option<Envelope>,
    /// Times of its injection, if nodes have injection FIFOs.
    pub injection_times: Option<InjectionTimes>,
}

/// Events that an endpoint subscribes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Subscription {
    /// No events: the endpoint only sends, and its packets depend on no event.
    #[default]
    Nothing,
    /// Arrivals and its timer.
    Arrivals,
    /// Arrivals, its timer, and departures of packets that request it. Costs an event for every departing packet.
    Departures,
}

/// Effect of a notification on the offers of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Offer {
    /// The next packet of every NIC of the node and its creation time are unchanged.
    Same,
    /// They may have changed.
    Changed,
}

/// Requests of an endpoint during a notification: the timer of its NIC and messages within its node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Socket {
    now_ps: u64,
    timer_ps: u64,
    deliveries: Vec<Arrival>,
}

impl Socket {
    /// Creates a socket at `now_ps`, with its timer set to `timer_ps`.
    pub fn new(now_ps: u64, timer_ps: Option<u64>) -> Self {
        Self { now_ps, timer_ps: timer_ps.unwrap_or(u64::MAX), deliveries: Vec::new() }
    }

    /// The time of the call, in ps.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Expiry of the timer, in ps.
    pub fn timer_ps(&self) -> Option<u64> {
        (self.timer_ps != u64::MAX).then_some(self.timer_ps)
    }

    /// Sets the timer of the NIC; it has one timer.
    ///
    /// # Panics
    /// If that time has passed.
    pub fn wake_at(&mut self, at_ps: u64) {
        assert!(at_ps >= self.now_ps, "a timer set at {} ps for {at_ps} ps, which is over", self.now_ps);
        self.timer_ps = at_ps;
    }

    /// Stops the timer.
    pub fn stop_timer(&mut self) {
        self.timer_ps = u64::MAX;
    }

    /// Delivers a message within the node: [`Endpoints::on_arrival`] gets it at its time. Messages of one time arrive
    /// in order of delivery.
    ///
    /// # Panics
    /// If that time has passed.
    pub fn deliver(&mut self, arrival: Arrival) {
        assert!(
            arrival.at_ps >= self.now_ps,
            "delivered at {} ps for {} ps, which is over",
            self.now_ps,
            arrival.at_ps
        );
        self.deliveries.push(arrival);
    }

    /// Takes the deliveries since the last call.
    pub fn take_deliveries(&mut self) -> Vec<Arrival> {
        std::mem::take(&mut self.deliveries)
    }

    /// Prepares the next call.
    pub(crate) fn turn_to(&mut self, now_ps: u64, timer_ps: u64) {
        (self.now_ps, self.timer_ps) = (now_ps, timer_ps);
    }

    pub(crate) fn has_deliveries(&self) -> bool {
        !self.deliveries.is_empty()
    }
}

/// Endpoints of a range of NICs. Their [`State`] is what rebuilt endpoints need to resume.
pub trait Endpoints: State + Send {
    /// Creation time of the next packet of `nic` in ps; `None` if no packet is known. The answer may change only
    /// through [`Self::take`] or, for an endpoint with a subscription, a call that returns [`Offer::Changed`].
    fn next_created_ps(&mut self, nic: u32) -> Option<u64>;

    /// Takes that packet, whose head leaves at `leaves_ps`. Without a subscription to departures, the call may come
    /// after that time, but before any later notification.
    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket;

    /// As [`Self::next_created_ps`] among the packets in a traffic class, for endpoints with packets in several.
    fn next_created_in(&mut self, nic: u32, class: u8) -> Option<u64> {
        let _ = class;
        self.next_created_ps(nic)
    }

    /// Takes that packet, as [`Self::take`] does.
    fn take_in(&mut self, nic: u32, class: u8, leaves_ps: u64) -> OutgoingPacket {
        let _ = class;
        self.take(nic, leaves_ps)
    }

    /// Handles that the packet of `job` that was just taken did not leave: a congestion control holds it.
    fn hold(&mut self, nic: u32, job: u16) {
        let _ = (nic, job);
    }

    /// Handles that a held packet of `job` leaves at `leaves_ps`.
    fn release(&mut self, nic: u32, job: u16, leaves_ps: u64) {
        let _ = (nic, job, leaves_ps);
    }

    /// Events that it subscribes to; asked once, before the run.
    fn subscription(&self, nic: u32) -> Subscription {
        let _ = nic;
        Subscription::Nothing
    }

    /// Whether taking a packet at one NIC of a node may change the offers of its other NICs without a notification.
    fn has_coupled_offers(&self) -> bool {
        false
    }

    /// Starts the run. Called first, for endpoints with a subscription. Offers are asked for afterwards.
    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        let _ = (nic, socket);
    }

    /// Handles the departure of a packet that requested it.
    fn on_departure(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        let _ = (nic, departure, socket);
        Offer::Same
    }

    /// Handles the arrival of a packet, or of a message within the node.
    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let _ = (nic, arrival, socket);
        Offer::Same
    }

    /// Handles the expired timer.
    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        let _ = (nic, socket);
        Offer::Same
    }

    /// Whether work is left before a run is complete: a packet created before `before_ps` (the end of the
    /// measurement), a message, or an unfinished program.
    fn has_work(&self, before_ps: u64) -> bool;

    /// Applies the load steps of the job after its state was loaded. Returns whether the next packet of `nic` may
    /// have changed.
    fn apply_load_steps(&mut self, _nic: u32) -> bool {
        false
    }

    /// Whether any endpoint that the run waits for will act without an incoming packet: it has packets to send, or a
    /// timer after `now_ps`. If none will and no packet is in flight, unfinished work never ends.
    fn will_act(&self, now_ps: u64) -> bool {
        let _ = now_ps;
        self.has_work(0)
    }

    /// How far the ranks are in the loops of their programs. `None` if the endpoints have no such loop.
    fn loop_progress(&self) -> Option<LoopProgress> {
        None
    }

    /// Adds the state to a snapshot.
    fn snapshot(&self, into: &mut Snapshot) {
        let _ = into;
    }

    /// Adds the number of a packet in flight ([`OutgoingPacket::message`]) to a snapshot, and its envelope.
    fn snapshot_message(&self, packet: &PacketInFlight, into: &mut Snapshot) {
        let PacketInFlight { message, .. } = packet;
        into.put(&message);
    }

    /// Adds an envelope in flight to a snapshot.
    fn snapshot_envelope(&self, envelope: Option<&Envelope>, into: &mut Snapshot) {
        into.put(&envelope);
    }

    /// The sums of the records so far, for [`Self::skip`].
    fn record_sums(&self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// Skips iterations of the loops. `from` and `to` are the sums of the records at the ends of the iterations that
    /// are repeated.
    fn skip(&mut self, skipped: &SkippedIterations, from: &dyn Any, to: &dyn Any) {
        let _ = (skipped, from, to);
    }

    /// Approximate memory.
    fn memory_bytes(&self) -> usize {
        0
    }

    /// Ends the run and returns the unfinished endpoints; a job that the run does not wait for reports its endpoints
    /// only if none of them will act. A program passes on its records here. `end_ps` is `u64::MAX` if nothing can happen any
    /// more.
    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        let _ = end_ps;
        Vec::new()
    }
}

/// A program for the NICs of a machine.
pub trait Program: Send + Sync {
    /// Creates the endpoints of `nics`, a part of the machine, for the numbered `jobs` of this program.
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints>;

    /// Whether its endpoints offer packets by traffic class ([`Endpoints::next_created_in`]). Otherwise each class has
    /// endpoints of its own, for the jobs in it.
    fn offers_by_class(&self) -> bool {
        false
    }

    /// Whether a job ends, so that a run waits for it. Other jobs continue until all finite jobs have ended.
    fn is_finite(&self, job: u16) -> bool {
        let _ = job;
        true
    }

    /// Takes the records of its endpoints in this process after a run, for [`Self::import_records`] in another
    /// process.
    fn export_records(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Adds the records of the same program in another process.
    ///
    /// # Errors
    /// The bytes are no records of this program.
    fn import_records(&self, handed: &[u8]) -> Result<(), DecodeError> {
        Reader::new(handed).end()
    }
}
