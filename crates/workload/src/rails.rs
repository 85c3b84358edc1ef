//! Which interfaces the messages of a job take where nodes have several.
//!
//! A message leaves by one interface of its node and arrives by the one of the same number: rail r of every node, so that it stays in a
//! plane. Which one is said by a [`RailRule`] and depends on nothing but ranks, the message's number among those of its rank, and its
//! size; it is the same in every iteration. With k interfaces that work at both ends, in order of their numbers:
//!
//! | rule | number among these |
//! |---|---|
//! | `affinity` | place of the sending rank among those of its node, modulo k |
//! | `round-robin` | number of the message, from the place of its rank on, modulo k |
//! | `hash` | a hash of both ranks, modulo k |
//! | `stripe` | all k, with bytes / k each (those of lower numbers get the bytes that are left); below `stripe_from` bytes as `affinity` |
//!
//! What stays on a node takes none. What stays on a router on one rail does so on all ([`odonata_machine::RailRouters`]).

use crate::rail_choice::{RailChoice, RailRule};
use crate::volumes::{Locality, Message};
use crate::{Job, Workload};
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, RankId};
use std::collections::BTreeMap;

/// What one interface carries of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// End from which it leaves.
    pub source: NodeId,
    /// End at which it arrives.
    pub target: NodeId,
    /// Bytes.
    pub bytes: Bytes,
}

/// Two nodes of a job without a rail that works at both.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("job '{name}': no interface of node {a} leads where one of node {b} does: the faults leave them no common rail; place the job elsewhere or take back a fault")]
pub struct NoCommonRail {
    /// Its place among the jobs.
    pub job: usize,
    name: String,
    a: String,
    b: String,
}

/// Which rails the messages of a job take.
#[derive(Clone, Debug)]
pub struct JobRails {
    choice: RailChoice,
    /// Interfaces of a node.
    of_node: u32,
    /// Of every rank, its place among the ranks of its node; empty where nodes have one interface.
    place: Vec<u32>,
    /// Rails that work, by node of the job; empty if all do.
    working: BTreeMap<NodeId, u64>,
}

impl JobRails {
    /// Those of a job on a machine.
    pub fn new(machine: &Machine, job: &Job) -> Self {
        let (mut place, mut working) = (Vec::new(), BTreeMap::new());
        if machine.has_rails() {
            let mut on_node: BTreeMap<NodeId, u32> = BTreeMap::new();
            for &node in &job.node_of_rank {
                let count = on_node.entry(node).or_default();
                place.push(*count);
                *count += 1;
            }
            working = on_node.keys().map(|&node| (node, machine.working_rails(node))).collect();
            let all = u64::MAX >> (64 - machine.rails().of_node());
            if working.values().all(|&mask| mask == all) {
                working.clear();
            }
        }
        Self { choice: job.rails, of_node: machine.rails().of_node(), place, working }
    }

    /// Bit r: rail r works at both nodes.
    fn common(&self, a: NodeId, b: NodeId) -> u64 {
        let of = |node: NodeId| self.working.get(&node).copied().unwrap_or(u64::MAX);
        of(a) & of(b) & (u64::MAX >> (64 - self.of_node))
    }

    /// Whether messages from one rank to another may overtake each other, on several rails.
    pub fn may_overtake(&self) -> bool {
        matches!(self.choice.rail_rule, RailRule::RoundRobin | RailRule::Stripe)
    }

    /// Whether a message is cut in parts.
    pub fn is_striped(&self, bytes: Bytes) -> bool {
        self.choice.rail_rule == RailRule::Stripe && bytes >= self.choice.stripe_from
    }

    /// The parts of a message between two nodes that is cut: rails and bytes, of these at least one.
    pub fn shares(&self, a: NodeId, b: NodeId, bytes: Bytes) -> impl Iterator<Item = (u32, Bytes)> {
        let common = self.common(a, b);
        let count = u64::from(common.count_ones());
        let share = move |i: u64| bytes.0 / count + u64::from(i < bytes.0 % count);
        (0..).zip(bits(common)).map(move |(i, rail)| (rail, Bytes(share(i)))).filter(|(_, share)| share.0 > 0)
    }

    /// The rail of a message that is not cut, number `number` among those of its rank, between two nodes.
    ///
    /// # Panics
    /// Without a rail that works at both; [`Workload::spread_over_rails`] refuses such nodes.
    pub fn rail(&self, (source, target): (RankId, RankId), (a, b): (NodeId, NodeId), number: u64) -> u32 {
        let common = self.common(a, b);
        let place = u64::from(self.place.as_slice().get(source.index()).copied().unwrap_or(0));
        let chosen = match self.choice.rail_rule {
            RailRule::Affinity | RailRule::Stripe => place,
            RailRule::RoundRobin => place + number,
            RailRule::Hash => mixed(u64::from(source.0) << 32 | u64::from(target.0)),
        };
        let chosen = chosen.checked_rem(u64::from(common.count_ones())).and_then(|at| bits(common).nth(at as usize));
        chosen.expect("nodes without a common rail were refused")
    }
}

/// The ways of a job's messages from end to end.
#[derive(Clone, Debug)]
pub struct RailPaths<'a> {
    machine: &'a Machine,
    rails: JobRails,
}

impl<'a> RailPaths<'a> {
    /// Those of a job on a machine.
    pub fn new(machine: &'a Machine, job: &Job) -> Self {
        Self { machine, rails: JobRails::new(machine, job) }
    }

    /// A rail that works at two nodes of the job.
    pub fn any(&self, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId)> {
        let rail = self.rails.common(a, b).trailing_zeros();
        (rail < 64).then(|| (self.machine.end(a, rail), self.machine.end(b, rail)))
    }

    /// Rails on which a rank sends if its messages are open traffic: its own under `affinity`, else all.
    pub fn sends_on(&self, rank: RankId, rail: u32) -> bool {
        let JobRails { of_node: node_rails, choice, place, .. } = &self.rails;
        choice.rail_rule != RailRule::Affinity
            || place.as_slice().get(rank.index()).is_none_or(|place| place % node_rails == rail)
    }

    /// The parts of a message that leaves its node, which is number `number` among those of its rank.
    pub fn parts(&self, message: &Message, number: usize, mut each: impl FnMut(Part)) {
        let Message { source, target, source_node, target_node, bytes, within } = *message;
        debug_assert!(matches!(within, Locality::Router | Locality::Network), "it leaves its node");
        let rails = &self.rails;
        let mut give = |rail: u32, bytes: Bytes| {
            let (source, target) = (self.machine.end(source_node, rail), self.machine.end(target_node, rail));
            each(Part { source, target, bytes });
        };
        if rails.is_striped(bytes) {
            rails.shares(source_node, target_node, bytes).for_each(|(rail, share)| give(rail, share));
        } else {
            give(rails.rail((source, target), (source_node, target_node), number as u64), bytes);
        }
    }
}

/// Numbers of the bits that are set.
fn bits(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| mask >> bit & 1 == 1)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
const fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl Workload {
    /// Says how the messages of all jobs are spread over interfaces.
    ///
    /// # Errors
    /// The first job of which two nodes have no rail that works at both.
    pub fn spread_over_rails(&mut self, machine: &Machine, choice: RailChoice) -> Result<(), NoCommonRail> {
        for (number, job) in self.jobs.iter_mut().enumerate() {
            job.rails = choice;
            let working = JobRails::new(machine, job).working;
            // Few masks differ, however many nodes there are.
            let by_mask: BTreeMap<u64, NodeId> = working.into_iter().map(|(node, mask)| (mask, node)).collect();
            for (mask, &a) in &by_mask {
                if let Some((_, &b)) = by_mask.iter().find(|(other, _)| *other & mask == 0) {
                    let called = |node: NodeId| machine.node_name(node);
                    return Err(NoCommonRail { job: number, name: job.name.clone(), a: called(a), b: called(b) });
                }
            }
        }
        Ok(())
    }
}
