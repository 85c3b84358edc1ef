//! What receives and messages are matched by.

use odonata_programs::ANY;
use serde::{Deserialize, Serialize};

/// The key of matching.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Label {
    pub(crate) communicator: u16,
    /// Sending rank of the job, or [`ANY`] in a receive.
    pub(crate) source: u32,
    /// Tag, or [`ANY`] in a receive.
    pub(crate) tag: u32,
}

impl Label {
    /// Whether a receive with this label matches `message`.
    pub(crate) fn matches(&self, message: &Self) -> bool {
        self.communicator == message.communicator
            && (self.source == message.source || self.source == ANY)
            && (self.tag == message.tag || self.tag == ANY)
    }
}

/// Content of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueueKind {
    /// Posted receives, searched for one that matches a message.
    Receives,
    /// Unexpected messages, searched for one that matches a receive.
    Messages,
}
