//! Neighbour exchange (Chen et al. 2005): the allgather of an even number of ranks in p/2 rounds.
//!
//! In the first round pairs of ranks exchange their blocks. Then each rank exchanges with the neighbour on its other
//! side and with this one in turn, and passes on the two blocks that it received last: (p - 1) n bytes of each rank. An
//! odd number of ranks takes the [ring](super::ring), as in Open MPI.

use super::algorithm::{exchange, Algorithm, Collective};
use super::ring::Ring;
use super::totals::{blocks, Totals};
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct NeighborExchange;

impl Algorithm for NeighborExchange {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Allgather]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        let Collective { rank, size, .. } = *collective;
        if size % 2 == 1 {
            return Ring.step(collective, index, code);
        }
        if index >= u64::from(size / 2) {
            return false;
        }
        let round = index as u32;
        // Even ranks begin with the rank after them, odd ranks with the rank before.
        let is_after = (rank + round) % 2 == 0;
        let partner = if is_after { collective.after(rank, 1) } else { collective.before(rank, 1) };
        let (sent, received) = if round == 0 {
            (collective.block_of(rank), collective.block_of(partner))
        } else {
            let pair = |of: u32, round: u32| collective.blocks_of(newest(collective, of, round), 2);
            (pair(rank, round - 1), pair(partner, round - 1))
        };
        exchange(code, partner, sent, partner, received);
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let size = u64::from(collective.size);
        if size % 2 == 1 {
            return Ring.totals(collective);
        }
        let pairs = if size == 2 { 2 } else { 2 * size };
        Totals::of(collective.bytes, size, pairs).with(blocks(collective.bytes, 2), size * (size / 2 - 1))
    }
}

/// The first of the two blocks that a rank has gained last after a round.
fn newest(collective: &Collective<'_>, rank: u32, round: u32) -> u32 {
    // The first round completes its own pair. Later ones bring the pairs at distance 1, 2, .. of either side in turn:
    // of even ranks first the pair before, of odd ranks first the pair after.
    let (own, distance) = (rank - rank % 2, 2 * round.div_ceil(2));
    match (rank % 2 == 0) == (round % 2 == 1) {
        _ if round == 0 => own,
        true => collective.before(own, distance),
        false => collective.after(own, distance),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (ranks, rounds) = (u64::from(p), if p % 2 == 0 { u64::from(p / 2) } else { u64::from(p - 1) });
            let totals = check(&NeighborExchange, Case::of(Operation::Allgather, p, 1000)).totals();
            assert_eq!(totals, (ranks * rounds, ranks * (ranks - 1) * 1000));
        });
    }

    /// Six ranks, as in Chen et al.: after each round the newest pair, then the partner sends the same pair.
    #[test]
    fn pairs_of_six_ranks() {
        let collective = |rank| Collective {
            operation: Operation::Allgather,
            rank,
            size: 6,
            root: 0,
            bytes: odonata_units::Bytes(1),
            sizes: None,
        };
        let pairs = |rank| (0..3).map(|round| newest(&collective(rank), rank, round)).collect::<Vec<_>>();
        assert_eq!(pairs(0), [0, 4, 2]);
        assert_eq!(pairs(1), [0, 2, 4]);
        assert_eq!(pairs(2), [2, 0, 4]);
        assert_eq!(pairs(5), [4, 0, 2]);
    }
}
