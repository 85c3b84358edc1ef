//! Jobs with a complete exchange, counted by nodes, because n ranks send n (n - 1) messages.

use super::walk::Locality;
use crate::Job;
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId};

/// A job in which every rank sends one message of the same size to every other rank per iteration.
#[derive(Clone, Debug)]
pub struct CompleteExchange {
    bytes: Bytes,
    /// Nodes in order, with their numbers of ranks.
    nodes: Vec<(NodeId, u32)>,
}

/// Messages from the ranks of one node to another node in one iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeExchange {
    /// Receiving node. It may be the sending node.
    pub target: NodeId,
    /// Number of messages.
    pub messages: u64,
    /// Total bytes, at most [`u64::MAX`].
    pub bytes: u64,
    /// Locality.
    pub within: Locality,
}

impl CompleteExchange {
    /// `None` for other jobs.
    pub fn of(job: &Job) -> Option<Self> {
        let bytes = job.pattern.complete()?;
        let mut node_of = job.node_of_rank.clone();
        node_of.sort_unstable();
        let nodes = node_of.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
        Some(Self { bytes, nodes })
    }

    /// Messages of `ranks` ranks of a node, by receiving node, in order.
    pub fn from<'a>(
        &'a self,
        machine: &'a Machine,
        source: NodeId,
        ranks: u32,
    ) -> impl Iterator<Item = NodeExchange> + 'a {
        let router = machine.router_of(source);
        self.nodes.iter().map(move |&(target, receivers)| {
            let others = if target == source { receivers - 1 } else { receivers };
            let messages = u64::from(ranks) * u64::from(others);
            let within = if target == source {
                Locality::Node
            } else if machine.router_of(target) == router {
                Locality::Router
            } else {
                Locality::Network
            };
            NodeExchange { target, messages, bytes: self.bytes.0.saturating_mul(messages), within }
        })
    }

    /// Passes all messages between nodes in one iteration to `each`.
    pub(super) fn each(&self, machine: &Machine, mut each: impl FnMut(NodeExchange)) {
        for &(node, ranks) in &self.nodes {
            self.from(machine, node, ranks).for_each(&mut each);
        }
    }

    /// Pairs of different nodes with messages. None if messages have no bytes.
    pub fn pairs_of_nodes(&self) -> u64 {
        let nodes = self.nodes.len() as u64;
        if self.bytes == Bytes(0) {
            0
        } else {
            nodes * nodes.saturating_sub(1)
        }
    }

    /// Size of each message.
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternSpec;
    use crate::test_machines::cascade;
    use crate::volumes::{Matrix, Messages, Volumes};
    use crate::{JobSettings, JobSpec, PlacementSpec, Work, Workload};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against the walk over all messages, for ranks that share nodes and routers or not.
        #[test]
        fn counted_by_nodes_as_by_messages(ranks in 1u32..60, each in 1u32..5, seed in 0u64..50, side in 1u32..9) {
            let machine = cascade(2, 2, 4, 2, 4);
            let job = JobSpec {
                name: "job".into(),
                ranks,
                settings: JobSettings { ranks_per_node: Some(each), ..JobSettings::default() },
                work: Work::pattern(PatternSpec::parse("all-to-all").unwrap()),
                placement: PlacementSpec::parse("random-nodes").unwrap(),
            };
            prop_assume!(ranks.div_ceil(each) <= 32);
            let workload = Workload::build(&machine, &[job], seed).unwrap();
            let job = &workload.jobs[0];
            let (mut volumes, mut pairs) = (Volumes::default(), BTreeMap::new());
            let (mut cells, mut messages) = (BTreeMap::new(), Messages::new(&machine, job));
            let matrix = Matrix::of(&machine, job, side);
            let cell = |rank: odonata_units::RankId| rank.0 / matrix.ranks_per_cell * matrix.ranks_per_cell;
            for rank in job.rank_ids() {
                for message in messages.of(rank) {
                    volumes.add(&message);
                    let pair: &mut (u64, u64) = pairs.entry((message.source_node, message.target_node)).or_default();
                    *pair = (pair.0 + 1, pair.1 + message.bytes.0);
                    let cell: &mut (u64, u128) = cells.entry((cell(message.source), cell(message.target))).or_default();
                    *cell = (cell.0 + 1, cell.1 + u128::from(message.bytes.0));
                }
            }
            prop_assert_eq!(Volumes::of(&machine, job), volumes);
            prop_assert_eq!(job.counts().messages(), volumes.messages);
            prop_assert_eq!(job.counts().bytes(), volumes.bytes());
            prop_assert_eq!(job.counts().pairs, volumes.messages);
            let (complete, mut found) = (CompleteExchange::of(job).unwrap(), BTreeMap::new());
            for &(node, ranks) in &complete.nodes {
                for exchange in complete.from(&machine, node, ranks).filter(|exchange| exchange.messages > 0) {
                    found.insert((node, exchange.target), (exchange.messages, exchange.bytes));
                }
            }
            prop_assert_eq!(found, pairs);
            let found: BTreeMap<_, _> =
                matrix.cells.iter().map(|c| ((c.source.0, c.target.0), (c.messages, c.bytes))).collect();
            prop_assert_eq!(found, cells);
        }
    }
}
