//! Builds a pattern on a machine of one router, and checks invariants of every pattern.

use super::rule::PatternContext;
use super::PatternSpec;
use crate::communication::Pattern;
use crate::test_machines::groups;
use odonata_declare::ParameterError;
use odonata_units::{NodeId, RankId};
use serde_json::Value;
use std::sync::Arc;

/// Source, target, bytes.
pub(super) type Message = (u32, u32, u64);

pub(super) fn try_build(
    name: &str,
    ranks: u32,
    parameters: &[(&str, Value)],
) -> Result<Arc<dyn Pattern>, ParameterError> {
    let machine = groups(1, 1, ranks);
    try_build_on(&machine, &(0..ranks).map(NodeId).collect::<Vec<_>>(), name, parameters)
}

pub(super) fn try_build_on(
    machine: &odonata_machine::Machine,
    node_of_rank: &[NodeId],
    name: &str,
    parameters: &[(&str, Value)],
) -> Result<Arc<dyn Pattern>, ParameterError> {
    let mut spec = PatternSpec::parse(name).unwrap();
    for (parameter, value) in parameters {
        spec.set(parameter, value.clone())?;
    }
    let context = PatternContext { machine, job: "test", ranks: node_of_rank.len() as u32, seed: 7, node_of_rank };
    spec.rule().build(&context).map_err(|mistake| spec.error("test", mistake))
}

pub(super) fn build(name: &str, ranks: u32, parameters: &[(&str, Value)]) -> Arc<dyn Pattern> {
    try_build(name, ranks, parameters).unwrap()
}

/// All messages by source. Checks that every receiver exists, and that the order of calls changes nothing.
pub(super) fn check(pattern: &dyn Pattern) -> Vec<Message> {
    let ask = |rank: u32| {
        let mut sends = Vec::new();
        pattern.sends(RankId(rank), &mut sends);
        sends.into_iter().map(|s| (rank, s.target.0, s.bytes.0)).collect::<Vec<Message>>()
    };
    let messages: Vec<Message> = (0..pattern.ranks()).flat_map(ask).collect();
    let mut backwards: Vec<Vec<Message>> = (0..pattern.ranks()).rev().map(ask).collect();
    backwards.reverse();
    assert_eq!(messages, backwards.concat(), "the same for any order of calls");
    assert!(messages.iter().all(|m| m.1 < pattern.ranks()), "every receiver is a rank");
    messages
}

/// Whether each message has one of the same size in the opposite direction.
pub(super) fn symmetric(messages: &[Message]) -> bool {
    let mut there: Vec<Message> = messages.to_vec();
    let mut back: Vec<Message> = messages.iter().map(|m| (m.1, m.0, m.2)).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back
}

/// Whether no rank receives twice: a permutation without its fixed points.
pub(super) fn injective(messages: &[Message]) -> bool {
    let mut sources: Vec<u32> = messages.iter().map(|m| m.0).collect();
    let mut targets: Vec<u32> = messages.iter().map(|m| m.1).collect();
    sources.sort_unstable();
    targets.sort_unstable();
    let once = |ranks: &[u32]| ranks.windows(2).all(|w| w[0] < w[1]);
    once(&sources) && once(&targets) && messages.iter().all(|m| m.0 != m.1)
}
