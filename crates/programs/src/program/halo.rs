//! Exchange with the nearest neighbours on a process grid, dimension by dimension.

use crate::grid::{Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

parameters! {
    /// Parameters of `halo-2d` and `halo-3d`. The defaults are Halo3D of the interference study:
    /// 72,000 fields of 8 B.
    pub struct HaloParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes(576_000);
        /// Sizes of the process grid. Near-cubic, largest first, if not given.
        pub dims: Option<Vec<u32>> = None, DIMS;
        /// Fastest dimension in the numbering of the ranks.
        pub order: GridOrder = GridOrder::ColumnMajor;
        /// Time that each rank computes before an exchange.
        pub compute: Time = Time::ZERO;
        /// Number of exchanges.
        pub iterations: u32 = 30, Kind::COUNT;
        /// Dimensions of the process grid, given by the name of the program.
        pub dimensions: usize = 3, no key;
    }
}

impl HaloParameters {
    /// The messages of the 2D stencil of the Damselfly papers, 64 KiB.
    pub fn halo_2d() -> Self {
        Self { dimensions: 2, bytes: Bytes::kib(64), iterations: 10, ..Self::default() }
    }
}

/// For each dimension in turn: posts the receives from the ranks before and after, sends to them, blocking, and waits
/// for both.
impl ProgramRule for HaloParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let Self { bytes, ref dims, order, compute, iterations, dimensions } = *self;
        let grid = Grid::new(context.ranks, dims.as_deref(), dimensions, order)?;
        Ok(repeat(context.ranks, iterations, &["halo"], move |rank, code| {
            code.mark(0);
            code.compute_if_any(compute);
            for dimension in 0..dimensions {
                let neighbours = [grid.before(rank, dimension), grid.after(rank, dimension)].into_iter().flatten();
                let first = code.requests();
                for neighbour in neighbours.clone() {
                    code.irecv(neighbour, bytes, dimension as u32);
                }
                for neighbour in neighbours {
                    code.send(neighbour, bytes, dimension as u32);
                }
                code.wait_for(first, code.requests() - first);
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::rank_walks::{build, calls};
    use serde_json::json;

    /// Rank 1 of 3 x 2: 0 and 2 along x, 4 along y.
    #[test]
    fn calls_in_the_studys_order() {
        let given = [("dims", json!([3, 2])), ("iterations", json!(1)), ("bytes", json!("8 B"))];
        let (bytes, communicator) = (Bytes(8), 0);
        let irecv = |from, tag, request| Call::Irecv { from, bytes, tag, communicator, request };
        let send = |to, tag| Call::Send { to, bytes, tag, communicator };
        assert_eq!(
            calls(&*build("halo-2d", 6, &given), 1)[..9],
            [
                Call::Mark { phase: 0 },
                irecv(0, 0, 0),
                irecv(2, 0, 1),
                send(0, 0),
                send(2, 0),
                Call::WaitAll { first: 0, count: 2 },
                irecv(4, 1, 2),
                send(4, 1),
                Call::WaitAll { first: 2, count: 1 },
            ]
        );
    }
}
