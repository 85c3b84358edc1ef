//! Options of a run.

use crate::record::Recording;
use crate::FastForward;
use odonata_units::Time;

/// Options of a run that do not change its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunOptions {
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of threads; results do not depend on it.
    pub threads: usize,
    /// Number of partitions; 0 chooses it from the machine alone. Results do not depend on it.
    pub partitions: usize,
    /// Selection of records.
    pub recording: Recording,
    /// Abort the run if packets are in flight and nothing progresses for this much simulated time.
    pub progress_timeout: Time,
    /// Whether the result contains the estimates of the routers.
    pub records_tables: bool,
    /// Forced end of a window, for a checkpoint that no later event has changed.
    pub window_end: Option<Time>,
    /// Which iterations the run may skip, without checkpoints. The endpoints must follow loops.
    pub fast_forward: Option<FastForward>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            threads: 1,
            partitions: 0,
            recording: Recording::default(),
            progress_timeout: Time::from_us(1_000),
            records_tables: false,
            window_end: None,
            fast_forward: None,
        }
    }
}
