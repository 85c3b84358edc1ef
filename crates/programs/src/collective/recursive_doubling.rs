//! Recursive doubling: in round k each rank exchanges with the rank whose number differs in bit k.
//!
//! Allreduce: log2 p messages of n bytes per rank. Barrier: the same with zero bytes. Allgather: n, 2n, 4n, ... bytes,
//! (p - 1) n in total. If p is not a power of two, ranks are [folded](super::fold): two more messages for each folded
//! rank.
//!
//! Scan: in round k each rank sends its value to the rank 2^k further and combines the value from 2^k before (Hillis
//! and Steele 1986). This is p - 2^k messages of n bytes in round k of ceil(log2 p), for any p.

use super::algorithm::{doublings, exchange, Algorithm, Collective};
use super::fold::Fold;
use super::totals::{blocks, Totals};
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct RecursiveDoublingAlgorithm;

impl Algorithm for RecursiveDoublingAlgorithm {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Barrier, Operation::Allreduce, Operation::Allgather, Operation::Scan]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if collective.operation == Operation::Scan {
            return scan(collective, index, code);
        }
        let fold = Fold::of(collective);
        let rounds = u64::from(fold.rounds());
        match index {
            0 => fold_in(collective, fold, code),
            _ if index <= rounds => round(collective, fold, index as u32 - 1, code),
            _ if index == rounds + 1 => fold_out(collective, fold, code),
            _ => return false,
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let (size, bytes) = (u64::from(collective.size), collective.bytes);
        if collective.operation == Operation::Scan {
            let rounds = (0..doublings(collective.size)).map(|round| size - (1 << round));
            let messages = rounds.sum();
            return Totals::of(bytes, messages, messages);
        }
        let fold = Fold::of(collective);
        match collective.operation {
            Operation::Barrier => Totals::of(Bytes(0), fold.pairs(), fold.pairs()),
            Operation::Allgather => {
                let left_out = u64::from(fold.left_out());
                let folds = Totals::of(bytes, left_out, fold.pairs()).with(blocks(bytes, size - 1), left_out);
                (0..fold.rounds()).fold(folds, |sum, round| {
                    let kinds = fold.kinds_of_blocks(1 << round, fold.left_out());
                    // Each member of a block sends the whole block. Kinds without blocks may lie after the last member.
                    kinds.into_iter().filter(|(_, count)| *count > 0).fold(sum, |sum, (first, count)| {
                        sum.with(blocks(bytes, fold.ranks(first, 1 << round).1.into()), count << round)
                    })
                })
            }
            _ => Totals::of(bytes, fold.pairs(), fold.pairs()),
        }
    }
}

fn fold_in(collective: &Collective<'_>, fold: Fold, code: &mut Code) {
    let Some((low, high)) = fold.pair(collective.rank) else { return };
    let bytes = match collective.operation {
        Operation::Barrier => Bytes(0),
        Operation::Allgather => collective.block_of(low),
        _ => collective.bytes,
    };
    pass(collective, low, high, bytes, code);
}

fn fold_out(collective: &Collective<'_>, fold: Fold, code: &mut Code) {
    let Some((low, high)) = fold.pair(collective.rank) else { return };
    let bytes = match collective.operation {
        Operation::Barrier => Bytes(0),
        // All blocks except its own.
        Operation::Allgather => collective.blocks_of(high, collective.size - 1),
        _ => collective.bytes,
    };
    pass(collective, high, low, bytes, code);
}

/// One message from a rank to another; appends the call of either rank.
pub(super) fn pass(collective: &Collective<'_>, from: u32, to: u32, bytes: Bytes, code: &mut Code) {
    if collective.rank == from {
        code.send(to, bytes, 0);
    } else {
        code.recv(from, bytes, 0);
    }
}

fn round(collective: &Collective<'_>, fold: Fold, round: u32, code: &mut Code) {
    let Some(member) = fold.member(collective.rank) else { return };
    let distance = 1 << round;
    let bytes = |member: u32| match collective.operation {
        Operation::Barrier => Bytes(0),
        Operation::Allgather => {
            let (first, count) = fold.ranks(member & !(distance - 1), distance);
            collective.blocks_of(first, count)
        }
        _ => collective.bytes,
    };
    let partner = member ^ distance;
    let rank = fold.rank(partner);
    exchange(code, rank, bytes(member), rank, bytes(partner));
}

fn scan(collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
    if index >= u64::from(doublings(collective.size)) {
        return false;
    }
    let distance = 1 << index;
    let request = (collective.rank >= distance).then(|| code.irecv(collective.rank - distance, collective.bytes, 0));
    if collective.rank + distance < collective.size {
        code.send(collective.rank + distance, collective.bytes, 0);
    }
    if let Some(request) = request {
        code.wait(request);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let n = 1000;
            let members = 1u64 << p.ilog2();
            let left_out = u64::from(p) - members;
            let messages = members * u64::from(p.ilog2()) + 2 * left_out;
            let totals = |operation| check(&RecursiveDoublingAlgorithm, Case::of(operation, p, n)).totals();
            assert_eq!(totals(Operation::Allreduce), (messages, messages * n));
            assert_eq!(totals(Operation::Barrier), (messages, 0));
            assert_eq!(totals(Operation::Allgather).0, messages);
            if p.is_power_of_two() {
                assert_eq!(totals(Operation::Allgather).1, u64::from(p) * u64::from(p - 1) * n);
            }
            let scan: u64 = (0..doublings(p)).map(|k| u64::from(p - (1 << k))).sum();
            assert_eq!(totals(Operation::Scan), (scan, scan * n));
        });
    }

    /// Three ranks, blocks of 1: rank 0 passes 1 in, members 1 and 2 exchange 2 and 1, rank 0 gets 2 back.
    #[test]
    fn folded_blocks() {
        assert_eq!(
            check(&RecursiveDoublingAlgorithm, Case::of(Operation::Allgather, 3, 1)).totals(),
            (4, 1 + 2 + 1 + 2)
        );
    }
}
