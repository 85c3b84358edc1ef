//! A long queue: entries by number, in the order in which they came, found through hashes of what they are searched by.
//!
//! A label is of one of four kinds: exact, any source, any tag, any of both. Receives are filed under their own label, each kind
//! apart, and a message looks for the first entry under each of the four labels that take it. Messages are filed under the labels
//! by which they may be searched: for each kind for which there ever was a search.

use super::{Label, QueueKind};
use odonata_workload::program::ANY;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Kinds of labels: what they leave open, in bits.
const ANY_SOURCE: usize = 1;
const ANY_TAG: usize = 2;
const WILDCARD_CLASSES: usize = 4;

/// No entry.
const NONE: u32 = u32::MAX;

fn wildcard_class(label: &Label) -> usize {
    usize::from(label.source == ANY) * ANY_SOURCE + usize::from(label.tag == ANY) * ANY_TAG
}

/// The label of that kind that takes what `label` is of.
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
    /// By number; those that were taken are gone.
    entries: Vec<Option<(Label, T)>>,
    /// How many are left of them.
    len: usize,
    left: Counts,
    /// By kind of label, if there is any.
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

    /// Entries in their order.
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

    /// As that of the queue.
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
        // As many as are left, and some: renumbering is paid by those that were taken.
        if self.entries.len() > 2 * self.len + 64 {
            self.renumber();
        }
        (compared, taken)
    }

    /// Forgets those that were taken.
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

/// Entries with the same label, in their order, for every label.
#[derive(Default, Debug)]
struct Chains {
    /// The first and the last of each.
    ends: FxHashMap<Label, (u32, u32)>,
    /// The next after each entry, by number.
    next: Vec<u32>,
}

impl Chains {
    /// Of all messages, for searches of a kind.
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

    /// The first that is there; it is about to be taken if it is the first of all kinds. Those before it were taken by searches of another kind.
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

/// How many entries are there up to each number: sums over as many numbers as the lowest bit of the number's successor says
/// (a binary indexed tree, Fenwick 1994).
#[derive(Default, Debug)]
struct Counts {
    sums: Vec<u32>,
}

impl Counts {
    /// One more at the end.
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
