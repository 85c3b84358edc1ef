//! pF3D, laser light in a plasma: transforms of planes, advection along the beam, hydrodynamics with the neighbours.
//!
//! Sizes are from the code's public communication kernels: floats of 4 B, complex numbers of 8 B.

use crate::call::{Call, Operation, WORLD};
use crate::code::Code;
use crate::grid::{near_cubic, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameters, words, Kind, ParameterMistake, Word};
use odonata_units::Bytes;
use std::sync::Arc;

words! {
    /// A part of an iteration.
    pub enum Pf3dPhase {
        Fft = "fft": "transforms of all planes: alltoalls along x and along y, forward and back",
        Advection = "advection": "planes to the next rank along z and fewer planes to the rank before",
        Hydro = "hydro": "a plane to each neighbour, blocking: along z, then y, then x",
    }
}

parameters! {
    /// Parameters of `pf3d`.
    pub struct Pf3dParameters {
        /// Sizes of the process grid along x, y and z. x is fastest in the numbering of the ranks. Near-cubic, largest
        /// first, if not given.
        pub grid: Option<Vec<u32>> = None, DIMS;
        /// Zones of a rank along x, y and z.
        pub zones: Vec<u32> = vec![128, 96, 20], Kind::List(&Kind::COUNT);
        /// Parts of an iteration, in order.
        pub phases: Vec<Pf3dPhase> = Pf3dPhase::ALL.to_vec();
        /// Number of iterations.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

/// Size of a float of the code.
const FLOAT: u64 = 4;

/// Limit on zones of a rank along an axis. It keeps all message sizes below 2^63 bytes.
const MAX_ZONES: u32 = 1 << 20;

impl ProgramRule for Pf3dParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let sizes = self.grid.as_deref();
        let grid = Grid::keyed("grid", context.ranks, sizes, 3, near_cubic, GridOrder::ColumnMajor)?;
        let Ok(zones) = <[u32; 3]>::try_from(&self.zones[..]) else {
            let reason = format!("{} numbers given, expected 3", self.zones.len());
            return Err(("zones", reason));
        };
        if let Some(many) = zones.iter().find(|&&zones| zones > MAX_ZONES) {
            return Err(("zones", format!("{many}, but at most {MAX_ZONES} are possible")));
        }
        if self.phases.is_empty() {
            return Err(("phases", "none given, expected one or more".into()));
        }
        let Self { phases, iterations, .. } = self.clone();
        Ok(Arc::new(Pf3d { ranks: context.ranks, grid, zones: zones.map(u64::from), phases, iterations }))
    }
}

/// A block is a plane of a transform or another part of an iteration. The first block creates the communicators of a
/// rank's rows along x and y, the last one frees them.
#[derive(Debug)]
struct Pf3d {
    ranks: u32,
    grid: Grid,
    zones: [u64; 3],
    phases: Vec<Pf3dPhase>,
    iterations: u32,
}

const PHASES: [&str; 5] = ["setup", "fft", "advection", "hydro", "free"];

impl Pf3d {
    /// Number of a part in `PHASES`.
    fn number(phase: Pf3dPhase) -> u32 {
        match phase {
            Pf3dPhase::Fft => 1,
            Pf3dPhase::Advection => 2,
            Pf3dPhase::Hydro => 3,
        }
    }

    /// Blocks of a part.
    fn length(&self, phase: Pf3dPhase) -> u64 {
        match phase {
            Pf3dPhase::Fft => self.zones[2],
            Pf3dPhase::Advection | Pf3dPhase::Hydro => 1,
        }
    }

    /// Communicators are created only if needed.
    fn transforms(&self) -> bool {
        self.phases.contains(&Pf3dPhase::Fft)
    }

    /// Communicators along x (1) and y (2), by dimension + 1.
    fn communicator(dimension: usize) -> u16 {
        dimension as u16 + 1
    }

    fn setup(&self, rank: u32, code: &mut Code) {
        code.mark(0);
        for dimension in 0..2 {
            let (stride, count) = (self.grid.strides[dimension], self.grid.sizes[dimension]);
            let first = rank - self.grid.coordinate(rank, dimension) * stride;
            code.push(Call::CommCreate {
                communicator: WORLD,
                new: Self::communicator(dimension),
                first,
                count,
                stride,
            });
        }
    }

    /// One plane: along x forward and back, then along y.
    fn transform(&self, code: &mut Code) {
        for dimension in 0..2 {
            let block = Bytes(FLOAT * (self.zones[0] * self.zones[1] / u64::from(self.grid.sizes[dimension])));
            code.within(Self::communicator(dimension));
            code.collective(Operation::Alltoall, 0, block);
            code.collective(Operation::Alltoall, 0, block);
            code.within(WORLD);
        }
    }

    /// Three complex planes up, then two down.
    fn advection(&self, rank: u32, code: &mut Code) {
        let plane = 2 * FLOAT * self.zones[0] * self.zones[1];
        let (before, after) = (self.grid.before(rank, 2), self.grid.after(rank, 2));
        for (to, from, planes) in [(after, before, 3), (before, after, 2)] {
            let sent = to.map(|to| code.isend(to, Bytes(planes * plane), 0));
            if let Some(from) = from {
                code.recv(from, Bytes(planes * plane), 0);
            }
            if let Some(request) = sent {
                code.wait(request);
            }
        }
    }

    /// Along each dimension a plane up, then one down. A rank without a neighbour to send to receives first, which
    /// unblocks the others in turn.
    fn hydro(&self, rank: u32, code: &mut Code) {
        for dimension in (0..3).rev() {
            let zones: u64 = (0..3).filter(|&other| other != dimension).map(|other| self.zones[other]).product();
            let (before, after) = (self.grid.before(rank, dimension), self.grid.after(rank, dimension));
            for (to, from) in [(after, before), (before, after)] {
                if let Some(to) = to {
                    code.send(to, Bytes(FLOAT * zones), 0);
                }
                if let Some(from) = from {
                    code.recv(from, Bytes(FLOAT * zones), 0);
                }
            }
        }
    }
}

impl RankProgram for Pf3d {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        let iteration: u64 = self.phases.iter().map(|&phase| self.length(phase)).sum();
        u64::from(self.iterations) * iteration + 2 * u64::from(self.transforms())
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        let frame = u64::from(self.transforms());
        if frame == 1 && index == 0 {
            return self.setup(rank, code);
        }
        let iteration: u64 = self.phases.iter().map(|&phase| self.length(phase)).sum();
        if index >= frame + u64::from(self.iterations) * iteration {
            code.mark(4);
            (0..2).for_each(|dimension| {
                code.push(Call::CommFree { communicator: Self::communicator(dimension) });
            });
            return;
        }
        let mut within = (index - frame) % iteration;
        for &phase in &self.phases {
            if within < self.length(phase) {
                if within == 0 {
                    code.mark(Self::number(phase));
                }
                return match phase {
                    Pf3dPhase::Fft => self.transform(code),
                    Pf3dPhase::Advection => self.advection(rank, code),
                    Pf3dPhase::Hydro => self.hydro(rank, code),
                };
            }
            within -= self.length(phase);
        }
        unreachable!("the parts form the iteration");
    }

    fn representatives(&self) -> Option<Representatives> {
        let frame = u64::from(self.transforms());
        let mut all = Representatives::of([(0, frame)]);
        let mut first = frame;
        for &phase in &self.phases {
            all.push(first, [(0, self.length(phase) * u64::from(self.iterations))]);
            first += self.length(phase);
        }
        all.push(self.blocks(0) - frame, [(0, frame)]);
        Some(all)
    }

    fn phases(&self) -> Vec<String> {
        PHASES.map(Into::into).into()
    }

    fn is_communication(&self, phase: u32) -> bool {
        (1..4).contains(&phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{build, calls, try_build, untimed};
    use serde_json::json;

    fn alone(phase: &str) -> [(&'static str, serde_json::Value); 3] {
        [("grid", json!([16, 8, 16])), ("phases", json!([phase])), ("final_barrier", json!(false))]
    }

    /// 128 x 96 zones: blocks of 4 x 128 x 96 / 16 = 3,072 B along x and 6,144 B along y, 20 planes, forward and back.
    #[test]
    fn blocks_of_the_transforms() {
        let all = calls(&*build("pf3d", 2048, &alone("fft")), 2047);
        let blocks: Vec<(u16, u64)> = all
            .iter()
            .filter_map(|call| match call {
                Call::Collective { operation: Operation::Alltoall, bytes, communicator, .. } => {
                    Some((*communicator, bytes.0))
                }
                _ => None,
            })
            .collect();
        assert_eq!(blocks.len(), 20 * 4);
        assert_eq!(blocks[..5], [(1, 3072), (1, 3072), (2, 6144), (2, 6144), (1, 3072)]);
        // Rank 2047 is at (15, 7, 15): its row along x starts at 2032, its row along y at 1935.
        let firsts: Vec<(u32, u32, u32)> = all
            .iter()
            .filter_map(|call| match *call {
                Call::CommCreate { first, count, stride, .. } => Some((first, count, stride)),
                _ => None,
            })
            .collect();
        assert_eq!(firsts, [(2032, 16, 1), (1935, 8, 16)]);
    }

    /// z is open: 15 x 128 pairs of ranks, with 3 planes of 8 x 128 x 96 B up and 2 down.
    #[test]
    fn planes_of_the_advection() {
        let (messages, bytes) = untimed(&*build("pf3d", 2048, &alone("advection"))).totals();
        assert_eq!((messages, bytes), (2 * 15 * 128, 15 * 128 * (294_912 + 196_608)));
    }

    /// Not periodic:
    ///
    /// * 2 x 15 x 128 messages of 128 x 96 floats along z;
    /// * 2 x 7 x 256 of 128 x 20 along y;
    /// * 2 x 15 x 128 of 96 x 20 along x.
    #[test]
    fn planes_of_the_hydrodynamics() {
        let (messages, bytes) = untimed(&*build("pf3d", 2048, &alone("hydro"))).totals();
        assert_eq!(messages, 3840 + 3584 + 3840);
        assert_eq!(bytes, 4 * (3840 * 128 * 96 + 3584 * 128 * 20 + 3840 * 96 * 20));
    }

    #[test]
    fn parts_follow_each_other() {
        let program = build("pf3d", 8, &[("zones", json!([4, 4, 2])), ("iterations", json!(2))]);
        let marks: Vec<u32> = calls(&*program, 0)
            .iter()
            .filter_map(|call| match call {
                Call::Mark { phase } => Some(*phase),
                _ => None,
            })
            .collect();
        assert_eq!(marks[..8], [0, 1, 2, 3, 1, 2, 3, 4]);
    }

    #[test]
    fn mistakes() {
        let wrong = |name: &str, value| try_build("pf3d", 8, &[(name, value)]).unwrap_err().to_string();
        assert!(wrong("grid", json!([2, 2])).contains("grid: 2 sizes given, expected 3"));
        assert!(wrong("grid", json!([2, 2, 3])).contains("makes 12 points, but the job has 8 ranks"));
        assert!(wrong("zones", json!([2, 2])).contains("zones: 2 numbers given, expected 3"));
        assert!(wrong("zones", json!([2, 2, 2_000_000])).contains("at most 1048576"));
        assert!(wrong("phases", json!([])).contains("none given"));
        assert!(wrong("phases", json!(["fft", "advektion"])).contains("advection"));
    }
}
