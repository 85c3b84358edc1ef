//! The view of the load for routing algorithms.

/// The queues at the ports of the deciding router. Ports are numbered as in the machine: the nodes' ports first, then
/// the links in order.
pub trait LoadView {
    /// Bytes of a full packet; 0 in a network without packets.
    fn packet_bytes(&self) -> u64 {
        0
    }

    /// Bytes queued for `port`, over all virtual channels, by the engine's queue estimate.
    fn port_bytes(&self, port: u16) -> u64;

    /// Bytes queued for one virtual channel of `port`.
    fn channel_bytes(&self, port: u16, vc: u8) -> u64;

    /// Bytes of the packets at heads of input queues that were routed to `port` and wait for the crossbar. They are in
    /// no output queue yet.
    fn waiting_bytes(&self, _port: u16) -> u64 {
        0
    }

    /// Whether a reserved channel of `port` has room for a full packet, here and at the other end of the link. The
    /// packet cannot be blocked. See [`crate::algorithm::Routing::reserved_from`].
    fn has_room(&self, port: u16, vc: u8) -> bool;

    /// Tokens of a reserved channel of `port`: free bytes at the other end of the link that are neither used nor
    /// requested nor reserved. `None` without room for a full packet.
    fn tokens(&self, port: u16, vc: u8) -> Option<u64> {
        self.has_room(port, vc).then_some(0)
    }
}

/// An idle network with empty queues.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleView;

impl LoadView for IdleView {
    fn port_bytes(&self, _port: u16) -> u64 {
        0
    }

    fn channel_bytes(&self, _port: u16, _vc: u8) -> u64 {
        0
    }

    fn has_room(&self, _port: u16, _vc: u8) -> bool {
        true
    }
}
