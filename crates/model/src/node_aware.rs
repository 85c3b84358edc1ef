//! Node-aware communication: the same data in two or three steps, with fewer messages between nodes.
//!
//! After Bienz, Gropp and Olson, "Node aware sparse matrix-vector multiplication" (2019):
//!
//! * *Two steps*: a rank sends all its data for another node as one message to one rank there, which forwards them
//!   inside the node.
//! * *Three steps*: first, one rank of a node collects the data for another node. It sends a single message per pair of
//!   nodes. The receiver forwards the data.
//!
//! Partner ranks take turns to spread the load: rank (d mod size) of a node handles the data of node d. A value that
//! several ranks of a node need counts once per rank, because message sizes do not show which values are equal. The
//! true cost can only be lower.

use std::collections::BTreeMap;

use crate::message::RankMessage;
use crate::ModelError;

/// A scheme of node-aware communication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeAwareScheme {
    /// Messages are sent directly.
    Direct,
    /// Via one rank of the destination's node.
    TwoSteps,
    /// Via one rank of each node.
    ThreeSteps,
}

/// The steps that send `messages` by the scheme `route`. `nodes[r]` is rank r's node.
///
/// Messages within a node are sent in the first step. Messages of a rank to itself are dropped.
///
/// # Errors
/// A rank that is not in `nodes`.
pub fn steps(
    messages: &[RankMessage],
    nodes: &[u32],
    route: NodeAwareScheme,
) -> Result<Vec<Vec<RankMessage>>, ModelError> {
    for m in messages {
        let largest = m.source.max(m.destination);
        if largest as usize >= nodes.len() {
            return Err(ModelError::OutOfRange {
                what: format!("rank of the message {} to {}", m.source, m.destination),
                value: f64::from(largest),
                expected: "a rank that is placed on a node",
            });
        }
    }
    if route == NodeAwareScheme::Direct {
        return Ok(vec![messages.iter().copied().filter(|m| m.source != m.destination).collect()]);
    }
    let members = members(nodes);
    let chosen = |node: u32, other: u32| {
        let ranks = &members[&node];
        ranks[other as usize % ranks.len()]
    };
    let node = |rank: u32| nodes[rank as usize];
    let mut bags = [Bag::default(), Bag::default(), Bag::default()];
    for m in messages {
        let (from, to) = (node(m.source), node(m.destination));
        if from == to {
            bags[0].add(m.source, m.destination, m.bytes);
            continue;
        }
        let sender = if route == NodeAwareScheme::TwoSteps { m.source } else { chosen(from, to) };
        // Two steps: senders of one node spread over the receivers. Three steps: one receiver per pair of nodes.
        let receiver = chosen(to, if route == NodeAwareScheme::TwoSteps { m.source } else { from });
        bags[0].add(m.source, sender, m.bytes);
        bags[1].add(sender, receiver, m.bytes);
        bags[2].add(receiver, m.destination, m.bytes);
    }
    Ok(bags.into_iter().map(Bag::into_messages).filter(|step| !step.is_empty()).collect())
}

fn members(nodes: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (rank, &node) in nodes.iter().enumerate() {
        members.entry(node).or_default().push(rank as u32);
    }
    members
}

/// Bytes per pair of ranks. Data of one pair and step form one message.
#[derive(Default)]
struct Bag(BTreeMap<(u32, u32), u64>);

impl Bag {
    fn add(&mut self, source: u32, destination: u32, bytes: u64) {
        if source != destination {
            *self.0.entry((source, destination)).or_default() += bytes;
        }
    }

    fn into_messages(self) -> Vec<RankMessage> {
        self.0.into_iter().map(|((source, destination), bytes)| RankMessage { source, destination, bytes }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two nodes of two ranks; each rank sends 10 bytes to each of the three others.
    fn all_to_all() -> (Vec<RankMessage>, Vec<u32>) {
        let pairs = (0..4).flat_map(|s| (0..4).map(move |d| (s, d)));
        let messages =
            pairs.filter(|(s, d)| s != d).map(|(source, destination)| RankMessage { source, destination, bytes: 10 });
        (messages.collect(), vec![0, 0, 1, 1])
    }

    fn across(step: &[RankMessage], nodes: &[u32]) -> Vec<u64> {
        step.iter().filter(|m| nodes[m.source as usize] != nodes[m.destination as usize]).map(|m| m.bytes).collect()
    }

    #[test]
    fn counts_by_hand() {
        let (messages, nodes) = all_to_all();
        // Direct: each of 4 ranks sends 2 messages across.
        let direct = steps(&messages, &nodes, NodeAwareScheme::Direct).unwrap();
        assert_eq!(across(&direct[0], &nodes), vec![10; 8]);
        // Two steps: each rank one message of 20; three: one of 40 per direction.
        let two: Vec<u64> = steps(&messages, &nodes, NodeAwareScheme::TwoSteps)
            .unwrap()
            .iter()
            .flat_map(|s| across(s, &nodes))
            .collect();
        assert_eq!(two, vec![20; 4]);
        let three: Vec<u64> = steps(&messages, &nodes, NodeAwareScheme::ThreeSteps)
            .unwrap()
            .iter()
            .flat_map(|s| across(s, &nodes))
            .collect();
        assert_eq!(three, vec![40; 2]);
    }

    fn of(step: &[RankMessage]) -> Vec<(u32, u32, u64)> {
        step.iter().map(|m| (m.source, m.destination, m.bytes)).collect()
    }

    /// Two nodes of two ranks, all-to-all, in two steps. Ranks 0 and 1 send to the ranks in the same places of the
    /// other node, 2 and 3. So both receive: rank 0 sends 10 bytes for 2 and 10 for 3 to rank 2, which forwards 10. The
    /// messages within a node go in the first step.
    #[test]
    fn two_steps_spread_over_the_receivers() {
        let (messages, nodes) = all_to_all();
        let steps = steps(&messages, &nodes, NodeAwareScheme::TwoSteps).unwrap();
        let inside = [(0, 1, 10), (1, 0, 10), (2, 3, 10), (3, 2, 10)];
        assert_eq!(of(&steps[0]), inside);
        assert_eq!(of(&steps[1]), [(0, 2, 20), (1, 3, 20), (2, 0, 20), (3, 1, 20)]);
        assert_eq!(of(&steps[2]), inside);
        assert_eq!(steps.len(), 3);
    }

    /// Three nodes of two ranks, all-to-all, in three steps. The data of node a for node b leave from a's rank in place
    /// b mod 2. They arrive at b's rank in place a mod 2:
    ///
    /// | nodes | ranks |
    /// |---|---|
    /// | 0 to 1 | 1 to 2 |
    /// | 0 to 2 | 0 to 4 |
    /// | 1 to 0 | 2 to 1 |
    /// | 1 to 2 | 2 to 5 |
    /// | 2 to 0 | 4 to 0 |
    /// | 2 to 1 | 5 to 2 |
    ///
    /// Each message has 2 x 2 x 10 bytes. Before and after this step, every other rank sends or receives 20 bytes per
    /// pair of nodes. In the first step it also sends 10 bytes to its neighbour.
    #[test]
    fn three_steps_spread_over_senders_and_receivers() {
        let pairs = (0..6).flat_map(|s| (0..6).map(move |d| (s, d)));
        let messages: Vec<RankMessage> = pairs
            .filter(|(s, d)| s != d)
            .map(|(source, destination)| RankMessage { source, destination, bytes: 10 })
            .collect();
        let steps = steps(&messages, &[0, 0, 1, 1, 2, 2], NodeAwareScheme::ThreeSteps).unwrap();
        assert_eq!(of(&steps[1]), [(0, 4, 40), (1, 2, 40), (2, 1, 40), (2, 5, 40), (4, 0, 40), (5, 2, 40)]);
        // Rank 0 passes the data for node 1 to rank 1 and receives the data for node 2. Rank 3 handles no node.
        assert_eq!(of(&steps[0]), [(0, 1, 30), (1, 0, 30), (2, 3, 10), (3, 2, 50), (4, 5, 30), (5, 4, 30)]);
        // Node 1 receives both messages at rank 2. Nodes 0 and 2 receive one message at each rank.
        assert_eq!(of(&steps[2]), [(0, 1, 20), (1, 0, 20), (2, 3, 40), (4, 5, 20), (5, 4, 20)]);
    }

    #[test]
    fn unknown_ranks_are_refused() {
        let (messages, _) = all_to_all();
        assert!(steps(&messages, &[0, 0, 1], NodeAwareScheme::TwoSteps).is_err());
    }

    proptest! {
        /// The steps deliver every byte to its destination.
        #[test]
        fn every_byte_arrives(
            pairs in proptest::collection::vec((0_u32..12, 0_u32..12, 1_u64..1000), 0..60),
            per_node in 1_u32..5,
            three in any::<bool>(),
        ) {
            let nodes: Vec<u32> = (0..12).map(|r| r / per_node).collect();
            let messages: Vec<RankMessage> =
                pairs.iter().map(|&(source, destination, bytes)| RankMessage { source, destination, bytes }).collect();
            let route = if three { NodeAwareScheme::ThreeSteps } else { NodeAwareScheme::TwoSteps };
            let mut net = [0_i64; 12];
            for m in &messages {
                net[m.source as usize] -= m.bytes as i64;
                net[m.destination as usize] += m.bytes as i64;
            }
            for step in steps(&messages, &nodes, route).unwrap() {
                for m in step {
                    net[m.source as usize] += m.bytes as i64;
                    net[m.destination as usize] -= m.bytes as i64;
                }
            }
            prop_assert_eq!(net, [0; 12]);
        }
    }
}
