//! What became of each message, noted where it happens: at its sender, at interfaces, at its receiver.
//!
//! Nothing of this travels with a message. The notes of a message are found again by order:
//!
//! | note | in the order of |
//! |---|---|
//! | posted, started | sending, for each pair of ranks: an interface sends first in, first out, and messages on several rails have numbers |
//! | arrived, with its data or on the node | the same, of those messages |
//! | matched | sending, for each pair, communicator and tag: messages do not overtake (the wildcards of receives do not change this) |
//! | data arrived | matching, for each pair: gets and their answers do not overtake either, or have numbers, too |
//!
//! All notes of one kind about one pair come from one part of the machine, so their order is that of time however it is divided.

use crate::matching::Label;
use crate::wire::Wire;
use odonata_declare::words;
use odonata_packet::{Envelope, Passage};
use odonata_units::{Bytes, Time};
use odonata_workload::expanded::{of_collective, OfCollective};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

words! {
    /// How a message goes to its receiver.
    #[derive(Serialize, Deserialize)]
    pub enum Protocol {
        Eager = "eager": "at once, with its data",
        Long = "long": "announced, and sent when the receiver asks for it",
        OnNode = "on-node": "between ranks of one node, by no interface",
    }
}

/// A message that was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRecord {
    /// Its job.
    pub job: u16,
    /// Rank that sent it.
    pub source: u32,
    /// Rank that received it.
    pub destination: u32,
    /// Its number among those from the one to the other, in the order of sending.
    pub number: u32,
    /// Communicator, and tag or number of the collective.
    pub of: OfCollective,
    /// Size.
    pub bytes: Bytes,
    /// How it went.
    pub protocol: Protocol,
    /// When its sender began to send it.
    pub posted: Time,
    /// When its first packet, the announcement if it is long, left the interface, or the host handed it over on the node.
    pub started: Time,
    /// When its last byte was at the interface of its receiver, or it was handed over on the node.
    pub arrived: Time,
    /// When it and its receive had found each other.
    pub matched: Time,
    /// How the packet with which its data was complete got into the network, where nodes have injection FIFOs and it went through them.
    pub passage: Option<Passage>,
}

/// Job, sending and receiving rank.
type Pair = (u16, u32, u32);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Posted {
    communicator: u16,
    tag: u32,
    bytes: u64,
    protocol: Protocol,
    at_ps: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Matched {
    communicator: u16,
    tag: u32,
    long: bool,
    at_ps: u64,
}

/// The last packet of a message has come, or the message was handed over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Come {
    at_ps: u64,
    passage: Option<Passage>,
}

/// The notes of some ranks.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct Log {
    posted: Vec<(Pair, Posted)>,
    /// With the order of the message in which interfaces got it.
    started: Vec<(Pair, u32, u64)>,
    arrived: Vec<(Pair, Come)>,
    matched: Vec<(Pair, Matched)>,
    data_arrived: Vec<(Pair, u32, Come)>,
}

impl Log {
    /// A rank begins to send.
    #[cold]
    pub(crate) fn posted(&mut self, job: u16, message: &Envelope, kind: Wire, at_ps: u64) {
        let protocol = match kind {
            Wire::OnNode => Protocol::OnNode,
            Wire::Announcement => Protocol::Long,
            _ => Protocol::Eager,
        };
        let (communicator, tag) = (message.communicator, message.tag);
        self.posted.push((pair(job, message), Posted { communicator, tag, bytes: message.bytes, protocol, at_ps }));
    }

    /// The first packet of a message leaves, or it is handed over on its node.
    #[cold]
    pub(crate) fn started(&mut self, job: u16, message: &Envelope, at_ps: u64) {
        if matches!(Wire::of(message.kind), Wire::Eager | Wire::Announcement | Wire::OnNode) {
            self.started.push((pair(job, message), message.order, at_ps));
        }
    }

    /// The last packet of a message has come, or it was handed over on its node.
    #[cold]
    pub(crate) fn arrived(&mut self, job: u16, message: &Envelope, at_ps: u64, passage: Option<Passage>) {
        let come = Come { at_ps, passage };
        match Wire::of(message.kind) {
            Wire::Eager | Wire::OnNode => self.arrived.push((pair(job, message), come)),
            Wire::Data => self.data_arrived.push((pair(job, message), message.order, come)),
            _ => {}
        }
    }

    /// A message and a receive of rank `destination` have found each other.
    #[cold]
    pub(crate) fn matched(&mut self, job: u16, label: &Label, destination: u32, long: bool, at_ps: u64) {
        let Label { communicator, source, tag } = *label;
        self.matched.push(((job, source, destination), Matched { communicator, tag, long, at_ps }));
    }

    /// Takes over what was noted elsewhere.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.posted.append(&mut other.posted);
        self.started.append(&mut other.started);
        self.arrived.append(&mut other.arrived);
        self.matched.append(&mut other.matched);
        self.data_arrived.append(&mut other.data_arrived);
    }

    /// The messages that were received, by job, source, destination and number.
    pub(crate) fn messages(self) -> Vec<MessageRecord> {
        let mut started = by_pair(in_order(self.started));
        let mut arrived = by_pair(self.arrived);
        let mut data_arrived = by_pair(in_order(self.data_arrived));
        let mut matched: BTreeMap<Pair, BTreeMap<(u16, u32), VecDeque<_>>> = BTreeMap::new();
        for (pair, one) in self.matched {
            // In the order of matching, whatever the tags.
            let data = one.long.then(|| next(&mut data_arrived, pair)).flatten();
            let of_pair = matched.entry(pair).or_default();
            of_pair.entry((one.communicator, one.tag)).or_default().push_back((one.at_ps, data));
        }
        let mut posted = self.posted;
        posted.sort_by_key(|(pair, _)| *pair);
        let (mut records, mut last, mut number) = (Vec::new(), None, 0);
        for (pair, one) in posted {
            number = if last == Some(pair) { number + 1 } else { 0 };
            last = Some(pair);
            let started_ps = next(&mut started, pair);
            let arrived = if one.protocol == Protocol::Long { None } else { next(&mut arrived, pair) };
            let of_tag = matched.get_mut(&pair).and_then(|of_pair| of_pair.get_mut(&(one.communicator, one.tag)));
            let Some((matched_ps, data)) = of_tag.and_then(VecDeque::pop_front) else { continue };
            let (Some(started_ps), Some(come)) = (started_ps, arrived.or(data)) else { continue };
            let (job, source, destination) = pair;
            records.push(MessageRecord {
                job,
                source,
                destination,
                number,
                of: of_collective(one.communicator, one.tag),
                bytes: Bytes(one.bytes),
                protocol: one.protocol,
                posted: Time(one.at_ps),
                started: Time(started_ps),
                arrived: Time(come.at_ps),
                matched: Time(matched_ps),
                passage: come.passage,
            });
        }
        records
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.posted.capacity() * size_of::<(Pair, Posted)>()
            + self.matched.capacity() * size_of::<(Pair, Matched)>()
            + self.started.capacity() * size_of::<(Pair, u32, u64)>()
            + self.arrived.capacity() * size_of::<(Pair, Come)>()
            + self.data_arrived.capacity() * size_of::<(Pair, u32, Come)>()
    }
}

fn pair(job: u16, message: &Envelope) -> Pair {
    (job, message.source, message.destination)
}

/// By the numbers of messages, where they have some; those without stay as they are.
fn in_order<T>(mut notes: Vec<(Pair, u32, T)>) -> Vec<(Pair, T)> {
    notes.sort_by_key(|(pair, order, _)| (*pair, *order));
    notes.into_iter().map(|(pair, _, note)| (pair, note)).collect()
}

/// What was noted of each pair, in its order.
fn by_pair<T>(notes: Vec<(Pair, T)>) -> BTreeMap<Pair, VecDeque<T>> {
    let mut found: BTreeMap<Pair, VecDeque<T>> = BTreeMap::new();
    for (pair, note) in notes {
        found.entry(pair).or_default().push_back(note);
    }
    found
}

fn next<T>(notes: &mut BTreeMap<Pair, VecDeque<T>>, pair: Pair) -> Option<T> {
    notes.get_mut(&pair)?.pop_front()
}
