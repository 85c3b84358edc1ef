//! ADV+i: every rank sends to the i-th next group. The few direct cables between these groups are the bottleneck.

use super::cells::Cells;
use super::draw::{Draws, MESSAGES};
use super::{Pattern, PatternContext, PatternRule, SentMessage};
use odonata_declare::{parameter, words, Kind, Parameter, ParameterError, Parameters, AUTO};
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

/// Parameters of `adversarial`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdversarialParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Messages of each rank in one iteration.
    pub messages: u32,
    /// Distance in groups. It may be negative.
    pub offset: i64,
    /// The receiving rank of the target group.
    pub target: GroupTarget,
    /// Ranks per group. If not given, the groups of the machine are used.
    pub group_ranks: Option<u32>,
}

impl Parameters for AdversarialParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(messages, MESSAGES, "Messages of each rank in one iteration."),
        parameter!(offset, Kind::ANY_INTEGER, "Distance to the target group, in groups. It may be negative."),
        parameter!(target, GroupTarget::KIND, "Receiving rank of the target group."),
        parameter!(
            group_ranks,
            Kind::WordOr(AUTO, &Kind::count(1)),
            "Ranks per group, in order of their numbers. If not given, the groups of the machine are used."
        ),
    ];
}

impl PatternRule for AdversarialParameters {
    fn build(&self, owner: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterError> {
        Ok(Arc::new(Adversarial::new(owner, self, context)?))
    }
}

words! {
    /// The receiving rank of the target group.
    pub enum GroupTarget {
        Random = "random": "a uniformly random rank, drawn for every message",
        Matching = "matching": "the rank with the same index in its group, modulo the size of that group",
    }
}

impl Default for AdversarialParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64), messages: 16, offset: 1, target: GroupTarget::Random, group_ranks: None }
    }
}

/// The job's groups are the machine groups with ranks of the job, in the order of the machine, or blocks of
/// `group_ranks` ranks. A rank of group k sends to group k + offset, modulo the number of groups. If the job fills a
/// dragonfly evenly, this is the ADV+i of the literature.
#[derive(Debug)]
pub(super) struct Adversarial {
    cells: Cells,
    offset: usize,
    target: GroupTarget,
    draws: Draws,
}

impl Adversarial {
    pub(super) fn new(
        owner: &str,
        parameters: &AdversarialParameters,
        context: &PatternContext<'_>,
    ) -> Result<Self, ParameterError> {
        let AdversarialParameters { bytes, messages, offset, target, group_ranks } = *parameters;
        let cells = cells(owner, group_ranks, context)?;
        let groups = cells.len();
        let offset = offset.rem_euclid(groups as i64) as usize;
        if offset == 0 {
            let reason = format!(
                "{}, but the ranks of the job are in {groups} group{}: every rank would send to its own group; \
                choose an offset that is not a multiple of {groups}, more ranks, another placement, or group_ranks",
                parameters.offset,
                if groups == 1 { "" } else { "s" }
            );
            return Err(ParameterError::new(owner, "offset", reason));
        }
        Ok(Self { cells, offset, target, draws: Draws { seed: context.seed, messages, bytes } })
    }
}

/// The machine groups of the job, or blocks of `group_ranks`.
pub(super) fn cells(
    owner: &str,
    group_ranks: Option<u32>,
    context: &PatternContext<'_>,
) -> Result<Cells, ParameterError> {
    match group_ranks {
        Some(0) => Err(ParameterError::new(owner, "group_ranks", "a group has at least one rank")),
        Some(size) => Ok(Cells::of_size(context.ranks, size)),
        None => Ok(Cells::of_groups(context)),
    }
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
