//! Reordering of messages on several rails. Joins the parts of a message, and restores the sending order between two
//! ranks, which MPI matching requires.

use crate::inbox::InboundMessage;
use odonata_packet::InjectionTimes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A message at the NICs of its node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DeliveredMessage {
    pub(crate) message: InboundMessage,
    /// Arrival of its last byte.
    pub(crate) at_ps: u64,
    /// Injection FIFO times of the packet with that byte.
    pub(crate) injection_times: Option<InjectionTimes>,
}

/// Job, sending and receiving rank.
type Pair = (u16, u32, u32);

#[derive(Default, Debug)]
pub(crate) struct ReorderBuffer {
    /// Number of parts received so far of incomplete messages, by kind and order.
    parts: BTreeMap<(Pair, u8, u32), u32>,
    /// Number of the next message, and messages that arrived early.
    next: BTreeMap<Pair, u32>,
    early: BTreeMap<(Pair, u32), DeliveredMessage>,
}

odonata_checkpoint::state!(ReorderBuffer { value: parts, next, early });

impl ReorderBuffer {
    /// Accepts one of `parts` parts of a message. Appends the messages that can be delivered now, in order if
    /// `in_order`.
    pub(crate) fn take(
        &mut self,
        mut come: DeliveredMessage,
        parts: u32,
        in_order: bool,
        out: &mut Vec<DeliveredMessage>,
    ) {
        let envelope = come.message.envelope;
        let pair = (come.message.job, envelope.source, envelope.destination);
        if parts > 1 {
            let place = (pair, envelope.kind, envelope.order);
            let there = self.parts.entry(place).or_default();
            *there += 1;
            if *there < parts {
                return;
            }
            self.parts.remove(&place);
            come.message.is_single_packet = false;
        }
        if !in_order {
            out.push(come);
            return;
        }
        let next = self.next.entry(pair).or_default();
        if envelope.order != *next {
            self.early.insert((pair, envelope.order), come);
            return;
        }
        let mut turn = Some(come);
        while let Some(come) = turn {
            out.push(come);
            *next = next.wrapping_add(1);
            turn = self.early.remove(&(pair, *next));
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.parts.len() * size_of::<((Pair, u8, u32), u32)>()
            + self.next.len() * size_of::<(Pair, u32)>()
            + self.early.len() * size_of::<((Pair, u32), DeliveredMessage)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::held_by;
    use odonata_packet::Envelope;

    fn come(order: u32, at_ps: u64) -> DeliveredMessage {
        let envelope = Envelope { order, source: 1, destination: 2, ..Envelope::default() };
        DeliveredMessage {
            message: InboundMessage { job: 0, envelope, is_single_packet: true },
            at_ps,
            injection_times: None,
        }
    }

    /// Message 1 is complete before message 0. It waits, and keeps its own time.
    #[test]
    fn messages_are_delivered_in_send_order() {
        let (mut reorder, mut out) = (ReorderBuffer::default(), Vec::new());
        reorder.take(come(0, 10), 2, true, &mut out);
        reorder.take(come(1, 20), 1, true, &mut out);
        assert!(out.is_empty());
        reorder.take(come(0, 30), 2, true, &mut out);
        let delivered: Vec<_> =
            out.iter().map(|come| (come.message.envelope.order, come.at_ps, come.message.is_single_packet)).collect();
        assert_eq!(delivered, [(0, 30, false), (1, 20, true)]);
        assert_eq!(reorder.memory_bytes(), size_of::<(Pair, u32)>(), "nothing is kept but what is next");
    }

    /// Nodes of a tree are half full at least.
    #[test]
    fn memory_is_about_what_the_maps_hold() {
        let early = |order| come(order + 1, 10);
        for (parts, next, waiting) in [(1_000, 0, 0), (0, 1_000, 0), (0, 0, 1_000)] {
            let (reorder, held) = held_by(|| ReorderBuffer {
                parts: (0..parts).map(|order| (((0, 1, 2), 0, order), 1)).collect(),
                next: (0..next).map(|rank| ((0, rank, 2), 1)).collect(),
                early: (0..waiting).map(|order| (((0, 1, 2), order), early(order))).collect(),
            });
            let memory = reorder.memory_bytes();
            assert!(memory <= held && held <= 2 * memory + 1_000, "{memory} of {held}");
        }
    }

    /// Rendezvous data go to their receive in any order.
    #[test]
    fn data_waits_only_for_its_own_parts() {
        let (mut reorder, mut out) = (ReorderBuffer::default(), Vec::new());
        reorder.take(come(1, 10), 2, false, &mut out);
        reorder.take(come(0, 20), 2, false, &mut out);
        reorder.take(come(1, 30), 2, false, &mut out);
        assert_eq!(out.iter().map(|come| come.message.envelope.order).collect::<Vec<_>>(), [1]);
    }
}
