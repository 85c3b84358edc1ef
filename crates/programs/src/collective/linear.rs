//! Direct messages: p - 1 messages to or from the root, p (p - 1) if all ranks have data for all ranks.
//!
//! The root posts all its receives, or starts all its sends, and waits for all of them. In an alltoall, an allgather
//! and a reduce-scatter every rank does the same, the next rank first. A barrier is a gather and a broadcast of zero
//! bytes, an allreduce a reduction and a broadcast. A scan is a chain of p - 1 messages.

use super::algorithm::{Algorithm, Collective};
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Linear;

impl Algorithm for Linear {
    fn operations(&self) -> &'static [Operation] {
        &Operation::ALL
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        use Operation::{
            Allgather, Allreduce, Alltoall, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scan, Scatter,
        };
        if collective.size == 1 {
            return false;
        }
        match (collective.operation, index) {
            (Barrier | Reduce | Allreduce | Gather, 0) => to_root(collective, code),
            (Barrier | Allreduce, 1) | (Broadcast | Scatter, 0) => from_root(collective, code),
            (Allgather | Alltoall | ReduceScatter, 0) => all(collective, code),
            (Scan, 0) => chain(collective, code),
            _ => return false,
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        use Operation::{Allgather, Allreduce, Alltoall, Barrier, ReduceScatter};
        let edges = u64::from(collective.size) - 1;
        let messages = match collective.operation {
            Barrier | Allreduce => 2 * edges,
            Allgather | Alltoall | ReduceScatter => edges * u64::from(collective.size),
            _ => edges,
        };
        Totals::of(bytes(collective, collective.root), messages, messages)
    }
}

/// Bytes between a rank and the root.
fn bytes(collective: &Collective<'_>, rank: u32) -> Bytes {
    match collective.operation {
        Operation::Barrier => Bytes(0),
        Operation::Gather | Operation::Scatter => collective.block_of(rank),
        _ => collective.bytes,
    }
}

fn to_root(collective: &Collective<'_>, code: &mut Code) {
    if collective.rank != collective.root {
        return code.send(collective.root, bytes(collective, collective.rank), 0);
    }
    for rank in (1..collective.size).map(|place| collective.rank_at(place)) {
        code.irecv(rank, bytes(collective, rank), 0);
    }
    code.wait_all();
}

fn from_root(collective: &Collective<'_>, code: &mut Code) {
    if collective.rank != collective.root {
        return code.recv(collective.root, bytes(collective, collective.rank), 0);
    }
    for rank in (1..collective.size).map(|place| collective.rank_at(place)) {
        code.isend(rank, bytes(collective, rank), 0);
    }
    code.wait_all();
}

fn all(collective: &Collective<'_>, code: &mut Code) {
    let block = |source: u32, target: u32| match collective.operation {
        Operation::Alltoall => collective.block(source, target),
        Operation::ReduceScatter => collective.block_of(target),
        _ => collective.block_of(source),
    };
    for distance in 1..collective.size {
        let from = collective.before(collective.rank, distance);
        code.irecv(from, block(from, collective.rank), 0);
    }
    for distance in 1..collective.size {
        let to = collective.after(collective.rank, distance);
        code.isend(to, block(collective.rank, to), 0);
    }
    code.wait_all();
}

fn chain(collective: &Collective<'_>, code: &mut Code) {
    if collective.rank > 0 {
        code.recv(collective.rank - 1, collective.bytes, 0);
    }
    if collective.rank + 1 < collective.size {
        code.send(collective.rank + 1, collective.bytes, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (others, n) = (u64::from(p - 1), 1000);
            let pairs = others * u64::from(p);
            for operation in Operation::ALL {
                let messages = match operation {
                    Operation::Barrier | Operation::Allreduce => 2 * others,
                    Operation::Allgather | Operation::Alltoall | Operation::ReduceScatter => pairs,
                    _ => others,
                };
                let bytes = if operation == Operation::Barrier { 0 } else { messages * n };
                assert_eq!(check(&Linear, Case::of(operation, p, n)).totals(), (messages, bytes), "{operation:?}");
            }
        });
    }
}
