//! Slices of a job: ranks with equal numbers modulo the number of slices, each with its own communicator.
//!
//! With as many slices as ranks per node, the ranks with one number on their nodes are a slice.

use crate::call::{Call, WORLD};
use crate::code::Code;

/// The slice of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    /// Number of slices of the job.
    slices: u32,
    /// Number of the slice, which is its first rank.
    number: u32,
    /// Its ranks.
    pub(crate) ranks: u32,
    /// Place of the rank in it.
    pub(crate) place: u32,
}

impl Slice {
    /// The slice of `rank` of a job of `ranks` ranks.
    pub(crate) fn of(rank: u32, ranks: u32, slices: u32) -> Self {
        let number = rank % slices;
        Self { slices, number, ranks: (ranks - number).div_ceil(slices), place: rank / slices }
    }

    /// The rank of the job at a place of the slice.
    pub(crate) const fn rank_at(self, place: u32) -> u32 {
        place * self.slices + self.number
    }

    fn communicator(self) -> u16 {
        if self.slices == 1 {
            WORLD
        } else {
            1
        }
    }

    /// Creates the communicator. A single slice is the world communicator.
    pub(crate) fn create(self, code: &mut Code) {
        if self.slices > 1 {
            let (first, count, stride) = (self.number, self.ranks, self.slices);
            code.push(Call::CommCreate { communicator: WORLD, new: self.communicator(), first, count, stride });
        }
    }

    /// Selects the communicator for the following calls.
    pub(crate) fn select(self, code: &mut Code) {
        code.within(self.communicator());
    }

    /// Frees the communicator.
    pub(crate) fn free(self, code: &mut Code) {
        if self.slices > 1 {
            code.push(Call::CommFree { communicator: self.communicator() });
        }
    }
}
