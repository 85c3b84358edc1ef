//! Selection of the NICs at which a message leaves its node and arrives.
//!
//! | nodes have | NIC |
//! |---|---|
//! | one NIC, or several at one router | the NICs of the sending and of the receiving rank; the ranks of a node use its NICs in turn |
//! | memory FIFOs ([`odonata_packet::InjectionFifos`]) | the FIFO selected for the message; it arrives at the node's first NIC |
//! | rails ([`odonata_workload::rails`]) | the rail of the rule, or all rails for a striped message, at both ends |
//!
//! With rails, rendezvous headers follow the rule like messages that are not striped. Get requests and acknowledgements
//! use the rail of the rank that sends them.

use crate::job::RankJob;
use crate::outbox::OutboundMessage;
use crate::wire::MessageKind;
use odonata_packet::{Envelope, JobClass, MemoryFifos, Nics};
use odonata_units::{Bytes, NodeId, RankId};
use odonata_workload::rails::JobRails;
use std::collections::BTreeMap;

/// Job, sending and receiving rank, and whether its messages are matched.
type MessageStream = (u16, u32, u32, bool);

#[derive(Debug)]
pub(crate) struct NicChoice {
    /// NIC of each rank on its node, by job. Empty for jobs with rails.
    nic_of_rank: Vec<Vec<u8>>,
    /// Traffic classes of each job.
    classes: Vec<JobClass>,
    /// Selector of memory FIFOs, where nodes have them.
    fifos: Option<MemoryFifos>,
    /// Messages sent so far, for streams that may overtake.
    sent: BTreeMap<MessageStream, u32>,
}

odonata_checkpoint::state!(NicChoice { value: sent; nested: fifos; rebuilt: nic_of_rank, classes });

impl NicChoice {
    pub(crate) fn new(jobs: &[RankJob], nics: &Nics<'_>) -> Self {
        let fifos = nics.memory_fifos();
        let arriving = if fifos.is_some() { 1 } else { nics.per_node() };
        let nic_of_rank =
            jobs.iter().map(|job| if job.rails.is_some() { Vec::new() } else { nics_by_turn(job, arriving) });
        let classes = jobs.iter().map(|job| nics.classes_of(job.job)).collect();
        Self { nic_of_rank: nic_of_rank.collect(), classes, fifos, sent: BTreeMap::new() }
    }

    /// Whether messages of job `j` may overtake each other: on different rails, or in different traffic classes.
    pub(crate) fn may_overtake(&self, j: usize, job: &RankJob) -> bool {
        job.rails.as_ref().is_some_and(|rails| rails.may_overtake()) || self.classes[j].large.is_some()
    }

    /// Passes message `number` of a rank of job `j` to the NICs of its node `from`: `push` gets NIC, class and message.
    pub(crate) fn dispatch(
        &mut self,
        j: usize,
        job: &RankJob,
        from: NodeId,
        mut message: OutboundMessage,
        number: u64,
        mut push: impl FnMut(usize, usize, OutboundMessage),
    ) {
        let Envelope { source, destination, bytes, .. } = message.envelope;
        let class = self.classes[j].of_message(message.wire).into();
        let mut give = |nic: usize, part: OutboundMessage| push(nic, class, part);
        let kind = MessageKind::from_code(message.envelope.kind);
        if self.may_overtake(j, job) && kind.is_ordered() {
            let stream = (job.job, source, destination, kind.is_matched());
            let next = self.sent.entry(stream).or_default();
            message.envelope.order = *next;
            *next = next.wrapping_add(1);
        }
        if let Some(rails) = &job.rails {
            let mut give = |rail: u32, wire: u64| {
                give(rail as usize, OutboundMessage { nic: rail as u8, wire, ..message });
            };
            if kind.carries_data() && rails.is_striped(Bytes(bytes)) {
                let parts = rails.shares(from, message.node, Bytes(message.wire));
                parts.for_each(|(rail, share)| give(rail, share.0));
            } else {
                let number = if kind.is_ordered() { number } else { 0 };
                let rail = rails.rail(RankId(source), RankId(destination), from, message.node, number);
                give(rail, message.wire);
            }
        } else if let Some(fifos) = &mut self.fifos {
            give(fifos.select(from, message.node) as usize, message);
        } else {
            let nic_of_rank = &self.nic_of_rank[j];
            message.nic = nic_of_rank[destination as usize];
            give(nic_of_rank[source as usize].into(), message);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.sent.len() * size_of::<(MessageStream, u32)>()
    }
}

/// Whether a message is striped over rails.
pub(crate) fn is_striped(envelope: &Envelope, rails: &JobRails) -> bool {
    MessageKind::from_code(envelope.kind).carries_data() && rails.is_striped(Bytes(envelope.bytes))
}

/// One of the rails between two nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rail {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) number: u32,
}

impl Rail {
    /// Wire bytes on this rail of a message with `whole` of them.
    pub(crate) fn wire_bytes(self, envelope: &Envelope, whole: u64, rails: &JobRails) -> u64 {
        if !is_striped(envelope, rails) {
            return whole;
        }
        let share = rails.shares(self.from, self.to, Bytes(whole)).find(|(rail, _)| *rail == self.number);
        share.expect("a part arrives on the rail that it left on").1 .0
    }

    /// Whether this rail carries the first part of a message, or all of it.
    pub(crate) fn has_first_part(self, envelope: &Envelope, rails: &JobRails) -> bool {
        // A message of zero bytes is sent as well.
        let whole = Bytes(envelope.bytes.max(1));
        !is_striped(envelope, rails)
            || rails.shares(self.from, self.to, whole).next().is_some_and(|(first, _)| first == self.number)
    }
}

/// NIC of each rank: the ranks of a node use its NICs in turn.
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
