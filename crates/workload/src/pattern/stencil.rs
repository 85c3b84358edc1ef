//! Nearest neighbours on a process grid of 2, 3 or 4 dimensions.

use super::grid::Grid;
use super::{Pattern, PatternContext, Send};
use crate::quantity_text;
use crate::WorkloadError;
use odonata_units::{Bytes, RankId};
use serde::{Deserialize, Serialize};

/// Parameters of the stencils.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StencilParameters {
    /// Size of each message.
    #[serde(with = "quantity_text")]
    pub bytes: Bytes,
    /// Sizes of the process grid, the last dimension fastest; near-cubic if not given.
    pub dims: Option<Vec<u32>>,
    /// Whether every dimension wraps around.
    pub periodic: bool,
}

/// Each rank sends to the rank before and the one after it along every dimension, dimension by dimension, the one
/// before first. In an open grid the ranks at a border send less. A dimension of size 1 has no neighbours; a periodic
/// one of size 2 has the same neighbour twice, as in MPI.
#[derive(Debug)]
pub struct Stencil {
    ranks: u32,
    grid: Grid,
    periodic: bool,
    bytes: Bytes,
}

impl Stencil {
    pub(crate) fn new(
        owner: &str,
        dimensions: usize,
        parameters: &StencilParameters,
        context: &PatternContext<'_>,
    ) -> Result<Self, WorkloadError> {
        let grid = Grid::new(owner, context.ranks, parameters.dims.as_deref(), dimensions)?;
        Ok(Self { ranks: context.ranks, grid, periodic: parameters.periodic, bytes: parameters.bytes })
    }
}

impl Pattern for Stencil {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<Send>) {
        for (dimension, (&size, &stride)) in self.grid.sizes.iter().zip(&self.grid.strides).enumerate() {
            if size == 1 {
                continue;
            }
            let at = self.grid.coordinate(rank.0, dimension);
            let mut send = |target| out.push(Send { target: RankId(target), bytes: self.bytes });
            if at > 0 {
                send(rank.0 - stride);
            } else if self.periodic {
                send(rank.0 + (size - 1) * stride);
            }
            if at + 1 < size {
                send(rank.0 + stride);
            } else if self.periodic {
                send(rank.0 - (size - 1) * stride);
            }
        }
    }
}
