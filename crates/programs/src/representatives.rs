//! Blocks of a program that stand for others.

/// A block that stands for several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepeatedBlock {
    /// Its number.
    pub index: u64,
    /// How many blocks it stands for, itself included.
    pub times: u64,
}

/// Blocks that stand for all blocks of a program. All ranks have the same blocks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Representatives {
    /// These blocks, ascending.
    pub blocks: Vec<RepeatedBlock>,
    /// Whether the other blocks send about the same instead of the same, because every block draws its messages.
    pub is_estimate: bool,
}

impl Representatives {
    /// Blocks of `(number, times)`. Those that stand for none are left out.
    pub(crate) fn of(blocks: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut representatives = Self::default();
        representatives.push(0, blocks);
        representatives
    }

    /// The first of `count` blocks, the ones between and the last.
    pub(crate) fn with_ends(count: u64) -> Self {
        Self::of([(0, count.min(1)), (1, count.saturating_sub(2)), (count.saturating_sub(1), u64::from(count > 1))])
    }

    /// Adds blocks, numbered from `first`.
    pub(crate) fn push(&mut self, first: u64, blocks: impl IntoIterator<Item = (u64, u64)>) {
        let blocks = blocks.into_iter().filter(|(_, times)| *times > 0);
        self.blocks.extend(blocks.map(|(index, times)| RepeatedBlock { index: first.saturating_add(index), times }));
    }
}
