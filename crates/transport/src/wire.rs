//! What goes over the network for a message: how many bytes, in how many packets.

use crate::settings::MpiSettings;
use odonata_units::Bytes;
use serde::{Deserialize, Serialize};

/// The kinds of messages that interfaces exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum MessageKind {
    /// A message with its data.
    Eager,
    /// A message whose data are to be asked for.
    RendezvousHeader,
    /// Asks for the data.
    GetRequest,
    /// The data.
    Data,
    /// The data have come.
    Acknowledgement,
    /// A message between ranks of a node; it is on no wire.
    OnNode,
    /// A message between ranks of a node was received.
    OnNodeReceipt,
}

impl MessageKind {
    pub(crate) fn from_code(kind: u8) -> Self {
        [
            Self::Eager,
            Self::RendezvousHeader,
            Self::GetRequest,
            Self::Data,
            Self::Acknowledgement,
            Self::OnNode,
            Self::OnNodeReceipt,
        ][usize::from(kind)]
    }

    /// Bytes on the wire for a message whose user's data are `bytes` long.
    pub(crate) fn wire_bytes(self, bytes: u64, settings: &MpiSettings) -> u64 {
        match self {
            Self::Eager => bytes.saturating_add(settings.eager_overhead.0),
            Self::RendezvousHeader => settings.announcement.0,
            Self::GetRequest => settings.get.0,
            Self::Data => bytes.saturating_add(settings.data_overhead.0),
            Self::Acknowledgement => settings.acknowledgement.0,
            Self::OnNode | Self::OnNodeReceipt => 0,
        }
        // Something has to travel.
        .max(1)
    }

    /// Whether the user's data are in it.
    pub(crate) fn carries_data(self) -> bool {
        matches!(self, Self::Eager | Self::Data)
    }

    /// Whether messages of this kind have an order: those that are matched, and the data of those that were.
    pub(crate) fn is_ordered(self) -> bool {
        self.is_matched() || self == Self::Data
    }

    /// Whether it looks for its receive.
    pub(crate) fn is_matched(self) -> bool {
        matches!(self, Self::Eager | Self::RendezvousHeader)
    }

    /// Whether the interface takes time for the first packet, since the host has to look at the message.
    pub(crate) fn costs_nic_receive(self) -> bool {
        matches!(self, Self::Eager | Self::RendezvousHeader | Self::Acknowledgement)
    }
}

/// How messages are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketSizes {
    /// Bytes of a full packet, and of a flit.
    pub(crate) packet: u64,
    pub(crate) flit: u64,
}

impl PacketSizes {
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
pub fn wire_volume(settings: &MpiSettings, packet: Bytes, bytes: Bytes) -> (u64, u64) {
    let kinds: &[MessageKind] = if settings.is_eager(bytes) {
        &[MessageKind::Eager]
    } else {
        &[MessageKind::RendezvousHeader, MessageKind::GetRequest, MessageKind::Data, MessageKind::Acknowledgement]
    };
    let sizes = PacketSizes { packet: packet.0, flit: 1 };
    kinds
        .iter()
        .map(|kind| kind.wire_bytes(bytes.0, settings))
        .fold((0, 0), |(sum, packets), wire| (sum.saturating_add(wire), packets + sizes.packets(wire)))
}
