//! Receiving side of a NIC: puts packets back in sending order and joins them to messages.

use crate::outbox::{NicPairs, SEQUENCE_BITS};
use crate::relative::{put_envelope, put_sequence, NicPlace};
use crate::wire::PacketSizes;
use odonata_checkpoint::Snapshot;
use odonata_packet::{Arrival, Envelope};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message whose packets have all arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct InboundMessage {
    pub(crate) job: u16,
    pub(crate) envelope: Envelope,
    /// Whether the message was a single packet.
    pub(crate) is_single_packet: bool,
}

/// Properties of a packet that arrived early.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PacketNote {
    job: u16,
    /// Whether the run waits for the packet's job.
    is_awaited: bool,
    envelope: Option<Envelope>,
}

/// State of the packets from one other NIC.
#[derive(Default, Debug, Serialize, Deserialize)]
struct Source {
    /// Sequence number of the next packet.
    next: u32,
    /// Packets that arrived before their turn, starting at `next`. `None` has not arrived.
    early: VecDeque<Option<PacketNote>>,
    /// The message that is arriving, and how many of its packets are missing.
    current: Option<(InboundMessage, u64)>,
}

/// Capacity kept for early packets of a source. Parallel cables occasionally reorder about a hundred packets from each
/// of many sources; a larger value keeps memory for all of them, a smaller one allocates more often.
const EARLY_CAPACITY: usize = 8;

#[derive(Default, Debug)]
pub(crate) struct Inbox {
    sources: NicPairs<Source>,
    /// Early packets of awaited jobs. They may wait for a packet of a job that is not awaited.
    early_awaited: usize,
}

odonata_checkpoint::state!(Inbox { value: early_awaited; nested: sources });

impl Inbox {
    /// Accepts a packet and appends the messages that it completes. `wire_of` returns the bytes of a message that
    /// arrive at this NIC.
    pub(crate) fn receive(
        &mut self,
        arrival: &Arrival,
        is_awaited: bool,
        sizes: PacketSizes,
        wire_of: &dyn Fn(u16, &Envelope) -> u64,
        out: &mut Vec<InboundMessage>,
    ) {
        let number = arrival.message & ((1 << SEQUENCE_BITS) - 1);
        let place = self.sources.index_of(arrival.source, (arrival.message >> SEQUENCE_BITS) as u16);
        let source = self.sources.state_mut(place);
        let ahead = (number.wrapping_sub(source.next) & ((1 << SEQUENCE_BITS) - 1)) as usize;
        let packet = PacketNote { job: arrival.job, is_awaited, envelope: arrival.envelope };
        if ahead > 0 {
            if source.early.len() <= ahead {
                source.early.resize(ahead + 1, None);
            }
            source.early[ahead] = Some(packet);
            self.early_awaited += usize::from(is_awaited);
            return;
        }
        source.take(packet, sizes, wire_of, out);
        source.early.pop_front();
        while let Some(Some(packet)) = source.early.front().copied() {
            self.early_awaited -= usize::from(packet.is_awaited);
            source.take(packet, sizes, wire_of, out);
            source.early.pop_front();
        }
        if source.early.is_empty() && source.early.capacity() > EARLY_CAPACITY {
            source.early = VecDeque::new();
        }
    }

    /// Adds the state to a snapshot. `own` is the node with the number of this NIC on it.
    pub(crate) fn snapshot(&self, own: NicPlace, into: &mut Snapshot) {
        let Self { sources, early_awaited } = self;
        into.put(early_awaited);
        for ((node, nic), Source { next, early, current }) in sources.in_order() {
            put_sequence(NicPlace { node: node.0.into(), nic }, own, *next, into);
            into.put(&(early.len(), current.is_some()));
            for PacketNote { job, is_awaited, envelope } in early.iter().flatten() {
                into.put(&(job, is_awaited));
                put_envelope(envelope.as_ref(), into);
            }
            into.put(&early.iter().map(Option::is_some).collect::<Vec<_>>());
            if let Some((InboundMessage { job, envelope, is_single_packet }, left)) = current {
                into.put(&(job, is_single_packet, left));
                put_envelope(Some(envelope), into);
            }
        }
    }

    /// Whether packets of awaited jobs arrived early and still wait.
    pub(crate) fn has_early_packets(&self) -> bool {
        self.early_awaited > 0
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let early = self.sources.iter().map(|source| source.early.capacity() * size_of::<Option<PacketNote>>());
        self.sources.memory_bytes() + early.sum::<usize>()
    }
}

impl Source {
    /// Accepts the next packet in order.
    fn take(
        &mut self,
        PacketNote { job, envelope, .. }: PacketNote,
        sizes: PacketSizes,
        wire_of: &dyn Fn(u16, &Envelope) -> u64,
        out: &mut Vec<InboundMessage>,
    ) {
        self.next = (self.next + 1) & ((1 << SEQUENCE_BITS) - 1);
        let Some(envelope) = envelope else {
            let (message, left) = self.current.as_mut().expect("the first packet of the message arrived before");
            *left -= 1;
            if *left == 0 {
                out.push(*message);
                self.current = None;
            }
            return;
        };
        let packets = sizes.packets(wire_of(job, &envelope));
        if packets == 1 {
            // A get request may arrive between the packets of another message.
            out.push(InboundMessage { job, envelope, is_single_packet: true });
        } else {
            assert!(self.current.is_none(), "a message starts before the previous one is complete: {envelope:?}");
            self.current = Some((InboundMessage { job, envelope, is_single_packet: false }, packets - 1));
        }
    }
}
