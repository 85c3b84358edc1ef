//! Messages of all ranks of a collective.

use odonata_units::Bytes;

/// Messages of all ranks of a collective.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Sizes with their numbers of messages. A size may occur several times.
    pub by_size: Vec<(Bytes, u64)>,
    /// Pairs of ranks with messages from the first to the second, at most.
    pub pairs: u64,
    /// Whether only a sample of the ranks was counted.
    pub is_estimate: bool,
}

impl Totals {
    /// One size of messages.
    pub(super) fn of(bytes: Bytes, messages: u64, pairs: u64) -> Self {
        Self { by_size: vec![(bytes, messages)], pairs, is_estimate: false }
    }

    /// With messages of another size.
    #[must_use]
    pub(super) fn with(mut self, bytes: Bytes, messages: u64) -> Self {
        self.by_size.push((bytes, messages));
        self
    }
}

/// `times` blocks of a size.
pub(super) fn blocks(bytes: Bytes, times: u64) -> Bytes {
    Bytes(bytes.0.saturating_mul(times))
}
