//! Collective algorithms: what one rank sends and receives in one collective, in the same instructions as programs have.
//!
//! An [`Algorithm`] is a rule like a program: it says the instructions of any step of any rank, so that a rank in a collective holds the
//! number of its step. Ranks are those of the communicator. Its messages never match those of the program.

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
}

/// A way to do a collective.
pub trait Algorithm: std::fmt::Debug + Send + Sync {
    /// Operations that it can do.
    fn operations(&self) -> &'static [Operation];

    /// Appends what the rank does in step `index`; `false` if it has no such step. A step may be empty.
    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool;
}

/// Which algorithm does what.
pub trait Algorithms: std::fmt::Debug + Send + Sync {
    /// The one for an operation of `bytes`, as the operation counts them, among `ranks`; the vector forms have no size of their own
    /// and count as the largest.
    fn algorithm(&self, operation: Operation, bytes: Bytes, ranks: u32) -> &dyn Algorithm;
}
