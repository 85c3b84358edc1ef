//! Wavefronts over a 2D process grid: blocks of planes move from a corner to the opposite one.

use crate::code::Code;
use crate::grid::Grid;
use odonata_units::{Bytes, Time};

/// Start of a wavefront: whether it goes up along the first and the second dimension.
pub(super) type Corner = (bool, bool);

/// One block of a wavefront.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    pub(super) grid: Grid,
    pub(super) bytes: Bytes,
    pub(super) compute: Time,
}

impl Sweep {
    /// Receives from the rank before along the first dimension, then along the second, computes, and sends to the ranks
    /// after. All calls block.
    pub(super) fn block(&self, rank: u32, corner: Corner, code: &mut Code) {
        let neighbour = |dimension: usize, up: bool| match up {
            true => self.grid.after(rank, dimension),
            false => self.grid.before(rank, dimension),
        };
        let directions = [(0, corner.0), (1, corner.1)];
        for from in directions.into_iter().filter_map(|(dimension, up)| neighbour(dimension, !up)) {
            code.recv(from, self.bytes, 0);
        }
        code.compute_if_any(self.compute);
        for to in directions.into_iter().filter_map(|(dimension, up)| neighbour(dimension, up)) {
            code.send(to, self.bytes, 0);
        }
    }
}
