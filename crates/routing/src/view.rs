//! The one window through which a routing algorithm sees load.

/// What is queued at the ports of the router that decides. Ports are numbered as in the machine: the nodes' ports
/// first, then the links in order.
pub trait LoadView {
    /// Bytes queued for `port`, over all virtual channels, by the engine's queue estimate.
    fn port_bytes(&self, port: u16) -> u64;

    /// Bytes queued for one virtual channel of `port`.
    fn channel_bytes(&self, port: u16, vc: u8) -> u64;

    /// Whether a full packet can be promised room in a reserved channel of `port`, here and at the other end of the
    /// link: then nothing can hold it up for ever. See [`crate::algorithm::Routing::reserved_from`].
    fn has_room(&self, port: u16, vc: u8) -> bool;

    /// The tokens of a reserved channel of `port`: bytes at the other end of the link that nobody has taken, asked for or been
    /// promised. `None` where there is no room for a full packet.
    fn tokens(&self, port: u16, vc: u8) -> Option<u64> {
        self.has_room(port, vc).then_some(0)
    }
}

/// An idle network: nothing is queued anywhere.
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
