//! Shock hydrodynamics: small collectives, an exchange with all 26 neighbours, a wavefront.

use super::sweep::Sweep;
use crate::call::Operation;
use crate::code::Code;
use crate::grid::{near_cubic_ascending, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

parameters! {
    /// Parameters of `lulesh`. The defaults are from the interference study.
    pub struct LuleshParameters {
        /// Size of each message to the 26 neighbours.
        pub bytes: Bytes = Bytes(74_814);
        /// Sizes of the 3D process grid of the exchange. Near-cubic, largest first, if not given.
        pub dims: Option<Vec<u32>> = None, DIMS;
        /// Fastest dimension in the numbering of the ranks, in both grids.
        pub order: GridOrder = GridOrder::ColumnMajor;
        /// Size of the broadcast and of the reduction.
        pub collective_bytes: Bytes = Bytes(240);
        /// Size of each message of the wavefront.
        pub sweep_bytes: Bytes = Bytes(7457);
        /// Sizes of the 2D process grid of the wavefront. Near-square, smaller first, if not given.
        pub sweep_dims: Option<Vec<u32>> = None, DIMS;
        /// Blocks of planes of the wavefront.
        pub sweep_blocks: u32 = 100, Kind::COUNT;
        /// Time that a rank computes for each block of planes.
        pub sweep_compute: Time = Time::ZERO;
        /// Number of iterations.
        pub iterations: u32 = 12, Kind::COUNT;
    }
}

impl ProgramRule for LuleshParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let ranks = context.ranks;
        let box_grid = Grid::new(ranks, self.dims.as_deref(), 3, self.order)?;
        let sweep_dims = self.sweep_dims.as_deref();
        let sweep_grid = Grid::keyed("sweep_dims", ranks, sweep_dims, 2, near_cubic_ascending, self.order)?;
        let sweep = Sweep { grid: sweep_grid, bytes: self.sweep_bytes, compute: self.sweep_compute };
        Ok(Arc::new(Lulesh { ranks, grid: box_grid, sweep, parameters: self.clone() }))
    }
}

/// Blocks of an iteration: the collectives, the exchange, and each block of planes of the wavefront, which has one
/// direction.
#[derive(Debug)]
struct Lulesh {
    ranks: u32,
    grid: Grid,
    sweep: Sweep,
    parameters: LuleshParameters,
}

const PHASES: [&str; 4] = ["bcast", "reduce", "halo", "sweep"];

impl Lulesh {
    /// Blocks of an iteration.
    fn length(&self) -> u64 {
        u64::from(self.parameters.sweep_blocks) + 2
    }

    /// The neighbours across faces, then edges, then corners.
    fn neighbours(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let steps = (0..27u32).map(|number| [number % 3, number / 3 % 3, number / 9]);
        (1..=3).flat_map(move |away| {
            let at_distance = steps.clone().filter(move |step| step.iter().filter(|&&s| s != 1).count() == away);
            at_distance.filter_map(move |step| {
                step.iter().enumerate().try_fold(rank, |at, (dimension, &step)| match step {
                    0 => self.grid.before(at, dimension),
                    1 => Some(at),
                    _ => self.grid.after(at, dimension),
                })
            })
        })
    }
}

impl RankProgram for Lulesh {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        u64::from(self.parameters.iterations) * self.length()
    }

    fn repetition(&self, _: u32) -> Option<Repetition> {
        Repetition::from_start(self.length(), self.parameters.iterations.into())
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        match index % self.length() {
            0 => {
                code.mark(0);
                code.collective(Operation::Broadcast, 0, self.parameters.collective_bytes);
                code.mark(1);
                code.collective(Operation::Reduce, 0, self.parameters.collective_bytes);
            }
            1 => {
                code.mark(2);
                for from in self.neighbours(rank) {
                    code.irecv(from, self.parameters.bytes, 0);
                }
                for to in self.neighbours(rank) {
                    code.isend(to, self.parameters.bytes, 0);
                }
                code.wait_all();
            }
            block => {
                if block == 2 {
                    code.mark(3);
                }
                self.sweep.block(rank, (true, true), code);
            }
        }
    }

    fn representatives(&self) -> Option<Representatives> {
        let iterations = u64::from(self.parameters.iterations);
        let sweeps = u64::from(self.parameters.sweep_blocks) * iterations;
        Some(Representatives::of([(0, iterations), (1, iterations), (2, sweeps)]))
    }

    fn phases(&self) -> Vec<String> {
        PHASES.map(Into::into).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{build, untimed};
    use serde_json::json;

    /// The centre of 3 x 3 x 3 has 6 faces, 12 edges and 8 corners; a corner has 3, 3 and 1.
    #[test]
    fn neighbours_by_distance() {
        let parameters = LuleshParameters::default();
        let grid = Grid::new(27, None, 3, GridOrder::ColumnMajor).unwrap();
        let sweep = Sweep { grid: grid.clone(), bytes: Bytes(0), compute: Time::ZERO };
        let lulesh = Lulesh { ranks: 27, grid, sweep, parameters };
        let middle: Vec<u32> = lulesh.neighbours(13).collect();
        assert_eq!(middle[..6], [4, 10, 12, 14, 16, 22]);
        assert_eq!(middle.len(), 26);
        assert_eq!(lulesh.neighbours(0).collect::<Vec<_>>(), [1, 3, 9, 4, 10, 12, 13]);
    }

    /// 2 x 2 x 2: all ranks are neighbours. The wavefront has the 10 edges of 2 x 4.
    #[test]
    fn messages() {
        let given = [("iterations", json!(1)), ("sweep_blocks", json!(5)), ("final_barrier", json!(false))];
        let report = untimed(&*build("lulesh", 8, &given));
        assert_eq!(report.totals(), (7 + 7 + 56 + 50, 14 * 240 + 56 * 74_814 + 50 * 7457));
    }
}
