//! Records of ranks, of a part of the machine or of a whole run.

use crate::calls::CallLog;
use crate::log::Log;
use crate::record::RankRecord;
use serde::{Deserialize, Serialize};

/// Records of some ranks, with logs of messages and of calls if these are recorded.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(super) struct Records {
    pub(super) ranks: Vec<RankRecord>,
    pub(super) messages: Option<Log>,
    pub(super) calls: Option<CallLog>,
}

impl Records {
    /// Records without entries, for the same logs.
    pub(super) fn empty(&self) -> Self {
        Self {
            ranks: Vec::new(),
            messages: self.messages.as_ref().map(|_| Log::default()),
            calls: self.calls.as_ref().map(|_| CallLog::default()),
        }
    }

    /// Takes all entries.
    pub(super) fn take(&mut self) -> Self {
        let empty = self.empty();
        std::mem::replace(self, empty)
    }

    /// Appends the entries of another part.
    pub(super) fn append(&mut self, other: Self) {
        self.ranks.extend(other.ranks);
        if let (Some(all), Some(messages)) = (&mut self.messages, other.messages) {
            all.append(messages);
        }
        if let (Some(all), Some(calls)) = (&mut self.calls, other.calls) {
            all.append(calls);
        }
    }

    /// Memory of the logs.
    pub(super) fn memory_bytes(&self) -> usize {
        self.messages.as_ref().map_or(0, Log::memory_bytes) + self.calls.as_ref().map_or(0, CallLog::memory_bytes)
    }
}
