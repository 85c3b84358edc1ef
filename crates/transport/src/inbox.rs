//! What arrives at an interface: packets are put back in the order in which they were sent, and messages together.

use crate::outbox::{Pairs, NUMBER_BITS};
use crate::wire::Cut;
use odonata_packet::{Arrival, Envelope};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message that has come in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Inbound {
    pub(crate) job: u16,
    pub(crate) envelope: Envelope,
    /// Whether it was a single packet.
    pub(crate) alone: bool,
}

/// What there is to know of a packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Packet {
    job: u16,
    /// Whether the run waits for its job.
    awaited: bool,
    envelope: Option<Envelope>,
}

/// What comes from one other interface.
#[derive(Default, Debug, Serialize, Deserialize)]
struct Source {
    /// Number of the packet that is next in order.
    next: u32,
    /// Those that came before their turn, from the next one on: whether they are there, and what they carry.
    early: VecDeque<Option<Packet>>,
    /// The message that is coming, and packets of it that are not there.
    current: Option<(Inbound, u64)>,
}

/// Room for so many packets is kept for the next that come early. Of long messages over several cables a hundred may come
/// before their turn, now and then, from each of many sources.
const KEPT: usize = 8;

#[derive(Default, Debug)]
pub(crate) struct Inbox {
    sources: Pairs<Source>,
    /// Packets that came before their turn, of jobs that the run waits for: those before them may be of others, which it does not wait for.
    held: usize,
}

odonata_checkpoint::state!(Inbox { whole: held; inside: sources });

impl Inbox {
    /// A packet arrived, of a job that the run waits for or not; appends the messages that are complete with it. Of a message it is asked
    /// how many bytes come here.
    pub(crate) fn arrived(
        &mut self,
        (arrival, awaited): (&Arrival, bool),
        cut: Cut,
        wire_of: &dyn Fn(u16, &Envelope) -> u64,
        out: &mut Vec<Inbound>,
    ) {
        let number = arrival.message & ((1 << NUMBER_BITS) - 1);
        let place = self.sources.place(arrival.source, (arrival.message >> NUMBER_BITS) as u8);
        let source = self.sources.at(place);
        let ahead = (number.wrapping_sub(source.next) & ((1 << NUMBER_BITS) - 1)) as usize;
        let packet = Packet { job: arrival.job, awaited, envelope: arrival.envelope };
        if ahead > 0 {
            if source.early.len() <= ahead {
                source.early.resize(ahead + 1, None);
            }
            source.early[ahead] = Some(packet);
            self.held += usize::from(awaited);
            return;
        }
        source.take(packet, cut, wire_of, out);
        source.early.pop_front();
        while let Some(Some(packet)) = source.early.front().copied() {
            self.held -= usize::from(packet.awaited);
            source.take(packet, cut, wire_of, out);
            source.early.pop_front();
        }
        if source.early.is_empty() && source.early.capacity() > KEPT {
            source.early = VecDeque::new();
        }
    }

    /// Whether packets wait for their turn, of jobs that the run waits for.
    pub(crate) fn holds(&self) -> bool {
        self.held > 0
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let early = self.sources.iter().map(|source| source.early.capacity() * size_of::<Option<Packet>>());
        self.sources.memory_bytes() + early.sum::<usize>()
    }
}

impl Source {
    /// The packet whose turn it is.
    fn take(
        &mut self,
        Packet { job, envelope, .. }: Packet,
        cut: Cut,
        wire_of: &dyn Fn(u16, &Envelope) -> u64,
        out: &mut Vec<Inbound>,
    ) {
        self.next = (self.next + 1) & ((1 << NUMBER_BITS) - 1);
        let Some(envelope) = envelope else {
            let (message, left) = self.current.as_mut().expect("a packet of a message whose first one came");
            *left -= 1;
            if *left == 0 {
                out.push(*message);
                self.current = None;
            }
            return;
        };
        let packets = cut.packets(wire_of(job, &envelope));
        if packets == 1 {
            // A get may come between the packets of another message.
            out.push(Inbound { job, envelope, alone: true });
        } else {
            assert!(self.current.is_none(), "a message begins before another has come: {envelope:?}");
            self.current = Some((Inbound { job, envelope, alone: false }, packets - 1));
        }
    }
}
