//! A k-nomial tree with k = 4: counted from the root, the parent of rank i is i without its lowest digit in base 4 that
//! is not zero.
//!
//! ceil(log4 p) levels, p - 1 messages of n bytes. A rank starts the sends to its children, the largest subtrees first,
//! and waits for all. Open MPI's default radix is 4.

use super::algorithm::{Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct KNomial;

const RADIX: u64 = 4;

impl Algorithm for KNomial {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if collective.size == 1 || index > 0 {
            return false;
        }
        let (place, size) = (u64::from(collective.place()), u64::from(collective.size));
        let rank_at = |place: u64| collective.rank_at(place as u32);
        // The value of the lowest digit that is not zero; for the root, of the digit above all.
        let mut digit = 1;
        while digit < size && place % (digit * RADIX) == 0 {
            digit *= RADIX;
        }
        if place > 0 {
            code.recv(rank_at(place - place % (digit * RADIX)), collective.bytes, 0);
        }
        while digit > 1 {
            digit /= RADIX;
            for child in (1..RADIX).map(|k| place + k * digit).take_while(|child| *child < size) {
                code.isend(rank_at(child), collective.bytes, 0);
            }
        }
        if code.requests() > 0 {
            code.wait_all();
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let edges = u64::from(collective.size) - 1;
        Totals::of(collective.bytes, edges, edges)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let edges = u64::from(p - 1);
            assert_eq!(check(&KNomial, Case::of(Operation::Broadcast, p, 1000)).totals(), (edges, 1000 * edges));
        });
    }

    /// The root of 16 has 3 children on each of two levels; rank 4 has the ranks 5 to 7.
    #[test]
    fn children() {
        let report = check(&KNomial, Case::of(Operation::Broadcast, 16, 1));
        let sends: Vec<u64> = (0..16).map(|rank| report.sends_of(rank)).collect();
        assert_eq!(sends, [6, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0]);
    }
}
