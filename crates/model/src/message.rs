//! Cost of any list of messages, per rank: postal, LogGP and max-rate, with terms for hops and matching.
//!
//! A rank's time is the sum of the costs of its messages. The time of a step is the largest of these. Messages within a
//! node can have their own parameters.
//!
//! | model | time of a rank that sends k messages of b_1 .. b_k bytes and receives r | source |
//! | --- | --- | --- |
//! | postal | sum (alpha + b / R) | Bar-Noy, Kipnis 1992; Hockney's alpha-beta |
//! | LogGP | o + (k - 1) max(o, g) + sum (b - 1) G + L + r o | Alexandrov et al. 1995 |
//! | max-rate | k alpha + max(B_node / R_N, b / R_C); b: bytes that leave the node, B_node: b of all ranks of the node | Gropp, Olson, Samfass 2016 |
//! | + hops | (h - h_m) gamma per message | Gahvari et al. 2014 |
//! | + matching | q r^2 for r received messages: each one is searched for in a queue of length r | Bienz, Gropp, Olson 2018 |

use crate::error::{at_least, positive};
use crate::ModelError;

/// One message of a communication graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankMessage {
    /// Sending rank.
    pub source: u32,
    /// Receiving rank.
    pub destination: u32,
    /// Size.
    pub bytes: u64,
}

/// Start-up and rate of one kind of message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Postal {
    /// Start-up.
    pub alpha_s: f64,
    /// Bytes per second.
    pub rate: f64,
}

/// A model of the price of messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MessageModel {
    /// Start-up and bytes of each message.
    Postal(Postal),
    /// Overhead, gap and latency as separate parameters.
    LogGp {
        /// L, latency.
        latency_s: f64,
        /// o, processor time of a send or a receive.
        overhead_s: f64,
        /// g, least time between two sends.
        gap_s: f64,
        /// G, time per further byte.
        gap_per_byte_s: f64,
    },
    /// The ranks of a node share its injection bandwidth.
    MaxRate {
        /// Start-up.
        alpha_s: f64,
        /// R_C, bytes per second of one rank.
        rank_rate: f64,
        /// R_N, injection bandwidth of a node, bytes per second.
        node_rate: f64,
    },
}

/// A model with its optional terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MessagePrices {
    /// For messages that leave the node, and for all messages if `within_node` is not given.
    pub model: MessageModel,
    /// For messages between ranks of a node.
    pub within_node: Option<Postal>,
    /// gamma, seconds per hop beyond the shortest distance. 0 omits the term.
    pub hop_s: f64,
    /// q, seconds per squared number of messages. 0 omits the term.
    pub match_s: f64,
}

/// Messages and cost of one rank, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankCost {
    /// Messages to other ranks.
    pub sends: u32,
    /// Messages from other ranks.
    pub receives: u32,
    /// Bytes to other ranks.
    pub bytes: u64,
    /// Start-ups, overheads and latency.
    pub startup_s: f64,
    /// Further hops.
    pub hops_s: f64,
    /// Bytes.
    pub bandwidth_s: f64,
    /// Matching.
    pub matching_s: f64,
}

impl RankCost {
    /// Total time.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.startup_s + self.hops_s + self.bandwidth_s + self.matching_s
    }
}

/// Counts of a rank's messages before pricing.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    sends: u32,
    receives: u32,
    bytes: u64,
    sends_within: u32,
    bytes_within: u64,
    extra_hops: u64,
}

impl MessagePrices {
    /// Checks that every parameter is usable.
    ///
    /// # Errors
    /// A parameter that is infinite, negative, or a divisor of zero.
    pub fn check(&self) -> Result<(), ModelError> {
        self.model.check()?;
        if let Some(p) = self.within_node {
            p.check("within a node")?;
        }
        at_least("gamma", self.hop_s, 0.0)?;
        at_least("matching term", self.match_s, 0.0).map(|_| ())
    }
}

impl MessageModel {
    fn check(&self) -> Result<(), ModelError> {
        match *self {
            Self::Postal(p) => p.check("between nodes"),
            Self::LogGp { latency_s, overhead_s, gap_s, gap_per_byte_s } => {
                at_least("LogGP latency L", latency_s, 0.0)?;
                at_least("LogGP overhead o", overhead_s, 0.0)?;
                at_least("LogGP gap g", gap_s, 0.0)?;
                at_least("LogGP gap per byte G", gap_per_byte_s, 0.0).map(|_| ())
            }
            Self::MaxRate { alpha_s, rank_rate, node_rate } => {
                at_least("max-rate alpha", alpha_s, 0.0)?;
                positive("rate of a rank", rank_rate)?;
                positive("rate of a node", node_rate).map(|_| ())
            }
        }
    }

    fn price(&self, load: &Load, node_bytes: u64) -> (f64, f64) {
        let (k, bytes) = (f64::from(load.sends), load.bytes as f64);
        match *self {
            Self::Postal(p) => (k * p.alpha_s, bytes / p.rate),
            Self::LogGp { latency_s, overhead_s, gap_s, gap_per_byte_s } => {
                let sending =
                    if load.sends > 0 { overhead_s + (k - 1.0) * overhead_s.max(gap_s) + latency_s } else { 0.0 };
                (sending + f64::from(load.receives) * overhead_s, (bytes - k).max(0.0) * gap_per_byte_s)
            }
            Self::MaxRate { alpha_s, rank_rate, node_rate } => {
                let shared = if load.bytes > 0 { node_bytes as f64 / node_rate } else { 0.0 };
                (k * alpha_s, shared.max(bytes / rank_rate))
            }
        }
    }
}

impl Postal {
    fn check(&self, where_to: &str) -> Result<(), ModelError> {
        at_least(&format!("alpha {where_to}"), self.alpha_s, 0.0)?;
        positive(&format!("rate {where_to}"), self.rate).map(|_| ())
    }
}

/// Prices one step with all `messages`, rank by rank. `nodes[r]` is rank r's node. `extra_hops` returns the hops
/// between two nodes beyond the shortest distance, h - h_m, and is called in the order of the messages. Messages of a
/// rank to itself are free.
///
/// # Errors
/// Unusable parameters, or a rank that is not in `nodes`.
pub fn rank_costs(
    messages: &[RankMessage],
    nodes: &[u32],
    extra_hops: impl FnMut(u32, u32) -> u32,
    pricing: &MessagePrices,
) -> Result<Vec<RankCost>, ModelError> {
    pricing.check()?;
    let loads = count(messages, nodes, extra_hops, pricing.within_node.is_some())?;
    let mut node_bytes = vec![0_u64; nodes.iter().max().map_or(0, |&n| n as usize + 1)];
    for (load, &node) in loads.iter().zip(nodes) {
        node_bytes[node as usize] += load.bytes;
    }
    Ok(loads
        .iter()
        .zip(nodes)
        .map(|(load, &node)| {
            let (mut startup_s, mut bandwidth_s) = pricing.model.price(load, node_bytes[node as usize]);
            if let Some(p) = pricing.within_node {
                startup_s += f64::from(load.sends_within) * p.alpha_s;
                bandwidth_s += load.bytes_within as f64 / p.rate;
            }
            RankCost {
                sends: load.sends + load.sends_within,
                receives: load.receives,
                bytes: load.bytes + load.bytes_within,
                startup_s,
                hops_s: load.extra_hops as f64 * pricing.hop_s,
                bandwidth_s,
                matching_s: f64::from(load.receives).powi(2) * pricing.match_s,
            }
        })
        .collect())
}

fn count(
    messages: &[RankMessage],
    nodes: &[u32],
    mut extra_hops: impl FnMut(u32, u32) -> u32,
    nodes_differ: bool,
) -> Result<Vec<Load>, ModelError> {
    let mut loads = vec![Load::default(); nodes.len()];
    for m in messages {
        let (Some(&from), Some(&to)) = (nodes.get(m.source as usize), nodes.get(m.destination as usize)) else {
            return Err(ModelError::OutOfRange {
                what: format!("rank of the message {} to {}", m.source, m.destination),
                value: f64::from(m.source.max(m.destination)),
                expected: "a rank that is placed on a node",
            });
        };
        if m.source == m.destination {
            continue;
        }
        loads[m.destination as usize].receives += 1;
        let load = &mut loads[m.source as usize];
        if from == to && nodes_differ {
            load.sends_within += 1;
            load.bytes_within += m.bytes;
        } else {
            load.sends += 1;
            load.bytes += m.bytes;
            load.extra_hops += u64::from(extra_hops(from, to));
        }
    }
    Ok(loads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{DragonflyFigures, NetworkFigures};

    const POSTAL: Postal = Postal { alpha_s: 1e-6, rate: 1e9 };

    fn send(source: u32, destination: u32, bytes: u64) -> RankMessage {
        RankMessage { source, destination, bytes }
    }

    fn plain(model: MessageModel) -> MessagePrices {
        MessagePrices { model, within_node: None, hop_s: 0.0, match_s: 0.0 }
    }

    fn aries() -> impl FnMut(u32, u32) -> u32 {
        let network = NetworkFigures::Dragonfly(DragonflyFigures::aries(2));
        move |a, b| network.extra_hops(a, b)
    }

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-15, "{got:e} is not {expected:e}");
    }

    #[test]
    fn postal_by_hand() {
        let messages = [send(0, 1, 1000), send(0, 2, 3000), send(1, 0, 500), send(2, 2, 9)];
        let costs = rank_costs(&messages, &[0, 1, 2], aries(), &plain(MessageModel::Postal(POSTAL))).unwrap();
        close(costs[0].total_s(), 2e-6 + 4e-6);
        close(costs[1].total_s(), 1e-6 + 0.5e-6);
        close(costs[2].total_s(), 0.0);
    }

    #[test]
    fn loggp_by_hand() {
        let model = MessageModel::LogGp { latency_s: 5e-6, overhead_s: 1e-6, gap_s: 2e-6, gap_per_byte_s: 1e-9 };
        let messages = [send(0, 1, 101), send(0, 2, 201)];
        let costs = rank_costs(&messages, &[0, 1, 2], aries(), &plain(model)).unwrap();
        // Two sends: o + max(o, g) + 100 G + 200 G + L.
        close(costs[0].total_s(), 1e-6 + 2e-6 + 0.3e-6 + 5e-6);
        close(costs[1].total_s(), 1e-6);
    }

    #[test]
    fn max_rate_shares_the_node() {
        let model = MessageModel::MaxRate { alpha_s: 1e-6, rank_rate: 1e9, node_rate: 1.5e9 };
        // Ranks 0 and 1 on node 0 send 3000 bytes each to node 1: 6000 / 1.5 GB/s = 4 us beats 3 us alone.
        let messages = [send(0, 2, 3000), send(1, 2, 3000)];
        let costs = rank_costs(&messages, &[0, 0, 1], aries(), &plain(model)).unwrap();
        close(costs[0].total_s(), 1e-6 + 4e-6);
        // Alone on its node, a rank sends at its own rate.
        let costs = rank_costs(&messages, &[0, 2, 1], aries(), &plain(model)).unwrap();
        close(costs[0].total_s(), 1e-6 + 3e-6);
    }

    #[test]
    fn hops_matching_and_the_inside_of_a_node() {
        let pricing = MessagePrices {
            model: MessageModel::Postal(POSTAL),
            within_node: Some(Postal { alpha_s: 0.1e-6, rate: 1e10 }),
            hop_s: 1e-7,
            match_s: 1e-8,
        };
        // Rank 0 (node 0) to rank 1 (same node), to rank 2 (node 3, same router: 2 hops), to rank 3 (node 384: 7 hops).
        let messages = [send(0, 1, 1000), send(0, 2, 1000), send(0, 3, 1000), send(2, 3, 1000), send(1, 3, 1000)];
        let costs = rank_costs(&messages, &[0, 0, 3, 384], aries(), &pricing).unwrap();
        close(costs[0].startup_s, 2e-6 + 0.1e-6);
        close(costs[0].bandwidth_s, 2e-6 + 0.1e-6);
        close(costs[0].hops_s, 5.0 * 1e-7);
        close(costs[3].matching_s, 9.0 * 1e-8);
        assert_eq!((costs[0].sends, costs[0].receives, costs[0].bytes), (3, 0, 3000));
        assert_eq!((costs[3].sends, costs[3].receives, costs[3].bytes), (0, 3, 0));
    }

    #[test]
    fn mistakes_are_named() {
        let postal = plain(MessageModel::Postal(POSTAL));
        let error = rank_costs(&[send(0, 5, 1)], &[0, 1], aries(), &postal).unwrap_err();
        assert!(error.to_string().contains("message 0 to 5"), "{error}");
        let zero = plain(MessageModel::Postal(Postal { alpha_s: 0.0, rate: 0.0 }));
        assert!(rank_costs(&[], &[0], aries(), &zero).is_err());
    }
}
