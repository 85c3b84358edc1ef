//! Errors in jobs, patterns, placements and their files.

use odonata_declare::{FileError, ParameterError};

/// A user's mistake: the problem, its place, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WorkloadError {
    /// An invalid parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A job needs more nodes than are free.
    #[error(
        "job '{job}' needs {needed} nodes ({ranks} ranks, {ranks_per_node} on each), but only {free} of the {usable} \
         {kind} nodes of {machine} are free: {} too few", .needed - .free
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
        /// Usable nodes of the machine, of the kind that it needs.
        usable: usize,
        /// The kind in a word.
        kind: &'static str,
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
    #[error(transparent)]
    File(#[from] FileError),
}

impl WorkloadError {
    /// Error of an invalid parameter.
    pub fn parameter(owner: impl Into<String>, parameter: &str, reason: impl Into<String>) -> Self {
        ParameterError::new(owner, parameter, reason).into()
    }

    pub(crate) fn job(job: &str, parameter: &str, reason: impl Into<String>) -> Self {
        Self::parameter(format!("job '{job}'"), parameter, reason)
    }
}
