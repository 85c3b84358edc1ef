//! Quantities, identifiers and random streams: the words every other crate speaks.
//!
//! * [`Time`] is an integer number of picoseconds, so that adding latencies is exact and a run never
//!   depends on rounding.
//! * [`Bytes`] is an integer number of bytes. [`Rate`] is an integer number of bits per second.
//! * [`Quantity`] is the one parser for what people write: `"200 Gb/s"`, `"30 ns"`, `"4 MiB"`. `b` is a
//!   bit and `B` a byte; `MB` is 10^6 bytes and `MiB` 2^20. A number without a unit is an error.
//! * [`NodeId`], [`RouterId`], [`LinkId`], … are newtypes over `u32`: a node never passes for a router.
//! * [`Stream`] is a random stream found by (seed, name, indices), never by the order of use: what one
//!   component draws can't change what another one draws, nor does the number of threads.

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
