//! A stencil of any number of dimensions: every rank exchanges with the ranks after it, then with the ranks before it.

use crate::grid::{near_cubic_ascending, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// The search for near-cubic sizes takes too long in more dimensions.
const MAX_DIMENSIONS: usize = 8;

parameters! {
    /// Parameters of `stencil-nd`. The defaults are Stencil5D of the interference study.
    pub struct StencilNdParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes(2_800_000);
        /// Dimensions of the process grid, if `dims` is not given.
        pub dimensions: u32 = 5, Kind::Integer { min: 1, max: MAX_DIMENSIONS as i64 };
        /// Sizes of the process grid. Near-cubic, smallest first, if not given.
        pub dims: Option<Vec<u32>> = None, DIMS;
        /// Fastest dimension in the numbering of the ranks.
        pub order: GridOrder = GridOrder::ColumnMajor;
        /// Time that each rank computes before an exchange.
        pub compute: Time = Time::ZERO;
        /// Number of exchanges.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

/// Posts the receives from all ranks after it and sends to them, blocking. Then the same with the ranks before it. Then
/// waits for all.
impl ProgramRule for StencilNdParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let Self { bytes, ref dims, order, compute, iterations, .. } = *self;
        let dimensions = dims.as_ref().map_or(self.dimensions as usize, Vec::len);
        if dimensions > MAX_DIMENSIONS {
            return Err(("dims", format!("{dimensions} sizes given, expected at most {MAX_DIMENSIONS}")));
        }
        let grid = Grid::keyed("dims", context.ranks, dims.as_deref(), dimensions, near_cubic_ascending, order)?;
        Ok(repeat(context.ranks, iterations, &["stencil"], move |rank, code| {
            code.mark(0);
            code.compute_if_any(compute);
            for neighbour in [Grid::after, Grid::before] {
                let neighbours = || (0..dimensions).filter_map(|d| neighbour(&grid, rank, d));
                for from in neighbours() {
                    code.irecv(from, bytes, 0);
                }
                for to in neighbours() {
                    code.send(to, bytes, 0);
                }
            }
            code.wait_all();
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::rank_walks::{build, calls};
    use serde_json::json;

    /// Rank 1 of 3 x 2: 2 and 4 after it, 0 before.
    #[test]
    fn calls_in_the_studys_order() {
        let given = [("dims", json!([3, 2])), ("bytes", json!("8 B"))];
        let (bytes, tag, communicator) = (Bytes(8), 0, 0);
        let irecv = |from, request| Call::Irecv { from, bytes, tag, communicator, request };
        let send = |to| Call::Send { to, bytes, tag, communicator };
        assert_eq!(
            calls(&*build("stencil-nd", 6, &given), 1)[..8],
            [
                Call::Mark { phase: 0 },
                irecv(2, 0),
                irecv(4, 1),
                send(2),
                send(4),
                irecv(0, 2),
                send(0),
                Call::WaitAll { first: 0, count: 3 }
            ]
        );
    }

    /// The study's grids by default: 2 x 2 x 3 x 4 x 11 and 3^5.
    #[test]
    fn the_studys_grids() {
        assert_eq!(near_cubic_ascending(528, 5), [2, 2, 3, 4, 11]);
        assert_eq!(near_cubic_ascending(243, 5), [3; 5]);
    }
}
