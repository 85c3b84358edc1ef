//! Communication graphs: messages listed one by one.

use crate::{Pattern, Send, WorkloadError};
use odonata_units::{Bytes, RankId};

/// Messages grouped by source, in the order of the input. 12 bytes per message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommunicationGraph {
    /// Messages of rank r are `first[r]..first[r + 1]`.
    first: Vec<usize>,
    targets: Vec<RankId>,
    bytes: Vec<Bytes>,
}

impl CommunicationGraph {
    /// Groups messages (source, target, bytes) by source.
    ///
    /// # Errors
    /// A rank that is not below `ranks`.
    pub fn from_messages(label: &str, ranks: u32, messages: &[(RankId, RankId, Bytes)]) -> Result<Self, WorkloadError> {
        let mut first = vec![0usize; ranks as usize + 1];
        for (i, (source, target, _)) in messages.iter().enumerate() {
            if let Some(rank) = [source, target].into_iter().find(|rank| rank.0 >= ranks) {
                let reason = format!("rank {} of a job with ranks 0 to {}", rank.0, i64::from(ranks) - 1);
                return Err(WorkloadError::file(label, format!("message {i}"), reason));
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
        Ok(Self { first, targets, bytes })
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether nobody sends anything.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

impl Pattern for CommunicationGraph {
    fn ranks(&self) -> u32 {
        (self.first.len() - 1) as u32
    }

    fn sends(&self, rank: RankId, out: &mut Vec<Send>) {
        let range = self.first[rank.index()]..self.first[rank.index() + 1];
        out.extend(range.map(|i| Send { target: self.targets[i], bytes: self.bytes[i] }));
    }
}
