//! Collective algorithms: what one rank sends and receives in one collective, in the same instructions as programs
//! have.
//!
//! An [`Algorithm`] is a rule like a program: it says the instructions of any step of any rank, so that a rank in a
//! collective holds the number of its step. Ranks are those of the communicator. Its messages never match those of the
//! program.

mod binary_tree;
mod binomial;
mod bruck;
mod choice;
mod dissemination;
mod doubling;
mod fold;
mod linear;
mod pairwise;
mod rabenseifner;
mod recursive_doubling;
mod ring;

#[cfg(test)]
mod test_help;

pub use choice::{Choice, Collectives, Rule};

use crate::program::{Code, Operation};
use odonata_units::Bytes;

/// One collective as one rank sees it.
#[derive(Clone, Copy)]
pub struct Collective<'a> {
    /// What is done.
    pub operation: Operation,
    /// This rank.
    pub rank: u32,
    /// Ranks of the communicator.
    pub size: u32,
    /// The root, where there is one.
    pub root: u32,
    /// Bytes, as in [`Call::Collective`](crate::program::Call::Collective).
    pub bytes: Bytes,
    /// Bytes from one rank to another, in the vector forms.
    pub sizes: Option<&'a dyn Fn(u32, u32) -> Bytes>,
}

impl Collective<'_> {
    /// Bytes that `from` has for `to`.
    pub fn block(&self, from: u32, to: u32) -> Bytes {
        self.sizes.map_or(self.bytes, |sizes| sizes(from, to))
    }

    /// Bytes of the block that belongs to a rank: what it gives (gather, allgather) or gets (scatter, reduce-scatter).
    /// Where each block has one owner and many readers, the sizes are asked for what the owner has for itself.
    fn block_of(&self, rank: u32) -> Bytes {
        match self.operation {
            Operation::Gather => self.block(rank, self.root),
            Operation::Scatter => self.block(self.root, rank),
            _ => self.block(rank, rank),
        }
    }

    /// Bytes of the blocks of `count` ranks from `first` on, after the last one the first.
    fn blocks_of(&self, first: u32, count: u32) -> Bytes {
        match self.sizes {
            None => self.bytes * u64::from(count),
            Some(_) => {
                let ranks = (0..count).map(|i| self.after(first, i));
                ranks.fold(Bytes(0), |sum, rank| sum + self.block_of(rank))
            }
        }
    }

    /// Part `index` of the message, cut into `parts` of which the first ones are a byte larger.
    fn part(&self, parts: u32, index: u32) -> Bytes {
        let parts = u64::from(parts);
        Bytes(self.bytes.0 / parts + u64::from(u64::from(index) < self.bytes.0 % parts))
    }

    /// The rank `steps` after `rank`, around.
    fn after(&self, rank: u32, steps: u32) -> u32 {
        ((u64::from(rank) + u64::from(steps)) % u64::from(self.size)) as u32
    }

    /// The rank `steps` before `rank`, around.
    fn before(&self, rank: u32, steps: u32) -> u32 {
        self.after(rank, self.size - steps % self.size)
    }

    /// This rank counted from the root.
    fn place(&self) -> u32 {
        self.before(self.rank, self.root)
    }

    /// The rank that is `place` after the root.
    fn rank_at(&self, place: u32) -> u32 {
        self.after(self.root, place)
    }
}

/// Sends and receives at once, so that nobody waits for a partner that waits for him: the receive stands before the
/// send blocks.
fn exchange(code: &mut Code, (to, sent): (u32, Bytes), (from, received): (u32, Bytes), tag: u32) {
    let request = code.irecv(from, received, tag);
    code.send(to, sent, tag);
    code.wait(request);
}

/// ceil(log2 n): how often 1 must be doubled to reach n.
fn doublings(n: u32) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

/// A way to do a collective.
pub trait Algorithm: std::fmt::Debug + Send + Sync {
    /// Operations that it can do.
    fn operations(&self) -> &'static [Operation];

    /// Appends what the rank does in step `index`; `false` if it has no such step. A step may be empty.
    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool;
}

/// An algorithm as the user names it.
#[derive(Clone, Copy, Debug)]
pub struct NamedAlgorithm {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The rule.
    pub algorithm: &'static dyn Algorithm,
}

const fn known(name: &'static str, doc: &'static str, algorithm: &'static dyn Algorithm) -> NamedAlgorithm {
    NamedAlgorithm { name, doc, algorithm }
}

/// The algorithms, in the order of the reference.
pub const ALGORITHMS: &[NamedAlgorithm] = &[
    known("binary-tree", "whole messages up and down a tree of two children each", &binary_tree::BinaryTree),
    known("binomial", "whole messages up and down a binomial tree", &binomial::Binomial),
    known("ring", "blocks passed from neighbour to neighbour", &ring::Ring),
    known("recursive-doubling", "exchanges at distances 1, 2, 4, ..", &recursive_doubling::RecursiveDoubling),
    known("rabenseifner", "halves, quarters, .. combined, then collected", &rabenseifner::Rabenseifner),
    known("bruck", "blocks travel the powers of two of their distance", &bruck::Bruck),
    known("dissemination", "everybody tells the one 1, 2, 4, .. further", &dissemination::Dissemination),
    known("doubling", "blocks sent 1, 2, 4, .. further, after a message that says ready", &doubling::Doubling),
    known("pairwise", "each partner in a round of its own", &pairwise::Pairwise),
    known("linear", "everybody straight to whom it concerns", &linear::Linear),
];
