//! Notices: what routers report to NICs about their destinations.

use serde::{Deserialize, Serialize};

/// Kind of a notice. The order is the order of notices of one port that arrive together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum NoticeKind {
    /// A packet arrived.
    Ack,
    /// A packet arrived that passed a long queue.
    MarkedAck,
    /// The port is congested: send only with credits.
    Hold,
    /// Send this many bytes.
    Credit,
    /// The port is no longer congested.
    Release,
    /// `merlin`: so many sources send to the port; wait after each packet, and now until a time.
    Backoff,
}

impl NoticeKind {
    /// All kinds, by number.
    pub(crate) const ALL: [Self; 6] =
        [Self::Ack, Self::MarkedAck, Self::Hold, Self::Credit, Self::Release, Self::Backoff];
}

/// A message to a NIC about one of its destinations, for the packets of a traffic class. Order by arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// Arrival time in ps.
    pub(crate) at: u64,
    /// NIC of the destination.
    pub(crate) destination: u32,
    pub(crate) class: u8,
    pub(crate) kind: NoticeKind,
    /// Bytes; the number of sources in a `Backoff`.
    pub(crate) bytes: u32,
    /// Queueing delay of an acknowledged packet, or the pause of a `Backoff`, in ps.
    pub(crate) delay_ps: u64,
}
