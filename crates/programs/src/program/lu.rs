//! Wavefronts over all planes of a box, as in LU factorisation and discrete ordinates.

use super::sweep::{Corner, Sweep};
use crate::code::Code;
use crate::grid::{near_cubic_ascending, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// Parameters of `lu` and `sweep-3d`. The defaults of `lu` are from the interference study.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LuParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Sizes of the process grid.
    pub dims: Option<Vec<u32>>,
    /// Fastest dimension in the numbering of the ranks.
    pub order: GridOrder,
    /// Planes of the box.
    pub planes: u32,
    /// Planes processed between receiving and sending.
    pub planes_per_block: u32,
    /// Time per block of planes.
    pub compute: Time,
    /// Number of iterations of all wavefronts.
    pub iterations: u32,
    /// Corners where the wavefronts of an iteration start, given by the name of the program.
    pub corners: &'static [(bool, bool)],
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

impl Parameters for LuParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(dims, DIMS, "Sizes of the process grid. Near-square, smaller first, if not given."),
        parameter!(order, GridOrder::KIND, "Fastest dimension in the numbering of the ranks."),
        parameter!(planes, Kind::count(1), "Planes of the box. Each plane is spread over all ranks."),
        parameter!(planes_per_block, Kind::count(1), "Planes that a rank processes between receiving and sending."),
        parameter!(compute, Kind::Time, "Time that a rank computes for each block of planes."),
        parameter!(iterations, Kind::count(1), "Number of iterations of all wavefronts."),
    ];
}

impl LuParameters {
    /// LU of the study: 150 blocks forward and 150 back, three times.
    pub fn lu() -> Self {
        Self {
            bytes: Bytes(15_000),
            dims: None,
            order: GridOrder::ColumnMajor,
            planes: 1500,
            planes_per_block: 10,
            compute: Time::from_ns(1),
            iterations: 3,
            corners: LU,
        }
    }

    /// The same messages from all eight corners, once.
    pub fn sweep_3d() -> Self {
        Self { corners: SWEEP_3D, iterations: 1, ..Self::lu() }
    }
}

impl ProgramRule for LuParameters {
    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        let ranks = context.ranks;
        let usual = (2, near_cubic_ascending);
        let grid = Grid::keyed(owner, "dims", ranks, self.dims.as_deref(), usual, self.order)?;
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
        u64::from(self.iterations) * self.corners.len() as u64 * self.blocks
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        let wavefront = (index / self.blocks) as usize % self.corners.len();
        if wavefront == 0 && index % self.blocks == 0 {
            code.mark(0);
        }
        self.sweep.block(rank, self.corners[wavefront], code);
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
