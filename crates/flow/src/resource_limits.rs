//! Resources that a run may use.

/// Resources of a run. The result does not depend on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceLimits {
    /// Number of threads.
    pub threads: usize,
    /// Memory in addition to machine and workload.
    pub memory_bytes: u64,
}

impl Default for ResourceLimits {
    /// One thread, and unlimited memory.
    fn default() -> Self {
        Self { threads: 1, memory_bytes: u64::MAX }
    }
}
