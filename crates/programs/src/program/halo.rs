//! Exchange with the nearest neighbours on a process grid, dimension by dimension.

use crate::code::Code;
use crate::grid::{Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// Parameters of `halo-2d` and `halo-3d`. The defaults of `halo-3d` are from the interference study.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HaloParameters {
    /// Dimensions of the process grid, given by the name of the program.
    pub dimensions: usize,
    /// Size of each message.
    pub bytes: Bytes,
    /// Sizes of the process grid.
    pub dims: Option<Vec<u32>>,
    /// Fastest dimension in the numbering of the ranks.
    pub order: GridOrder,
    /// Time between two exchanges.
    pub compute: Time,
    /// Number of exchanges.
    pub iterations: u32,
}

impl Parameters for HaloParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(dims, DIMS, "Sizes of the process grid. Near-cubic, largest first, if not given."),
        parameter!(order, GridOrder::KIND, "Fastest dimension in the numbering of the ranks."),
        parameter!(compute, Kind::Time, "Time that each rank computes before an exchange."),
        parameter!(iterations, Kind::count(1), "Number of exchanges."),
    ];
}

impl HaloParameters {
    /// Halo3D of the study: 72,000 fields of 8 B.
    pub fn halo_3d() -> Self {
        let (bytes, order) = (Bytes(576_000), GridOrder::ColumnMajor);
        Self { dimensions: 3, bytes, dims: None, order, compute: Time::ZERO, iterations: 30 }
    }

    /// The messages of the 2D stencil of the Damselfly papers, 64 KiB.
    pub fn halo_2d() -> Self {
        Self { dimensions: 2, bytes: Bytes::kib(64), iterations: 10, ..Self::halo_3d() }
    }
}

impl ProgramRule for HaloParameters {
    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        let grid = Grid::new(owner, context.ranks, self.dims.as_deref(), self.dimensions, self.order)?;
        Ok(Arc::new(Halo { ranks: context.ranks, grid, parameters: self.clone() }))
    }
}

/// For each dimension in turn: posts the receives from the ranks before and after, sends to them, blocking, and waits
/// for both.
#[derive(Debug)]
struct Halo {
    ranks: u32,
    grid: Grid,
    parameters: HaloParameters,
}

impl RankProgram for Halo {
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
        for dimension in 0..self.grid.dimensions() {
            let neighbours =
                [self.grid.before(rank, dimension), self.grid.after(rank, dimension)].into_iter().flatten();
            let first = code.requests();
            for neighbour in neighbours.clone() {
                code.irecv(neighbour, self.parameters.bytes, dimension as u32);
            }
            for neighbour in neighbours {
                code.send(neighbour, self.parameters.bytes, dimension as u32);
            }
            code.wait_for(first, code.requests() - first);
        }
    }

    fn phases(&self) -> Vec<String> {
        vec!["halo".into()]
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
