//! What all algorithms share: the collective of one rank.

use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// One collective, seen by one rank.
#[derive(Clone, Copy)]
pub struct Collective<'a> {
    /// The operation.
    pub operation: Operation,
    /// This rank.
    pub rank: u32,
    /// Ranks of the communicator.
    pub size: u32,
    /// The root, if the operation has one.
    pub root: u32,
    /// Bytes, as in [`Call::Collective`](crate::call::Call::Collective).
    pub bytes: Bytes,
    /// Bytes from one rank to another, for the vector forms.
    pub sizes: Option<&'a dyn Fn(u32, u32) -> Bytes>,
}

impl Collective<'_> {
    /// Bytes that `from` has for `to`.
    pub fn block(&self, from: u32, to: u32) -> Bytes {
        self.sizes.map_or(self.bytes, |sizes| sizes(from, to))
    }

    /// Bytes of the block that belongs to a rank: its contribution (gather, allgather) or its result (scatter,
    /// reduce-scatter). In the vector forms this is the size from the owner to itself.
    pub(super) fn block_of(&self, rank: u32) -> Bytes {
        match self.operation {
            Operation::Gather => self.block(rank, self.root),
            Operation::Scatter => self.block(self.root, rank),
            _ => self.block(rank, rank),
        }
    }

    /// Bytes of the blocks of `count` ranks from `first`, modulo the size.
    pub(super) fn blocks_of(&self, first: u32, count: u32) -> Bytes {
        match self.sizes {
            None => self.bytes * u64::from(count),
            Some(_) => {
                let ranks = (0..count).map(|i| self.after(first, i));
                ranks.fold(Bytes(0), |sum, rank| sum + self.block_of(rank))
            }
        }
    }

    /// Bytes of part `index` of the message, divided into `parts`. The first parts are one byte larger.
    pub(super) fn part(&self, parts: u32, index: u32) -> Bytes {
        let parts = u64::from(parts);
        Bytes(self.bytes.0 / parts + u64::from(u64::from(index) < self.bytes.0 % parts))
    }

    /// The rank `steps` after `rank`, modulo the size.
    pub(super) fn after(&self, rank: u32, steps: u32) -> u32 {
        ((u64::from(rank) + u64::from(steps)) % u64::from(self.size)) as u32
    }

    /// The rank `steps` before `rank`, modulo the size.
    pub(super) fn before(&self, rank: u32, steps: u32) -> u32 {
        self.after(rank, self.size - steps % self.size)
    }

    /// This rank counted from the root.
    pub(super) fn place(&self) -> u32 {
        self.before(self.rank, self.root)
    }

    /// The rank with this distance from the root.
    pub(super) fn rank_at(&self, place: u32) -> u32 {
        self.after(self.root, place)
    }
}

/// Sends and receives at the same time. The receive is posted before the send blocks, so partners cannot deadlock.
pub(super) fn exchange(code: &mut Code, to: u32, sent: Bytes, from: u32, received: Bytes) {
    let request = code.irecv(from, received, 0);
    code.send(to, sent, 0);
    code.wait(request);
}

/// ceil(log2 n): the number of doublings from 1 to n.
pub(super) fn doublings(n: u32) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

/// An algorithm of a collective.
pub trait Algorithm: std::fmt::Debug + Send + Sync {
    /// Supported operations.
    fn operations(&self) -> &'static [Operation];

    /// Appends the calls of a rank in step `index`. Returns `false` if there is no such step. A step may be empty.
    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool;

    /// Messages of all ranks of a collective with blocks of one size, by a formula. It has at least two ranks.
    fn totals(&self, collective: &Collective<'_>) -> Totals;
}

/// An algorithm with its name for users.
#[derive(Clone, Copy, Debug)]
pub struct NamedAlgorithm {
    /// Its name.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// The algorithm.
    pub algorithm: &'static dyn Algorithm,
}

impl PartialEq for NamedAlgorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for NamedAlgorithm {}
