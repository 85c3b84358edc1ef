//! Rank programs: the calls of each rank of a job, as data.
//!
//! A [`ProgramSpec`] is the user's specification of one of [`PROGRAMS`]. It builds a [`RankProgram`], which generates the
//! calls of any rank. [`collective`] has the algorithms of collectives, [`expansion`] puts their messages into the calls
//! of a rank, and [`mistakes`] checks a program before it runs. Programs know ranks, not nodes.

pub mod collective;
pub mod expansion;
mod fingerprint;
mod grid;
mod message_counts;
pub mod mistakes;
mod program;
#[cfg(test)]
mod rank_walks;
#[cfg(test)]
mod untimed;

pub use grid::{format_sizes, near_cubic, Grid, GridOrder};
pub use message_counts::{MessageCounts, Sender};
pub use program::*;
