//! A binomial tree: counted from the root, the parent of rank i is i without its lowest bit.
//!
//! ceil(log2 p) rounds and p - 1 messages in one direction. Down, the child with the largest subtree comes first; up,
//! it comes last. In gather and scatter the blocks of a subtree are sent together. A block crosses as many edges as the
//! rank number has one bits.
//!
//! An allgather gathers and broadcasts all blocks; a reduce-scatter reduces all blocks and scatters them, both by rank 0.

use super::algorithm::{doublings, Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Binomial;

impl Algorithm for Binomial {
    fn operations(&self) -> &'static [Operation] {
        use Operation::{Allgather, Allreduce, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        &[Barrier, Broadcast, Reduce, Allreduce, ReduceScatter, Gather, Scatter, Allgather]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        use Operation::{Allgather, Allreduce, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        if collective.size == 1 {
            return false;
        }
        match (collective.operation, index) {
            (Reduce | Allreduce | Barrier | Gather | Allgather | ReduceScatter, 0) => up(collective, code),
            (Allreduce | Barrier | Allgather | ReduceScatter, 1) | (Broadcast | Scatter, 0) => down(collective, code),
            _ => return false,
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        use Operation::{Allgather, Allreduce, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        let edges = u64::from(collective.size) - 1;
        let operation = collective.operation;
        let goes_up = matches!(operation, Reduce | Allreduce | Barrier | Gather | Allgather | ReduceScatter);
        let goes_down = matches!(operation, Allreduce | Barrier | Allgather | ReduceScatter | Broadcast | Scatter);
        let totals = Totals { pairs: edges * (u64::from(goes_up) + u64::from(goes_down)), ..Totals::default() };
        // Equal subtrees: the places with the same lowest bit. Only the last of them may be cut off.
        (0..doublings(collective.size)).fold(totals, |mut sum, bit| {
            let last = collective.size - 1;
            let places = u64::from((last >> bit).div_ceil(2));
            let (first, end) = (1u32 << bit, ((2 * places - 1) as u32) << bit);
            for (place, count) in [(first, places - 1), (end, 1)] {
                if goes_up {
                    sum = sum.with(bytes_up(collective, place), count);
                }
                if goes_down {
                    sum = sum.with(bytes_down(collective, place), count);
                }
            }
            sum
        })
    }
}

/// Distances to the children, nearest first: powers of two below the lowest bit.
fn distances(collective: &Collective<'_>) -> impl DoubleEndedIterator<Item = u32> + use<> {
    let (place, size) = (collective.place(), collective.size);
    let below = if place == 0 { doublings(size) } else { place.trailing_zeros() };
    (0..below).map(|bit| 1 << bit).filter(move |distance| place + distance < size)
}

/// Bytes of the blocks of the subtree that starts at `place`.
fn subtree(collective: &Collective<'_>, place: u32) -> Bytes {
    let width = (1 << place.trailing_zeros()).min(collective.size - place);
    collective.blocks_of(collective.rank_at(place), width)
}

/// Bytes from the subtree that starts at `place` to its parent.
fn bytes_up(collective: &Collective<'_>, place: u32) -> Bytes {
    match collective.operation {
        Operation::Barrier => Bytes(0),
        Operation::Gather | Operation::Allgather => subtree(collective, place),
        Operation::ReduceScatter => collective.blocks_of(0, collective.size),
        _ => collective.bytes,
    }
}

/// Bytes from the parent to the subtree that starts at `place`.
fn bytes_down(collective: &Collective<'_>, place: u32) -> Bytes {
    match collective.operation {
        Operation::Barrier => Bytes(0),
        Operation::Scatter | Operation::ReduceScatter => subtree(collective, place),
        Operation::Allgather => collective.blocks_of(0, collective.size),
        _ => collective.bytes,
    }
}

/// The parent of a place other than the root.
fn parent(collective: &Collective<'_>) -> Option<u32> {
    let place = collective.place();
    (place > 0).then(|| collective.rank_at(place & (place - 1)))
}

fn up(collective: &Collective<'_>, code: &mut Code) {
    let place = collective.place();
    for child in distances(collective).map(|distance| place + distance) {
        code.recv(collective.rank_at(child), bytes_up(collective, child), 0);
    }
    if let Some(parent) = parent(collective) {
        code.send(parent, bytes_up(collective, place), 0);
    }
}

fn down(collective: &Collective<'_>, code: &mut Code) {
    let place = collective.place();
    if let Some(parent) = parent(collective) {
        code.recv(parent, bytes_down(collective, place), 0);
    }
    for child in distances(collective).rev().map(|distance| place + distance) {
        code.send(collective.rank_at(child), bytes_down(collective, child), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (edges, n) = (u64::from(p - 1), 1000);
            // A block crosses as many edges as its place has one bits.
            let bits: u64 = (0..p).map(|place| u64::from(place.count_ones())).sum();
            let totals = |operation| check(&Binomial, Case::of(operation, p, n)).totals();
            assert_eq!(totals(Operation::Broadcast), (edges, n * edges));
            assert_eq!(totals(Operation::Reduce), (edges, n * edges));
            assert_eq!(totals(Operation::Allreduce), (2 * edges, 2 * n * edges));
            assert_eq!(totals(Operation::Barrier), (2 * edges, 0));
            assert_eq!(totals(Operation::Gather), (edges, n * bits));
            assert_eq!(totals(Operation::Scatter), (edges, n * bits));
            let all = n * u64::from(p) * edges;
            assert_eq!(totals(Operation::Allgather), (2 * edges, n * bits + all));
            assert_eq!(totals(Operation::ReduceScatter), (2 * edges, n * bits + all));
        });
    }

    /// The longest chain of messages has ceil(log2 p) rounds.
    #[test]
    fn depth() {
        each_size(|p| {
            let rounds = |operation| check(&Binomial, Case::of(operation, p, 8)).sends_of(0);
            assert_eq!(rounds(Operation::Broadcast), u64::from(doublings(p)));
        });
    }
}
