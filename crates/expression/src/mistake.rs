//! A mistake in an expression, or in the line around it.

/// The problem and its place. Columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The problem, what was expected, and the nearest known name.
    pub reason: String,
}

impl Mistake {
    /// A problem at a place.
    pub fn new(line: u32, column: u32, reason: String) -> Self {
        Self { line, column, reason }
    }
}
