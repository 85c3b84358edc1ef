//! Rail selection: the NICs of a job's messages on nodes with several NICs.
//!
//! A message leaves by one NIC of its node and arrives at the NIC with the same number: rail r of every node. So it
//! stays in a plane. A [`RailRule`] selects the rail from the ranks, the number of the message within its rank, and its
//! size. The selection is the same in every iteration. With k NICs that work at both ends, in order of their numbers:
//!
//! | rule | number among these |
//! |---|---|
//! | `affinity` | index of the sending rank on its node, modulo k |
//! | `round-robin` | number of the message plus the index of its rank, modulo k |
//! | `hash` | a hash of both ranks, modulo k |
//! | `stripe` | all k, with bytes / k each (the first ones carry the remainder); below `stripe_from` bytes as `affinity` |
//!
//! Messages within a node use no NIC. Nodes that share a router on one rail share one on all rails
//! ([`odonata_machine::RailRouters`]).

use crate::rail_choice::{RailChoice, RailRule};
use crate::volumes::{Locality, Message, Messages};
use crate::{Job, Workload};
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, RankId};
use std::collections::BTreeMap;

/// The part of a message on one NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Sending NIC.
    pub source: NodeId,
    /// Receiving NIC.
    pub target: NodeId,
    /// Bytes.
    pub bytes: Bytes,
}

/// Two nodes of a job without a common working rail.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "job '{name}': node {a} and node {b} have no common working rail because of faults; use another placement or \
    remove a fault"
)]
pub struct NoCommonRail {
    /// Index of the job.
    pub job: usize,
    name: String,
    a: String,
    b: String,
}

/// Rail selection of a job.
#[derive(Clone, Debug)]
pub struct JobRails {
    choice: RailChoice,
    /// NICs of a node.
    of_node: u32,
    /// Index of every rank on its node. Empty if nodes have one NIC.
    place: Vec<u32>,
    /// Working rails, by node of the job. Empty if all rails work.
    working: BTreeMap<NodeId, u64>,
}

impl JobRails {
    /// Rail selection of a job on a machine.
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

    /// Bit r is set if rail r works at both nodes.
    fn common(&self, a: NodeId, b: NodeId) -> u64 {
        let of = |node: NodeId| self.working.get(&node).copied().unwrap_or(u64::MAX);
        of(a) & of(b) & (u64::MAX >> (64 - self.of_node))
    }

    /// Whether messages between two ranks may overtake each other, on several rails.
    pub fn may_overtake(&self) -> bool {
        matches!(self.choice.rail_rule, RailRule::RoundRobin | RailRule::Stripe)
    }

    /// Whether a message is divided into parts.
    pub fn is_striped(&self, bytes: Bytes) -> bool {
        self.choice.rail_rule == RailRule::Stripe && bytes >= self.choice.stripe_from
    }

    /// Bytes of the job's messages between nodes, by rail.
    pub fn bytes_by_rail(machine: &Machine, job: &Job) -> Vec<u128> {
        let rails = Self::new(machine, job);
        let mut bytes = vec![0u128; rails.of_node as usize];
        let mut messages = Messages::new(machine, job);
        for rank in job.rank_ids() {
            for (number, message) in (0..).zip(messages.of(rank)) {
                let Message { source, target, source_node: a, target_node: b, bytes: size, within } = message;
                if !matches!(within, Locality::Router | Locality::Network) {
                    continue;
                }
                if rails.is_striped(size) {
                    rails.shares(a, b, size).for_each(|(rail, share)| bytes[rail as usize] += u128::from(share.0));
                } else {
                    bytes[rails.rail(source, target, a, b, number) as usize] += u128::from(size.0);
                }
            }
        }
        bytes
    }

    /// Parts of a striped message between two nodes: rails and bytes, at least one byte each.
    pub fn shares(&self, a: NodeId, b: NodeId, bytes: Bytes) -> impl Iterator<Item = (u32, Bytes)> {
        let common = self.common(a, b);
        let count = u64::from(common.count_ones());
        let share = move |i: u64| bytes.0 / count + u64::from(i < bytes.0 % count);
        (0..).zip(bits(common)).map(move |(i, rail)| (rail, Bytes(share(i)))).filter(|(_, share)| share.0 > 0)
    }

    /// Rail of message `number` of its rank between two nodes, if it is not striped.
    ///
    /// # Panics
    /// If no rail works at both nodes. [`Workload::spread_over_rails`] refuses these nodes.
    pub fn rail(&self, source: RankId, target: RankId, a: NodeId, b: NodeId, number: u64) -> u32 {
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

/// Ends of the paths of a job's messages.
#[derive(Clone, Debug)]
pub struct RailPaths<'a> {
    machine: &'a Machine,
    rails: JobRails,
}

impl<'a> RailPaths<'a> {
    /// For a job on a machine.
    pub fn new(machine: &'a Machine, job: &Job) -> Self {
        Self { machine, rails: JobRails::new(machine, job) }
    }

    /// The ends of a rail that works at two nodes of the job.
    pub fn any(&self, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId)> {
        let rail = self.rails.common(a, b).trailing_zeros();
        (rail < 64).then(|| (self.machine.end(a, rail), self.machine.end(b, rail)))
    }

    /// Whether a rank of `node` sends open traffic on a working rail: its own rail under `affinity`, otherwise all.
    pub fn sends_on(&self, rank: RankId, node: NodeId, rail: u32) -> bool {
        let JobRails { choice, place, .. } = &self.rails;
        let working = self.rails.common(node, node);
        let own = |place: &u32| {
            let number = place.checked_rem(working.count_ones())?;
            bits(working).nth(number as usize)
        };
        choice.rail_rule != RailRule::Affinity
            || place.as_slice().get(rank.index()).is_none_or(|place| own(place) == Some(rail))
    }

    /// NICs that send open traffic of a job, and how many would if all NICs worked.
    pub fn open_senders(&self, job: &Job) -> (u32, u32) {
        let mut ranks_of_node: BTreeMap<NodeId, u32> = BTreeMap::new();
        job.node_of_rank.iter().for_each(|&node| *ranks_of_node.entry(node).or_default() += 1);
        let JobRails { of_node, choice, .. } = self.rails;
        let used = |ranks: u32, nics: u32| if choice.rail_rule == RailRule::Affinity { nics.min(ranks) } else { nics };
        let sum = |(sending, all): (u32, u32), (node, ranks): (NodeId, u32)| {
            let working = self.rails.common(node, node).count_ones();
            (sending + used(ranks, working), all + used(ranks, of_node))
        };
        ranks_of_node.into_iter().fold((0, 0), sum)
    }

    /// Passes the parts of a message that leaves its node to `each`. `number` is its number within its rank.
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
            give(rails.rail(source, target, source_node, target_node, number as u64), bytes);
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
    /// Sets the rail selection of all jobs.
    ///
    /// # Errors
    /// The first job with two nodes without a common working rail.
    pub fn spread_over_rails(&mut self, machine: &Machine, choice: RailChoice) -> Result<(), NoCommonRail> {
        for (number, job) in self.jobs.iter_mut().enumerate() {
            job.rails = choice;
            let working = JobRails::new(machine, job).working;
            // There are few different masks, whatever the number of nodes.
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
