//! One partner per round: the alltoall of the interference study.
//!
//! In round i of p - 1, rank r posts the receive from r - i, sends to r + i, blocking, and waits for the receive. A
//! rank copies its own block at no cost. (p - 1) n bytes per rank. Reduce-scatter works in the same manner: each rank
//! receives its block from all ranks.

use super::algorithm::{exchange, Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Pairwise;

impl Algorithm for Pairwise {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::ReduceScatter, Operation::Alltoall]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if index + 1 >= u64::from(collective.size) {
            return false;
        }
        let (rank, round) = (collective.rank, index as u32 + 1);
        let (to, from) = (collective.after(rank, round), collective.before(rank, round));
        let block = |source: u32, target: u32| match collective.operation {
            Operation::ReduceScatter => collective.block_of(target),
            _ => collective.block(source, target),
        };
        exchange(code, to, block(rank, to), from, block(from, rank));
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
    use crate::call::Call;
    use odonata_units::Bytes;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (pairs, n) = (u64::from(p) * u64::from(p - 1), 1000);
            for operation in [Operation::Alltoall, Operation::ReduceScatter] {
                assert_eq!(check(&Pairwise, Case::of(operation, p, n)).totals(), (pairs, pairs * n));
            }
        });
    }

    #[test]
    fn rounds_in_the_studys_order() {
        let case = Case::of(Operation::Alltoall, 5, 8);
        let (bytes, tag, communicator) = (Bytes(8), 0, 0);
        assert_eq!(
            case.step(&Pairwise, 1, 2).unwrap(),
            [
                Call::Irecv { from: 3, bytes, tag, communicator, request: 0 },
                Call::Send { to: 4, bytes, tag, communicator },
                Call::Wait { request: 0 },
            ]
        );
        assert!(case.step(&Pairwise, 1, 4).is_none());
    }
}
