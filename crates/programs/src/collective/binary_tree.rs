//! A binary tree: the collectives of the interference study (Kang et al. 2022).
//!
//! Counted from the root, rank i has the children 2i + 1 and 2i + 2. The whole message moves at each level. Up: a rank
//! posts the receives from its children, waits for both, and sends to its parent, blocking. Down: it receives from its
//! parent, starts the sends to both children, and waits for both. A barrier is an allreduce of zero bytes. p - 1
//! messages in one direction, 2 (p - 1) in both.
//!
//! Gather and scatter send sizes first, 4 B for a number. Gather: each child sends its size, receives an empty "go" and
//! sends its data: 3 (p - 1) messages. Scatter: each child receives the sizes of its subtree, then the data: 2 (p - 1)
//! messages.

use super::algorithm::{Algorithm, Collective};
use super::totals::{blocks, Totals};
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct BinaryTree;

/// Bytes of a size.
const NUMBER: Bytes = Bytes(4);

const DATA: u32 = 0;
const SIZE: u32 = 1;
const GO: u32 = 2;

impl Algorithm for BinaryTree {
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
            (Reduce | Allreduce | Barrier, 0) => up(collective, code),
            (Allreduce | Barrier, 1) | (Broadcast, 0) => down(collective, code),
            (Gather, 0) => gather(collective, code),
            (Scatter, 0) => scatter(collective, code),
            _ => return false,
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        let edges = u64::from(collective.size) - 1;
        let places = 1..collective.size;
        match collective.operation {
            Operation::Gather => {
                let sizes = Totals::of(NUMBER, edges, 2 * edges).with(Bytes(0), edges);
                places.fold(sizes, |sum, place| sum.with(subtree(collective, place).1, 1))
            }
            Operation::Scatter => places.fold(Totals { pairs: edges, ..Totals::default() }, |sum, place| {
                let (ranks, bytes) = subtree(collective, place);
                sum.with(blocks(NUMBER, ranks), 1).with(bytes, 1)
            }),
            Operation::Allreduce | Operation::Barrier => Totals::of(whole(collective), 2 * edges, 2 * edges),
            _ => Totals::of(whole(collective), edges, edges),
        }
    }
}

fn children(collective: &Collective<'_>) -> impl Iterator<Item = u32> + Clone {
    let place = collective.place();
    (2 * place + 1..=2 * place + 2).take_while({
        let size = collective.size;
        move |&child| child < size
    })
}

fn parent(collective: &Collective<'_>) -> Option<u32> {
    let place = collective.place();
    (place > 0).then(|| collective.rank_at((place - 1) / 2))
}

/// A barrier sends zero bytes.
fn whole(collective: &Collective<'_>) -> Bytes {
    if collective.operation == Operation::Barrier {
        Bytes(0)
    } else {
        collective.bytes
    }
}

fn up(collective: &Collective<'_>, code: &mut Code) {
    for child in children(collective) {
        code.irecv(collective.rank_at(child), whole(collective), DATA);
    }
    if code.requests() > 0 {
        code.wait_all();
    }
    if let Some(parent) = parent(collective) {
        code.send(parent, whole(collective), DATA);
    }
}

fn down(collective: &Collective<'_>, code: &mut Code) {
    if let Some(parent) = parent(collective) {
        code.recv(parent, whole(collective), DATA);
    }
    for child in children(collective) {
        code.isend(collective.rank_at(child), whole(collective), DATA);
    }
    if code.requests() > 0 {
        code.wait_all();
    }
}

/// Number of ranks in the subtree of `place`, and the bytes of their blocks.
fn subtree(collective: &Collective<'_>, place: u32) -> (u64, Bytes) {
    let (mut first, mut last) = (place, place);
    let (mut ranks, mut bytes) = (0, Bytes(0));
    while first < collective.size {
        let width = last.min(collective.size - 1) - first + 1;
        ranks += u64::from(width);
        bytes += collective.blocks_of(collective.rank_at(first), width);
        (first, last) = (2 * first + 1, 2 * last + 2);
    }
    (ranks, bytes)
}

fn gather(collective: &Collective<'_>, code: &mut Code) {
    let children = children(collective);
    let count = children.clone().count() as u32;
    if count > 0 {
        for child in children.clone() {
            code.irecv(collective.rank_at(child), NUMBER, SIZE);
        }
        code.wait_for(0, count);
        for child in children.clone() {
            code.irecv(collective.rank_at(child), subtree(collective, child).1, DATA);
        }
        children.for_each(|child| code.send(collective.rank_at(child), Bytes(0), GO));
        code.wait_for(count, count);
    }
    if let Some(parent) = parent(collective) {
        code.send(parent, NUMBER, SIZE);
        code.recv(parent, Bytes(0), GO);
        code.send(parent, subtree(collective, collective.place()).1, DATA);
    }
}

fn scatter(collective: &Collective<'_>, code: &mut Code) {
    let children = children(collective);
    let count = children.clone().count() as u32;
    let mut data = None;
    if let Some(parent) = parent(collective) {
        let (ranks, bytes) = subtree(collective, collective.place());
        code.recv(parent, NUMBER * ranks, SIZE);
        data = Some(code.irecv(parent, bytes, DATA));
    }
    let sizes = code.requests();
    for child in children.clone() {
        code.isend(collective.rank_at(child), NUMBER * subtree(collective, child).0, SIZE);
    }
    code.wait_for(sizes, count);
    if let Some(data) = data {
        code.wait(data);
    }
    let blocks = code.requests();
    for child in children {
        code.isend(collective.rank_at(child), subtree(collective, child).1, DATA);
    }
    code.wait_for(blocks, count);
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;
    use crate::call::Call;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let (edges, n) = (u64::from(p - 1), 1000);
            let totals = |operation| check(&BinaryTree, Case::of(operation, p, n)).totals();
            assert_eq!(totals(Operation::Broadcast), (edges, n * edges));
            assert_eq!(totals(Operation::Reduce), (edges, n * edges));
            assert_eq!(totals(Operation::Allreduce), (2 * edges, 2 * n * edges));
            assert_eq!(totals(Operation::Barrier), (2 * edges, 0));
            assert_eq!(totals(Operation::Gather).0, 3 * edges);
            assert_eq!(totals(Operation::Scatter).0, 2 * edges);
        });
        // 528 ranks: the barrier of the study.
        assert_eq!(check(&BinaryTree, Case::of(Operation::Barrier, 528, 0)).totals(), (1054, 0));
    }

    /// A block crosses as many levels as its rank is deep. With 7 ranks these are two levels for four ranks and one for
    /// two. There are 6 sizes and 6 "go" messages.
    #[test]
    fn a_block_moves_at_each_level() {
        let seven = |operation| check(&BinaryTree, Case::of(operation, 7, 1000)).totals().1;
        assert_eq!(seven(Operation::Gather), (4 * 2 + 2) * 1000 + 6 * 4);
        assert_eq!(seven(Operation::Scatter), (4 * 2 + 2) * 1000 + (4 * 2 + 2) * 4);
    }

    /// Rank 1 of 4 with root 0 has one child, rank 3.
    #[test]
    fn calls_in_the_studys_order() {
        let case = Case::of(Operation::Allreduce, 5, 8);
        let calls = |step| case.step(&BinaryTree, 1, step).unwrap();
        let (bytes, tag, communicator) = (Bytes(8), 0, 0);
        assert_eq!(
            calls(0),
            [
                Call::Irecv { from: 3, bytes, tag, communicator, request: 0 },
                Call::Irecv { from: 4, bytes, tag, communicator, request: 1 },
                Call::WaitAll { first: 0, count: 2 },
                Call::Send { to: 0, bytes, tag, communicator },
            ]
        );
        assert_eq!(
            calls(1),
            [
                Call::Recv { from: 0, bytes, tag, communicator },
                Call::Isend { to: 3, bytes, tag, communicator, request: 0 },
                Call::Isend { to: 4, bytes, tag, communicator, request: 1 },
                Call::WaitAll { first: 0, count: 2 },
            ]
        );
        assert!(case.step(&BinaryTree, 1, 2).is_none());
    }
}
