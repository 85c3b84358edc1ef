//! Direct messages with a limit: alltoall in batches of 32 partners, as MPICH's scattered algorithm.
//!
//! In each batch a rank posts the receives from the ranks r + d, starts the sends to the ranks r - d, and waits for all.
//! (p - 1) n bytes and messages of each rank. 32 is MPICH's default of `MPIR_CVAR_ALLTOALL_THROTTLE`.

use super::algorithm::{Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct ScatteredExchange;

const BATCH: u32 = 32;

impl Algorithm for ScatteredExchange {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Alltoall]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        let Collective { rank, size, .. } = *collective;
        let first = index * u64::from(BATCH) + 1;
        if first >= u64::from(size) {
            return false;
        }
        let distances = first as u32..size.min(first as u32 + BATCH);
        for from in distances.clone().map(|distance| collective.after(rank, distance)) {
            code.irecv(from, collective.block(from, rank), 0);
        }
        for to in distances.map(|distance| collective.before(rank, distance)) {
            code.isend(to, collective.block(rank, to), 0);
        }
        code.wait_all();
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let messages = u64::from(collective.size) * (u64::from(collective.size) - 1);
        Totals::of(collective.bytes, messages, messages)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let pairs = u64::from(p) * u64::from(p - 1);
            assert_eq!(
                check(&ScatteredExchange, Case::of(Operation::Alltoall, p, 1000)).totals(),
                (pairs, pairs * 1000)
            );
        });
    }

    /// 34 ranks have 33 partners: two batches.
    #[test]
    fn batches() {
        let case = Case::of(Operation::Alltoall, 34, 1);
        let calls = |index| case.step(&ScatteredExchange, 0, index).map(|calls| calls.len());
        assert_eq!([calls(0), calls(1), calls(2)], [Some(65), Some(3), None]);
    }
}
