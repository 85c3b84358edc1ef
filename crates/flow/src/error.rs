//! Why there is no result.

use crate::progress::Interruption;
use odonata_routing::paths::PathError;
use odonata_units::Bytes;

/// Why there is no result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FlowError {
    /// A setting is out of range.
    #[error("{setting}: {reason}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// What it must be.
        reason: String,
    },
    /// The machine can't be routed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A job sends more than can be counted.
    #[error("job '{job}' sends more than {most} in all, which is more than is counted; use smaller or fewer messages or iterations")]
    TooManyBytes {
        /// Name of the job.
        job: String,
        /// Most bytes of all jobs together.
        most: Bytes,
    },
    /// More memory than may be taken.
    #[error("about {needed} bytes of memory are needed")]
    Memory {
        /// How much, at least.
        needed: u64,
    },
    /// Several processes can't make the run.
    #[error("{reason}, and {processes} were started for the run")]
    NotDistributable {
        /// How many were started.
        processes: usize,
        /// Why.
        reason: String,
    },
    /// Of several processes that make one run, another one has the result, or says why there is none.
    #[error("another process of the run has the result")]
    OtherProcess,
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interruption> for FlowError {
    fn from(_: Interruption) -> Self {
        Self::Interrupted
    }
}
