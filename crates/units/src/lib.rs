//! Quantities, identifiers and random streams of all crates.
//!
//! * [`Time`] is an integer number of picoseconds. Sums of latencies are exact, so results never depend on rounding.
//! * [`Bytes`] is an integer number of bytes. [`Rate`] is an integer number of bits per second.
//! * [`Quantity`] parses text with a unit: `"200 Gb/s"`, `"30 ns"`, `"4 MiB"`. `b` is a bit and `B` a byte; `MB` is
//!   10^6 bytes and `MiB` 2^20. A number without a unit is an error.
//! * [`NodeId`], [`RouterId`], [`LinkId`], … are newtypes over `u32`, so that the compiler separates them.
//! * [`Stream`] is a random stream selected by (seed, name, indices). The draws of one component never change the
//!   draws of another, and neither does the number of threads.

mod bytes;
mod id;
mod quantity;
mod random;
mod rate;
mod time;

pub use bytes::Bytes;
pub use id::{GroupId, JobId, LinkClassId, LinkId, NodeId, RankId, RouterId};
pub use quantity::{Quantity, QuantityError};
pub use random::Stream;
pub use rate::Rate;
pub use time::Time;
