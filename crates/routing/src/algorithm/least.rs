//! The best of several options, drawn among equals.

use odonata_units::Stream;
use std::cmp::Ordering;

/// The option with the least key so far. One pass draws among equals with the same probability.
pub(super) struct Least<K, T> {
    best: Option<(K, T)>,
    equals: u64,
}

impl<K: Ord, T> Least<K, T> {
    /// Without an option.
    pub(super) fn none() -> Self {
        Self { best: None, equals: 0 }
    }

    /// Keeps the option if its key is less, or if it is drawn among equals.
    #[inline]
    pub(super) fn offer(&mut self, key: K, option: T, random: &mut Stream) {
        match self.best.as_ref().map(|(least, _)| key.cmp(least)) {
            Some(Ordering::Greater) => return,
            Some(Ordering::Equal) => {
                self.equals += 1;
                if random.below(self.equals) != 0 {
                    return;
                }
            }
            Some(Ordering::Less) | None => self.equals = 1,
        }
        self.best = Some((key, option));
    }

    /// The option.
    pub(super) fn option(self) -> Option<T> {
        self.best.map(|(_, option)| option)
    }
}
