//! Wavefronts over all planes of a box, as in LU factorisation and discrete ordinates.

use super::sweep::{Corner, Sweep};
use crate::code::Code;
use crate::grid::{near_cubic_ascending, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

parameters! {
    /// Parameters of `lu` and `sweep-3d`. The defaults are LU of the interference study: 150 blocks forward and 150
    /// back, three times.
    pub struct LuParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes(15_000);
        /// Sizes of the process grid. Near-square, smaller first, if not given.
        pub dims: Option<Vec<u32>> = None, DIMS;
        /// Fastest dimension in the numbering of the ranks.
        pub order: GridOrder = GridOrder::ColumnMajor;
        /// Planes of the box. Each plane is spread over all ranks.
        pub planes: u32 = 1500, Kind::COUNT;
        /// Planes that a rank processes between receiving and sending.
        pub planes_per_block: u32 = 10, Kind::COUNT;
        /// Time that a rank computes for each block of planes.
        pub compute: Time = Time::from_ns(1);
        /// Number of iterations of all wavefronts.
        pub iterations: u32 = 3, Kind::COUNT;
        /// Corners where the wavefronts of an iteration start, given by the name of the program.
        pub corners: &'static [(bool, bool)] = LU, no key;
    }
}

/// Forward and back.
const LU: &[Corner] = &[(true, true), (false, false)];

/// From each corner of the grid twice: from the first and from the last plane.
const SWEEP_3D: &[Corner] = &[
    (true, true),
    (true, true),
    (false, true),
    (false, true),
    (false, false),
    (false, false),
    (true, false),
    (true, false),
];

impl LuParameters {
    /// The same messages from all eight corners, once.
    pub fn sweep_3d() -> Self {
        Self { corners: SWEEP_3D, iterations: 1, ..Self::default() }
    }
}

impl ProgramRule for LuParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let ranks = context.ranks;
        let grid = Grid::keyed("dims", ranks, self.dims.as_deref(), 2, near_cubic_ascending, self.order)?;
        let sweep = Sweep { grid, bytes: self.bytes, compute: self.compute };
        let blocks = self.planes.div_ceil(self.planes_per_block).into();
        Ok(Arc::new(Lu { ranks, sweep, blocks, iterations: self.iterations, corners: self.corners }))
    }
}

/// A block of planes is a block of the program.
#[derive(Debug)]
struct Lu {
    ranks: u32,
    sweep: Sweep,
    /// Blocks of planes.
    blocks: u64,
    iterations: u32,
    corners: &'static [Corner],
}

impl RankProgram for Lu {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        (u64::from(self.iterations) * self.corners.len() as u64).saturating_mul(self.blocks)
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        let wavefront = (index / self.blocks) as usize % self.corners.len();
        if wavefront == 0 && index % self.blocks == 0 {
            code.mark(0);
        }
        self.sweep.block(rank, self.corners[wavefront], code);
    }

    /// The blocks of a wavefront send the same.
    fn representatives(&self) -> Option<Representatives> {
        let times = self.blocks.saturating_mul(self.iterations.into());
        Some(Representatives::of((0..self.corners.len() as u64).map(|corner| (corner * self.blocks, times))))
    }

    fn phases(&self) -> Vec<String> {
        vec!["sweep".into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::rank_walks::{build, calls, untimed};
    use serde_json::json;

    /// Rank 4 is the centre of 3 x 3; x is the fastest.
    #[test]
    fn calls_in_the_studys_order() {
        let given = [("dims", json!([3, 3])), ("planes", json!(10)), ("iterations", json!(1))];
        let (bytes, tag, communicator) = (Bytes(15_000), 0, 0);
        let recv = |from| Call::Recv { from, bytes, tag, communicator };
        let send = |to| Call::Send { to, bytes, tag, communicator };
        let compute = Call::Compute { time: Time::from_ns(1) };
        let there_and_back = [recv(3), recv(1), compute, send(5), send(7), recv(5), recv(7), compute, send(3), send(1)];
        let calls = calls(&*build("lu", 9, &given), 4);
        assert_eq!(calls[0], Call::Mark { phase: 0 });
        assert_eq!(calls[1..11], there_and_back);
    }

    /// Every edge of the grid once for each wavefront and block.
    #[test]
    fn all_corners() {
        let given = [("dims", json!([3, 4])), ("planes", json!(25)), ("final_barrier", json!(false))];
        let edges = 2 * 4 + 3 * 3;
        assert_eq!(untimed(&*build("sweep-3d", 12, &given)).totals(), (8 * 3 * edges, 8 * 3 * edges * 15_000));
    }
}
