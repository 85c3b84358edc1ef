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
use crate::wire::MessageKind;
use odonata_declare::words;
use odonata_packet::{Envelope, InjectionTimes};
use odonata_units::{Bytes, Time};
use odonata_workload::expansion::{message_context, MessageContext};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

words! {
    /// How a message goes to its receiver.
    #[derive(Serialize, Deserialize)]
    pub enum Protocol {
        Eager = "eager": "at once, with its data",
        Rendezvous = "rendezvous": "announced, and sent when the receiver asks for it",
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
    pub context: MessageContext,
    /// Size.
    pub bytes: Bytes,
    /// How it went.
    pub protocol: Protocol,
    /// When its sender began to send it.
    pub created: Time,
    /// When its first packet, the announcement if it is long, left the interface, or the host handed it over on the node.
    pub injected: Time,
    /// When its last byte was at the interface of its receiver, or it was handed over on the node.
    pub delivered: Time,
    /// When it and its receive had found each other.
    pub matched: Time,
    /// How the packet with which its data was complete got into the network, where nodes have injection FIFOs and it went through them.
    pub injection_times: Option<InjectionTimes>,
}

/// Job, sending and receiving rank.
type Pair = (u16, u32, u32);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SendNote {
    communicator: u16,
    tag: u32,
    bytes: u64,
    protocol: Protocol,
    at_ps: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct MatchNote {
    communicator: u16,
    tag: u32,
    is_rendezvous: bool,
    at_ps: u64,
}

/// The last packet of a message has come, or the message was handed over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DeliveryNote {
    at_ps: u64,
    injection_times: Option<InjectionTimes>,
}

/// The notes of some ranks.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct Log {
    sends: Vec<(Pair, SendNote)>,
    /// With the order of the message in which interfaces got it.
    injections: Vec<(Pair, u32, u64)>,
    deliveries: Vec<(Pair, DeliveryNote)>,
    matches: Vec<(Pair, MatchNote)>,
    data_deliveries: Vec<(Pair, u32, DeliveryNote)>,
}

impl Log {
    /// A rank begins to send.
    #[cold]
    pub(crate) fn record_send(&mut self, job: u16, message: &Envelope, kind: MessageKind, at_ps: u64) {
        let protocol = match kind {
            MessageKind::OnNode => Protocol::OnNode,
            MessageKind::RendezvousHeader => Protocol::Rendezvous,
            _ => Protocol::Eager,
        };
        let (communicator, tag) = (message.communicator, message.tag);
        self.sends.push((pair(job, message), SendNote { communicator, tag, bytes: message.bytes, protocol, at_ps }));
    }

    /// The first packet of a message leaves, or it is handed over on its node.
    #[cold]
    pub(crate) fn record_injection(&mut self, job: u16, message: &Envelope, at_ps: u64) {
        if matches!(
            MessageKind::from_code(message.kind),
            MessageKind::Eager | MessageKind::RendezvousHeader | MessageKind::OnNode
        ) {
            self.injections.push((pair(job, message), message.order, at_ps));
        }
    }

    /// The last packet of a message has come, or it was handed over on its node.
    #[cold]
    pub(crate) fn record_delivery(&mut self, job: u16, message: &Envelope, at_ps: u64, injection_times: Option<InjectionTimes>) {
        let come = DeliveryNote { at_ps, injection_times };
        match MessageKind::from_code(message.kind) {
            MessageKind::Eager | MessageKind::OnNode => self.deliveries.push((pair(job, message), come)),
            MessageKind::Data => self.data_deliveries.push((pair(job, message), message.order, come)),
            _ => {}
        }
    }

    /// A message and a receive of rank `destination` have found each other.
    #[cold]
    pub(crate) fn record_match(&mut self, job: u16, label: &Label, destination: u32, is_rendezvous: bool, at_ps: u64) {
        let Label { communicator, source, tag } = *label;
        self.matches.push(((job, source, destination), MatchNote { communicator, tag, is_rendezvous, at_ps }));
    }

    /// Takes over what was noted elsewhere.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.sends.append(&mut other.sends);
        self.injections.append(&mut other.injections);
        self.deliveries.append(&mut other.deliveries);
        self.matches.append(&mut other.matches);
        self.data_deliveries.append(&mut other.data_deliveries);
    }

    /// The messages that were received, by job, source, destination and number.
    pub(crate) fn messages(self) -> Vec<MessageRecord> {
        let mut injections = by_pair(in_order(self.injections));
        let mut deliveries = by_pair(self.deliveries);
        let mut data_deliveries = by_pair(in_order(self.data_deliveries));
        let mut matches: BTreeMap<Pair, BTreeMap<(u16, u32), VecDeque<_>>> = BTreeMap::new();
        for (pair, one) in self.matches {
            // In the order of matching, whatever the tags.
            let data = one.is_rendezvous.then(|| next(&mut data_deliveries, pair)).flatten();
            let of_pair = matches.entry(pair).or_default();
            of_pair.entry((one.communicator, one.tag)).or_default().push_back((one.at_ps, data));
        }
        let mut sends = self.sends;
        sends.sort_by_key(|(pair, _)| *pair);
        let (mut records, mut last, mut number) = (Vec::new(), None, 0);
        for (pair, one) in sends {
            number = if last == Some(pair) { number + 1 } else { 0 };
            last = Some(pair);
            let injected_ps = next(&mut injections, pair);
            let deliveries = if one.protocol == Protocol::Rendezvous { None } else { next(&mut deliveries, pair) };
            let of_tag = matches.get_mut(&pair).and_then(|of_pair| of_pair.get_mut(&(one.communicator, one.tag)));
            let Some((matched_ps, data)) = of_tag.and_then(VecDeque::pop_front) else { continue };
            let (Some(injected_ps), Some(come)) = (injected_ps, deliveries.or(data)) else { continue };
            let (job, source, destination) = pair;
            records.push(MessageRecord {
                job,
                source,
                destination,
                number,
                context: message_context(one.communicator, one.tag),
                bytes: Bytes(one.bytes),
                protocol: one.protocol,
                created: Time(one.at_ps),
                injected: Time(injected_ps),
                delivered: Time(come.at_ps),
                matched: Time(matched_ps),
                injection_times: come.injection_times,
            });
        }
        records
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.sends.capacity() * size_of::<(Pair, SendNote)>()
            + self.matches.capacity() * size_of::<(Pair, MatchNote)>()
            + self.injections.capacity() * size_of::<(Pair, u32, u64)>()
            + self.deliveries.capacity() * size_of::<(Pair, DeliveryNote)>()
            + self.data_deliveries.capacity() * size_of::<(Pair, u32, DeliveryNote)>()
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
