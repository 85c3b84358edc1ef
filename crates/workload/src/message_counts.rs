//! What the ranks of a program send once, counted: as much as estimates ask for, without a list of messages.

use odonata_units::Bytes;
use std::collections::BTreeMap;

/// What all ranks of a job send in one iteration, the messages of collectives included.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MessageCounts {
    by_size: BTreeMap<Bytes, u64>,
    /// Pairs of ranks of which the first sends to the second.
    pub pairs: u64,
}

impl MessageCounts {
    /// Adds messages of one size.
    pub(crate) fn add(&mut self, bytes: Bytes, messages: u64) {
        *self.by_size.entry(bytes).or_default() += messages;
    }

    /// Sizes, and how many messages have each.
    pub fn by_size(&self) -> impl Iterator<Item = (Bytes, u64)> + '_ {
        self.by_size.iter().map(|(&bytes, &messages)| (bytes, messages))
    }

    /// All messages.
    pub fn messages(&self) -> u64 {
        self.by_size.values().sum()
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u128 {
        self.by_size().map(|(bytes, messages)| u128::from(bytes.0) * u128::from(messages)).sum()
    }

    /// Whether no message has content.
    pub fn is_silent(&self) -> bool {
        self.by_size.keys().all(|bytes| bytes.0 == 0)
    }
}

/// Whom one rank sent to: a few are listed, many are marked.
#[derive(Clone, Default, Debug)]
pub(crate) struct Partners {
    few: Vec<u32>,
    many: Vec<u64>,
}

impl Partners {
    /// Listed before all are marked: looking through so many takes as long as hashing one.
    const FEW: usize = 16;

    /// Adds a rank; whether it is the first time.
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

/// Messages of one rank, on their way into [`MessageCounts`]: programs send many of one size in a row.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sender {
    partners: Partners,
    last: (u32, Bytes),
    messages: u64,
}

impl Sender {
    /// Counts one message.
    #[inline]
    pub(crate) fn send(&mut self, to: u32, bytes: Bytes, sent: &mut MessageCounts) {
        let same_size = bytes == self.last.1;
        if self.messages > 0 && same_size && to == self.last.0 {
            self.messages += 1;
            return;
        }
        if !same_size {
            self.hand_over(sent);
        }
        sent.pairs += u64::from(self.partners.insert(to));
        self.messages += 1;
        self.last = (to, bytes);
    }

    /// The rank is at its end.
    pub(crate) fn hand_over(&mut self, sent: &mut MessageCounts) {
        if self.messages > 0 {
            sent.add(self.last.1, std::mem::take(&mut self.messages));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a list of everything.
        #[test]
        fn sizes_and_pairs(messages in proptest::collection::vec((0u32..200, 0u64..4), 0..300)) {
            let (mut sent, mut sender) = (MessageCounts::default(), Sender::default());
            messages.iter().for_each(|&(to, bytes)| sender.send(to, Bytes(bytes), &mut sent));
            sender.hand_over(&mut sent);
            prop_assert_eq!(sent.messages(), messages.len() as u64);
            for size in 0..4 {
                let counted = sent.by_size().find(|(bytes, _)| bytes.0 == size).map_or(0, |(_, count)| count);
                prop_assert_eq!(counted, messages.iter().filter(|(_, bytes)| *bytes == size).count() as u64);
            }
            prop_assert_eq!(sent.pairs, messages.iter().map(|(to, _)| to).collect::<BTreeSet<_>>().len() as u64);
            prop_assert_eq!(sent.is_silent(), messages.iter().all(|(_, bytes)| *bytes == 0));
        }
    }
}
