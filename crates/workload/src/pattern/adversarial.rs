//! ADV+i: every rank sends to the i-th next group. The few direct cables between these groups are the bottleneck.

use super::cells::Cells;
use super::draw::{Draws, MESSAGES};
use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, words, Kind, ParameterMistake, AUTO};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

parameters! {
    /// Parameters of `adversarial`.
    pub struct AdversarialParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Messages of each rank in one iteration.
        pub messages: u32 = 16, MESSAGES;
        /// Distance to the target group, in groups. It may be negative.
        pub offset: i64 = 1, Kind::ANY_INTEGER;
        /// Receiving rank of the target group.
        pub target: GroupTarget = GroupTarget::Random;
        /// Ranks per group, in order of their numbers. If not given, the groups of the machine are used.
        pub group_ranks: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
    }
}

impl PatternRule for AdversarialParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let Self { bytes, messages, target, group_ranks, .. } = *self;
        let cells = Cells::of_job(group_ranks, context);
        let groups = cells.len();
        let offset = self.offset.rem_euclid(groups as i64) as usize;
        if offset == 0 {
            let reason = format!(
                "{}, but the ranks of the job are in {groups} group{}: every rank would send to its own group; \
                choose an offset that is not a multiple of {groups}, more ranks, another placement, or group_ranks",
                self.offset,
                if groups == 1 { "" } else { "s" }
            );
            return Err(("offset", reason));
        }
        Ok(Arc::new(Adversarial { cells, offset, target, draws: Draws { seed: context.seed, messages, bytes } }))
    }
}

words! {
    /// The receiving rank of the target group.
    pub enum GroupTarget {
        Random = "random": "a uniformly random rank, drawn for every message",
        Matching = "matching": "the rank with the same index in its group, modulo the size of that group",
    }
}

/// The job's groups are the machine groups with ranks of the job, in the order of the machine, or blocks of
/// `group_ranks` ranks. A rank of group k sends to group k + offset, modulo the number of groups. If the job fills a
/// dragonfly evenly, this is the ADV+i of the literature.
#[derive(Debug)]
struct Adversarial {
    cells: Cells,
    offset: usize,
    target: GroupTarget,
    draws: Draws,
}

impl Pattern for Adversarial {
    fn ranks(&self) -> u32 {
        self.cells.ranks()
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        self.draws.sends(rank, out, |stream| self.destination(rank, stream));
    }

    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        let cell = (self.cells.cell_of(rank) + self.offset) % self.cells.len();
        Some(match self.target {
            GroupTarget::Matching => self.cells.matching(rank, cell),
            GroupTarget::Random => {
                let members = self.cells.members(cell);
                RankId(members[stream.index(members.len())])
            }
        })
    }

    fn counts(&self) -> MessageCounts {
        let ranks = u64::from(self.cells.ranks());
        let targets = match self.target {
            GroupTarget::Matching => 1,
            GroupTarget::Random => ranks / self.cells.len() as u64,
        };
        self.draws.counts(ranks, targets.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, injective, try_build, try_build_on};
    use crate::test_machines::groups;
    use odonata_units::NodeId;
    use serde_json::json;

    /// 5 groups x 3 routers x 2 nodes, one rank per node in order: rank r is in group r / 6.
    #[test]
    fn classic_on_a_full_machine() {
        let machine = groups(5, 3, 2);
        let nodes: Vec<NodeId> = machine.nodes().collect();
        for (offset, expected) in [(1, 1), (4, 4), (-1, 4), (6, 1)] {
            let pattern = try_build_on(&machine, &nodes, "adversarial", &[("offset", json!(offset))]).unwrap();
            let messages = check(&*pattern);
            assert_eq!(messages.len(), 30 * 16);
            assert!(messages.iter().all(|m| m.1 / 6 == (m.0 / 6 + expected) % 5));
            // Every node of the target group receives: 96 draws out of 6 miss one with probability 1e-7.
            let mut receivers: Vec<u32> = messages.iter().map(|m| m.1).collect();
            receivers.sort_unstable();
            receivers.dedup();
            assert_eq!(receivers.len(), 30);
        }
    }

    #[test]
    fn matching_is_a_permutation() {
        let machine = groups(5, 3, 2);
        let nodes: Vec<NodeId> = machine.nodes().collect();
        let given = [("target", json!("matching")), ("messages", json!(1)), ("offset", json!(2))];
        let messages = check(&*try_build_on(&machine, &nodes, "adversarial", &given).unwrap());
        assert!(injective(&messages));
        assert!(messages.iter().all(|m| m.1 == (m.0 + 12) % 30));
    }

    /// Ranks in groups 0, 2 and 4 only: group 0 sends to group 2, group 4 to group 0.
    #[test]
    fn a_partial_job_uses_its_own_groups() {
        let machine = groups(5, 1, 4);
        let nodes: Vec<NodeId> = [16, 0, 8, 1, 17].map(NodeId).to_vec();
        let group_of = |rank: u32| nodes[rank as usize].0 / 4;
        let messages = check(&*try_build_on(&machine, &nodes, "adversarial", &[]).unwrap());
        assert!(messages.iter().all(|m| group_of(m.1) == [2, 9, 4, 9, 0][group_of(m.0) as usize]));
        let cut = check(&*try_build_on(&machine, &nodes, "adversarial", &[("group_ranks", json!(2))]).unwrap());
        assert!(cut.iter().all(|m| m.1 / 2 == (m.0 / 2 + 1) % 3));
    }

    #[test]
    fn a_job_in_one_group_is_an_error() {
        let message = try_build("adversarial", 8, &[]).unwrap_err().to_string();
        assert!(message
            .starts_with("job 'test': pattern 'adversarial': offset: 1, but the ranks of the job are in 1 group:"));
        assert!(try_build("adversarial", 8, &[("group_ranks", json!(0))]).is_err());
    }
}
