//! Fast-forward: a run skips iterations that repeat others.
//!
//! ```text
//! ranks ─ marks ─► Director ─ boundaries ─► partitions: snapshot, sums ─► Verdict ─► Director ─► skip
//! ```
//! `docs/decisions/fast-forward.md` defines boundaries and both forms.

mod statistics;

pub(crate) use statistics::{half_width_of_total, Checks, CycleStatistics};

use odonata_units::Time;

/// Which iterations a run may skip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FastForward {
    /// Iterations after which the state is the same as before. The result equals the full run.
    Exact,
    /// Iterations of a mean that is known with an error of at most so many millionths.
    Mean {
        /// Half width of the 95 % interval of the mean iteration time, in millionths of the mean.
        error_ppm: u32,
    },
}

/// What a run skipped, and why it may.
#[derive(Clone, PartialEq, Debug)]
pub struct FastForwardReport {
    /// The form.
    pub form: FastForward,
    /// Iterations of the loop.
    pub iterations: u64,
    /// Iterations that were skipped.
    pub skipped: u64,
    /// Iterations that stand for the skipped ones.
    pub repeated: u64,
    /// Time of these, and of the skipped ones.
    pub period: Time,
    /// Time of the skipped ones.
    pub skipped_time: Time,
    /// SHA-256 of the repeated state; only of the exact form.
    pub digest: Option<String>,
    /// Mean iteration time, and half width of the 95 % interval of the end of the run; only with an error.
    pub interval: Option<(Time, Time)>,
    /// Half width of the 95 % interval of the mean latency of packets; only with an error.
    pub latency_half_width: Option<Time>,
    /// Why nothing was skipped.
    pub reason: Option<String>,
}

impl FastForwardReport {
    pub(crate) fn new(form: FastForward) -> Self {
        Self {
            form,
            iterations: 0,
            skipped: 0,
            repeated: 0,
            period: Time::ZERO,
            skipped_time: Time::ZERO,
            digest: None,
            interval: None,
            latency_half_width: None,
            reason: None,
        }
    }
}
