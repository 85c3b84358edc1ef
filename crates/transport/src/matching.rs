//! Receives that wait for messages, and messages that wait for receives.

use odonata_workload::program::ANY;
use std::collections::VecDeque;

/// What a message is matched by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    pub(crate) communicator: u16,
    /// Sending rank of the job, or [`ANY`] in a receive.
    pub(crate) source: u32,
    /// Tag, or [`ANY`] in a receive.
    pub(crate) tag: u32,
}

impl Label {
    /// Whether a receive with this label takes a message with that one.
    pub(crate) fn takes(&self, message: &Self) -> bool {
        self.communicator == message.communicator
            && (self.source == message.source || self.source == ANY)
            && (self.tag == message.tag || self.tag == ANY)
    }
}

/// A queue that is searched from its head.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    entries: VecDeque<(Label, T)>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new() }
    }
}

impl<T> Queue<T> {
    pub(crate) fn push(&mut self, label: Label, entry: T) {
        self.entries.push_back((label, entry));
    }

    /// Takes the first entry whose label fits; how many were compared, it included.
    pub(crate) fn take(&mut self, fits: impl Fn(&Label) -> bool) -> (usize, Option<(Label, T)>) {
        match self.entries.iter().position(|(label, _)| fits(label)) {
            Some(at) => (at + 1, self.entries.remove(at)),
            None => (self.entries.len(), None),
        }
    }

    /// The label of the first entry that is wanted.
    pub(crate) fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<Label> {
        self.entries.iter().find(|(_, entry)| wanted(entry)).map(|(label, _)| *label)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(Label, T)>()
    }
}
