//! Bruck's algorithms (1997): ceil(log2 p) rounds for any number of ranks, at the cost of more bytes.
//!
//! Alltoall: a block travels the powers of two of its distance. In round k each rank sends all blocks whose distance
//! has bit k to the rank 2^k further. This is n p/2 bytes per round if p is a power of two. Allgather: in round k each
//! rank sends its 2^k blocks to the rank 2^k before it, in the last round only the missing ones. This is (p - 1) n
//! bytes per rank.

use super::algorithm::{doublings, exchange, Algorithm, Collective};
use super::totals::{blocks, Totals};
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
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
            exchange(code, before, collective.blocks_of(rank, count), after, collective.blocks_of(after, count));
        } else {
            let bytes = |rank| round_bytes(collective, rank, distance);
            exchange(code, after, bytes(rank), before, bytes(before));
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let size = u64::from(collective.size);
        let rounds = doublings(collective.size);
        let totals = Totals { pairs: size * u64::from(rounds), ..Totals::default() };
        (0..rounds).fold(totals, |sum, round| {
            let distance = 1u64 << round;
            let count = match collective.operation {
                Operation::Allgather => distance.min(size - distance),
                _ => with_bit(size, round),
            };
            sum.with(blocks(collective.bytes, count), size)
        })
    }
}

/// How many of the numbers `0..count` have a bit.
const fn with_bit(count: u64, bit: u32) -> u64 {
    ((count >> (bit + 1)) << bit) + (count & ((2 << bit) - 1)).saturating_sub(1 << bit)
}

/// Bytes that `rank` sends over `distance`, a power of two: the blocks whose total distance has this bit. The lower
/// bits of its total distance give the distance that a block has already travelled.
fn round_bytes(collective: &Collective<'_>, rank: u32, distance: u32) -> Bytes {
    if collective.sizes.is_none() {
        return collective.bytes * with_bit(collective.size.into(), distance.trailing_zeros());
    }
    let distances = (0..collective.size).filter(|distance_left| distance_left & distance != 0);
    let block = |distance_left: u32| {
        let from = collective.before(rank, distance_left & (distance - 1));
        collective.block(from, collective.after(from, distance_left))
    };
    distances.fold(Bytes(0), |sum, distance_left| sum + block(distance_left))
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
            // A block makes as many hops as its distance has one bits.
            let bits: u64 = (0..p).map(|distance_left| u64::from(distance_left.count_ones())).sum();
            assert_eq!(totals(Operation::Alltoall), (ranks * rounds, ranks * bits * n));
            if p.is_power_of_two() {
                assert_eq!(bits, rounds * ranks / 2);
            }
        });
    }
}
