//! What decides on the end of a run, and how it ends.

use crate::fast_forward::FastForward;
use crate::record::RecordPlan;
use odonata_declare::words;

/// Everything that the workers of a run know about it.
pub(crate) struct RunPlan {
    pub(crate) limits: RunLimits,
    pub(crate) records: RecordPlan,
    /// Jobs that the run waits for.
    pub(crate) awaited: Vec<usize>,
    /// Which iterations may be skipped.
    pub(crate) fast_forward: Option<FastForward>,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    /// End of the measurement window. The run continues until the packets of the window have arrived.
    pub(crate) measured_until: u64,
    /// Whether the run ends when all finite jobs have ended: it has open traffic, too.
    pub(crate) ends_with_jobs: bool,
    /// Latest end of the run, and how a run ends that reaches it.
    pub(crate) end: u64,
    pub(crate) ending_at_end: Ending,
    /// The run is aborted if packets are in flight and nothing progresses for this time.
    pub(crate) progress_timeout: u64,
    /// Whether the result contains the estimates of the routers.
    pub(crate) records_tables: bool,
    /// Forced end of a window.
    pub(crate) window_end: u64,
}

/// A run ends at a multiple of this time, 1 us, or at its last event. A larger step wastes simulated time after the
/// end; a smaller one shortens windows.
pub(super) const STEP: u64 = 1_000_000;

impl RunLimits {
    /// Whether a run may end at this time although events are left.
    pub(super) fn is_end_candidate(&self, now: u64) -> bool {
        now % STEP == 0 || now >= self.end
    }

    /// Whether the run may be complete then, so that endpoints must report their work.
    pub(super) fn may_end(&self, now: u64) -> bool {
        self.is_end_candidate(now) && (self.ends_with_jobs || now >= self.measured_until)
    }
}

words! {
    /// How a run ended.
    #[derive(Default)]
    pub enum Ending {
        #[default]
        Complete = "complete": "all jobs ended, or the measurement is over and its packets were delivered",
        DrainLimit = "drain-limit": "the measurement is over, but some of its packets were not delivered within `drain`",
        TimeLimit = "time-limit": "`time_limit` came before the end of the jobs",
        Deadlock = "deadlock": "ranks wait for each other, or for a message that no rank sends",
        Mismatch = "mismatch": "a rank cannot continue after an invalid call, such as a receive shorter than its message",
        NoProgress = "no-progress": "packets are in flight, but none moved for `progress_timeout`",
        Interrupted = "interrupted": "Ctrl-C, SIGTERM or the caller stopped the run",
    }
}

impl Ending {
    /// Whether the run has all results that it was to have.
    pub const fn is_complete(self) -> bool {
        match self {
            Self::Complete | Self::DrainLimit => true,
            Self::TimeLimit | Self::Deadlock | Self::Mismatch | Self::NoProgress | Self::Interrupted => false,
        }
    }
}
