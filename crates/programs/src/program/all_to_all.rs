//! The program `all-to-all`: an alltoall of all ranks, by MPI or in two phases.

use crate::call::{Call, Operation};
use crate::code::Code;
use crate::grid::{Grid, GridOrder};
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Choice, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// Default of `dims`.
const ONE_PHASE: &Choice = &Choice { name: "one-phase", doc: "an alltoall of MPI" };

parameters! {
    /// Parameters of `all-to-all`.
    pub struct AllToAllProgramParameters {
        /// Size of the block for each other rank.
        pub bytes: Bytes = Bytes::kib(32);
        /// Sizes of a process grid, for two phases: along its longest dimension, then in the planes across it.
        pub dims: Option<Vec<u32>> = None, Kind::WordOr(ONE_PHASE, &Kind::List(&Kind::COUNT));
        /// Fastest dimension of the grid in the numbering of the ranks.
        pub order: GridOrder = GridOrder::ColumnMajor;
        /// Time that each rank computes before an alltoall.
        pub compute: Time = Time::ZERO;
        /// Number of alltoalls.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

impl ProgramRule for AllToAllProgramParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let Self { bytes, ref dims, order, compute, iterations } = *self;
        let two_phases = match dims {
            None => None,
            Some(dims) => Some(TwoPhases::new(&Grid::new(context.ranks, Some(dims), dims.len(), order)?, bytes)),
        };
        Ok(repeat(context.ranks, iterations, &["alltoall"], move |rank, code| {
            code.mark(0);
            code.compute_if_any(compute);
            match &two_phases {
                None => code.collective(Operation::Alltoall, 0, bytes),
                Some(two_phases) => two_phases.calls(rank, code),
            }
        }))
    }
}

/// An alltoall in two phases, as IBM's library has for tori with a long dimension. A rank sends each rank of its line one
/// message, with the blocks for the whole plane of that rank. A rank that has received one sends each block on, within
/// its plane. So a packet turns nowhere from the busy links of the long dimension into others. The phases overlap.
struct TwoPhases {
    block: Bytes,
    /// Ranks of a line, along the longest dimension, and the distance between two.
    line: u32,
    stride: u32,
    /// Ranks of a plane.
    plane: u32,
}

impl TwoPhases {
    fn new(grid: &Grid, block: Bytes) -> Self {
        let longest = (0..grid.dimensions()).rev().max_by_key(|&d| grid.sizes[d]).expect("a grid has dimensions");
        let (line, stride) = (grid.sizes[longest], grid.strides[longest]);
        Self { block, line, stride, plane: grid.sizes.iter().product::<u32>() / line }
    }

    /// The rank `steps` further in the line of `rank`, around its end.
    fn along(&self, rank: u32, steps: u32) -> u32 {
        let place = rank / self.stride % self.line;
        rank - place * self.stride + (place + steps) % self.line * self.stride
    }

    /// The other ranks of the plane of `rank`, from the next one on, around the end.
    fn across(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let place = rank / self.stride % self.line;
        let number = rank / (self.stride * self.line) * self.stride + rank % self.stride;
        (1..self.plane).map(move |steps| {
            let other = (number + steps) % self.plane;
            (other / self.stride * self.line + place) * self.stride + other % self.stride
        })
    }

    /// Nearest first, on both sides in turns: both directions of the line are busy, and the last message, which has the
    /// longest path, leaves the planes time to drain. Farthest first takes 15 % longer on 8 x 8 x 32.
    fn calls(&self, rank: u32, code: &mut Code) {
        let steps = || (1..self.line).map(|i| if i % 2 == 1 { i.div_ceil(2) } else { self.line - i / 2 });
        let bundle = self.block * u64::from(self.plane);
        for steps in steps() {
            code.irecv(self.along(rank, self.line - steps), bundle, 0);
        }
        for _ in 0..self.line {
            for other in self.across(rank) {
                code.irecv(other, self.block, 0);
            }
        }
        for steps in steps() {
            code.isend(self.along(rank, steps), bundle, 0);
        }
        // First its own blocks for its plane, then those that arrive, as they arrive: messages overtake each other.
        for arrived in 0..self.line {
            if arrived > 0 {
                code.push(Call::WaitAny { first: 0, count: self.line - 1 });
            }
            for other in self.across(rank) {
                code.isend(other, self.block, 0);
            }
        }
        code.wait_for(self.line - 1, code.requests() - (self.line - 1));
    }
}

#[cfg(test)]
mod tests {
    use crate::call::Call;
    use crate::rank_walks::{build, calls, try_build};
    use odonata_units::Bytes;
    use proptest::prelude::*;
    use serde_json::{json, Value};
    use std::collections::{BTreeSet, VecDeque};

    fn given(dims: &[u32], order: &str) -> Vec<(&'static str, Value)> {
        let one = [("dims", json!(dims)), ("order", json!(order)), ("bytes", json!("8 B"))];
        one.into_iter().chain([("final_barrier", json!(false))]).collect()
    }

    /// Rank 1 of 2 x 3, x fastest: the line along y is 1, 3, 5; the plane is 0, 1.
    #[test]
    fn calls_by_hand() {
        let (tag, communicator) = (0, 0);
        let irecv = |from, bytes, request| Call::Irecv { from, bytes: Bytes(bytes), tag, communicator, request };
        let isend = |to, bytes, request| Call::Isend { to, bytes: Bytes(bytes), tag, communicator, request };
        assert_eq!(
            calls(&*build("all-to-all", 6, &given(&[2, 3], "column-major")), 1),
            [
                Call::Mark { phase: 0 },
                irecv(5, 16, 0),
                irecv(3, 16, 1),
                irecv(0, 8, 2),
                irecv(0, 8, 3),
                irecv(0, 8, 4),
                isend(3, 16, 5),
                isend(5, 16, 6),
                isend(0, 8, 7),
                Call::WaitAny { first: 0, count: 2 },
                isend(0, 8, 8),
                Call::WaitAny { first: 0, count: 2 },
                isend(0, 8, 9),
                Call::WaitAll { first: 2, count: 8 },
            ]
        );
    }

    /// Blocks (source, destination) that arrive, one by one, and messages with their bytes. A message within a line has
    /// the sender's blocks for the receiver's plane. A message within a plane has the block of the rank whose message
    /// has just arrived, here one after the other.
    fn arrivals(
        ranks: u32,
        parameters: &[(&str, Value)],
        plane_of: impl Fn(u32) -> u32,
    ) -> (Vec<(u32, u32)>, (u64, u64)) {
        let program = build("all-to-all", ranks, parameters);
        let (mut found, mut sent) = (Vec::new(), (0, 0));
        for rank in 0..ranks {
            let (mut source, mut expected) = (rank, VecDeque::new());
            for call in calls(&*program, rank) {
                match call {
                    Call::Irecv { from, .. } => expected.push_back(from),
                    Call::WaitAny { .. } => source = expected.pop_front().unwrap(),
                    Call::Isend { to, bytes, .. } => {
                        found.push((if plane_of(to) == plane_of(rank) { source } else { rank }, to));
                        sent = (sent.0 + 1, sent.1 + bytes.0);
                    }
                    _ => {}
                }
            }
        }
        (found, sent)
    }

    proptest! {
        /// Every block arrives once: n (n - 1) of them. Messages by formula: n (l - 1) along lines of l ranks with the
        /// blocks of a plane of a ranks, and n l (a - 1) blocks within planes.
        #[test]
        fn every_block_arrives_once(dims in prop::collection::vec(1u32..5, 1..4), row_major: bool) {
            let ranks: u32 = dims.iter().product();
            let parameters = given(&dims, if row_major { "row-major" } else { "column-major" });
            let (at, line) = dims.iter().enumerate().rev().max_by_key(|(_, size)| **size).unwrap();
            let stride: u32 = if row_major { dims[at + 1..].iter().product() } else { dims[..at].iter().product() };
            let (found, sent) = arrivals(ranks, &parameters, |rank| rank / stride % line);
            let others = |s| (0..ranks).filter(move |d| *d != s).map(move |d| (s, d));
            let all: BTreeSet<_> = (0..ranks).flat_map(others).collect();
            prop_assert_eq!(found.len(), all.len());
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), all);
            let (n, l, a) = (u64::from(ranks), u64::from(*line), u64::from(ranks / line));
            prop_assert_eq!(sent, (n * (l - 1) + n * l * (a - 1), 8 * n * (a * (l - 1) + l * (a - 1))));
        }
    }

    #[test]
    fn a_grid_has_all_ranks() {
        let error = try_build("all-to-all", 12, &given(&[2, 5], "row-major")).unwrap_err();
        assert!(error.to_string().contains("2 x 5 makes 10 points, but the job has 12 ranks"), "{error}");
    }
}
