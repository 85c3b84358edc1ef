//! Broadcast as a scatter and an allgather (van de Geijn): the root scatters parts of n/p bytes along a binomial tree,
//! then all ranks collect all parts.
//!
//! The scatter has p - 1 messages. The allgather is [recursive doubling](super::recursive_doubling) or a
//! [ring](super::ring) of the ranks counted from the root.

use super::algorithm::{Algorithm, Collective};
use super::binomial::Binomial;
use super::fold::Fold;
use super::recursive_doubling::RecursiveDoublingAlgorithm;
use super::ring::Ring;
use super::totals::Totals;
use crate::call::{Call, Operation};
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) enum ScatterAllgather {
    RecursiveDoubling,
    Ring,
}

impl Algorithm for ScatterAllgather {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if collective.size == 1 {
            return false;
        }
        let part_of = |place: u32| collective.part(collective.size, place);
        // Both operations among places, whose numbers are ranks of this inner collective.
        let inner = Collective { rank: collective.place(), root: 0, ..*collective };
        let first = code.calls().len();
        let has_more = match index {
            0 => {
                let to_place = |_: u32, to: u32| part_of(to);
                let scatter = Collective { operation: Operation::Scatter, sizes: Some(&to_place), ..inner };
                Binomial.step(&scatter, 0, code)
            }
            _ => {
                let from_place = |from: u32, _: u32| part_of(from);
                let allgather = Collective { operation: Operation::Allgather, sizes: Some(&from_place), ..inner };
                match self {
                    Self::RecursiveDoubling => RecursiveDoublingAlgorithm.step(&allgather, index - 1, code),
                    Self::Ring => Ring.step(&allgather, index - 1, code),
                }
            }
        };
        for call in &mut code.calls_mut()[first..] {
            match call {
                Call::Send { to: peer, .. }
                | Call::Isend { to: peer, .. }
                | Call::Recv { from: peer, .. }
                | Call::Irecv { from: peer, .. } => *peer = collective.rank_at(*peer),
                _ => {}
            }
        }
        has_more
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let size = u64::from(collective.size);
        let (each, larger) = (collective.bytes.0 / size, collective.bytes.0 % size);
        // Bytes of the parts of `count` places from `first`, modulo the size.
        let before = |place: u64| place * each + place.min(larger);
        let parts = |first: u64, count: u64| match first + count {
            end if end <= size => Bytes(before(end) - before(first)),
            end => Bytes(before(size) - before(first) + before(end - size)),
        };
        let edges = Totals { pairs: size - 1, ..Totals::default() };
        let scatter = (1..size).fold(edges, |sum, place| {
            let width = (1 << place.trailing_zeros()).min(size - place);
            sum.with(parts(place, width), 1)
        });
        let Self::RecursiveDoubling = self else {
            let rounds = size - 1;
            let sum = scatter.with(Bytes(each + 1), larger * rounds).with(Bytes(each), (size - larger) * rounds);
            return Totals { pairs: sum.pairs + size, ..sum };
        };
        let fold = Fold::of(collective);
        let mut sum = Totals { pairs: scatter.pairs + fold.pairs(), ..scatter };
        for low in (0..2 * u64::from(fold.left_out())).step_by(2) {
            sum = sum.with(parts(low, 1), 1).with(parts(low + 1, size - 1), 1);
        }
        for distance in (0..fold.rounds()).map(|round| 1u32 << round) {
            for block in (0..fold.members).step_by(distance as usize) {
                let (first, count) = fold.ranks(block, distance);
                sum = sum.with(parts(first.into(), count.into()), distance.into());
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (ranks, others) = (u64::from(p), u64::from(p - 1));
            // n = p parts of 100: each makes as many hops as its place has one bits.
            let n = 100 * ranks;
            let bits: u64 = (0..p).map(|place| u64::from(place.count_ones())).sum();
            let ring = check(&ScatterAllgather::Ring, Case::of(Operation::Broadcast, p, n)).totals();
            assert_eq!(ring, (others + ranks * others, 100 * bits + n * others));
            if p.is_power_of_two() {
                let doubling = check(&ScatterAllgather::RecursiveDoubling, Case::of(Operation::Broadcast, p, n));
                assert_eq!(doubling.totals(), (others + ranks * u64::from(p.ilog2()), 100 * bits + n * others));
            }
        });
    }
}
