//! Space that packets need in addition to their own bytes: reserved channels and bubbles of rings.

use super::section::Section;
use crate::packet::NONE;
use odonata_checkpoint::state;
use odonata_routing::algorithm::Routing;

/// Bytes of output channels that are promised to packets before they cross. So no other packet takes them.
pub(super) struct Reservations {
    /// Set of the reserved channels.
    reserved: u64,
    /// Bytes promised in each output channel; empty without reserved channels.
    pub(super) promised: Vec<u32>,
}

state!(Reservations { same_length: promised; rebuilt: reserved });

impl Reservations {
    pub(super) fn new(section: &Section, from: u8) -> Self {
        let reserved = section.in_all_classes(from.min(section.class_channels)..section.class_channels);
        let has_reserved = reserved != 0;
        Self { reserved, promised: vec![0; if has_reserved { section.ports.len() * section.channels } else { 0 }] }
    }

    /// Promises space in output channel `channel`, of virtual channel `vc`, if that is reserved.
    #[inline]
    pub(super) fn promise(&mut self, vc: u8, channel: usize, bytes: u32) {
        if self.reserved >> vc & 1 == 1 {
            self.promised[channel] += bytes;
        }
    }

    /// Ends a promise: the packet takes its space.
    #[inline]
    pub(super) fn redeem(&mut self, vc: u8, channel: usize, bytes: u32) {
        if self.reserved >> vc & 1 == 1 {
            self.promised[channel] -= bytes;
        }
    }
}

/// Rings whose packets each take a full packet's space, so that bubbles do not fragment.
pub(super) struct Rings {
    /// Set of the channels of the rings.
    channels: u64,
    /// The output (in the partition) that continues the ring of each input port, and whether each output belongs to a
    /// ring. Empty without rings.
    pub(super) continuation: Vec<u32>,
    has_output: Vec<bool>,
}

impl Rings {
    pub(super) fn new(section: &Section, routing: &dyn Routing) -> Self {
        let Some(rings) = routing.rings() else {
            return Self { channels: 0, continuation: Vec::new(), has_output: Vec::new() };
        };
        let (fabric, own) = (&section.fabric, &section.ports);
        // The port that continues the ring at the far end of a port's link, in the numbering of that router.
        let next_in_ring = |port: u32| {
            let router = fabric.port_router[port as usize];
            let number = (port - fabric.link_ports_from(router)) as u16;
            rings.next_in_ring(fabric.line[router as usize], number)
        };
        let links = |port: &u32| !fabric.is_node_port(*port);
        let continuation = own.clone().map(|port| {
            let next = links(&port).then(|| next_in_ring(fabric.peer[port as usize])).flatten();
            // Routing numbers links only, the partition numbers all ports.
            let from = fabric.link_ports_from(fabric.port_router[port as usize]) - own.start;
            next.map_or(NONE, |next| from + u32::from(next))
        });
        let has_output = own.clone().map(|port| links(&port) && next_in_ring(port).is_some());
        let channel = rings.channel();
        Self {
            channels: section.in_all_classes(channel..channel + 1),
            continuation: continuation.collect(),
            has_output: has_output.collect(),
        }
    }

    /// Whether channel `vc` belongs to the rings.
    #[inline]
    pub(super) fn have_channel(&self, vc: u8) -> bool {
        self.channels >> vc & 1 == 1
    }

    /// Whether a packet in the channel of the rings enters a ring at output `out`. It came to input `i` in channel
    /// `vc`.
    #[inline]
    pub(super) fn are_entered(&self, i: usize, vc: u8, out: usize) -> bool {
        let stays = self.have_channel(vc) && self.continuation[i] == out as u32;
        self.has_output[out] && !stays
    }
}
