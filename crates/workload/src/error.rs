//! What can be wrong with jobs, patterns, placements and the files behind them.

/// A user's mistake: what is wrong, where, what was expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A name that is none, with the nearest known ones.
    #[error("{0}")]
    Unknown(String),
    /// A parameter that can't be what it is.
    #[error("{owner}: {parameter}: {reason}")]
    Parameter {
        /// Whose parameter: `job 'fft'`, `pattern 'spread'`, `placement 'list'`.
        owner: String,
        /// Its name as the user writes it.
        parameter: String,
        /// What is wrong and what was expected.
        reason: String,
    },
    /// More nodes asked for than are free.
    #[error(
        "job '{job}' needs {needed} nodes ({ranks} ranks, {ranks_per_node} on each), but only {free} of the {usable} \
         usable nodes of {machine} are free: {} too few", .needed - .free
    )]
    Oversubscribed {
        /// The job that does not fit.
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
    /// A program with a call that can't be.
    #[error("job '{job}': program '{program}': {reason}")]
    Impossible {
        /// The job.
        job: String,
        /// Name of its program.
        program: String,
        /// Rank, call and instruction; why it can't be, what was expected.
        reason: String,
    },
    /// A file that can't be read as what it should be.
    #[error("{file}:{place}: {reason}")]
    File {
        /// Path as given.
        file: String,
        /// `line 12` or `byte 144`.
        place: String,
        /// What is wrong and what was expected.
        reason: String,
    },
}

impl WorkloadError {
    /// A parameter that can't be what it is.
    pub fn parameter(owner: impl Into<String>, parameter: &str, reason: impl Into<String>) -> Self {
        Self::Parameter { owner: owner.into(), parameter: parameter.into(), reason: reason.into() }
    }

    pub(crate) fn job(job: &str, parameter: &str, reason: impl Into<String>) -> Self {
        Self::parameter(format!("job '{job}'"), parameter, reason)
    }

    /// A file that can't be read as what it should be.
    pub fn file(file: &str, place: String, reason: impl Into<String>) -> Self {
        Self::File { file: file.into(), place, reason: reason.into() }
    }
}
