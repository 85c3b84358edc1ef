//! Messages and counters relative to now, for snapshots (`odonata_checkpoint::Snapshot`).

use crate::matching::Label;
use crate::wire::MessageKind;
use odonata_checkpoint::Snapshot;
use odonata_packet::Envelope;
use odonata_programs::expansion::collective_of_tag;
use odonata_programs::{ANY, COLLECTIVES};

/// Class of the numbers of a rank's messages.
pub(crate) const MESSAGES: &str = "messages";

/// A NIC of the machine: the node, and its number on the node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NicPlace {
    pub(crate) node: u64,
    pub(crate) nic: u16,
}

/// Adds the sequence number of a packet between two outboxes; the receiving NIC has the number of its first.
pub(crate) fn put_sequence(from: NicPlace, to: NicPlace, number: u32, into: &mut Snapshot) {
    let owner = |NicPlace { node, nic }: NicPlace| node << 16 | u64::from(nic);
    into.counter("sequence numbers", (owner(from), owner(to)), number.into());
}

/// Adds a tag of a message that `rank` receives.
fn put_tag(rank: u32, communicator: u16, tag: u32, into: &mut Snapshot) {
    into.put(&communicator);
    match collective_of_tag(communicator, tag).filter(|_| tag != ANY) {
        Some((number, rest)) => {
            // The communicator without the mark of collectives.
            let communicator = u64::from(communicator & !(1 << 15));
            into.counter(COLLECTIVES, (rank.into(), communicator), number.into());
            into.put(&rest);
        }
        None => into.put(&tag),
    }
}

/// Adds what a receive or a message of `rank` is matched by.
pub(crate) fn put_label(rank: u32, Label { communicator, source, tag }: Label, into: &mut Snapshot) {
    into.put(&source);
    put_tag(rank, communicator, tag, into);
}

/// Adds an envelope.
pub(crate) fn put_envelope(envelope: Option<&Envelope>, into: &mut Snapshot) {
    into.put(&envelope.is_some());
    let Some(Envelope { bytes, tag, sequence, source, destination, order, communicator, kind }) = envelope else {
        return;
    };
    into.put(&(bytes, sequence, source, destination, order, kind));
    match MessageKind::from_code(*kind) {
        MessageKind::Get => into.counter(MESSAGES, ((*source).into(), 0), (*tag).into()),
        _ => put_tag(*destination, *communicator, *tag, into),
    }
}
