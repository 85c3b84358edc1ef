//! The host of a rank: the state of its MPI library.

use super::transfers::{Notice, PostedReceive, ReceivedMessage, Transfer, Transfers};
use crate::matching::{MatchQueue, QueueKind};
use crate::requests::Requests;
use odonata_checkpoint::{DecodeError, Reader, State, Writer};
use std::collections::VecDeque;

/// What a rank has posted, received and not completed. Everything that a notice changes is here.
#[derive(Debug)]
pub(super) struct RankHost {
    /// When the host is free. In a call, the time that the call has reached.
    pub(super) clock: u64,
    pub(super) notices: VecDeque<(u64, Notice)>,
    pub(super) posted: MatchQueue<PostedReceive>,
    pub(super) unexpected: MatchQueue<ReceivedMessage>,
    pub(super) requests: Requests,
    pub(super) sends: Transfers,
    pub(super) receives: Transfers,
}

impl Default for RankHost {
    fn default() -> Self {
        Self {
            clock: 0,
            notices: VecDeque::new(),
            posted: MatchQueue::new(QueueKind::Receives),
            unexpected: MatchQueue::new(QueueKind::Messages),
            requests: Requests::default(),
            sends: Transfers::default(),
            receives: Transfers::default(),
        }
    }
}

impl RankHost {
    pub(super) fn save(&self, into: &mut Writer) {
        let Self { clock, notices, posted, unexpected, requests, sends, receives } = self;
        into.put(&(clock, notices, requests, sends, receives));
        posted.save(into);
        unexpected.save(into);
    }

    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        (self.clock, self.notices, self.requests, self.sends, self.receives) = from.get()?;
        self.posted.load(from)?;
        self.unexpected.load(from)
    }

    /// Memory beyond the struct itself.
    pub(super) fn memory_bytes(&self) -> usize {
        self.notices.capacity() * size_of::<(u64, Notice)>()
            + self.posted.memory_bytes()
            + self.unexpected.memory_bytes()
            + self.requests.memory_bytes()
            + (self.sends.capacity() + self.receives.capacity()) * size_of::<Transfer>()
    }
}
