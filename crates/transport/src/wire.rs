//! What goes over the network for a message: how many bytes, in how many packets.

use crate::settings::MpiSettings;
use odonata_units::Bytes;
use serde::{Deserialize, Serialize};

/// The kinds of messages that interfaces exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Wire {
    /// A message with its data.
    Eager,
    /// A message whose data are to be asked for.
    Announcement,
    /// Asks for the data.
    Get,
    /// The data.
    Data,
    /// The data have come.
    Acknowledgement,
    /// A message between ranks of a node; it is on no wire.
    OnNode,
    /// A message between ranks of a node was received.
    Received,
}

impl Wire {
    pub(crate) fn of(kind: u8) -> Self {
        [Self::Eager, Self::Announcement, Self::Get, Self::Data, Self::Acknowledgement, Self::OnNode, Self::Received]
            [usize::from(kind)]
    }

    /// Bytes on the wire for a message whose user's data are `bytes` long.
    pub(crate) fn bytes(self, bytes: u64, settings: &MpiSettings) -> u64 {
        match self {
            Self::Eager => bytes.saturating_add(settings.eager_overhead.0),
            Self::Announcement => settings.announcement.0,
            Self::Get => settings.get.0,
            Self::Data => bytes.saturating_add(settings.data_overhead.0),
            Self::Acknowledgement => settings.acknowledgement.0,
            Self::OnNode | Self::Received => 0,
        }
        // Something has to travel.
        .max(1)
    }

    /// Whether the user's data are in it.
    pub(crate) fn has_data(self) -> bool {
        matches!(self, Self::Eager | Self::Data)
    }

    /// Whether messages of this kind have an order: those that are matched, and the data of those that were.
    pub(crate) fn is_in_order(self) -> bool {
        self.is_matched() || self == Self::Data
    }

    /// Whether it looks for its receive.
    pub(crate) fn is_matched(self) -> bool {
        matches!(self, Self::Eager | Self::Announcement)
    }

    /// Whether the interface takes time for the first packet, since the host has to look at the message.
    pub(crate) fn is_taken(self) -> bool {
        matches!(self, Self::Eager | Self::Announcement | Self::Acknowledgement)
    }
}

/// How messages are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// Bytes of a full packet, and of a flit.
    pub(crate) packet: u64,
    pub(crate) flit: u64,
}

impl Cut {
    /// Packets of a message of so many bytes.
    pub(crate) fn packets(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.packet)
    }

    /// Bytes that the next packet takes of `left`, and bytes that it occupies: whole flits.
    pub(crate) fn next(self, left: u64) -> (u64, u32) {
        let taken = left.min(self.packet);
        (taken, (taken.div_ceil(self.flit) * self.flit) as u32)
    }
}

/// What sending a message costs on the wires, with everything that its protocol exchanges: bytes and packets.
pub fn on_the_wire(settings: &MpiSettings, packet: Bytes, bytes: Bytes) -> (u64, u64) {
    let kinds: &[Wire] = if settings.is_eager(bytes) {
        &[Wire::Eager]
    } else {
        &[Wire::Announcement, Wire::Get, Wire::Data, Wire::Acknowledgement]
    };
    let cut = Cut { packet: packet.0, flit: 1 };
    kinds
        .iter()
        .map(|kind| kind.bytes(bytes.0, settings))
        .fold((0, 0), |(sum, packets), wire| (sum.saturating_add(wire), packets + cut.packets(wire)))
}
