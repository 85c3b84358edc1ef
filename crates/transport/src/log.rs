//! Record of each message, written where things happen: at its sender, at NICs, at its receiver.
//!
//! A message carries none of this. The entries of a message are joined by their order:
//!
//! | entry | in the order of |
//! |---|---|
//! | send, injection | sending, for each pair of ranks: a NIC is first in, first out, and messages on several rails are numbered |
//! | delivery with data, or on the node | the same, for these messages |
//! | match | sending, for each pair, communicator and tag: messages do not overtake, with or without wildcards |
//! | delivery of rendezvous data | matching, for each pair: get requests and their data do not overtake, or are numbered |
//!
//! One part of the machine writes all entries of one kind and pair. So their order is the order of time, however the
//! machine is divided.

use crate::matching::Label;
use crate::wire::MessageKind;
use odonata_declare::words;
use odonata_packet::{Envelope, InjectionTimes};
use odonata_programs::expansion::{message_context, MessageContext};
use odonata_units::{Bytes, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

words! {
    /// Protocol of a message.
    #[derive(Serialize, Deserialize)]
    pub enum Protocol {
        Eager = "eager": "sent at once, with its data",
        Rendezvous = "rendezvous": "header first, data when the receiver requests them",
        OnNode = "on-node": "between ranks of one node, without a NIC",
    }
}

/// A received message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRecord {
    /// Its job.
    pub job: u16,
    /// Sending rank.
    pub source: u32,
    /// Receiving rank.
    pub destination: u32,
    /// Number of the message between these two ranks, in sending order.
    pub number: u32,
    /// Communicator, and tag or number of the collective.
    pub context: MessageContext,
    /// Size.
    pub bytes: Bytes,
    /// Protocol.
    pub protocol: Protocol,
    /// Time when the sender started to send it.
    pub created: Time,
    /// Time when its first packet (the header of a rendezvous) left the NIC, or when the host handed it over on the
    /// node.
    pub injected: Time,
    /// Time when its last byte reached the receiver's NIC, or when it was handed over on the node.
    pub delivered: Time,
    /// Time when it matched its receive.
    pub matched: Time,
    /// Times of the packet that completed the data in the injection FIFOs. `None` without injection FIFOs.
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

/// Delivery of the last packet, or of a message on the node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DeliveryNote {
    at_ps: u64,
    injection_times: Option<InjectionTimes>,
}

/// Entries recorded by some ranks.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct Log {
    sends: Vec<(Pair, SendNote)>,
    /// With the number of the message in the order of dispatch.
    injections: Vec<(Pair, u32, u64)>,
    deliveries: Vec<(Pair, DeliveryNote)>,
    matches: Vec<(Pair, MatchNote)>,
    data_deliveries: Vec<(Pair, u32, DeliveryNote)>,
}

impl Log {
    /// Records the start of a send.
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

    /// Records that the first packet leaves, or that the message is handed over on its node.
    #[cold]
    pub(crate) fn record_injection(&mut self, job: u16, message: &Envelope, at_ps: u64) {
        if matches!(
            MessageKind::from_code(message.kind),
            MessageKind::Eager | MessageKind::RendezvousHeader | MessageKind::OnNode
        ) {
            self.injections.push((pair(job, message), message.order, at_ps));
        }
    }

    /// Records that the last packet arrived, or that the message was handed over on its node.
    #[cold]
    pub(crate) fn record_delivery(
        &mut self,
        job: u16,
        message: &Envelope,
        at_ps: u64,
        injection_times: Option<InjectionTimes>,
    ) {
        let come = DeliveryNote { at_ps, injection_times };
        match MessageKind::from_code(message.kind) {
            MessageKind::Eager | MessageKind::OnNode => self.deliveries.push((pair(job, message), come)),
            MessageKind::Data => self.data_deliveries.push((pair(job, message), message.order, come)),
            _ => {}
        }
    }

    /// Records that a message matched a receive of rank `destination`.
    #[cold]
    pub(crate) fn record_match(&mut self, job: u16, label: &Label, destination: u32, is_rendezvous: bool, at_ps: u64) {
        let Label { communicator, source, tag } = *label;
        self.matches.push(((job, source, destination), MatchNote { communicator, tag, is_rendezvous, at_ps }));
    }

    /// Appends the entries of another part.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.sends.append(&mut other.sends);
        self.injections.append(&mut other.injections);
        self.deliveries.append(&mut other.deliveries);
        self.matches.append(&mut other.matches);
        self.data_deliveries.append(&mut other.data_deliveries);
    }

    /// Received messages, by job, source, destination and number.
    pub(crate) fn messages(self) -> Vec<MessageRecord> {
        let mut injections = by_pair(in_order(self.injections));
        let mut deliveries = by_pair(self.deliveries);
        let mut data_deliveries = by_pair(in_order(self.data_deliveries));
        let mut matches: BTreeMap<Pair, BTreeMap<(u16, u32), VecDeque<_>>> = BTreeMap::new();
        for (pair, one) in self.matches {
            // Data are matched in the order of matching, whatever their tags.
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

/// Sorts entries by pair and message number. Entries without numbers keep their order.
fn in_order<T>(mut notes: Vec<(Pair, u32, T)>) -> Vec<(Pair, T)> {
    notes.sort_by_key(|(pair, order, _)| (*pair, *order));
    notes.into_iter().map(|(pair, _, note)| (pair, note)).collect()
}

/// Entries by pair, in order.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::held_by;

    #[test]
    fn memory_is_what_the_lists_hold() {
        let pair = (0, 1, 2);
        let sent = SendNote { communicator: 0, tag: 0, bytes: 8, protocol: Protocol::Eager, at_ps: 0 };
        let matched = MatchNote { communicator: 0, tag: 0, is_rendezvous: false, at_ps: 0 };
        let come = DeliveryNote { at_ps: 0, injection_times: None };
        for lengths in
            [[40, 0, 0, 0, 0], [0, 50, 0, 0, 0], [0, 0, 60, 0, 0], [0, 0, 0, 70, 0], [0, 0, 0, 0, 80], [9, 8, 7, 6, 5]]
        {
            let (log, held) = held_by(|| Log {
                sends: vec![(pair, sent); lengths[0]],
                injections: vec![(pair, 0, 0); lengths[1]],
                deliveries: vec![(pair, come); lengths[2]],
                matches: vec![(pair, matched); lengths[3]],
                data_deliveries: vec![(pair, 0, come); lengths[4]],
            });
            assert_eq!(log.memory_bytes(), held);
        }
    }
}
