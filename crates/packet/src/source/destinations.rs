//! Destinations of open traffic.

use odonata_units::{NodeId, Stream};

/// Selects the destinations of messages.
pub trait Destinations: Send + Sync {
    /// Destination of the next message from `source`, never `source`.
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId;
}

impl<F: Fn(NodeId, &mut Stream) -> NodeId + Send + Sync> Destinations for F {
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId {
        self(source, random)
    }
}
