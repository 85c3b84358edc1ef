//! A program whose ranks repeat one block.

use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use std::sync::Arc;

/// The block of a rank in one iteration.
pub(crate) trait Block: Fn(u32, u64, &mut Code) + Send + Sync + 'static {}

impl<F: Fn(u32, u64, &mut Code) + Send + Sync + 'static> Block for F {}

/// Every rank runs `block(rank, iteration)` in each iteration.
struct Repeat<F> {
    ranks: u32,
    iterations: u32,
    phases: &'static [&'static str],
    representatives: Representatives,
    block: F,
    /// Whether the block is the same in every iteration.
    is_equal: bool,
}

/// A program of `ranks` ranks that repeats a block, which sends the same each time. The last of its phases is the communication.
pub(crate) fn repeat(
    ranks: u32,
    iterations: u32,
    phases: &'static [&'static str],
    block: impl Fn(u32, &mut Code) + Send + Sync + 'static,
) -> Arc<dyn RankProgram> {
    let block = move |rank: u32, _: u64, code: &mut Code| block(rank, code);
    let representatives = Representatives::of([(0, iterations.into())]);
    Arc::new(Repeat { ranks, iterations, phases, representatives, block, is_equal: true })
}

/// The same, with a block that depends on the iteration.
pub(crate) fn repeat_unequal(
    ranks: u32,
    iterations: u32,
    phases: &'static [&'static str],
    representatives: Representatives,
    block: impl Block,
) -> Arc<dyn RankProgram> {
    Arc::new(Repeat { ranks, iterations, phases, representatives, block, is_equal: false })
}

impl<F> std::fmt::Debug for Repeat<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repeat").field("ranks", &self.ranks).field("phases", &self.phases).finish_non_exhaustive()
    }
}

impl<F: Block> RankProgram for Repeat<F> {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.iterations.into()
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        (self.block)(rank, index, code);
    }

    fn repetition(&self, _: u32) -> Option<Repetition> {
        Repetition::from_start(1, self.iterations.into()).filter(|_| self.is_equal)
    }

    fn representatives(&self) -> Option<Representatives> {
        Some(self.representatives.clone())
    }

    fn phases(&self) -> Vec<String> {
        self.phases.iter().map(ToString::to_string).collect()
    }

    fn is_communication(&self, phase: u32) -> bool {
        phase as usize + 1 == self.phases.len()
    }
}
