//! Communication graphs: messages listed one by one.

use crate::{Pattern, SentMessage, WorkloadError};
use odonata_units::{Bytes, RankId};

/// Messages grouped by source, in the order of the input, 12 bytes each. Equal messages stay separate. Messages of zero
/// bytes and of a rank to itself are stored and counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommunicationGraph {
    /// Messages of rank r are `first[r]..first[r + 1]`.
    first: Vec<usize>,
    targets: Vec<RankId>,
    bytes: Vec<Bytes>,
    zero_byte_messages: usize,
    self_messages: usize,
}

impl CommunicationGraph {
    /// Groups messages (source, target, bytes) by source.
    ///
    /// # Errors
    /// A rank that is not below `ranks`. The place is `message 12`, counted from 0, of `label`.
    pub fn from_messages(label: &str, ranks: u32, messages: &[(RankId, RankId, Bytes)]) -> Result<Self, WorkloadError> {
        let mut first = vec![0usize; ranks as usize + 1];
        for (i, &(source, target, _)) in messages.iter().enumerate() {
            if let Some(rank) = [source, target].into_iter().find(|rank| rank.0 >= ranks) {
                return Err(WorkloadError::file(label, format!("message {i}"), rank_out_of_range(rank.0, ranks)));
            }
            first[source.index() + 1] += 1;
        }
        for r in 0..ranks as usize {
            first[r + 1] += first[r];
        }
        let mut cursor = first.clone();
        let mut targets = vec![RankId(0); messages.len()];
        let mut bytes = vec![Bytes(0); messages.len()];
        for &(source, target, size) in messages {
            let at = &mut cursor[source.index()];
            targets[*at] = target;
            bytes[*at] = size;
            *at += 1;
        }
        let zero_byte_messages = messages.iter().filter(|(_, _, bytes)| bytes.0 == 0).count();
        let self_messages = messages.iter().filter(|(source, target, _)| source == target).count();
        Ok(Self { first, targets, bytes, zero_byte_messages, self_messages })
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Messages of zero bytes.
    pub fn zero_byte_messages(&self) -> usize {
        self.zero_byte_messages
    }

    /// Messages of a rank to itself.
    pub fn self_messages(&self) -> usize {
        self.self_messages
    }

    /// The same messages among `ranks` ranks. New ranks send nothing.
    pub(crate) fn widen(&self, ranks: u32) -> Self {
        let mut wide = self.clone();
        wide.first.resize(ranks as usize + 1, self.targets.len());
        wide
    }
}

/// Reason for an invalid rank of a job.
pub(crate) fn rank_out_of_range(rank: impl std::fmt::Display, ranks: u32) -> String {
    match ranks {
        0 => format!("rank {rank} in a job without ranks"),
        _ => format!("rank {rank} in a job with ranks 0 to {}", ranks - 1),
    }
}

impl Pattern for CommunicationGraph {
    fn ranks(&self) -> u32 {
        (self.first.len() - 1) as u32
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        let range = self.first[rank.index()]..self.first[rank.index() + 1];
        out.extend(range.map(|i| SentMessage { target: self.targets[i], bytes: self.bytes[i] }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(messages: &[(u32, u32, u64)]) -> Result<CommunicationGraph, WorkloadError> {
        let messages: Vec<_> = messages.iter().map(|&(s, t, b)| (RankId(s), RankId(t), Bytes(b))).collect();
        CommunicationGraph::from_messages("edges.csv", 3, &messages)
    }

    #[test]
    fn keeps_the_order_of_each_source() {
        let graph = graph(&[(2, 0, 5), (0, 1, 7), (2, 1, 0), (2, 0, 5), (1, 1, 9)]).unwrap();
        let mut sends = Vec::new();
        graph.sends(RankId(2), &mut sends);
        assert_eq!(sends.iter().map(|s| (s.target.0, s.bytes.0)).collect::<Vec<_>>(), [(0, 5), (1, 0), (0, 5)]);
        assert_eq!((graph.len(), graph.zero_byte_messages(), graph.self_messages()), (5, 1, 1));
    }

    #[test]
    fn a_rank_out_of_range_has_a_place() {
        let error = graph(&[(0, 1, 7), (0, 3, 7)]).unwrap_err();
        assert_eq!(error.to_string(), "edges.csv:message 1: rank 3 in a job with ranks 0 to 2");
    }

    #[test]
    fn more_ranks_send_nothing() {
        let wide = graph(&[(2, 0, 5)]).unwrap().widen(5);
        assert_eq!(wide.ranks(), 5);
        let mut sends = Vec::new();
        (3..5).for_each(|rank| wide.sends(RankId(rank), &mut sends));
        assert!(sends.is_empty());
    }
}
