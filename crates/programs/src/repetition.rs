//! The loop of a program whose iterations are equal.

/// Equal iterations of a rank: `iterations` times the same `blocks` blocks, from block `first` on.
///
/// The blocks of an iteration have the same calls in every iteration. So the rest of a run does not depend on how many
/// iterations a rank has done, only on how many are left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repetition {
    /// Number of the first block.
    pub first: u64,
    /// Blocks of an iteration.
    pub blocks: u64,
    /// Number of iterations.
    pub iterations: u64,
}

impl Repetition {
    /// A loop from the first block on. `None` if its iterations have no blocks.
    pub fn from_start(blocks: u64, iterations: u64) -> Option<Self> {
        (blocks > 0).then_some(Self { first: 0, blocks, iterations })
    }

    /// Number of iterations that have begun when the rank has begun `started` blocks.
    pub fn begun(&self, started: u64) -> u64 {
        started.saturating_sub(self.first).div_ceil(self.blocks).min(self.iterations)
    }

    /// Whether the rank has left the loop when it has begun `started` blocks.
    pub fn is_left(&self, started: u64) -> bool {
        started > self.first + self.blocks * self.iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two blocks before the loop, three per iteration, four iterations.
    #[test]
    fn iterations_begin_with_their_first_block() {
        let repetition = Repetition { first: 2, blocks: 3, iterations: 4 };
        let begun: Vec<u64> = (0..=16).map(|started| repetition.begun(started)).collect();
        assert_eq!(begun, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
        assert_eq!([14, 15].map(|started| repetition.is_left(started)), [false, true]);
        assert_eq!(Repetition::from_start(0, 5), None);
    }
}
