//! Which interface of its node a message takes, and at which one of its target it arrives.
//!
//! | nodes have | interface |
//! |---|---|
//! | one, or several at one router | the sending rank's own, and the receiving rank's own: those of a node take turns |
//! | memory FIFOs ([`odonata_packet::InjectionFifos`]) | the one that is picked for the message; it arrives at the node's first |
//! | rails ([`odonata_workload::rails`]) | the rail or, cut in parts, the rails that the rule says, at both ends |
//!
//! With rails, announcements follow the rule as messages that are not cut; requests and receipts take the rail of the rank that sends them.

use crate::job::RankJob;
use crate::outbox::OutboundMessage;
use crate::wire::MessageKind;
use odonata_packet::{Envelope, Nics, MemoryFifos};
use odonata_units::{Bytes, NodeId, RankId};
use odonata_workload::rails::JobRails;
use std::collections::BTreeMap;

/// Job, sending and receiving rank, and whether it is data that was asked for.
type MessageStream = (u16, u32, u32, bool);

#[derive(Debug)]
pub(crate) struct NicChoice {
    /// Interface that each rank of each job uses on its node, where it has one of its own.
    own: Vec<Vec<u8>>,
    /// Where interfaces are memory FIFOs: which of them a message takes.
    fifos: Option<MemoryFifos>,
    /// Messages so far that may overtake each other.
    sent: BTreeMap<MessageStream, u32>,
}

odonata_checkpoint::state!(NicChoice { value: sent; nested: fifos; rebuilt: own });

impl NicChoice {
    pub(crate) fn new(jobs: &[RankJob], interfaces: &Nics<'_>) -> Self {
        let fifos = interfaces.memory_fifos();
        let arriving = if fifos.is_some() { 1 } else { interfaces.per_node() };
        let own = jobs.iter().map(|job| if job.rails.is_some() { Vec::new() } else { nics_by_turn(job, arriving) });
        Self { own: own.collect(), fifos, sent: BTreeMap::new() }
    }

    /// Hands a message of job `j`, number `number` among those of its rank, to interfaces of its node `from`.
    pub(crate) fn dispatch(
        &mut self,
        (j, job): (usize, &RankJob),
        from: NodeId,
        mut message: OutboundMessage,
        number: u64,
        mut give: impl FnMut(usize, OutboundMessage),
    ) {
        let Envelope { source, destination, bytes, .. } = message.envelope;
        if let Some(rails) = &job.rails {
            let kind = MessageKind::from_code(message.envelope.kind);
            if rails.may_overtake() && kind.is_ordered() {
                let stream = (job.job, source, destination, kind == MessageKind::Data);
                let next = self.sent.entry(stream).or_default();
                message.envelope.order = *next;
                *next = next.wrapping_add(1);
            }
            let mut give = |rail: u32, wire: u64| {
                give(rail as usize, OutboundMessage { interface: rail as u8, wire, ..message });
            };
            if kind.carries_data() && rails.is_striped(Bytes(bytes)) {
                let parts = rails.shares(from, message.node, Bytes(message.wire));
                parts.for_each(|(rail, share)| give(rail, share.0));
            } else {
                let ranks = (RankId(source), RankId(destination));
                let number = if kind.is_ordered() { number } else { 0 };
                give(rails.rail(ranks, (from, message.node), number), message.wire);
            }
        } else if let Some(fifos) = &mut self.fifos {
            give(fifos.select(from, message.node) as usize, message);
        } else {
            let own = &self.own[j];
            message.interface = own[destination as usize];
            give(own[source as usize].into(), message);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.sent.len() * size_of::<(MessageStream, u32)>()
    }
}

/// Bytes on the wire that a rail from node to node has of a message.
pub(crate) fn bytes_on_rail(
    envelope: &Envelope,
    whole: u64,
    rails: &JobRails,
    (a, b): (NodeId, NodeId),
    rail: u32,
) -> u64 {
    if !is_striped(envelope, rails) {
        return whole;
    }
    let share = rails.shares(a, b, Bytes(whole)).find(|(of, _)| *of == rail);
    share.expect("a part comes on the rail that it left on").1 .0
}

/// Whether a message comes in parts.
pub(crate) fn is_striped(envelope: &Envelope, rails: &JobRails) -> bool {
    MessageKind::from_code(envelope.kind).carries_data() && rails.is_striped(Bytes(envelope.bytes))
}

/// Whether a rail has the first part of a message, or all of it.
pub(crate) fn is_first_part(envelope: &Envelope, rails: &JobRails, (a, b): (NodeId, NodeId), rail: u32) -> bool {
    // A message without data is sent, too.
    !is_striped(envelope, rails)
        || rails.shares(a, b, Bytes(envelope.bytes.max(1))).next().is_some_and(|(first, _)| first == rail)
}

/// The interfaces that ranks use: those of a node take turns.
fn nics_by_turn(job: &RankJob, per_node: u32) -> Vec<u8> {
    if per_node == 1 {
        return vec![0; job.node_of_rank.len()];
    }
    let mut on_node = BTreeMap::new();
    let mut next = |node| {
        let count: &mut u32 = on_node.entry(node).or_default();
        *count += 1;
        ((*count - 1) % per_node) as u8
    };
    job.node_of_rank.iter().map(|&node| next(node)).collect()
}
