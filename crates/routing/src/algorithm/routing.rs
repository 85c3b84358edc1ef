//! A hop-by-hop algorithm on one machine.

use super::decision::{Decision, Feedback, Hop};
use super::discipline::Discipline;
use super::header::{Header, RouteState};
use super::memory::Memory;
use crate::next_hop::Port;
use odonata_units::{NodeId, RouterId};

/// A routing algorithm on one machine. It is immutable; mutable state is in headers, streams and memories.
pub trait Routing: Send + Sync {
    /// Number of virtual channels.
    fn virtual_channels(&self) -> u8;

    /// How the virtual channels prevent deadlock.
    fn discipline(&self) -> Discipline;

    /// First reserved channel. A packet takes a reserved channel only if
    /// [`has_room`](crate::view::LoadView::has_room) holds. The room is then reserved for it, so no packet ever waits
    /// for a reserved channel.
    fn reserved_from(&self) -> u8 {
        u8::MAX
    }

    /// Initial route state of a packet, if the algorithm needs the message.
    fn initial_state(&self, _source: NodeId, _destination: NodeId, _message_bytes: u64) -> RouteState {
        RouteState::default()
    }

    /// The rings with bubble flow control, if the algorithm relies on them.
    fn rings(&self) -> Option<&dyn Rings> {
        None
    }

    /// Whether [`Routing::decide`] may read the load for this packet at this router. If not, the engine provides no
    /// view, and a read panics. It is called only if the algorithm needs the load for some packets.
    fn reads_load(&self, _packet: &Header) -> bool {
        true
    }

    /// The next hop of a packet that is not yet at its destination's router.
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop;

    /// The initial memory of `router`.
    fn memory(&self, _router: RouterId) -> Memory {
        Memory::default()
    }

    /// Learns from the feedback for a packet that `router` sent through `port`. Returns the absolute error of the
    /// estimate in ns, if there was one.
    fn learn(&self, _router: RouterId, _memory: &mut Memory, _port: Port, _feedback: &Feedback) -> Option<f32> {
        None
    }

    /// The whole matrix of estimates of `router`.
    fn estimates(&self, _router: RouterId, memory: &Memory) -> Vec<f32> {
        memory.all(|_, _| 0.0)
    }

    /// Sets the report for a packet at its destination's router, if the algorithm needs reports.
    fn report_arrival(&self, _decision: &mut Decision<'_>, _packet: &Header) {}
}

/// Rings of links that never fill (bubble flow control; Carrion, Beivide, Gregorio, Vallejo 1997). In one virtual
/// channel, a packet enters a ring (from a node, another link or another channel) only if the output buffer has room
/// for two full packets. A packet that stays in its ring needs room for one. The ring therefore always has room for a
/// full packet, and the packet before that room moves. Every packet takes the room of a full one, so that the free
/// room is never fragmented.
pub trait Rings: Send + Sync {
    /// The virtual channel with bubbles.
    fn channel(&self) -> u8;

    /// The port that continues the ring of the link at `port` of `at`, at the far end of that link. `None` if the
    /// link is in no ring. No two links continue with the same port.
    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port>;
}
