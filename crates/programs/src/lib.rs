//! Rank programs: the calls of each rank of a job, as data.
//!
//! A [`ProgramSpec`] is the user's specification of one of [`PROGRAMS`]. It builds a [`RankProgram`], which generates
//! the calls of any rank. [`collective`] has the algorithms of collectives, [`expansion`] puts their messages into the
//! calls of a rank, and [`mistakes`] checks a program before it runs. Programs know ranks, not nodes.
//!
//! A program is not a thread. It is a rule that generates the instructions of any *block* of any rank. A block is code
//! without jumps, for example one iteration of a loop. The runner of a rank stores the number of its block and its
//! position in the block ([`Cursor`]). An application is written as straight code:
//!
//! ```
//! use odonata_units::Bytes;
//! use odonata_programs::{Call, Code, Cursor, RankProgram};
//!
//! /// Everybody passes a message to the right, ten times.
//! #[derive(Debug)]
//! struct Ring;
//!
//! impl RankProgram for Ring {
//!     fn ranks(&self) -> u32 {
//!         4
//!     }
//!     fn blocks(&self, _: u32) -> u64 {
//!         10
//!     }
//!     fn block(&self, rank: u32, _: u64, code: &mut Code) {
//!         let request = code.irecv((rank + 3) % 4, Bytes(64), 0);
//!         code.send((rank + 1) % 4, Bytes(64), 0);
//!         code.wait(request);
//!     }
//! }
//! let mut cursor = Cursor::default();
//! let first = cursor.next(&Ring, 0).unwrap();
//! assert!(matches!(first, Call::Irecv { from: 3, .. }));
//! ```
//! `docs/decisions/programs.md` explains the design and the memory of a rank.

mod call;
mod code;
pub mod collective;
mod communicators;
mod cursor;
mod excerpt;
pub mod expansion;
mod final_barrier;
mod fingerprint;
mod grid;
mod message_counts;
pub mod mistakes;
mod program;
mod rank_program;
#[cfg(test)]
mod rank_walks;
mod repeat;
mod repetition;
mod representatives;
mod rule;
mod sequence;
mod slices;
mod tasks;
pub mod text;
mod trace;
#[cfg(test)]
mod untimed;
mod words;

pub use call::{Call, Operation, ANY, BLOCKING, EQUAL, OUTSIDE, WORLD};
pub use code::Code;
pub use communicators::{Communicators, GroupLists, Splits, COLLECTIVES};
pub use cursor::Cursor;
pub use grid::{format_sizes, near_cubic, Grid, GridOrder};
pub use message_counts::{MessageCounts, Sender};
pub use program::*;
pub use rank_program::RankProgram;
pub use repetition::Repetition;
pub use representatives::{RepeatedBlock, Representatives};
pub use rule::{build, ProgramContext, ProgramRule, ProgramSpec};
pub use sequence::{Rounds, Sequence};
pub use tasks::tasks_of;
pub use trace::{
    trace_report, CollectiveTotal, Pair, Recording, Trace, TraceFormat, TraceFormatNotes, TraceRecords, TraceReport,
    WriteReport,
};
