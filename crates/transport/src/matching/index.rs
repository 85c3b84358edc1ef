//! Index of a long queue: entries by number, in order of arrival, found by hashes of their labels.
//!
//! Labels have four wildcard classes: none, any source, any tag, both. Receives are filed by their own label and class.
//! A message looks for the first entry under each of the four labels that match it. Messages are filed under the labels
//! of all classes that were searched so far.

use super::label::{Label, QueueKind};
use odonata_programs::ANY;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Bits of a wildcard class.
const ANY_SOURCE: usize = 1;
const ANY_TAG: usize = 2;
const WILDCARD_CLASSES: usize = 4;

/// No entry.
const NONE: u32 = u32::MAX;

fn wildcard_class(label: &Label) -> usize {
    usize::from(label.source == ANY) * ANY_SOURCE + usize::from(label.tag == ANY) * ANY_TAG
}

/// The label of this wildcard class that matches `label`.
fn with_wildcards(label: &Label, kind: usize) -> Label {
    Label {
        source: if kind & ANY_SOURCE > 0 { ANY } else { label.source },
        tag: if kind & ANY_TAG > 0 { ANY } else { label.tag },
        ..*label
    }
}

#[derive(Debug)]
pub(super) struct Index<T> {
    kind: QueueKind,
    /// Entries by number. `None` was taken.
    entries: Vec<Option<(Label, T)>>,
    /// Entries that are left.
    len: usize,
    left: Counts,
    /// Entries by label, for each wildcard class in use.
    chains: [Option<Chains>; WILDCARD_CLASSES],
}

impl<T: Copy> Index<T> {
    pub(super) fn new(kind: QueueKind, entries: impl IntoIterator<Item = (Label, T)>) -> Self {
        let mut index = Self {
            kind,
            entries: Vec::new(),
            len: 0,
            left: Counts::default(),
            chains: [const { None }; WILDCARD_CLASSES],
        };
        entries.into_iter().for_each(|(label, entry)| index.push(label, entry));
        index
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Label, T)> + '_ {
        self.entries.iter().flatten().copied()
    }

    pub(super) fn push(&mut self, label: Label, entry: T) {
        let number = self.entries.len() as u32;
        self.entries.push(Some((label, entry)));
        self.left.push();
        self.len += 1;
        match self.kind {
            QueueKind::Receives => {
                self.chains[wildcard_class(&label)].get_or_insert_with(Chains::default).append(label, number);
            }
            QueueKind::Messages => {
                for (kind, chains) in self.chains.iter_mut().enumerate() {
                    if let Some(chains) = chains {
                        chains.append(with_wildcards(&label, kind), number);
                    }
                }
            }
        }
    }

    /// Like [`MatchQueue::take`](super::MatchQueue::take).
    pub(super) fn take(&mut self, searched: &Label) -> (usize, Option<(Label, T)>) {
        let Self { entries, chains, .. } = self;
        let found = match self.kind {
            QueueKind::Receives => {
                let of_kind = |(kind, chains): (usize, &mut Option<Chains>)| {
                    chains.as_mut()?.first(with_wildcards(searched, kind), entries)
                };
                chains.iter_mut().enumerate().filter_map(of_kind).min()
            }
            QueueKind::Messages => {
                let kind = wildcard_class(searched);
                chains[kind].get_or_insert_with(|| Chains::of(kind, entries)).first(*searched, entries)
            }
        };
        let Some(number) = found else { return (self.len, None) };
        let taken = self.entries[number as usize].take();
        let compared = self.left.up_to(number);
        self.left.remove(number);
        self.len -= 1;
        // At most half of the numbers and 64 are unused, so the entries that were taken pay for renumbering.
        if self.entries.len() > 2 * self.len + 64 {
            self.renumber();
        }
        (compared, taken)
    }

    /// Drops the entries that were taken.
    fn renumber(&mut self) {
        *self = Self::new(self.kind, self.iter().collect::<Vec<_>>());
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let chains = self.chains.iter().flatten();
        size_of::<Self>()
            + self.entries.capacity() * size_of::<Option<(Label, T)>>()
            + self.left.sums.capacity() * size_of::<u32>()
            + chains.map(Chains::memory_bytes).sum::<usize>()
    }
}

/// Entries with the same label, in order, for every label.
#[derive(Default, Debug)]
struct Chains {
    /// First and last entry of each label.
    ends: FxHashMap<Label, (u32, u32)>,
    /// Next entry with the same label, by number.
    next: Vec<u32>,
}

impl Chains {
    /// Builds the chains of one wildcard class for all messages.
    fn of<T>(kind: usize, entries: &[Option<(Label, T)>]) -> Self {
        let mut chains = Self::default();
        for (number, entry) in (0..).zip(entries) {
            if let Some((label, _)) = entry {
                chains.append(with_wildcards(label, kind), number);
            }
        }
        chains
    }

    fn append(&mut self, label: Label, number: u32) {
        self.next.resize(number as usize + 1, NONE);
        match self.ends.entry(label) {
            Entry::Vacant(vacant) => {
                vacant.insert((number, number));
            }
            Entry::Occupied(mut ends) => {
                let (_, last) = ends.get_mut();
                self.next[*last as usize] = number;
                *last = number;
            }
        }
    }

    /// First entry that is left. The caller takes it if it is first of all classes. Skips entries that searches of
    /// other classes took.
    fn first<T>(&mut self, label: Label, entries: &[Option<(Label, T)>]) -> Option<u32> {
        let Entry::Occupied(mut ends) = self.ends.entry(label) else { return None };
        let (first, _) = ends.get_mut();
        while *first != NONE && entries[*first as usize].is_none() {
            *first = self.next[*first as usize];
        }
        if *first == NONE {
            ends.remove();
            return None;
        }
        Some(*first)
    }

    fn memory_bytes(&self) -> usize {
        self.next.capacity() * size_of::<u32>() + self.ends.capacity() * (size_of::<(Label, (u32, u32))>() + 1)
    }
}

/// Number of entries left up to each number: a binary indexed tree (Fenwick 1994).
#[derive(Default, Debug)]
struct Counts {
    sums: Vec<u32>,
}

impl Counts {
    /// Appends an entry.
    fn push(&mut self) {
        let place = self.sums.len() + 1;
        let (mut sum, mut below) = (1, 1);
        while below < place & place.wrapping_neg() {
            sum += self.sums[place - below - 1];
            below *= 2;
        }
        self.sums.push(sum);
    }

    fn remove(&mut self, number: u32) {
        let mut place = number as usize + 1;
        while place <= self.sums.len() {
            self.sums[place - 1] -= 1;
            place += place & place.wrapping_neg();
        }
    }

    fn up_to(&self, number: u32) -> usize {
        let (mut place, mut sum) = (number as usize + 1, 0);
        while place > 0 {
            sum += self.sums[place - 1] as usize;
            place &= place - 1;
        }
        sum
    }
}
