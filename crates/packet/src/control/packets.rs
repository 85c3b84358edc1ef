//! Notices as packets (`control_bytes`): what a NIC sends, and which of the notices that arrive still count.
//!
//! The NIC behind an ejection port sends the acknowledgements and the notices of the port, before its other packets.
//! They take any path of the routing, so they may overtake each other.

use super::notice::{Notice, NoticeKind};
use crate::endpoint::Envelope;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A notice that a NIC sends as a packet. Order by the time from which it may leave.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct ControlPacket {
    /// Earliest departure in ps.
    pub(crate) ready: u64,
    /// NIC to which it goes.
    pub(crate) to: u32,
    pub(crate) kind: NoticeKind,
    pub(crate) bytes: u32,
    pub(crate) delay_ps: u64,
    /// Job to which its bytes are attributed.
    pub(crate) job: u16,
}

impl ControlPacket {
    /// Content that travels with the packet. Its sender and class are known from the header.
    pub(crate) fn envelope(&self) -> Envelope {
        Envelope { bytes: self.delay_ps, tag: self.bytes, kind: self.kind as u8, ..Envelope::default() }
    }
}

impl Notice {
    /// The notice of a packet from NIC `destination` that arrives at `at`.
    pub(crate) fn from_envelope(at: u64, destination: u32, class: u8, envelope: &Envelope) -> Self {
        let kind = NoticeKind::ALL[usize::from(envelope.kind)];
        Self { at, destination, class, kind, bytes: envelope.tag, delay_ps: envelope.bytes }
    }
}

/// Control packets of a NIC.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ControlPackets {
    /// Packets to send, in order.
    waiting: VecDeque<ControlPacket>,
    /// By destination: departure of the latest notice that has arrived and that replaces earlier ones.
    latest: BTreeMap<u32, u64>,
}

impl ControlPackets {
    pub(crate) fn add(&mut self, packet: ControlPacket) {
        let after = self.waiting.iter().rposition(|other| *other <= packet).map_or(0, |last| last + 1);
        self.waiting.insert(after, packet);
    }

    /// When the next one may leave; `u64::MAX` if there is none.
    pub(crate) fn next_ready(&self) -> u64 {
        self.waiting.front().map_or(u64::MAX, |packet| packet.ready)
    }

    /// Takes the next one that may leave at `now`.
    pub(crate) fn take(&mut self, now: u64) -> Option<ControlPacket> {
        self.waiting.front().filter(|packet| packet.ready <= now)?;
        self.waiting.pop_front()
    }

    /// Whether a notice that left NIC `destination` at `sent` still counts when it arrives. A late hold after the
    /// release that followed it would stop the pair forever: the port no longer knows of it.
    pub(crate) fn counts(&mut self, destination: u32, kind: NoticeKind, sent: u64) -> bool {
        match kind {
            NoticeKind::Ack | NoticeKind::MarkedAck | NoticeKind::Credit => true,
            NoticeKind::Hold | NoticeKind::Release | NoticeKind::Backoff => {
                let latest = self.latest.entry(destination).or_default();
                let is_new = sent >= *latest;
                *latest = sent.max(*latest);
                is_new
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<ControlPacket>() + 16 * self.latest.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_that_was_overtaken_by_its_release_does_not_count() {
        let mut packets = ControlPackets::default();
        assert!(packets.counts(7, NoticeKind::Release, 20));
        assert!(!packets.counts(7, NoticeKind::Hold, 10), "sent before the release");
        assert!(packets.counts(8, NoticeKind::Hold, 10), "another destination");
        assert!(packets.counts(7, NoticeKind::Ack, 10), "each acknowledgement counts");
        assert!(packets.counts(7, NoticeKind::Hold, 30), "sent after the release");
    }

    #[test]
    fn packets_leave_in_the_order_of_their_times() {
        let packet = |ready, to| ControlPacket { ready, to, kind: NoticeKind::Ack, bytes: 1, delay_ps: 0, job: 0 };
        let mut packets = ControlPackets::default();
        [packet(30, 1), packet(10, 2), packet(20, 3)].into_iter().for_each(|packet| packets.add(packet));
        assert_eq!(packets.next_ready(), 10);
        assert_eq!(packets.take(9), None);
        let order: Vec<u32> = std::iter::from_fn(|| packets.take(40)).map(|packet| packet.to).collect();
        assert_eq!((order, packets.next_ready()), (vec![2, 3, 1], u64::MAX));
    }
}
