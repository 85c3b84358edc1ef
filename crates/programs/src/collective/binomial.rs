//! A binomial tree: counted from the root, the parent of rank i is i without its lowest bit.
//!
//! ceil(log2 p) rounds and p - 1 messages in one direction. Down, the child with the largest subtree comes first; up,
//! it comes last. In gather and scatter the blocks of a subtree are sent together. A block crosses as many edges as the
//! rank number has one bits.

use super::algorithm::{doublings, Algorithm, Collective};
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Binomial;

impl Algorithm for Binomial {
    fn operations(&self) -> &'static [Operation] {
        use Operation::{Allreduce, Barrier, Broadcast, Gather, Reduce, Scatter};
        &[Barrier, Broadcast, Reduce, Allreduce, Gather, Scatter]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        use Operation::{Allreduce, Barrier, Broadcast, Gather, Reduce, Scatter};
        if collective.size == 1 {
            return false;
        }
        match (collective.operation, index) {
            (Reduce | Allreduce | Barrier | Gather, 0) => up(collective, code),
            (Allreduce | Barrier, 1) | (Broadcast | Scatter, 0) => down(collective, code),
            _ => return false,
        }
        true
    }
}

/// Distances to the children, nearest first: powers of two below the lowest bit.
fn distances(collective: &Collective<'_>) -> impl DoubleEndedIterator<Item = u32> + use<> {
    let (place, size) = (collective.place(), collective.size);
    let below = if place == 0 { doublings(size) } else { place.trailing_zeros() };
    (0..below).map(|bit| 1 << bit).filter(move |distance| place + distance < size)
}

/// Bytes between the subtree that starts at `place` and its parent.
fn bytes(collective: &Collective<'_>, place: u32) -> Bytes {
    match collective.operation {
        Operation::Barrier => Bytes(0),
        Operation::Gather | Operation::Scatter => {
            let width = (1 << place.trailing_zeros()).min(collective.size - place);
            collective.blocks_of(collective.rank_at(place), width)
        }
        _ => collective.bytes,
    }
}

fn parent(collective: &Collective<'_>) -> Option<(u32, Bytes)> {
    let place = collective.place();
    (place > 0).then(|| (collective.rank_at(place & (place - 1)), bytes(collective, place)))
}

fn up(collective: &Collective<'_>, code: &mut Code) {
    let place = collective.place();
    for child in distances(collective).map(|distance| place + distance) {
        code.recv(collective.rank_at(child), bytes(collective, child), 0);
    }
    if let Some((parent, bytes)) = parent(collective) {
        code.send(parent, bytes, 0);
    }
}

fn down(collective: &Collective<'_>, code: &mut Code) {
    if let Some((parent, bytes)) = parent(collective) {
        code.recv(parent, bytes, 0);
    }
    let place = collective.place();
    for child in distances(collective).rev().map(|distance| place + distance) {
        code.send(collective.rank_at(child), bytes(collective, child), 0);
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
