//! Counts of the messages of a program, for estimates.

use odonata_units::Bytes;
use std::collections::BTreeMap;

/// Messages of all ranks of a job in one iteration, including messages of collectives.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MessageCounts {
    by_size: BTreeMap<Bytes, u64>,
    /// Pairs of ranks with messages from the first to the second. Pairs that several collectives use may count more
    /// than once.
    pub pairs: u64,
    /// Whether the counts are an expectation or an extrapolation, because they depend on draws or there is too much to
    /// count.
    pub is_estimate: bool,
}

impl MessageCounts {
    /// Adds messages of one size.
    pub fn add(&mut self, bytes: Bytes, messages: u64) {
        if messages > 0 {
            let count = self.by_size.entry(bytes).or_default();
            *count = count.saturating_add(messages);
        }
    }

    /// Counts of messages of one size.
    pub fn of(bytes: Bytes, messages: u64, pairs: u64) -> Self {
        let mut counts = Self { pairs, ..Self::default() };
        counts.add(bytes, messages);
        counts
    }

    /// The same with another number of pairs.
    #[must_use]
    pub fn with_pairs(self, pairs: u64) -> Self {
        Self { pairs, ..self }
    }

    /// The same as an estimate.
    #[must_use]
    pub fn estimated(self) -> Self {
        Self { is_estimate: true, ..self }
    }

    /// The counts of `iterations`. Each iteration has the same pairs.
    #[must_use]
    pub fn times(mut self, iterations: u64) -> Self {
        self.by_size.values_mut().for_each(|messages| *messages = messages.saturating_mul(iterations));
        self
    }

    /// Sizes with their numbers of messages.
    pub fn by_size(&self) -> impl Iterator<Item = (Bytes, u64)> + '_ {
        self.by_size.iter().map(|(&bytes, &messages)| (bytes, messages))
    }

    /// Number of messages.
    pub fn messages(&self) -> u64 {
        self.by_size.values().fold(0, |sum: u64, messages| sum.saturating_add(*messages))
    }

    /// Total bytes.
    pub fn bytes(&self) -> u128 {
        self.by_size()
            .fold(0, |sum: u128, (bytes, messages)| sum.saturating_add(u128::from(bytes.0) * u128::from(messages)))
    }
}

/// Destinations of one rank: a short list, or a bitmap.
#[derive(Clone, Default, Debug)]
pub(crate) struct Partners {
    few: Vec<u32>,
    many: Vec<u64>,
}

impl Partners {
    /// Longest list. A scan of this length takes as long as one hash; a longer list would be slower than the bitmap.
    const FEW: usize = 16;

    /// Adds a rank. Returns whether it is new.
    pub(crate) fn insert(&mut self, rank: u32) -> bool {
        if self.many.is_empty() {
            if self.few.contains(&rank) {
                return false;
            }
            if self.few.len() < Self::FEW {
                self.few.push(rank);
                return true;
            }
            std::mem::take(&mut self.few).into_iter().for_each(|rank| {
                self.mark(rank);
            });
        }
        self.mark(rank)
    }

    fn mark(&mut self, rank: u32) -> bool {
        let (word, bit) = (rank as usize / 64, 1 << (rank % 64));
        if self.many.len() <= word {
            self.many.resize(word + 1, 0);
        }
        let before = self.many[word];
        self.many[word] |= bit;
        before & bit == 0
    }
}

/// Messages of one rank before they are added to [`MessageCounts`]. Programs send many messages of one size in
/// sequence.
#[derive(Clone, Default, Debug)]
pub struct Sender {
    partners: Partners,
    /// Target, size and how often each message counts.
    last: (u32, Bytes, u64),
    messages: u64,
}

impl Sender {
    /// Counts a message that is sent `times` times.
    #[inline]
    pub fn send(&mut self, to: u32, bytes: Bytes, times: u64, sent: &mut MessageCounts) {
        let same_size = (bytes, times) == (self.last.1, self.last.2);
        if self.messages > 0 && same_size && to == self.last.0 {
            self.messages += 1;
            return;
        }
        if !same_size {
            self.hand_over(sent);
        }
        sent.pairs += u64::from(self.partners.insert(to));
        self.messages += 1;
        self.last = (to, bytes, times);
    }

    /// Adds the remaining messages at the end of the rank.
    pub fn hand_over(&mut self, sent: &mut MessageCounts) {
        if self.messages > 0 {
            sent.add(self.last.1, std::mem::take(&mut self.messages).saturating_mul(self.last.2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a plain list.
        #[test]
        fn sizes_and_pairs(messages in proptest::collection::vec((0u32..200, 0u64..4), 0..300)) {
            let (mut sent, mut sender) = (MessageCounts::default(), Sender::default());
            messages.iter().for_each(|&(to, bytes)| sender.send(to, Bytes(bytes), 1, &mut sent));
            sender.hand_over(&mut sent);
            prop_assert_eq!(sent.messages(), messages.len() as u64);
            for size in 0..4 {
                let counted = sent.by_size().find(|(bytes, _)| bytes.0 == size).map_or(0, |(_, count)| count);
                prop_assert_eq!(counted, messages.iter().filter(|(_, bytes)| *bytes == size).count() as u64);
            }
            prop_assert_eq!(sent.pairs, messages.iter().map(|(to, _)| to).collect::<BTreeSet<_>>().len() as u64);
        }
    }
}
