//! Messages on the wire: bytes and packets.

use crate::settings::MpiSettings;
use odonata_units::Bytes;
use serde::{Deserialize, Serialize};

/// Kinds of messages that NICs exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum MessageKind {
    /// A message with its data.
    Eager,
    /// First message of a rendezvous, without the data.
    RendezvousHeader,
    /// Request for the data of a rendezvous.
    GetRequest,
    /// Data of a rendezvous.
    Data,
    /// Acknowledgement of the data of a rendezvous or of a put.
    Acknowledgement,
    /// A message between ranks of a node, without a NIC.
    OnNode,
    /// Notification that a message between ranks of a node was received.
    OnNodeReceipt,
    /// Data of a one-sided write.
    Put,
    /// Request for the data of a one-sided read.
    Get,
    /// These data.
    GetData,
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
            Self::Put,
            Self::Get,
            Self::GetData,
        ][usize::from(kind)]
    }

    /// Wire bytes of a message with `bytes` of user data.
    pub(crate) fn wire_bytes(self, bytes: u64, settings: &MpiSettings) -> u64 {
        match self {
            Self::Eager => bytes.saturating_add(settings.eager_overhead.0),
            Self::RendezvousHeader => settings.rendezvous_header.0,
            Self::GetRequest | Self::Get => settings.get_request.0,
            Self::Data | Self::Put | Self::GetData => bytes.saturating_add(settings.data_overhead.0),
            Self::Acknowledgement => settings.acknowledgement.0,
            Self::OnNode | Self::OnNodeReceipt => 0,
        }
        // At least one byte is sent.
        .max(1)
    }

    /// Whether it carries user data.
    pub(crate) fn carries_data(self) -> bool {
        matches!(self, Self::Eager | Self::Data | Self::Put | Self::GetData)
    }

    /// Whether messages of this kind are ordered: matched messages, and rendezvous data.
    pub(crate) fn is_ordered(self) -> bool {
        self.is_matched() || matches!(self, Self::Data | Self::Put | Self::GetData)
    }

    /// Whether it requests data, so that it overtakes messages in the NIC.
    pub(crate) fn requests_data(self) -> bool {
        matches!(self, Self::GetRequest | Self::Get)
    }

    /// Kinds of a one-sided transfer, whose bytes are `bytes` of user data.
    pub(crate) fn of_transfer(is_put: bool) -> [Self; 2] {
        if is_put {
            [Self::Put, Self::Acknowledgement]
        } else {
            [Self::Get, Self::GetData]
        }
    }

    /// Whether it is matched with a receive.
    pub(crate) fn is_matched(self) -> bool {
        matches!(self, Self::Eager | Self::RendezvousHeader)
    }

    /// Whether the first packet costs `nic_receive`, because the host must handle the message.
    pub(crate) fn costs_nic_receive(self) -> bool {
        matches!(self, Self::Eager | Self::RendezvousHeader | Self::Acknowledgement)
    }
}

/// Sizes into which messages are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketSizes {
    /// Bytes of a full packet, and of a flit.
    pub(crate) packet: u64,
    pub(crate) flit: u64,
}

impl PacketSizes {
    /// Packets of a message.
    pub(crate) fn packets(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.packet)
    }

    /// Bytes of the next packet when `left` bytes of a message are left, and the padding that fills its last flit.
    pub(crate) fn next(self, left: u64) -> (u32, u32) {
        let taken = left.min(self.packet);
        (taken as u32, (taken.next_multiple_of(self.flit) - taken) as u32)
    }
}

/// Bytes and packets on the wire for a message, with all messages of its protocol.
pub fn wire_volume(settings: &MpiSettings, packet: Bytes, bytes: Bytes) -> (u64, u64) {
    let kinds: &[MessageKind] = if settings.is_eager(bytes) {
        &[MessageKind::Eager]
    } else {
        &[MessageKind::RendezvousHeader, MessageKind::GetRequest, MessageKind::Data, MessageKind::Acknowledgement]
    };
    volume_of(kinds, settings, packet, bytes)
}

/// Bytes and packets on the wire for a one-sided transfer, with all messages of its protocol.
pub fn one_sided_volume(settings: &MpiSettings, packet: Bytes, is_put: bool, bytes: Bytes) -> (u64, u64) {
    volume_of(&MessageKind::of_transfer(is_put), settings, packet, bytes)
}

fn volume_of(kinds: &[MessageKind], settings: &MpiSettings, packet: Bytes, bytes: Bytes) -> (u64, u64) {
    let sizes = PacketSizes { packet: packet.0, flit: 1 };
    kinds
        .iter()
        .map(|kind| kind.wire_bytes(bytes.0, settings))
        .fold((0, 0), |(sum, packets), wire| (sum.saturating_add(wire), packets + sizes.packets(wire)))
}
