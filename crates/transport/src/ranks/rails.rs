//! Messages on several rails, at both ends.

use super::RankEndpoints;
use crate::inbox::InboundMessage;
use crate::job::RankJob;
use crate::nic_choice::{bytes_on_rail, is_first_part, is_striped};
use crate::reorder::DeliveredMessage;
use crate::settings::MpiSettings;
use crate::wire::MessageKind;
use odonata_packet::{Envelope, Socket};
use odonata_units::{Bytes, NodeId};
use odonata_workload::rails::JobRails;

fn rails_of(jobs: &[RankJob], job: u16) -> Option<&JobRails> {
    jobs.iter().find(|of| of.job == job)?.rails.as_deref()
}

/// Whether the first packet on this rail is the first packet of the message.
pub(super) fn is_first_packet(
    jobs: &[RankJob],
    job: u16,
    envelope: &Envelope,
    ends: (NodeId, NodeId),
    rail: u32,
) -> bool {
    rails_of(jobs, job).is_none_or(|rails| is_first_part(envelope, rails, ends, rail))
}

/// Wire bytes of a message on one rail between two nodes.
pub(super) fn bytes_on_this_rail(
    jobs: &[RankJob],
    settings: &MpiSettings,
    job: u16,
    envelope: &Envelope,
    ends: (NodeId, NodeId),
    rail: u32,
) -> u64 {
    let whole = MessageKind::from_code(envelope.kind).wire_bytes(envelope.bytes, settings);
    rails_of(jobs, job).map_or(whole, |rails| bytes_on_rail(envelope, whole, rails, ends, rail))
}

impl RankEndpoints {
    /// Delivers a message, or a part of one, after restoring the order.
    pub(super) fn reorder_message(&mut self, host: usize, delivered: DeliveredMessage, socket: &mut Socket) {
        let InboundMessage { job, envelope, .. } = delivered.message;
        let job = &self.jobs[self.job_index(job)];
        let kind = MessageKind::from_code(envelope.kind);
        let Some(rails) = job.rails.as_deref().filter(|rails| rails.may_overtake() && kind.is_ordered()) else {
            self.deliver(host, delivered, socket);
            return;
        };
        let parts = if is_striped(&envelope, rails) {
            let ends = (job.node_of_rank[envelope.source as usize], self.hosts[host].node);
            rails.shares(ends.0, ends.1, Bytes(kind.wire_bytes(envelope.bytes, &self.settings))).count()
        } else {
            1
        };
        let mut ordered = Vec::new();
        self.reorder.take(delivered, parts as u32, kind.is_matched(), &mut ordered);
        ordered.into_iter().for_each(|delivered| self.deliver(host, delivered, socket));
    }
}
