//! Patterns that draw a new receiver for every message.

use crate::communication::SentMessage;
use odonata_declare::Kind;
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};

/// At most 2^24, because the messages of a rank are listed together. Use more iterations for more messages.
pub(super) const MESSAGES: Kind = Kind::Integer { min: 1, max: 1 << 24 };

/// Number of messages that a rank draws in one iteration, and their size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Draws {
    pub(super) seed: u64,
    pub(super) messages: u32,
    pub(super) bytes: Bytes,
}

impl Draws {
    /// Counts of the messages of `senders` ranks that draw among `targets` ranks each.
    pub(super) fn counts(&self, senders: u64, targets: u64) -> MessageCounts {
        let messages = senders * u64::from(self.messages);
        // Expected number of different targets of a rank, if all are equally likely.
        let missed = (1.0 - 1.0 / targets.max(1) as f64).powf(self.messages.into());
        let pairs = (senders * targets) as f64 * (1.0 - missed);
        MessageCounts::of(self.bytes, messages, pairs.round() as u64)
    }

    /// The messages of one iteration. The stream is keyed by the rank only, so the result depends on nothing else.
    pub(super) fn sends(
        &self,
        rank: RankId,
        out: &mut Vec<SentMessage>,
        mut draw: impl FnMut(&mut Stream) -> Option<RankId>,
    ) {
        let mut stream = Stream::new(self.seed, "sends", &[u64::from(rank.0)]);
        for _ in 0..self.messages {
            if let Some(target) = draw(&mut stream) {
                out.push(SentMessage { target, bytes: self.bytes });
            }
        }
    }
}

/// A uniformly random rank other than `rank`. `None` if there is none.
pub(super) fn another(rank: RankId, ranks: u32, stream: &mut Stream) -> Option<RankId> {
    if ranks < 2 {
        return None;
    }
    let draw = stream.below(u64::from(ranks - 1)) as u32;
    Some(RankId(if draw < rank.0 { draw } else { draw + 1 }))
}
