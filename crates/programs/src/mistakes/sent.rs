//! Counts the messages and collectives of a program.
//!
//! Messages of the program are counted call by call. A collective is counted once, when the first rank of its
//! communicator calls it, by the formula of its algorithm.

use super::collectives::{CollectiveCount, CollectiveCounts};
use crate::call::{Call, Operation};
use crate::collective::{self, NamedAlgorithm};
use crate::expansion::entered::EnteredCollective;
use crate::expansion::JobProgram;
use crate::message_counts::{MessageCounts, Sender};
use odonata_units::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Limit on kinds of collectives whose totals are stored.
const MAX_KINDS: usize = 1 << 12;

/// What selects the totals of a collective: operation, algorithm, ranks, root and size. Vector forms have no size.
type Kind = (Operation, &'static str, u32, u32, Option<Bytes>);

/// Messages by size, and pairs.
#[derive(Debug)]
struct KnownTotals {
    by_size: BTreeMap<Bytes, u64>,
    pairs: u64,
    is_estimate: bool,
}

/// Counts of one execution of a program.
#[derive(Debug)]
pub(super) struct SentCounts {
    counts: MessageCounts,
    collectives: CollectiveCounts,
    /// Remaining limit on messages that are counted one by one within vector forms.
    steps: u64,
    known: HashMap<Kind, Rc<KnownTotals>>,
    /// Pairs of an algorithm in a group of ranks. Its collectives use the same pairs.
    pairs: HashMap<(&'static str, u64), u64>,
}

impl SentCounts {
    /// Counts at most `steps` messages of vector forms one by one; more are extrapolated.
    pub(super) fn new(steps: u64) -> Self {
        Self {
            counts: MessageCounts::default(),
            collectives: CollectiveCounts::default(),
            steps,
            known: HashMap::new(),
            pairs: HashMap::new(),
        }
    }

    /// Counts a call that sends.
    pub(super) fn call(&mut self, call: &Call, times: u64, sender: &mut Sender) {
        if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } | Call::Put { to, bytes } = *call {
            sender.send(to, bytes, times, &mut self.counts);
        }
    }

    /// Ends the messages of a rank.
    pub(super) fn hand_over(&mut self, sender: &mut Sender) {
        sender.hand_over(&mut self.counts);
    }

    /// Counts a collective of the first rank of its communicator, which has several ranks.
    pub(super) fn collective(&mut self, shared: &JobProgram, entered: &EnteredCollective<'_>, times: u64) {
        let named = shared.collectives.algorithm(&entered.collective);
        self.collectives.add(entered, named, times);
        let totals = self.totals(entered, named);
        for (&bytes, &messages) in &totals.by_size {
            self.counts.add(bytes, messages.saturating_mul(times));
        }
        self.counts.is_estimate |= totals.is_estimate;
        let pairs = self.pairs.entry((named.name, entered.group)).or_default();
        *pairs = totals.pairs.max(*pairs);
    }

    /// The messages of a collective.
    fn totals(&mut self, entered: &EnteredCollective<'_>, named: NamedAlgorithm) -> Rc<KnownTotals> {
        let own = &entered.collective;
        let bytes = own.sizes.is_none().then_some(own.bytes);
        let kind = (own.operation, named.name, own.size, own.root, bytes);
        // Vector forms of one kind differ in their sizes. Once the limit is reached, the last of them stands for all.
        let is_vector = bytes.is_none();
        if let Some(known) = self.known.get(&kind).filter(|_| !is_vector || self.steps == 0) {
            self.counts.is_estimate |= is_vector;
            return Rc::clone(known);
        }
        let size = u64::from(own.size);
        let totals = collective::totals(named.algorithm, own, self.steps);
        if is_vector {
            self.steps = self.steps.saturating_sub(size.saturating_mul(size));
        }
        let mut by_size = BTreeMap::new();
        for (bytes, messages) in totals.by_size {
            *by_size.entry(bytes).or_insert(0) += messages;
        }
        let known = Rc::new(KnownTotals { by_size, pairs: totals.pairs, is_estimate: totals.is_estimate });
        if self.known.len() < MAX_KINDS {
            self.known.insert(kind, Rc::clone(&known));
        }
        known
    }

    /// The collectives and the messages of a program of so many ranks.
    pub(super) fn finish(self, ranks: u32) -> (Vec<CollectiveCount>, MessageCounts) {
        let pairs = self.pairs.values().fold(self.counts.pairs, |sum, pairs| sum.saturating_add(*pairs));
        let sent = self.counts.with_pairs(pairs.min(u64::from(ranks).pow(2)));
        (self.collectives.into_list(), sent)
    }
}
