//! What nobody said and a result depends on.

/// A value that was taken because nobody gave it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// The key that gives another value, from the top of the file: `machine.class.terminal.bandwidth`.
    pub key: String,
    /// The value, as it would stand in the file.
    pub value: String,
    /// Why this value, as half a sentence: `the file gives none`, `the default for fat trees`.
    pub reason: String,
}
