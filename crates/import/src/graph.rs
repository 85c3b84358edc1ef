//! Communication graphs: messages listed one by one.

use odonata_declare::FileError;
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
    pub fn from_messages(label: &str, ranks: u32, messages: &[(RankId, RankId, Bytes)]) -> Result<Self, FileError> {
        let mut first = vec![0usize; ranks as usize + 1];
        for (i, &(source, target, _)) in messages.iter().enumerate() {
            if let Some(rank) = [source, target].into_iter().find(|rank| rank.0 >= ranks) {
                return Err(FileError::new(label, format!("message {i}"), rank_out_of_range(rank.0, ranks)));
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

    /// Number of ranks, `0..ranks()`.
    pub fn ranks(&self) -> u32 {
        (self.first.len() - 1) as u32
    }

    /// Targets and sizes of the messages of a rank, in the order of the input.
    pub fn messages_of(&self, rank: RankId) -> impl ExactSizeIterator<Item = (RankId, Bytes)> + '_ {
        let range = self.first[rank.index()]..self.first[rank.index() + 1];
        range.map(|i| (self.targets[i], self.bytes[i]))
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
    #[must_use]
    pub fn widen(&self, ranks: u32) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(messages: &[(u32, u32, u64)]) -> Result<CommunicationGraph, FileError> {
        let messages: Vec<_> = messages.iter().map(|&(s, t, b)| (RankId(s), RankId(t), Bytes(b))).collect();
        CommunicationGraph::from_messages("edges.csv", 3, &messages)
    }

    #[test]
    fn keeps_the_order_of_each_source() {
        let graph = graph(&[(2, 0, 5), (0, 1, 7), (2, 1, 0), (2, 0, 5), (1, 1, 9)]).unwrap();
        let sends = graph.messages_of(RankId(2)).map(|(target, bytes)| (target.0, bytes.0));
        assert_eq!(sends.collect::<Vec<_>>(), [(0, 5), (1, 0), (0, 5)]);
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
        assert!((3..5).all(|rank| wide.messages_of(RankId(rank)).len() == 0));
    }
}
