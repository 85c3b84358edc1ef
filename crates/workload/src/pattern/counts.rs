//! Tests of the counts of all patterns: the formula equals the walk, and the expectation the mean over seeds.

use super::{PatternContext, PatternSpec, PATTERNS};
use crate::communication::Pattern;
use crate::test_machines::groups;
use odonata_machine::Machine;
use odonata_programs::{MessageCounts, Sender};
use odonata_units::{NodeId, RankId, Stream};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::sync::Arc;

/// The counts of a walk over all messages.
fn walked(pattern: &dyn Pattern) -> MessageCounts {
    let mut counts = MessageCounts::default();
    for rank in 0..pattern.ranks() {
        let (mut sends, mut sender) = (Vec::new(), Sender::default());
        pattern.sends(RankId(rank), &mut sends);
        sends.iter().for_each(|message| sender.send(message.target.0, message.bytes, 1, &mut counts));
        sender.hand_over(&mut counts);
    }
    counts
}

fn build(machine: &Machine, name: &str, ranks: u32, seed: u64, given: &[(&str, Value)]) -> Option<Arc<dyn Pattern>> {
    let mut spec = PatternSpec::parse(name).unwrap();
    for (key, value) in given {
        spec.set(key, value.clone()).unwrap();
    }
    let node_of_rank: Vec<NodeId> = (0..ranks).map(NodeId).collect();
    let context = PatternContext { machine, job: "test", ranks, seed, node_of_rank: &node_of_rank };
    spec.rule().build(&context).ok()
}

/// Parameters of a pattern from a draw; some do not fit.
fn drawn(name: &str, draw: u64) -> Vec<(&'static str, Value)> {
    let mut stream = Stream::new(draw, name, &[]);
    let keys = PatternSpec::parse(name).unwrap().values();
    let mut value = |key: &str| {
        let number = |stream: &mut Stream, below: u64| json!(1 + stream.below(below));
        Some(match key {
            "bytes" => json!(format!("{} B", stream.below(1_000))),
            "messages" | "offset" | "hot_ranks" => number(&mut stream, 5),
            "group" | "stride" | "group_ranks" => number(&mut stream, 9),
            "periodic" | "symmetric" => json!(stream.below(2) == 1),
            "share" => json!(0.5),
            "target" => json!(["random", "matching"][stream.below(2) as usize]),
            _ => return None,
        })
    };
    keys.into_iter().filter_map(|(key, _)| Some((key, value(key)?))).collect()
}

const DRAWN: [&str; 3] = ["spread", "umesh", "random-neighbors"];

proptest! {
    #[test]
    fn the_formula_is_the_walk(draw in 0u64..1_000_000, ranks in 1u32..100) {
        let machine = groups(4, 5, 5);
        for name in PATTERNS.iter().map(|pattern| pattern.name).filter(|name| *name != "file" && !DRAWN.contains(name)) {
            let Some(pattern) = build(&machine, name, ranks, draw, &drawn(name, draw)) else { continue };
            let (counts, walked) = (pattern.counts(), walked(&*pattern));
            // Which pairs of ranks have messages is drawn in some of them.
            prop_assert_eq!(counts.clone().with_pairs(0), walked.clone().with_pairs(0), "{} {} {}", name, ranks, draw);
            if !["uniform", "hotspot", "adversarial"].contains(&name) {
                prop_assert_eq!(counts.pairs, walked.pairs, "{} {} {}", name, ranks, draw);
            }
        }
    }
}

/// Patterns that draw their numbers of messages. Small jobs and short distances change the expectation.
#[test]
fn the_expectation_is_the_mean_over_seeds() {
    let machine = groups(8, 8, 8);
    for name in DRAWN {
        for (ranks, symmetric) in [(501, false), (501, true), (64, false), (64, true), (9, false), (9, true)] {
            let mut given = vec![("symmetric", json!(symmetric))];
            if name == "umesh" {
                given.push(("max_distance", json!(60)));
            }
            let of = |seed| build(&machine, name, ranks, seed, &given).unwrap();
            let counts = of(0).counts();
            let all: u64 = (0..100).map(|seed| walked(&*of(seed)).messages()).sum();
            let deviation = counts.messages() as f64 / (all as f64 / 100.0) - 1.0;
            // Few ranks have few messages, whose mean over 100 seeds varies more.
            let most = if ranks < 500 { 0.03 } else { 0.01 };
            assert!(counts.is_estimate && deviation.abs() < most, "{name} {ranks} {symmetric}: {deviation}");
        }
    }
}

/// The largest number of draws per rank, on 500 ranks: 8.4 billion messages, none of which is drawn.
#[test]
fn many_draws_are_counted_at_once() {
    let machine = groups(10, 10, 5);
    let pattern = build(&machine, "uniform", 500, 1, &[("messages", json!(1 << 24))]).unwrap();
    let counts = pattern.counts();
    assert_eq!((counts.messages(), counts.pairs), (500 << 24, 500 * 499));
}
