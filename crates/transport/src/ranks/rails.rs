//! Messages that take several rails, at both ends.

use super::RankEndpoints;
use crate::arranged::Come;
use crate::inbox::Inbound;
use crate::job::RankJob;
use crate::settings::MpiSettings;
use crate::ways::{bytes_on, is_cut, is_first_part};
use crate::wire::Wire;
use odonata_packet::{Envelope, Socket};
use odonata_units::{Bytes, NodeId};
use odonata_workload::rails::JobRails;

fn rails_of(jobs: &[RankJob], job: u16) -> Option<&JobRails> {
    jobs.iter().find(|of| of.job == job)?.rails.as_deref()
}

/// Whether a message starts with its first packet on a rail from node to node: one in parts does with that of its first part.
pub(super) fn starts(jobs: &[RankJob], job: u16, envelope: &Envelope, ends: (NodeId, NodeId), rail: u32) -> bool {
    rails_of(jobs, job).is_none_or(|rails| is_first_part(envelope, rails, ends, rail))
}

/// Bytes on the wire that a rail from node to node has of a message.
pub(super) fn bytes_here(
    jobs: &[RankJob],
    settings: &MpiSettings,
    job: u16,
    envelope: &Envelope,
    ends: (NodeId, NodeId),
    rail: u32,
) -> u64 {
    let whole = Wire::of(envelope.kind).bytes(envelope.bytes, settings);
    rails_of(jobs, job).map_or(whole, |rails| bytes_on(envelope, whole, rails, ends, rail))
}

impl RankEndpoints {
    /// A message or a part of one has come to a node at the time of the socket.
    pub(super) fn arrange(&mut self, host: usize, come: Come, socket: &mut Socket) {
        let Inbound { job, envelope, .. } = come.message;
        let job = &self.jobs[self.place_of(job)];
        let kind = Wire::of(envelope.kind);
        let Some(rails) = job.rails.as_deref().filter(|rails| rails.may_overtake() && kind.is_in_order()) else {
            self.come(host, come, socket);
            return;
        };
        let parts = if is_cut(&envelope, rails) {
            let ends = (job.node_of_rank[envelope.source as usize], self.hosts[host].node);
            rails.shares(ends.0, ends.1, Bytes(kind.bytes(envelope.bytes, &self.settings))).count()
        } else {
            1
        };
        let mut told = Vec::new();
        self.arranged.take(come, parts as u32, kind.is_matched(), &mut told);
        told.into_iter().for_each(|come| self.come(host, come, socket));
    }
}
