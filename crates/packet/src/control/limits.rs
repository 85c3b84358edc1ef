//! Limits of a pair of NICs that do not change in a run.

use serde::{Deserialize, Serialize};

/// What follows from the machine for a pair of NICs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PairLimits {
    /// Maximum window in bytes.
    pub(crate) window_max: u64,
    /// Idle round-trip time in ps.
    pub(crate) round_trip: u64,
    /// Time of a full packet at the NIC's rate, in ps.
    pub(crate) packet_time: u64,
}

/// Window of rules that limit the rate only: more than any run has in flight.
pub(crate) const UNLIMITED: u64 = 1 << 60;
