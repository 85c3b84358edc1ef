//! The pattern of an idle job, to compare runs with and without its traffic.

use crate::{Pattern, SentMessage};
use odonata_programs::MessageCounts;
use odonata_units::RankId;

/// No messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilentPattern {
    pub(crate) ranks: u32,
}

impl Pattern for SilentPattern {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId, _: &mut Vec<SentMessage>) {}

    fn counts(&self) -> MessageCounts {
        MessageCounts::default()
    }
}
