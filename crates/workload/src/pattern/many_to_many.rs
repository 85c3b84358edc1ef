//! All-to-alls within groups of ranks, as in the transposes of a parallel FFT.

use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, Kind, ParameterMistake, AUTO};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId};
use std::sync::Arc;

parameters! {
    /// Parameters of `many-to-many`.
    pub struct ManyToManyParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(32);
        /// Ranks per group. If not given, 16 below 32,768 ranks, 32 below 65,536, else 64.
        pub group: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
        /// Distance in ranks between members of a group. If not given, it is the group size, or less for small jobs. 1
        /// gives contiguous groups, ranks / group the most scattered groups.
        pub stride: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
    }
}

impl PatternRule for ManyToManyParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let ranks = context.ranks;
        let group = self.group.unwrap_or(match ranks {
            0..32_768 => 16,
            32_768..65_536 => 32,
            _ => 64,
        });
        let largest = (ranks / group).max(1);
        let stride = self.stride.unwrap_or(group.min(largest));
        if stride > largest {
            let reason = format!("{stride}, but groups of {group} of {ranks} ranks have strides from 1 to {largest}");
            return Err(("stride", reason));
        }
        Ok(Arc::new(ManyToMany { ranks, group, stride, bytes: self.bytes }))
    }
}

/// Ranks are divided into blocks of `group` x `stride`. In each block the ranks that are equal modulo `stride` form a
/// group. The last block may be shorter: its m ranks form ceil(m / group) groups in the same manner.
///
/// With the stride equal to the group size and 32,768 ranks, a group is a line along the second dimension of a cube of
/// 32 x 32 x 32 ranks.
#[derive(Debug)]
struct ManyToMany {
    ranks: u32,
    group: u32,
    stride: u32,
    bytes: Bytes,
}

impl Pattern for ManyToMany {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        // group * stride <= max(group, ranks), so only the end of the last block may exceed 32 bits.
        let block = self.group * self.stride;
        let start = rank.0 / block * block;
        let length = block.min(self.ranks - start);
        let stride = if length == block { self.stride } else { length.div_ceil(self.group) };
        let first = start + (rank.0 - start) % stride;
        let after = (rank.0..start + length).step_by(stride as usize).skip(1);
        let before = (first..rank.0).step_by(stride as usize);
        out.extend(after.chain(before).map(|target| SentMessage { target: RankId(target), bytes: self.bytes }));
    }

    fn counts(&self) -> MessageCounts {
        let all = |members: u64| members * members.saturating_sub(1);
        let block = self.group * self.stride;
        let full = u64::from(self.ranks / block) * u64::from(self.stride) * all(self.group.into());
        // The groups of the last block differ by at most one rank.
        let rest = self.ranks % block;
        let groups = rest.div_ceil(self.group).max(1);
        let (each, larger) = (u64::from(rest / groups), u64::from(rest % groups));
        let messages = full + larger * all(each + 1) + (u64::from(groups) - larger) * all(each);
        MessageCounts::of(self.bytes, messages, messages)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, symmetric};
    use proptest::prelude::*;
    use serde_json::json;

    /// 32,768 ranks x 31 others x 32 KiB = 31 GiB.
    #[test]
    fn the_papers_volume() {
        let messages = check(&*build("many-to-many", 32_768, &[]));
        assert_eq!(messages.len(), 32_768 * 31);
        assert_eq!(messages.iter().map(|m| m.2).sum::<u64>(), 31 << 30);
        // Rank 5 is in a group with 37, 69, ..., 5 + 31 * 32.
        let of_5: Vec<u32> = messages.iter().filter(|m| m.0 == 5).map(|m| m.1).collect();
        assert_eq!(of_5, (1..32).map(|i| 5 + 32 * i).collect::<Vec<_>>());
    }

    #[test]
    fn group_size_follows_the_job() {
        for (ranks, group) in [(16_384, 16), (32_768, 32), (65_536, 64), (131_072, 64)] {
            let mut sends = Vec::new();
            build("many-to-many", ranks, &[]).sends(odonata_units::RankId(0), &mut sends);
            assert_eq!(sends.len(), group - 1, "{ranks} ranks");
        }
    }

    #[test]
    fn strides_from_contiguous_to_scattered() {
        let targets = |stride: u32| {
            let pattern = build("many-to-many", 64, &[("group", json!(4)), ("stride", json!(stride))]);
            check(&*pattern).into_iter().filter(|m| m.0 == 0).map(|m| m.1).collect::<Vec<_>>()
        };
        assert_eq!(targets(1), [1, 2, 3]);
        assert_eq!(targets(16), [16, 32, 48]);
    }

    #[test]
    fn a_stride_that_does_not_fit_says_which_do() {
        let error = super::super::test_help::try_build("many-to-many", 64, &[("stride", json!(5))]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "job 'test': pattern 'many-to-many': stride: 5, but groups of 16 of 64 ranks have strides from 1 to 4"
        );
    }

    proptest! {
        /// Membership is an equivalence: symmetric, and the members of a group name each other. No group is larger than
        /// requested.
        #[test]
        fn groups_partition_the_ranks(ranks in 1u32..500, group in 1u32..40, share in 0.0..1.0f64) {
            let stride = 1 + (share * f64::from((ranks / group).max(1) - 1)) as u32;
            let pattern = build("many-to-many", ranks, &[("group", json!(group)), ("stride", json!(stride))]);
            let messages = check(&*pattern);
            prop_assert!(symmetric(&messages));
            let mut group_of: Vec<Vec<u32>> = (0..ranks).map(|rank| vec![rank]).collect();
            messages.iter().for_each(|m| group_of[m.0 as usize].push(m.1));
            group_of.iter_mut().for_each(|group| group.sort_unstable());
            for members in &group_of {
                prop_assert!(members.len() <= group as usize);
                prop_assert!(members.windows(2).all(|w| w[0] < w[1]));
                prop_assert!(members.iter().all(|&other| group_of[other as usize] == *members));
            }
        }
    }
}
