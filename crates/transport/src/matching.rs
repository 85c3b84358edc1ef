//! The posted receive queue and the unexpected message queue.
//!
//! A search starts at the head of a queue and ends at the first match. Its *charge* is the number of entries up to the
//! match, including it, however the match is found here. A short search scans. A search that compares more than
//! [`MIN_INDEXED_SEARCH`] entries builds an index ([`index`]). The index finds a match in constant time, and counts and
//! removes entries in logarithmic time.
//!
//! Instructions of `benches/ranks.rs` (`valgrind --tool=callgrind`) against the plain scan:
//!
//! | program | change |
//! |---|---|
//! | Halo3D, 64 kB | -0.05 % |
//! | Halo3D, 8 B (short queues, mostly messages) | +0.3 % |
//! | incast, 10,000 messages | -22 % |
//!
//! An incast of 100,000 messages takes 2.3 s of processor time instead of 5.1 s.

mod index;
mod label;

pub(crate) use label::{Label, QueueKind};

use index::Index;
use odonata_checkpoint::{DecodeError, Reader, State, Writer};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::VecDeque;

/// A search that compares more entries builds an index. At about this length the index becomes cheaper than the scan.
const MIN_INDEXED_SEARCH: usize = 64;
/// With fewer entries the index is dropped. A larger value would rebuild it too often for the searches in between to
/// pay for.
const MIN_INDEX_ENTRIES: usize = 16;

/// A queue that is searched from its head.
#[derive(Debug)]
pub(crate) struct MatchQueue<T> {
    kind: QueueKind,
    /// All entries, if there is no index.
    entries: VecDeque<(Label, T)>,
    index: Option<Box<Index<T>>>,
}

/// Saves the entries in order. A long search rebuilds the index, which changes only the time of a search.
impl<T: Copy + Serialize + DeserializeOwned> State for MatchQueue<T> {
    fn save(&self, into: &mut Writer) {
        into.put(&self.iter().collect::<Vec<_>>());
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        (self.entries, self.index) = (from.get()?, None);
        Ok(())
    }
}

impl<T: Copy> MatchQueue<T> {
    pub(crate) fn new(kind: QueueKind) -> Self {
        Self { kind, entries: VecDeque::new(), index: None }
    }

    #[inline]
    pub(crate) fn push(&mut self, label: Label, entry: T) {
        match &mut self.index {
            None => self.entries.push_back((label, entry)),
            Some(index) => index.push(label, entry),
        }
    }

    /// Removes the first match. Returns the number of entries compared, and the match.
    pub(crate) fn take(&mut self, searched: &Label) -> (usize, Option<(Label, T)>) {
        let Some(index) = &mut self.index else {
            let mut labels = self.entries.iter().map(|(label, _)| label);
            let place = match self.kind {
                QueueKind::Receives => labels.position(|receive| receive.matches(searched)),
                QueueKind::Messages => labels.position(|message| searched.matches(message)),
            };
            let compared = place.map_or(self.entries.len(), |place| place + 1);
            let taken = place.and_then(|place| self.entries.remove(place));
            if compared > MIN_INDEXED_SEARCH {
                self.make_index();
            }
            return (compared, taken);
        };
        let (compared, taken) = index.take(searched);
        if index.len() < MIN_INDEX_ENTRIES {
            self.entries.extend(index.iter());
            self.index = None;
        }
        (compared, taken)
    }

    #[cold]
    fn make_index(&mut self) {
        self.index = Some(Box::new(Index::new(self.kind, std::mem::take(&mut self.entries))));
    }

    /// All entries, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Label, T)> + '_ {
        let indexed = self.index.iter().flat_map(|index| index.iter());
        self.entries.iter().copied().chain(indexed)
    }

    /// Label of the first entry that satisfies `wanted`.
    pub(crate) fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<Label> {
        self.iter().find(|(_, entry)| wanted(entry)).map(|(label, _)| label)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(Label, T)>() + self.index.as_ref().map_or(0, |index| index.memory_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::held_by;
    use odonata_programs::ANY;
    use proptest::prelude::*;

    /// The slow twin: every search scans.
    #[derive(Default)]
    struct PlainQueue {
        entries: Vec<(Label, u32)>,
    }

    impl PlainQueue {
        fn take(&mut self, fits: impl Fn(&Label) -> bool) -> (usize, Option<(Label, u32)>) {
            match self.entries.iter().position(|(label, _)| fits(label)) {
                Some(place) => (place + 1, Some(self.entries.remove(place))),
                None => (self.entries.len(), None),
            }
        }
    }

    fn label(communicator: u16, source: u32, tag: u32) -> Label {
        Label { communicator, source, tag }
    }

    /// A segment of pushes and searches. Several make a queue long and short again.
    #[derive(Clone, Debug)]
    struct Segment {
        steps: u32,
        /// Pushes among 8 steps.
        pushes: u32,
        /// Wildcards among 8 labels of receives.
        wild: u32,
    }

    fn segments() -> impl Strategy<Value = Vec<Segment>> {
        let one = (1u32..400, 0u32..9, 0u32..5).prop_map(|(steps, pushes, wild)| Segment { steps, pushes, wild });
        prop::collection::vec(one, 1..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn charges_and_matches_equal_a_linear_scan(
            kind in prop_oneof![Just(QueueKind::Receives), Just(QueueKind::Messages)],
            segments in segments(),
            kinds in 1u64..400,
            seed in 0u64..1 << 40,
        ) {
            let (mut queue, mut plain) = (MatchQueue::new(kind), PlainQueue::default());
            let (mut random, mut number) = (odonata_units::Stream::new(seed, "matching", &[]), 0);
            for Segment { steps, pushes, wild } in segments {
                for _ in 0..steps {
                    let push = random.below(8) < u64::from(pushes);
                    let receive = push == (kind == QueueKind::Receives);
                    let mut one = label(random.below(2) as u16, random.below(kinds) as u32, random.below(3) as u32);
                    if receive && random.below(8) < u64::from(wild) {
                        let which = random.below(3);
                        one.source = if which == 1 { one.source } else { ANY };
                        one.tag = if which == 0 { one.tag } else { ANY };
                    }
                    if push {
                        queue.push(one, number);
                        plain.entries.push((one, number));
                        number += 1;
                    } else {
                        let fits = |entry: &Label| if receive { one.matches(entry) } else { entry.matches(&one) };
                        prop_assert_eq!(queue.take(&one), plain.take(fits));
                    }
                }
                let last = plain.entries.last();
                prop_assert_eq!(queue.find(|entry| last.is_some_and(|last| last.1 == *entry)), last.map(|last| last.0));
            }
        }
    }

    /// An incast whose messages arrive in the opposite order of its receives. It charges n + (n - 1) + ... + 1 entries,
    /// and only the first search scans.
    #[test]
    fn a_long_queue_is_searched_by_its_index() {
        let entries = 100_000;
        for kind in [QueueKind::Receives, QueueKind::Messages] {
            let mut queue = MatchQueue::new(kind);
            (0..entries).for_each(|source| queue.push(label(0, source, 7), source));
            let mut charged = 0;
            for source in (0..entries).rev() {
                let (compared, taken) = queue.take(&label(0, source, 7));
                assert_eq!(taken, Some((label(0, source, 7), source)));
                assert_eq!(queue.index.is_some(), source >= MIN_INDEX_ENTRIES as u32, "{source}");
                charged += compared as u64;
            }
            assert_eq!(charged, u64::from(entries) * u64::from(entries + 1) / 2);
        }
    }

    /// The buckets of a map are seven eighths of its memory at most.
    #[test]
    fn memory_is_about_what_the_queue_holds() {
        for (entries, searched) in
            [(100, None), (10_000, None), (10_000, Some(label(0, ANY, 1))), (10_000, Some(label(0, 3, 1)))]
        {
            for kind in [QueueKind::Receives, QueueKind::Messages] {
                let (queue, held) = held_by(|| {
                    let mut queue = MatchQueue::new(kind);
                    (0..entries).for_each(|source| queue.push(label(0, source, 7), source));
                    if let Some(searched) = &searched {
                        assert!(queue.take(searched).1.is_none());
                    }
                    queue
                });
                assert_eq!(queue.index.is_some(), searched.is_some());
                let memory = queue.memory_bytes();
                assert!(memory <= held && held <= memory + memory / 7 + 200, "{memory} of {held}");
            }
        }
    }

    /// Removed entries free their memory: it follows the length of the queue.
    #[test]
    fn memory_of_taken_entries_is_freed() {
        let mut queue = MatchQueue::new(QueueKind::Messages);
        let push = |queue: &mut MatchQueue<u32>, source| queue.push(label(0, source, 0), source);
        (0..1_000).for_each(|source| push(&mut queue, source));
        assert_eq!(queue.take(&label(0, ANY, 1)), (1_000, None));
        let mut most = 0;
        for source in 0..200_000 {
            push(&mut queue, 1_000 + source);
            assert_eq!(queue.take(&label(0, ANY, 0)), (1, Some((label(0, source, 0), source))));
            most = most.max(queue.memory_bytes());
        }
        assert!(queue.index.is_some() && most < 600_000, "{most}");
    }
}
