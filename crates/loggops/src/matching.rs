//! Matching of messages and receives, in the order of arrival and of posting.

use odonata_trace::{Work, ANY};
use std::collections::VecDeque;

/// A send of some rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) from: u32,
    pub(crate) task: u32,
    pub(crate) tag: u32,
    pub(crate) communicator: u16,
}

/// A posted receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PostedReceive {
    task: u32,
    from: u32,
    tag: u32,
    communicator: u16,
}

/// Posted receives and unexpected messages of a rank.
///
/// The search is a plain scan, which keeps the order of wildcards. It takes most of the 3 s of an all-to-all of 1,024
/// ranks whose receives are posted in the opposite order.
#[derive(Debug, Default)]
pub(crate) struct MatchingQueues {
    posted: VecDeque<PostedReceive>,
    unexpected: VecDeque<Message>,
}

impl MatchingQueues {
    /// Posts a receive, unless a message is there.
    pub(crate) fn post(&mut self, task: u32, work: Work) -> Option<Message> {
        let Work::Receive { from, tag, communicator, .. } = work else { unreachable!("{work:?} receives nothing") };
        let receive = PostedReceive { task, from, tag, communicator };
        let found = self.unexpected.iter().position(|message| receive.accepts(message));
        if found.is_none() {
            self.posted.push_back(receive);
        }
        found.and_then(|at| self.unexpected.remove(at))
    }

    /// Adds a message, unless a receive is posted for it: then the task of the receive.
    pub(crate) fn arrive(&mut self, message: Message) -> Option<u32> {
        let found = self.posted.iter().position(|receive| receive.accepts(&message));
        if found.is_none() {
            self.unexpected.push_back(message);
        }
        found.and_then(|at| self.posted.remove(at)).map(|receive| receive.task)
    }

    /// Messages that no receive took.
    pub(crate) fn unexpected(&self) -> usize {
        self.unexpected.len()
    }
}

impl PostedReceive {
    /// Sizes are not compared. A tag of either side may be a wildcard.
    fn accepts(&self, message: &Message) -> bool {
        self.communicator == message.communicator
            && (self.from == ANY || self.from == message.from)
            && (self.tag == ANY || message.tag == ANY || self.tag == message.tag)
    }
}
