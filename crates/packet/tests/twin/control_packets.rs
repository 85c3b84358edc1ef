//! Acknowledgements and notices as packets: lists that are searched in full.

use super::control::{Kind, Notice};
use super::parts::Packet;
use super::{Event, Twin};
use odonata_packet::{ControlPacketCount, OutgoingPacket};
use std::collections::BTreeMap;

/// A notice that a NIC sends as a packet. Order by the time from which it may leave.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ControlPacket {
    pub(super) ready: u64,
    /// NIC to which it goes.
    pub(super) to: usize,
    pub(super) content: Content,
    pub(super) job: u16,
}

/// Content of a notice: its kind, its bytes or number of sources, and its delay or pause.
pub type Content = (Kind, u64, u64);

/// Control packets of a NIC: those to send, and by sender the departure of the newest hold, release or pause so far.
#[derive(Clone, Default)]
pub(super) struct NicPackets {
    waiting: Vec<ControlPacket>,
    newest: BTreeMap<usize, u64>,
}

impl Twin<'_> {
    /// Bytes of a control packet in the network: whole flits if packets have a header.
    fn control_bytes(&self) -> Option<u64> {
        let mut bytes = self.settings.control.control_bytes?.0;
        while self.settings.header.0 > 0 && bytes % self.settings.flit.0 != 0 {
            bytes += 1;
        }
        Some(bytes)
    }

    /// Sends a notice of the port of NIC `port` to NIC `to`, with or without a packet. A packet can leave the port's NIC
    /// from `ready` on. Without packets the notice arrives at `arrives`.
    pub(super) fn send_notice(&mut self, port: usize, packet: ControlPacket, arrives: u64) {
        if self.control_bytes().is_some() {
            self.at(packet.ready, Event::Node(port));
            self.control.packets.entry(port).or_default().waiting.push(packet);
            return;
        }
        let (kind, bytes, delay) = packet.content;
        self.add_notice(packet.to, (arrives, port, kind, bytes, delay));
    }

    /// Sends a control packet from NIC `nic` if one may leave now.
    pub(super) fn send_control_packet(&mut self, nic: usize) -> bool {
        let (now, Some(bytes)) = (self.now, self.control_bytes()) else { return false };
        let waiting = &mut self.control.packets.entry(nic).or_default().waiting;
        waiting.sort_unstable();
        if waiting.first().is_none_or(|packet| packet.ready > now) {
            return false;
        }
        let ControlPacket { to, content, job, .. } = waiting.remove(0);
        let what = OutgoingPacket { job, ..OutgoingPacket::new(now, self.nodes[to].node, bytes as u32) };
        let count = &mut self.control.sent;
        *count = ControlPacketCount { packets: count.packets + 1, bytes: count.bytes + bytes };
        self.inject(nic, what, bytes, Some(content));
        true
    }

    /// A control packet leaves for NIC `nic` and is there at `arrives`. Holds, releases and pauses count only if no newer
    /// one of the same port has arrived.
    pub(super) fn receive_control_packet(&mut self, nic: usize, packet: &Packet, content: Content, arrives: u64) {
        let from = self.nodes.iter().position(|node| node.node == packet.header.source).unwrap();
        let (kind, bytes, delay) = content;
        if matches!(kind, Kind::Hold | Kind::Release | Kind::Backoff) {
            let newest = self.control.packets.entry(nic).or_default().newest.entry(from).or_default();
            if packet.injected < *newest {
                return;
            }
            *newest = packet.injected;
        }
        let notice: Notice = (arrives, from, kind, bytes, delay);
        self.add_notice(nic, notice);
    }
}
