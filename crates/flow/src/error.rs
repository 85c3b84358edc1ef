//! Errors of the flow engine.

use crate::progress::Interruption;
use odonata_routing::algorithm::RoutingError;
use odonata_routing::paths::PathError;
use odonata_units::Bytes;

/// Reason why there is no result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FlowError {
    /// A setting is out of range.
    #[error("{setting}: {reason}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Allowed values.
        reason: String,
    },
    /// The machine cannot be routed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The machine does not fit the routing.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// A job sends more than can be counted.
    #[error("job '{job}' sends more than {most} in total; use fewer or smaller messages, or fewer iterations")]
    TooManyBytes {
        /// Name of the job.
        job: String,
        /// Maximum bytes of all jobs together.
        most: Bytes,
    },
    /// The run needs more memory than allowed.
    #[error("the run needs about {needed} bytes of memory")]
    Memory {
        /// Minimum memory.
        needed: u64,
    },
    /// Several processes cannot make this run.
    #[error("{reason}; {processes} were started for the run")]
    NotDistributable {
        /// Number of processes.
        processes: usize,
        /// Reason.
        reason: String,
    },
    /// Another process of the run has the result or the error.
    #[error("another process of the run has the result")]
    OtherProcess,
    /// The caller stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interruption> for FlowError {
    fn from(_: Interruption) -> Self {
        Self::Interrupted
    }
}
