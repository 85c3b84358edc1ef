//! A ring: in p - 1 rounds each rank sends a block to the next rank and receives one from the rank before.
//!
//! Allgather: (p - 1) n bytes per rank for blocks of n. Reduce-scatter: the same; a block reaches its owner after all
//! ranks combined it. Allreduce of n bytes is both, with blocks of n/p. This is 2 (p - 1) messages and 2 n (p - 1)/p
//! bytes per rank, the minimum (Patarasuk and Yuan 2009).

use super::algorithm::{exchange, Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Ring;

impl Algorithm for Ring {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Allreduce, Operation::ReduceScatter, Operation::Allgather]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        let rounds = u64::from(collective.size - 1);
        let round = (index % rounds.max(1)) as u32;
        // A combined block starts one rank after its owner, a gathered block at its owner.
        let ahead = match (collective.operation, index) {
            (Operation::ReduceScatter | Operation::Allreduce, index) if index < rounds => 1,
            (Operation::Allgather, index) if index < rounds => 0,
            (Operation::Allreduce, index) if index < 2 * rounds => 0,
            _ => return false,
        };
        let bytes = |owner: u32| -> Bytes {
            match collective.operation {
                Operation::Allreduce => collective.part(collective.size, owner),
                _ => collective.block_of(owner),
            }
        };
        let owner = collective.before(collective.rank, round + ahead);
        let (to, from) = (collective.after(collective.rank, 1), collective.before(collective.rank, 1));
        exchange(code, to, bytes(owner), from, bytes(collective.before(owner, 1)));
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let size = u64::from(collective.size);
        let rounds = size - 1;
        if collective.operation != Operation::Allreduce {
            return Totals::of(collective.bytes, size * rounds, size);
        }
        // Each round sends every part once. The first parts are one byte larger.
        let larger = collective.bytes.0 % size;
        Totals::of(collective.part(collective.size, 0), 2 * rounds * larger, size)
            .with(Bytes(collective.bytes.0 / size), 2 * rounds * (size - larger))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (ranks, rounds, n) = (u64::from(p), u64::from(p - 1), 1000);
            let totals = |operation| check(&Ring, Case::of(operation, p, n)).totals();
            assert_eq!(totals(Operation::Allgather), (ranks * rounds, ranks * rounds * n));
            assert_eq!(totals(Operation::ReduceScatter), (ranks * rounds, ranks * rounds * n));
            // Each of the p parts makes 2 (p - 1) hops: p x 2 (p - 1)/p n in total.
            assert_eq!(totals(Operation::Allreduce), (2 * ranks * rounds, 2 * rounds * n));
        });
    }

    #[test]
    fn each_rank_sends_the_least_possible() {
        let report = check(&Ring, Case::of(Operation::Allreduce, 8, 8000));
        assert!((0..8).all(|rank| report.bytes_of(rank) == 2 * 7 * 1000));
    }
}
