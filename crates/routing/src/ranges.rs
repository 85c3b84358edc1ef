//! Consecutive ranges of a sorted list.

use std::ops::Range;

/// The range of each key in a list that is sorted by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<u32>);

impl Ranges {
    /// The ranges of the keys below `count`, from the keys of all elements in any order.
    pub(crate) fn of(keys: impl Iterator<Item = usize>, count: usize) -> Self {
        let mut ends = vec![0u32; count + 1];
        keys.for_each(|key| ends[key + 1] += 1);
        for key in 0..count {
            ends[key + 1] += ends[key];
        }
        Self(ends)
    }

    /// The range of a key.
    #[inline]
    pub(crate) fn get(&self, key: usize) -> Range<usize> {
        self.0[key] as usize..self.0[key + 1] as usize
    }

    /// The ranges of all keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }
}
