//! A stencil of any number of dimensions: every rank exchanges with the ranks after it, then with the ranks before it.

use crate::code::Code;
use crate::grid::{near_cubic_ascending, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// The search for near-cubic sizes takes too long in more dimensions.
const MAX_DIMENSIONS: usize = 8;

/// Parameters of `stencil-nd`. The defaults are Stencil5D of the interference study.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StencilNdParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Dimensions of the process grid.
    pub dimensions: u32,
    /// Sizes of the process grid.
    pub dims: Option<Vec<u32>>,
    /// Fastest dimension in the numbering of the ranks.
    pub order: GridOrder,
    /// Computing time before an exchange.
    pub compute: Time,
    /// Number of exchanges.
    pub iterations: u32,
}

impl Parameters for StencilNdParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(
            dimensions,
            Kind::Integer { min: 1, max: MAX_DIMENSIONS as i64 },
            "Dimensions of the process grid, if `dims` is not given."
        ),
        parameter!(dims, DIMS, "Sizes of the process grid. Near-cubic, smallest first, if not given."),
        parameter!(order, GridOrder::KIND, "Fastest dimension in the numbering of the ranks."),
        parameter!(compute, Kind::Time, "Time that each rank computes before an exchange."),
        parameter!(iterations, Kind::count(1), "Number of exchanges."),
    ];
}

impl Default for StencilNdParameters {
    fn default() -> Self {
        Self {
            bytes: Bytes(2_800_000),
            dimensions: 5,
            dims: None,
            order: GridOrder::ColumnMajor,
            compute: Time::ZERO,
            iterations: 1,
        }
    }
}

impl ProgramRule for StencilNdParameters {
    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        let dimensions = self.dims.as_ref().map_or(self.dimensions as usize, Vec::len);
        if dimensions > MAX_DIMENSIONS {
            let reason = format!("{dimensions} sizes given, expected at most {MAX_DIMENSIONS}");
            return Err(ParameterError::new(owner, "dims", reason));
        }
        let usual = (dimensions, near_cubic_ascending);
        let grid = Grid::keyed(owner, "dims", context.ranks, self.dims.as_deref(), usual, self.order)?;
        Ok(Arc::new(StencilNd { ranks: context.ranks, grid, parameters: self.clone() }))
    }
}

/// Posts the receives from all ranks after it and sends to them, blocking. Then the same with the ranks before it. Then
/// waits for all.
#[derive(Debug)]
struct StencilNd {
    ranks: u32,
    grid: Grid,
    parameters: StencilNdParameters,
}

impl RankProgram for StencilNd {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.parameters.iterations.into()
    }

    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.mark(0);
        if self.parameters.compute > Time::ZERO {
            code.compute(self.parameters.compute);
        }
        for neighbour in [Grid::after, Grid::before] {
            let neighbours = || (0..self.grid.dimensions()).filter_map(|d| neighbour(&self.grid, rank, d));
            for from in neighbours() {
                code.irecv(from, self.parameters.bytes, 0);
            }
            for to in neighbours() {
                code.send(to, self.parameters.bytes, 0);
            }
        }
        code.wait_all();
    }

    fn phases(&self) -> Vec<String> {
        vec!["stencil".into()]
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
