//! The allgather of the interference study: blocks move 1, 2, 4, ... ranks further.
//!
//! Each rank posts the receives of all ceil(log2 p) rounds. It sends a ready message of zero bytes to the next rank and
//! receives one from the rank before. In round k it sends, blocking, the 2^k blocks that end with its own to the rank
//! 2^k further, in the last round only the missing ones. Then it waits for as many. This is (p - 1) n bytes per rank
//! and ceil(log2 p) + 1 messages.

use super::algorithm::{doublings, Algorithm, Collective};
use super::totals::{blocks, Totals};
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct DoublingAlgorithm;

const READY: u32 = 0;

impl Algorithm for DoublingAlgorithm {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Allgather]
    }

    // One step, because all receives are posted at its start.
    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if collective.size == 1 || index > 0 {
            return false;
        }
        let rank = collective.rank;
        let rounds = doublings(collective.size);
        // Blocks of round k for the sending rank.
        let blocks = |from: u32, round: u32| {
            let count = (1 << round).min(collective.size - (1 << round));
            collective.blocks_of(collective.before(from, count - 1), count)
        };
        let ready = code.irecv(collective.before(rank, 1), Bytes(0), READY);
        for round in 0..rounds {
            let from = collective.before(rank, 1 << round);
            code.irecv(from, blocks(from, round), 1 + round);
        }
        code.send(collective.after(rank, 1), Bytes(0), READY);
        code.wait(ready);
        for round in 0..rounds {
            code.send(collective.after(rank, 1 << round), blocks(rank, round), 1 + round);
            code.wait(ready + 1 + round);
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let size = u64::from(collective.size);
        let rounds = doublings(collective.size);
        (0..rounds).fold(Totals::of(Bytes(0), size, size * u64::from(rounds)), |sum, round| {
            sum.with(blocks(collective.bytes, (1 << round).min(size - (1 << round))), size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (ranks, n) = (u64::from(p), 1000);
            let messages = if p == 1 { 0 } else { ranks * (u64::from(doublings(p)) + 1) };
            let totals = check(&DoublingAlgorithm, Case::of(Operation::Allgather, p, n)).totals();
            assert_eq!(totals, (messages, ranks * (ranks - 1) * n));
        });
    }
}
