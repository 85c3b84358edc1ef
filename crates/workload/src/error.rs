//! Errors in jobs, patterns, placements and their files.

/// A user's mistake: the problem, its place, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WorkloadError {
    /// An unknown name, with the nearest known ones.
    #[error("{0}")]
    Unknown(String),
    /// An invalid parameter.
    #[error("{owner}: {parameter}: {reason}")]
    Parameter {
        /// Owner of the parameter: `job 'fft'`, `pattern 'spread'`, `placement 'list'`.
        owner: String,
        /// Name of the parameter for the user.
        parameter: String,
        /// The problem and what was expected.
        reason: String,
    },
    /// A job needs more nodes than are free.
    #[error(
        "job '{job}' needs {needed} nodes ({ranks} ranks, {ranks_per_node} on each), but only {free} of the {usable} \
         usable nodes of {machine} are free: {} too few", .needed - .free
    )]
    Oversubscribed {
        /// The job.
        job: String,
        /// Its ranks.
        ranks: u32,
        /// Ranks on each node.
        ranks_per_node: u32,
        /// Nodes that it needs.
        needed: usize,
        /// Nodes that the jobs before it left free.
        free: usize,
        /// Usable nodes of the machine.
        usable: usize,
        /// Name of the machine.
        machine: String,
    },
    /// A program with an invalid call.
    #[error("job '{job}': program '{program}': {reason}")]
    Impossible {
        /// The job.
        job: String,
        /// Name of its program.
        program: String,
        /// Rank, call and instruction, the problem, and what was expected.
        reason: String,
    },
    /// An unreadable file.
    #[error("{file}:{place}: {reason}")]
    File {
        /// Path as given.
        file: String,
        /// `line 12` or `byte 144`.
        place: String,
        /// The problem and what was expected.
        reason: String,
    },
}

impl WorkloadError {
    /// Error of an invalid parameter.
    pub fn parameter(owner: impl Into<String>, parameter: &str, reason: impl Into<String>) -> Self {
        Self::Parameter { owner: owner.into(), parameter: parameter.into(), reason: reason.into() }
    }

    pub(crate) fn job(job: &str, parameter: &str, reason: impl Into<String>) -> Self {
        Self::parameter(format!("job '{job}'"), parameter, reason)
    }

    /// Error of an unreadable file.
    pub fn file(file: &str, place: String, reason: impl Into<String>) -> Self {
        Self::File { file: file.into(), place, reason: reason.into() }
    }
}
