//! Shift: every rank sends to the rank a fixed distance further, as in collectives and synthetic workloads.

use super::permutation::Permutation;
use super::rule::{PatternContext, PatternRule};
use crate::communication::Pattern;
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, RankId};
use std::sync::Arc;

parameters! {
    /// Parameters of `shift`.
    pub struct ShiftParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Distance to the target, in ranks. The last ranks send to the first ones.
        pub offset: u32 = 1, Kind::COUNT;
    }
}

/// Rank r of n sends to (r + offset) mod n, and nothing if this is itself.
impl PatternRule for ShiftParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let (ranks, offset) = (context.ranks, self.offset);
        let target =
            Box::new(move |rank: RankId| RankId(((u64::from(rank.0) + u64::from(offset)) % u64::from(ranks)) as u32));
        Ok(Arc::new(Permutation { ranks, bytes: self.bytes, target }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective};
    use serde_json::json;

    #[test]
    fn everyone_to_the_next() {
        for (ranks, offset) in [(7u32, 1u32), (8, 4), (5, 13), (9, u32::MAX)] {
            let messages = check(&*build("shift", ranks, &[("offset", json!(offset))]));
            assert_eq!(messages.len() as u32, ranks);
            assert!(messages.iter().all(|m| u64::from(m.1) == (u64::from(m.0) + u64::from(offset)) % u64::from(ranks)));
            assert!(injective(&messages));
        }
        // A full turn leads to the rank itself.
        assert!(check(&*build("shift", 4, &[("offset", json!(8))])).is_empty());
        assert!(check(&*build("shift", 1, &[])).is_empty());
    }
}
