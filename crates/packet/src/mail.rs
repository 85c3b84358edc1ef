//! What crosses from one partition to another.
//!
//! Each kind of thing has a list of its own, so that a packet stays one line of the cache and a credit takes 24 bytes.

use crate::packet::{Packet, Told};
use crate::partition::Credit;
use odonata_routing::algorithm::Feedback;

/// Everything that one partition sends to another in one window; ports are global numbers of the receiver's.
#[derive(Default)]
pub(crate) struct Mail {
    /// Packets whose heads arrive at `packet.arrived`.
    pub(crate) packets: Vec<Packet>,
    /// For each of them the port, and what is to be told about it.
    pub(crate) to: Vec<(u32, Told)>,
    /// Room at the other end of the link of a port.
    pub(crate) credits: Vec<(u32, Credit)>,
    /// What became of packets sent out of a port, and when the news arrives.
    pub(crate) feedback: Vec<(u32, u64, Feedback)>,
}

impl Mail {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.credits.is_empty() && self.feedback.is_empty()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.packets.capacity() * size_of::<Packet>()
            + self.to.capacity() * size_of::<(u32, Told)>()
            + self.credits.capacity() * size_of::<(u32, Credit)>()
            + self.feedback.capacity() * size_of::<(u32, u64, Feedback)>()
    }

    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        self.to.clear();
        self.credits.clear();
        self.feedback.clear();
    }
}
