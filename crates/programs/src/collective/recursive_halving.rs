//! Recursive halving: the reduce-scatter that is the first half of [Rabenseifner's allreduce](super::rabenseifner).
//!
//! log2 p messages of each rank; p/2, p/4, .. blocks. If p is not a power of two, ranks are [folded](super::fold).

use super::algorithm::{Algorithm, Collective};
use super::rabenseifner;
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct HalvingExchange;

impl Algorithm for HalvingExchange {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::ReduceScatter]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        rabenseifner::step(collective, index, code)
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        rabenseifner::totals(collective)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let totals = check(&HalvingExchange, Case::of(Operation::ReduceScatter, p, 1000)).totals();
            if p.is_power_of_two() {
                let ranks = u64::from(p);
                assert_eq!(totals, (ranks * u64::from(p.ilog2()), ranks * (ranks - 1) * 1000));
            }
        });
    }
}
