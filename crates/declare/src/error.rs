//! Mistakes of users in parameters and in files.

/// A parameter and what is wrong with it, before its owner is known.
pub type ParameterMistake = (&'static str, String);

/// An invalid parameter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{owner}: {parameter}: {reason}")]
pub struct ParameterError {
    /// Owner of the parameter: `job 'fft'`, `pattern 'spread'`, `placement 'list'`.
    pub owner: String,
    /// Name of the parameter for the user.
    pub parameter: String,
    /// The problem and what was expected.
    pub reason: String,
}

impl ParameterError {
    /// An invalid parameter of `owner`.
    pub fn new(owner: impl Into<String>, parameter: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { owner: owner.into(), parameter: parameter.into(), reason: reason.into() }
    }
}

/// An unreadable file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{place}: {reason}")]
pub struct FileError {
    /// Path as given.
    pub file: String,
    /// `line 12` or `byte 144`.
    pub place: String,
    /// The problem and what was expected.
    pub reason: String,
}

impl FileError {
    /// An unreadable file.
    pub fn new(file: impl Into<String>, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), place: place.into(), reason: reason.into() }
    }
}
