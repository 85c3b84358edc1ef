//! A mistake in a program.

/// The problem and its place. Columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mistake {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) reason: String,
}

impl Mistake {
    pub(super) fn new(line: u32, column: u32, reason: String) -> Self {
        Self { line, column, reason }
    }
}
