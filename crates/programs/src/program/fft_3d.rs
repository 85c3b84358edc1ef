//! The program `fft-3d`: a 3D FFT on pencils.

use crate::call::WORLD;
use crate::code::Code;
use crate::grid::near_cubic_ascending;
use crate::rank_program::RankProgram;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake, AUTO};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

use crate::call::{Call, Operation};

parameters! {
    /// Parameters of `fft-3d`. The defaults are from the interference study.
    pub struct Fft3dParameters {
        /// Points along x. The transform along x is real, so half of them plus one are stored.
        pub nx: u32 = 400, Kind::COUNT;
        /// Points along y. As many as along x if not given.
        pub ny: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
        /// Points along z. As many as along x if not given.
        pub nz: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
        /// Ranks of a column of the process grid, a divisor of the number of ranks. The smaller side of a near-square
        /// grid if not given.
        pub rows: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
        /// Size of a point.
        pub bytes: Bytes = Bytes(16);
        /// Time per point of a pencil in one transform.
        pub compute: Time = Time::from_ns(1);
        /// Simulated time from which ranks transform; they make their communicators before it. With 0, a rank
        /// transforms as soon as it has them.
        pub transform_from: Time = Time::ZERO;
        /// Number of forward and backward transforms.
        pub iterations: u32 = 8, Kind::COUNT;
    }
}

impl ProgramRule for Fft3dParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let ranks = context.ranks;
        let usual = near_cubic_ascending(ranks, 2)[0];
        let rows = self.rows.unwrap_or(usual);
        if ranks % rows != 0 {
            let reason = format!("{rows} rows do not divide {ranks} ranks; for example {usual} does");
            return Err(("rows", reason));
        }
        let (ny, nz) = (self.ny.unwrap_or(self.nx), self.nz.unwrap_or(self.nx));
        // Whole pencils along x, as the study rounds them.
        let points = u64::from(self.nx) * (u64::from(ny) * u64::from(nz) / u64::from(ranks));
        let Some(compute) = self.compute.0.checked_mul(points).filter(|time| time.checked_mul(2).is_some()) else {
            let reason = format!("{} for each of {points} points is more than can be simulated", self.compute);
            return Err(("compute", reason));
        };
        Ok(Arc::new(Fft3d {
            ranks,
            rows,
            columns: ranks / rows,
            sizes: [self.nx / 2 + 1, ny, nz],
            bytes: self.bytes,
            compute: Time(compute),
            transform_from: self.transform_from,
            iterations: self.iterations,
        }))
    }
}

/// Ranks are rank = row + rows x column. The program creates communicators for the rank's column and row. An iteration
/// is a block: transposition in the column, in the row, a barrier, and back, with computation in between. At the end
/// the communicators are freed.
#[derive(Debug)]
struct Fft3d {
    ranks: u32,
    rows: u32,
    columns: u32,
    /// Stored points along each dimension.
    sizes: [u32; 3],
    bytes: Bytes,
    /// Time of one transform of a rank's pencils.
    compute: Time,
    transform_from: Time,
    iterations: u32,
}

const COLUMN: u16 = 1;
const ROW: u16 = 2;

/// Numbers of the sizes of blocks.
const COLUMN_FORTH: u32 = 0;
const ROW_FORTH: u32 = 1;
const ROW_BACK: u32 = 2;
const COLUMN_BACK: u32 = 3;

const PHASES: [&str; 6] = ["setup", "compute", "column", "row", "barrier", "free"];

/// Part `index` of `n` points in `parts`. The first parts are one larger.
fn part(n: u32, parts: u32, index: u32) -> u64 {
    u64::from(n / parts + u32::from(index < n % parts))
}

impl Fft3d {
    fn setup(&self, rank: u32, code: &mut Code) {
        let (row, column) = (rank % self.rows, rank / self.rows);
        code.mark(0);
        code.push(Call::CommCreate {
            communicator: WORLD,
            new: COLUMN,
            first: column * self.rows,
            count: self.rows,
            stride: 1,
        });
        code.push(Call::CommCreate {
            communicator: WORLD,
            new: ROW,
            first: row,
            count: self.columns,
            stride: self.rows,
        });
        if self.transform_from > Time::ZERO {
            code.push(Call::WaitUntil { time: self.transform_from });
        }
    }

    fn iteration(&self, code: &mut Code) {
        let compute = |times: u64, code: &mut Code| {
            code.mark(1);
            code.compute(self.compute * times);
        };
        let transpose = |phase: u32, communicator: u16, sizes: u32, code: &mut Code| {
            compute(1, code);
            code.mark(phase);
            code.within(communicator);
            code.collective_of(Operation::Alltoall, 0, sizes);
            code.within(WORLD);
        };
        let barrier = |code: &mut Code| {
            code.mark(4);
            code.collective(Operation::Barrier, 0, Bytes(0));
        };
        transpose(2, COLUMN, COLUMN_FORTH, code);
        transpose(3, ROW, ROW_FORTH, code);
        compute(1, code);
        barrier(code);
        transpose(3, ROW, ROW_BACK, code);
        transpose(2, COLUMN, COLUMN_BACK, code);
        compute(2, code);
        barrier(code);
    }
}

impl RankProgram for Fft3d {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        u64::from(self.iterations) + 2
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        match index {
            0 => self.setup(rank, code),
            index if index <= u64::from(self.iterations) => self.iteration(code),
            _ => {
                code.mark(5);
                code.push(Call::CommFree { communicator: COLUMN });
                code.push(Call::CommFree { communicator: ROW });
            }
        }
    }

    fn representatives(&self) -> Option<Representatives> {
        let iterations = u64::from(self.iterations);
        Some(Representatives::of([(0, 1), (1, iterations), (iterations + 1, 1)]))
    }

    /// Pencils along y have parts of x over the rows and of z over the columns. In a column, y is cut over the rows
    /// against x; in a row, y over the columns against z. On the return, sender and receiver change places.
    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let (from, to) = if matches!(sizes, ROW_BACK | COLUMN_BACK) { (to, from) } else { (from, to) };
        let [x, y, z] = self.sizes;
        let (row, column) = (from % self.rows, from / self.rows);
        let points = match sizes {
            COLUMN_FORTH | COLUMN_BACK => {
                part(x, self.rows, to % self.rows) * part(y, self.rows, row) * part(z, self.columns, column)
            }
            _ => part(x, self.rows, row) * part(y, self.columns, to / self.rows) * part(z, self.columns, column),
        };
        self.bytes * points
    }

    fn phases(&self) -> Vec<String> {
        PHASES.map(Into::into).into()
    }

    /// The transpositions and the barriers.
    fn is_communication(&self, phase: u32) -> bool {
        (2..5).contains(&phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{build, calls};

    /// 201 over 22 is 10 or 9, 400 over 22 is 19 or 18, over 24 it is 17 or 16.
    #[test]
    fn the_studys_blocks() {
        let program = build("fft-3d", 528, &[]);
        let sizes = |number| (0..528).flat_map(move |from| (0..528).map(move |to| (number, from, to)));
        let column = |from: u32, to: u32| from / 22 == to / 22;
        let of = |pairs: &mut dyn Iterator<Item = (u32, u32, u32)>| {
            let bytes: Vec<u64> = pairs.map(|(number, from, to)| program.size(number, from, to).0).collect();
            (*bytes.iter().min().unwrap(), *bytes.iter().max().unwrap(), bytes.iter().sum::<u64>())
        };
        // Forward, all points move, including points that stay on their rank: 16 x 201 x 400 x 400.
        let all = 16 * 201 * 400 * 400;
        for number in [COLUMN_FORTH, COLUMN_BACK] {
            let blocks = of(&mut sizes(number).filter(|&(_, from, to)| column(from, to)));
            assert_eq!(blocks, (16 * 9 * 18 * 16, 16 * 10 * 19 * 17, all));
        }
        for number in [ROW_FORTH, ROW_BACK] {
            let blocks = of(&mut sizes(number).filter(|&(_, from, to)| from % 22 == to % 22));
            assert_eq!(blocks, (16 * 9 * 16 * 16, 16 * 10 * 17 * 17, all));
        }
    }

    /// The communicators are made before the common start of the study, and only once.
    #[test]
    fn transforms_wait_for_their_start() {
        let program = build("fft-3d", 528, &[("transform_from", serde_json::json!("350 us"))]);
        let found = calls(&*program, 17);
        let wait = Call::WaitUntil { time: Time::from_us(350) };
        assert_eq!(found.iter().position(|call| *call == wait), Some(3), "after the mark and two communicators");
        assert_eq!(found.iter().filter(|call| **call == wait).count(), 1);
        assert_eq!(found.len(), calls(&*build("fft-3d", 528, &[]), 17).len() + 1);
    }

    #[test]
    fn computes_as_long_as_the_study() {
        let computes: Vec<Time> = calls(&*build("fft-3d", 528, &[]), 17)
            .into_iter()
            .filter_map(|call| if let Call::Compute { time } = call { Some(time) } else { None })
            .collect();
        let c = Time::from_ns(121_200);
        assert_eq!(computes, [c, c, c, c, c, c * 2].repeat(8));
    }
}
