//! Sets of ports.

use odonata_checkpoint::state;

/// A set of ports of the partition: one bit per port.
pub(super) struct PortSet {
    words: Vec<u64>,
}

state!(PortSet { same_length: words });

impl PortSet {
    /// An empty set for ports below `ports`.
    pub(super) fn new(ports: usize) -> Self {
        Self { words: vec![0; ports.div_ceil(64)] }
    }

    /// Adds a port; returns whether it was missing.
    #[inline]
    pub(super) fn insert(&mut self, port: usize) -> bool {
        let (word, bit) = (&mut self.words[port >> 6], 1 << (port & 63));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[inline]
    pub(super) fn remove(&mut self, port: usize) {
        self.words[port >> 6] &= !(1 << (port & 63));
    }

    /// Numbers of the words of 64 ports.
    pub(super) fn words(&self) -> std::ops::Range<usize> {
        0..self.words.len()
    }

    /// The ports in a word, as they are now: later changes have no effect.
    #[inline]
    pub(super) fn in_word(&self, word: usize) -> impl Iterator<Item = usize> {
        let mut rest = self.words[word];
        std::iter::from_fn(move || {
            let port = word << 6 | rest.trailing_zeros() as usize;
            let found = (rest != 0).then_some(port);
            rest &= rest.wrapping_sub(1);
            found
        })
    }
}

/// Output ports that settle at the end of this instant.
pub(super) struct PendingOutputs {
    ports: Vec<u32>,
    marked: PortSet,
}

impl PendingOutputs {
    pub(super) fn new(ports: usize) -> Self {
        Self { ports: Vec::new(), marked: PortSet::new(ports) }
    }

    /// Marks an output port. Several arrivals of an instant may mark the same one.
    #[inline]
    pub(super) fn mark(&mut self, out: usize) {
        if self.marked.insert(out) {
            self.ports.push(out as u32);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.ports.iter().map(|&out| out as usize)
    }

    /// Sorts the marked ports. Port order, not order of events: the result must not depend on which arrival came first.
    #[inline]
    pub(super) fn sort(&mut self) {
        if self.ports.len() > 1 {
            self.ports.sort_unstable();
        }
    }

    /// Removes the mark of the `k`th port and returns the port.
    #[inline]
    pub(super) fn unmark(&mut self, k: usize) -> Option<usize> {
        let out = *self.ports.get(k)? as usize;
        self.marked.remove(out);
        Some(out)
    }

    /// Forgets the ports, none of which is marked any more.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.ports.clear();
    }
}
