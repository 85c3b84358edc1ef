//! Bruck's algorithms (1997): ceil(log2 p) rounds for any number of ranks, at the price of more bytes.
//!
//! Alltoall: a block travels the powers of two of its distance; in round k each rank sends all blocks whose distance
//! has bit k to the rank 2^k further. That is n p/2 bytes a round where p is a power of two. Allgather: in round k each
//! rank sends the 2^k blocks that it has to the rank 2^k before it, in the last round only those that are missing: (p -
//! 1) n bytes of each rank.

use super::{doublings, exchange, Algorithm, Collective};
use crate::program::{Code, Operation};
use odonata_units::Bytes;

/// The rule.
#[derive(Debug)]
pub(super) struct Bruck;

impl Algorithm for Bruck {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Allgather, Operation::Alltoall]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if index >= u64::from(doublings(collective.size)) {
            return false;
        }
        let (rank, distance) = (collective.rank, 1 << index);
        let (before, after) = (collective.before(rank, distance), collective.after(rank, distance));
        if collective.operation == Operation::Allgather {
            let count = distance.min(collective.size - distance);
            exchange(code, (before, collective.blocks_of(rank, count)), (after, collective.blocks_of(after, count)), 0);
        } else {
            exchange(
                code,
                (after, round_bytes(collective, rank, distance)),
                (before, round_bytes(collective, before, distance)),
                0,
            );
        }
        true
    }
}

/// Bytes of the blocks that `rank` sends over `distance`, a power of two: those whose way has this bit. A block at
/// `rank` that goes `way` ranks altogether has come as far as the lower bits say.
fn round_bytes(collective: &Collective<'_>, rank: u32, distance: u32) -> Bytes {
    let ways = (0..collective.size).filter(|way| way & distance != 0);
    if collective.sizes.is_none() {
        return collective.bytes * ways.count() as u64;
    }
    let block = |way: u32| {
        let from = collective.before(rank, way & (distance - 1));
        collective.block(from, collective.after(from, way))
    };
    ways.fold(Bytes(0), |sum, way| sum + block(way))
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (ranks, rounds, n) = (u64::from(p), u64::from(doublings(p)), 1000);
            let totals = |operation| check(&Bruck, Case::of(operation, p, n)).totals();
            assert_eq!(totals(Operation::Allgather), (ranks * rounds, ranks * (ranks - 1) * n));
            // A block makes as many hops as its distance has bits.
            let bits: u64 = (0..p).map(|way| u64::from(way.count_ones())).sum();
            assert_eq!(totals(Operation::Alltoall), (ranks * rounds, ranks * bits * n));
            if p.is_power_of_two() {
                assert_eq!(bits, rounds * ranks / 2);
            }
        });
    }
}
