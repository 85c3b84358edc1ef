//! The dissemination barrier (Hensgen, Finkel and Manber 1988). In round k of ceil(log2 p) each rank sends to the rank
//! 2^k further and receives from the rank 2^k before, for any p.

use super::algorithm::{doublings, exchange, Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Dissemination;

impl Algorithm for Dissemination {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Barrier]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if index >= u64::from(doublings(collective.size)) {
            return false;
        }
        let distance = 1 << index;
        let (to, from) = (collective.after(collective.rank, distance), collective.before(collective.rank, distance));
        exchange(code, to, Bytes(0), from, Bytes(0));
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let messages = u64::from(collective.size) * u64::from(doublings(collective.size));
        Totals::of(Bytes(0), messages, messages)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages() {
        each_size(|p| {
            let messages = u64::from(p) * u64::from(doublings(p));
            assert_eq!(check(&Dissemination, Case::of(Operation::Barrier, p, 0)).totals(), (messages, 0));
        });
    }
}
