//! A chain: counted from the root, rank i passes the whole message to rank i + 1, or the combined one to rank i - 1.
//!
//! p - 1 messages of n bytes, one after the other. Open MPI's chain and pipeline without segments.

use super::algorithm::{Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Chain;

impl Algorithm for Chain {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast, Operation::Reduce]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if collective.size == 1 || index > 0 {
            return false;
        }
        let place = collective.place();
        let before = (place > 0).then(|| collective.rank_at(place - 1));
        let after = (place + 1 < collective.size).then(|| collective.rank_at(place + 1));
        let (from, to) = if collective.operation == Operation::Reduce { (after, before) } else { (before, after) };
        if let Some(from) = from {
            code.recv(from, collective.bytes, 0);
        }
        if let Some(to) = to {
            code.send(to, collective.bytes, 0);
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
            for operation in [Operation::Broadcast, Operation::Reduce] {
                assert_eq!(check(&Chain, Case::of(operation, p, 1000)).totals(), (edges, 1000 * edges));
            }
        });
    }
}
