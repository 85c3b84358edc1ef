//! Runs a collective on all ranks of a communicator and checks its invariants.

use super::algorithm::{Algorithm, Collective};
use super::ALGORITHMS;
use crate::call::{Call, Operation};
use crate::code::Code;
use crate::untimed::{self, Report};
use odonata_units::Bytes;
use std::collections::VecDeque;

/// Numbers of ranks to test.
const SIZES: [u32; 8] = [1, 2, 3, 6, 7, 8, 16, 33];

pub(super) fn each_size(check: impl Fn(u32)) {
    SIZES.into_iter().for_each(check);
}

/// One collective with root 0.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    operation: Operation,
    ranks: u32,
    root: u32,
    bytes: Bytes,
    sizes: Option<&'a dyn Fn(u32, u32) -> Bytes>,
}

impl<'a> Case<'a> {
    pub(super) fn of(operation: Operation, ranks: u32, bytes: u64) -> Self {
        Self { operation, ranks, root: 0, bytes: Bytes(bytes), sizes: None }
    }

    fn rooted(self, root: u32) -> Self {
        Self { root, ..self }
    }

    fn sized(self, sizes: &'a dyn Fn(u32, u32) -> Bytes) -> Self {
        Self { sizes: Some(sizes), ..self }
    }

    /// The calls of one step of a rank.
    pub(super) fn step(&self, algorithm: &dyn Algorithm, rank: u32, index: u64) -> Option<Vec<Call>> {
        let collective = Collective {
            operation: self.operation,
            rank,
            size: self.ranks,
            root: self.root,
            bytes: self.bytes,
            sizes: self.sizes,
        };
        let mut code = Code::default();
        algorithm.step(&collective, index, &mut code).then(|| code.calls().to_vec())
    }
}

/// Runs the collective with synchronous sends. Checks that no rank blocks forever, that sizes agree, and that every
/// contribution can reach the ranks that need it.
pub(super) fn check(algorithm: &dyn Algorithm, case: Case<'_>) -> Report {
    let mut in_flight = vec![(0u64, VecDeque::new()); case.ranks as usize];
    let report = untimed::run(case.ranks, &mut |rank| {
        let (step, calls) = &mut in_flight[rank as usize];
        while calls.is_empty() {
            calls.extend(case.step(algorithm, rank, *step)?);
            *step += 1;
        }
        calls.pop_front()
    });
    let needs = |from: u32, to: u32| match case.operation {
        Operation::Broadcast | Operation::Scatter => from == case.root,
        Operation::Reduce | Operation::Gather => to == case.root,
        Operation::Scan => from <= to,
        _ => true,
    };
    for to in 0..case.ranks {
        for from in (0..case.ranks).filter(|&from| needs(from, to)) {
            let (operation, ranks) = (case.operation.name(), case.ranks);
            assert!(report.knows(to, from), "{algorithm:?}, {operation} of {ranks}: {from} never reached {to}");
        }
    }
    if case.sizes.is_none() {
        check_received(algorithm, &case, &report);
    }
    report
}

/// Checks that each rank receives at least the bytes of its result. Parts of a message carry what their sender knows, so
/// without this a rank that lacks parts would pass.
fn check_received(algorithm: &dyn Algorithm, case: &Case<'_>, report: &Report) {
    let (n, others) = (case.bytes.0, u64::from(case.ranks - 1));
    for rank in (0..case.ranks).filter(|_| others > 0) {
        let (is_root, is_first) = (rank == case.root, rank == 0);
        let least = match case.operation {
            Operation::Barrier => 0,
            Operation::Broadcast | Operation::Scatter => {
                if is_root {
                    0
                } else {
                    n
                }
            }
            // All but its own part, of a power of two of parts.
            Operation::Reduce => {
                if is_root {
                    n - n.div_ceil(1 << case.ranks.ilog2())
                } else {
                    0
                }
            }
            Operation::Gather => {
                if is_root {
                    others * n
                } else {
                    0
                }
            }
            Operation::Allgather | Operation::Alltoall => others * n,
            Operation::Allreduce | Operation::ReduceScatter => n,
            Operation::Scan => {
                if is_first {
                    0
                } else {
                    n
                }
            }
        };
        let (operation, ranks, received) = (case.operation.name(), case.ranks, report.received_by(rank));
        assert!(received >= least, "{algorithm:?}, {operation} of {ranks}: {rank} receives {received} B of {least} B");
    }
}

/// Every algorithm, every operation, several sizes, all roots.
#[test]
fn data_reaches_every_rank_that_needs_it() {
    for known in ALGORITHMS {
        for &operation in known.algorithm.operations() {
            each_size(|ranks| {
                for root in 0..ranks {
                    check(known.algorithm, Case::of(operation, ranks, 1001).rooted(root));
                }
            });
        }
    }
}

/// Sizes that differ for every pair, including zeros. Both ends of each message agree, each rank receives at least what
/// it needs and sends at least its contribution.
#[test]
fn vectors_arrive_in_full() {
    let sizes = |from: u32, to: u32| Bytes(u64::from((from * 37 + to * 101) % 11 * 64));
    let vectors =
        [Operation::Gather, Operation::Scatter, Operation::Allgather, Operation::Alltoall, Operation::ReduceScatter];
    for known in ALGORITHMS {
        for operation in vectors.into_iter().filter(|operation| known.algorithm.operations().contains(operation)) {
            each_size(|ranks| {
                let root = ranks / 3;
                let report = check(known.algorithm, Case::of(operation, ranks, 0).rooted(root).sized(&sizes));
                for rank in 0..ranks {
                    let others = || (0..ranks).filter(|&other| other != rank);
                    let sum = |size: &dyn Fn(u32) -> Bytes| others().map(|other| size(other).0).sum::<u64>();
                    let needed = match operation {
                        Operation::Gather => {
                            if rank == root {
                                sum(&|from| sizes(from, root))
                            } else {
                                0
                            }
                        }
                        Operation::Scatter => {
                            if rank == root {
                                0
                            } else {
                                sizes(root, rank).0
                            }
                        }
                        Operation::Allgather => sum(&|from| sizes(from, from)),
                        Operation::Alltoall => sum(&|from| sizes(from, rank)),
                        _ => {
                            if ranks == 1 {
                                0
                            } else {
                                sizes(rank, rank).0
                            }
                        }
                    };
                    assert!(report.received_by(rank) >= needed, "{} {operation:?} {ranks} {rank}", known.name);
                }
            });
        }
    }
}
