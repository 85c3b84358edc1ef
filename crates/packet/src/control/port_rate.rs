//! Figures of an ejection port that do not depend on the rule.

/// Figures of one ejection port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortRate {
    pub(crate) now: u64,
    /// Whether a packet departs now.
    pub(crate) departed: bool,
    /// Bytes and time of a full packet.
    pub(crate) full: u32,
    pub(crate) full_time: u64,
}
