//! Lattice QCD: a sparse matrix of first and third neighbours on a 4D lattice, then two sums.

use crate::call::Operation;
use crate::code::Code;
use crate::grid::{format_sizes, near_cubic, Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule, DIMS};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

parameters! {
    /// Parameters of `lqcd`. The defaults are from the interference study.
    pub struct LqcdParameters {
        /// Sites along each dimension of the lattice.
        pub lattice: Vec<u32> = vec![132; 4], Kind::List(&Kind::COUNT);
        /// Sizes of the process grid. Each size must divide the lattice size of its dimension. If not given, each prime
        /// factor of the number of ranks, largest first, divides the largest local size that it can. Among equal sizes,
        /// one that is divided already is preferred.
        pub dims: Option<Vec<u32>> = None, DIMS;
        /// Fastest dimension in the numbering of the ranks.
        pub order: GridOrder = GridOrder::ColumnMajor;
        /// Size of the data per site of the local surface.
        pub bytes: Bytes = Bytes(24);
        /// Ratio of the bytes to third neighbours and to first neighbours.
        pub third_neighbor_factor: u32 = 2, Kind::COUNT;
        /// Number of exchanges with all neighbours per iteration.
        pub parities: u32 = 2, Kind::COUNT;
        /// Time that each rank computes after each half of an exchange, and between the sums.
        pub compute: Time = Time::from_ns(1);
        /// Size of each of the two sums.
        pub sum_bytes: Bytes = Bytes(8);
        /// Number of iterations.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

/// Divides a lattice among ranks: each prime factor of their number, largest first, divides the largest local size that
/// it can. Among equal sizes one that is divided already is preferred. The error is a prime that divides no size.
fn divided(lattice: &[u32], ranks: u32) -> Result<Vec<u32>, u32> {
    let mut grid = vec![1; lattice.len()];
    let mut primes = Vec::new();
    let mut rest = ranks;
    let mut prime = 2;
    while rest > 1 {
        if u64::from(prime) * u64::from(prime) > u64::from(rest) {
            prime = rest;
        }
        while rest % prime == 0 {
            primes.push(prime);
            rest /= prime;
        }
        prime += 1;
    }
    for &prime in primes.iter().rev() {
        let local = |d: usize| lattice[d] / grid[d];
        let able = (0..lattice.len()).filter(|&d| local(d) % prime == 0);
        // The first of the best.
        let best = able.rev().max_by_key(|&d| (local(d), grid[d] > 1)).ok_or(prime)?;
        grid[best] *= prime;
    }
    Ok(grid)
}

impl ProgramRule for LqcdParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let wrong = |key, reason: String| Err((key, reason));
        if self.lattice.is_empty() {
            return wrong("lattice", "no sizes given, expected one for each dimension".into());
        }
        let ranks = context.ranks;
        let most = 8;
        if self.lattice.len() > most {
            return wrong("lattice", format!("{} sizes given, expected at most {most}", self.lattice.len()));
        }
        let divided = divided(&self.lattice, ranks);
        if let (None, Err(prime)) = (&self.dims, &divided) {
            let lattice = format_sizes(&self.lattice);
            let reason = format!(
                "{prime} divides the number of ranks, but no local size of the lattice {lattice}; \
                 expected sizes with the prime factors of the ranks"
            );
            return wrong("lattice", reason);
        }
        let usual = |ranks, dimensions| divided.clone().unwrap_or_else(|_| near_cubic(ranks, dimensions));
        let dims = Grid::keyed("dims", ranks, self.dims.as_deref(), self.lattice.len(), usual, self.order)?;
        let mut local = Vec::new();
        for (place, (&sites, &parts)) in self.lattice.iter().zip(&dims.sizes).enumerate() {
            if sites % parts != 0 {
                let reason = format!("{parts} does not divide {sites}, size {} of the lattice", place + 1);
                return wrong("dims", reason);
            }
            local.push(u64::from(sites / parts));
        }
        let Some(sites) = local.iter().try_fold(self.bytes.0, |product, &size| product.checked_mul(size)) else {
            return wrong("lattice", "more bytes than supported".into());
        };
        let surfaces = local.iter().map(|&size| Bytes(sites / size)).collect();
        Ok(Arc::new(Lqcd { ranks, grid: dims, surfaces, parameters: self.clone() }))
    }
}

/// An exchange of one parity is a block, and so are the sums. The grid is not periodic.
#[derive(Debug)]
struct Lqcd {
    ranks: u32,
    grid: Grid,
    /// Size of a message to the first neighbours along each dimension.
    surfaces: Vec<Bytes>,
    parameters: LqcdParameters,
}

const PHASES: [&str; 4] = ["exchange", "wait", "compute", "sum"];

impl Lqcd {
    /// Posts all receives from one side, then sends to it, blocking. Then the same for the third neighbours.
    fn half(&self, rank: u32, up: bool, code: &mut Code) {
        let dimensions: Vec<usize> = match up {
            true => (0..self.grid.dimensions()).collect(),
            false => (0..self.grid.dimensions()).rev().collect(),
        };
        let neighbour = |dimension| match up {
            true => self.grid.after(rank, dimension),
            false => self.grid.before(rank, dimension),
        };
        for (tag, times) in [(0, 1), (1, self.parameters.third_neighbor_factor.into())] {
            let messages = || dimensions.iter().filter_map(|&d| Some((neighbour(d)?, self.surfaces[d] * times)));
            for (from, bytes) in messages() {
                code.irecv(from, bytes, tag);
            }
            for (to, bytes) in messages() {
                code.send(to, bytes, tag);
            }
        }
    }

    fn exchange(&self, rank: u32, code: &mut Code) {
        code.mark(0);
        self.half(rank, true, code);
        let up = code.requests();
        self.half(rank, false, code);
        for (first, count) in [(0, up), (up, code.requests() - up)] {
            code.mark(1);
            code.wait_for(first, count);
            code.mark(2);
            code.compute(self.parameters.compute);
        }
    }

    fn sums(&self, code: &mut Code) {
        code.mark(3);
        code.collective(Operation::Allreduce, 0, self.parameters.sum_bytes);
        code.mark(2);
        code.compute(self.parameters.compute);
        code.mark(3);
        code.collective(Operation::Allreduce, 0, self.parameters.sum_bytes);
    }
}

impl RankProgram for Lqcd {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        u64::from(self.parameters.iterations) * (u64::from(self.parameters.parities) + 1)
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        match index % (u64::from(self.parameters.parities) + 1) {
            part if part < self.parameters.parities.into() => self.exchange(rank, code),
            _ => self.sums(code),
        }
    }

    fn repetition(&self, _: u32) -> Option<Repetition> {
        Repetition::from_start(u64::from(self.parameters.parities) + 1, self.parameters.iterations.into())
    }

    fn representatives(&self) -> Option<Representatives> {
        let (iterations, parities) = (self.parameters.iterations.into(), self.parameters.parities.into());
        Some(Representatives::of([(0, parities * iterations), (parities, iterations)]))
    }

    fn phases(&self) -> Vec<String> {
        PHASES.map(Into::into).into()
    }

    /// Waits and sums, but not the sends, although they block.
    fn is_communication(&self, phase: u32) -> bool {
        phase == 1 || phase == 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::rank_walks::{build, calls};
    use serde_json::json;

    /// The study's grids, and one with a prime that divides no size.
    #[test]
    fn divides_as_lattice_codes_do() {
        assert_eq!(divided(&[132; 4], 528), Ok(vec![11, 3, 4, 4]));
        assert_eq!(divided(&[132; 4], 256), Ok(vec![4, 4, 4, 4]));
        assert_eq!(divided(&[132; 4], 1), Ok(vec![1; 4]));
        assert_eq!(divided(&[132; 4], 2 * 7), Err(7));
        // 6 and 6 after the first prime: the size that was divided is divided again.
        assert_eq!(divided(&[12, 6], 4), Ok(vec![4, 1]));
        assert_eq!(divided(&[4294967291, 2], 4294967291), Ok(vec![4294967291, 1]));
    }

    /// Two ranks along x and two along t, a lattice of 4 x 2 x 2 x 4: rank 0 has both neighbours above it.
    #[test]
    fn calls_in_the_studys_order() {
        let given = [
            ("lattice", json!([4, 2, 2, 4])),
            ("dims", json!([2, 1, 1, 2])),
            ("bytes", json!("1 B")),
            ("parities", json!(1)),
        ];
        let communicator = 0;
        // Both local surfaces have 2 x 2 x 2 sites. Third neighbours get 16.
        let irecv = |from, bytes, tag, request| Call::Irecv { from, bytes: Bytes(bytes), tag, communicator, request };
        let send = |to, bytes, tag| Call::Send { to, bytes: Bytes(bytes), tag, communicator };
        let program = build("lqcd", 4, &given);
        assert_eq!(
            calls(&*program, 0)[..10],
            [
                Call::Mark { phase: 0 },
                irecv(1, 8, 0, 0),
                irecv(2, 8, 0, 1),
                send(1, 8, 0),
                send(2, 8, 0),
                irecv(1, 16, 1, 2),
                irecv(2, 16, 1, 3),
                send(1, 16, 1),
                send(2, 16, 1),
                Call::Mark { phase: 1 },
            ]
        );
        // Downwards, the last dimension comes first.
        assert_eq!(calls(&*program, 3)[1..5], [irecv(1, 8, 0, 0), irecv(2, 8, 0, 1), send(1, 8, 0), send(2, 8, 0)]);
    }
}
