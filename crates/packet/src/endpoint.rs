//! What sits behind a network interface.
//!
//! The network asks its endpoints for packets when a NIC can send and tells them of packets that arrived; it does
//! not know whether a synthetic source, a communication graph or a rank of a program answers.

use odonata_units::NodeId;

/// A packet that an endpoint wants to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Injection {
    /// When it was made, not later than now.
    pub(crate) birth_ps: u64,
    /// Node it goes to; never the sending node.
    pub(crate) destination: NodeId,
    /// Bytes, at most a full packet.
    pub(crate) size: u32,
    /// Job it belongs to.
    pub(crate) job: u16,
    /// Tag of the endpoint's own.
    pub(crate) message: u32,
}

/// A packet that reached its node with its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    /// When its last byte arrived.
    pub(crate) at_ps: u64,
    /// Node it came from.
    pub(crate) source: NodeId,
    /// Bytes.
    pub(crate) size: u32,
    /// Job it belongs to.
    pub(crate) job: u16,
    /// Tag given at the injection.
    pub(crate) message: u32,
}

/// The endpoints of a range of NICs, which are numbered from 0 here.
pub(crate) trait Endpoints: Send {
    /// When the next packet of `nic` is or was made: `None` if it has none in sight. The answer may change only
    /// after [`Endpoints::take`] and, for an endpoint that listens, after [`Endpoints::arrived`].
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64>;

    /// Takes that packet.
    fn take(&mut self, nic: u32) -> Injection;

    /// Whether arrivals matter to these endpoints. Where they do not, an arrival costs no event.
    fn listens(&self) -> bool {
        false
    }

    /// A packet has arrived at `nic`.
    fn arrived(&mut self, nic: u32, arrival: &Arrival) {
        let _ = (nic, arrival);
    }

    /// Whether a packet made before `time` is not yet taken.
    fn born_before(&self, time: u64) -> bool;

    /// Whether nothing will ever be sent again unless something arrives.
    fn exhausted(&self) -> bool;
}
