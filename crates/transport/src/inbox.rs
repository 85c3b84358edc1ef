//! What arrives at an interface: packets are put back in the order in which they were sent, and messages together.

use crate::outbox::{NicPairs, SEQUENCE_BITS};
use crate::wire::PacketSizes;
use odonata_packet::{Arrival, Envelope};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message that has come in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct InboundMessage {
    pub(crate) job: u16,
    pub(crate) envelope: Envelope,
    /// Whether it was a single packet.
    pub(crate) is_single_packet: bool,
}

/// What there is to know of a packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PacketNote {
    job: u16,
    /// Whether the run waits for its job.
    is_awaited: bool,
    envelope: Option<Envelope>,
}

/// What comes from one other interface.
#[derive(Default, Debug, Serialize, Deserialize)]
struct Source {
    /// Number of the packet that is next in order.
    next: u32,
    /// Those that came before their turn, from the next one on: whether they are there, and what they carry.
    early: VecDeque<Option<PacketNote>>,
    /// The message that is coming, and packets of it that are not there.
    current: Option<(InboundMessage, u64)>,
}

/// Room for so many packets is kept for the next that come early. Of long messages over several cables a hundred may come
/// before their turn, now and then, from each of many sources.
const EARLY_CAPACITY: usize = 8;

#[derive(Default, Debug)]
pub(crate) struct Inbox {
    sources: NicPairs<Source>,
    /// Packets that came before their turn, of jobs that the run waits for: those before them may be of others, which it does not wait for.
    early_awaited: usize,
}

odonata_checkpoint::state!(Inbox { value: early_awaited; nested: sources });

impl Inbox {
    /// A packet arrived, of a job that the run waits for or not; appends the messages that are complete with it. Of a message it is asked
    /// how many bytes come here.
    pub(crate) fn receive(
        &mut self,
        (arrival, is_awaited): (&Arrival, bool),
        sizes: PacketSizes,
        wire_of: &dyn Fn(u16, &Envelope) -> u64,
        out: &mut Vec<InboundMessage>,
    ) {
        let number = arrival.message & ((1 << SEQUENCE_BITS) - 1);
        let place = self.sources.index_of(arrival.source, (arrival.message >> SEQUENCE_BITS) as u8);
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

    /// Whether packets wait for their turn, of jobs that the run waits for.
    pub(crate) fn has_early_packets(&self) -> bool {
        self.early_awaited > 0
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let early = self.sources.iter().map(|source| source.early.capacity() * size_of::<Option<PacketNote>>());
        self.sources.memory_bytes() + early.sum::<usize>()
    }
}

impl Source {
    /// The packet whose turn it is.
    fn take(
        &mut self,
        PacketNote { job, envelope, .. }: PacketNote,
        sizes: PacketSizes,
        wire_of: &dyn Fn(u16, &Envelope) -> u64,
        out: &mut Vec<InboundMessage>,
    ) {
        self.next = (self.next + 1) & ((1 << SEQUENCE_BITS) - 1);
        let Some(envelope) = envelope else {
            let (message, left) = self.current.as_mut().expect("a packet of a message whose first one came");
            *left -= 1;
            if *left == 0 {
                out.push(*message);
                self.current = None;
            }
            return;
        };
        let packets = sizes.packets(wire_of(job, &envelope));
        if packets == 1 {
            // A get may come between the packets of another message.
            out.push(InboundMessage { job, envelope, is_single_packet: true });
        } else {
            assert!(self.current.is_none(), "a message begins before another has come: {envelope:?}");
            self.current = Some((InboundMessage { job, envelope, is_single_packet: false }, packets - 1));
        }
    }
}
