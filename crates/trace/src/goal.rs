//! GOAL: the task graphs of LogGOPSim, Schedgen and ATLAHS, as text and in binary form.
//!
//! A rank has sends, receives and computations with a processor (`cpu`) and a NIC (`nic`); `a requires b`
//! starts a after b ended, `a irequires b` after b started. Sizes are in bytes and computations in ns.

mod binary;
mod operation;
mod text;

use crate::task::TaskGraph;
use std::io::BufRead;

/// Whether a file begins like the binary form, or the text after comments like the text form.
pub fn is_goal(start: &[u8]) -> bool {
    binary::is_binary(start) || text::is_text(start)
}

/// Reads either form. `label` is the name of the file for messages.
///
/// # Errors
/// A mistake in the file: its line or offset, and what was expected.
pub fn read(label: &str, input: &mut dyn BufRead) -> Result<TaskGraph, String> {
    let start = input.fill_buf().map_err(|error| format!("{label}: {error}"))?;
    let graph = if binary::is_binary(start) { binary::read(label, input) } else { text::read(label, input) }?;
    if graph.ranks.is_empty() {
        return Err(format!("{label}: a graph of 0 ranks; expected at least 1"));
    }
    Ok(graph)
}
