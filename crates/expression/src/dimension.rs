//! The dimensions of expressions.

/// Dimension of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// A plain number.
    Number,
    /// In bytes.
    Data,
    /// In picoseconds.
    Time,
    /// 0 or 1.
    Truth,
}

impl Dimension {
    /// The text after `expected` in error messages.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Data => "an amount of data like 64 KiB",
            Self::Time => "a duration like 5 us",
            Self::Truth => "a comparison like a > b",
        }
    }
}
