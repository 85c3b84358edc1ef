//! All-to-all: every rank sends to every other rank.

use super::draw::another;
use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, words, ParameterMistake};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

words! {
    /// Order of the messages of a rank.
    #[derive(Default)]
    pub enum AllToAllOrder {
        #[default]
        Shift = "shift": "rank r to r + 1, r + 2, … (modulo the number of ranks): all ranks in step, each to a \
            different rank",
        Xor = "xor": "rank r to r xor 1, r xor 2, …: in pairs, in step if the number of ranks is a power of two",
        Random = "random": "a random order per rank, drawn once",
    }
}

parameters! {
    /// Parameters of `all-to-all`.
    pub struct AllToAllParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(32);
        /// Order of the messages of a rank, for closed traffic.
        pub order: AllToAllOrder = AllToAllOrder::default();
    }
}

impl PatternRule for AllToAllParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        Ok(Arc::new(AllToAll { ranks: context.ranks, bytes: self.bytes, order: self.order, seed: context.seed }))
    }
}

/// No order starts with the same receiver for all ranks.
#[derive(Debug)]
struct AllToAll {
    ranks: u32,
    bytes: Bytes,
    order: AllToAllOrder,
    seed: u64,
}

impl Pattern for AllToAll {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        let message = |target| SentMessage { target: RankId(target), bytes: self.bytes };
        let after = (rank.0 + 1..self.ranks).chain(0..rank.0);
        match self.order {
            AllToAllOrder::Shift => out.extend(after.map(message)),
            AllToAllOrder::Xor => {
                let partners = (1..self.ranks.next_power_of_two()).map(|step| rank.0 ^ step);
                out.extend(partners.filter(|&partner| partner < self.ranks).map(message));
            }
            AllToAllOrder::Random => {
                let first = out.len();
                out.extend(after.map(message));
                Stream::new(self.seed, "all-to-all", &[u64::from(rank.0)]).shuffle(&mut out[first..]);
            }
        }
    }

    fn complete(&self) -> Option<Bytes> {
        Some(self.bytes)
    }

    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        another(rank, self.ranks, stream)
    }

    fn counts(&self) -> MessageCounts {
        let messages = u64::from(self.ranks) * u64::from(self.ranks.saturating_sub(1));
        MessageCounts::of(self.bytes, messages, messages)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check};
    use serde_json::json;

    #[test]
    fn every_ordered_pair_once() {
        let mut messages = check(&*build("all-to-all", 13, &[]));
        assert_eq!(messages[..3], [(0, 1, 32 << 10), (0, 2, 32 << 10), (0, 3, 32 << 10)]);
        messages.sort_unstable();
        messages.dedup();
        assert_eq!(messages.len(), 13 * 12);
    }

    #[test]
    fn every_order_has_the_same_messages() {
        let in_order = |order: &str| check(&*build("all-to-all", 13, &[("order", json!(order))]));
        let mut shift = in_order("shift");
        shift.sort_unstable();
        for order in ["xor", "random"] {
            let mut messages = in_order(order);
            assert_ne!(messages, shift);
            messages.sort_unstable();
            assert_eq!(messages, shift, "{order}");
        }
        // Of 13 ranks: 5 xor 1, 2, 3, ...; 5 xor 8 is 13, which is not a rank.
        let of_5: Vec<u32> = in_order("xor").iter().filter(|m| m.0 == 5).map(|m| m.1).collect();
        assert_eq!(of_5, [4, 7, 6, 1, 0, 3, 2, 12, 9, 8, 11, 10]);
    }

    /// In each step of random orders the receivers are random: of 1,000 ranks a share of 1/e receives nothing.
    #[test]
    fn random_orders_differ_from_rank_to_rank() {
        let messages = check(&*build("all-to-all", 1_000, &[("order", json!("random"))]));
        let first: std::collections::BTreeSet<u32> = messages.chunks(999).map(|own| own[0].1).collect();
        assert!((first.len() as f64 / 1_000.0 - (1.0 - (-1.0f64).exp())).abs() < 0.05, "{}", first.len());
    }
}
