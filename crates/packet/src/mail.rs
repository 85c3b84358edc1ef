//! Mail between partitions.
//!
//! A thread writes what its partitions send into an [`Outbox`], with one mail per receiver. Each kind of content has
//! its own list of chunks. Chunks circulate among all mails: a partition writes into the chunks that the previous one
//! has read. So the mail of a window takes little more memory than its content, and most of it stays in the cache.

mod bytes;

use crate::control::Notice;
use crate::credit::Credit;
use crate::endpoint::Envelope;
use crate::packet::{HopEstimate, Packet, PathHop, Pool, HAS_ENVELOPE};
use odonata_routing::algorithm::{Feedback, Header};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// A packet in flight to another partition; 56 bytes.
#[derive(Clone, Copy, Debug, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct MailedPacket {
    created: u64,
    injected: u64,
    /// Arrival time of its head.
    pub(crate) arrives: u64,
    header: Header,
    message: u32,
    size_and_vc: u32,
    /// Arrival port, a global number.
    pub(crate) port: u32,
    job: u16,
    nic: u8,
    overhead: u8,
}

const _: () = assert!(size_of::<MailedPacket>() == 56);

impl MailedPacket {
    #[inline]
    pub(crate) fn new(packet: &Packet, port: u32) -> Self {
        let &Packet { created, injected, arrived: arrives, header, message, size_and_vc, job, nic, overhead, .. } =
            packet;
        Self { created, injected, arrives, header, message, size_and_vc, port, job, nic, overhead }
    }

    /// Whether the mail contains an envelope for it.
    #[inline]
    pub(crate) fn has_envelope(&self) -> bool {
        self.overhead & HAS_ENVELOPE != 0
    }

    #[inline]
    pub(crate) fn packet(&self) -> Packet {
        let &Self { created, injected, arrives, header, message, size_and_vc, job, nic, overhead, .. } = self;
        let (arrived, ready, next) = (arrives, 0, crate::packet::NONE);
        Packet { created, injected, arrived, ready, header, next, message, size_and_vc, job, nic, overhead }
    }
}

/// A list of chunks of equal size.
struct Chunks<T> {
    full: Vec<Vec<T>>,
    /// The chunk being written; it has no memory before the first entry.
    open: Vec<T>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { full: Vec::new(), open: Vec::new() }
    }
}

/// Entries per chunk. Larger chunks waste memory in short lists; smaller ones are exchanged more often.
const CHUNK: usize = 32;

impl<T> Chunks<T> {
    #[inline]
    fn push(&mut self, entry: T, spare: &mut Vec<Vec<T>>) {
        if self.open.len() == self.open.capacity() {
            self.open(spare);
        }
        self.open.push(entry);
    }

    #[inline(never)]
    fn open(&mut self, spare: &mut Vec<Vec<T>>) {
        let chunk = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        let full = std::mem::replace(&mut self.open, chunk);
        if !full.is_empty() {
            self.full.push(full);
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.full.iter().chain(std::iter::once(&self.open)).map(Vec::as_slice)
    }

    fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.open.len()
    }

    /// Empties the list. Its chunks become spare, up to [`SPARE_CHUNKS_MAX`].
    fn clear(&mut self, spare: &mut Vec<Vec<T>>) {
        let open = std::mem::take(&mut self.open);
        let used = self.full.drain(..).chain(std::iter::once(open)).filter(|chunk| chunk.capacity() > 0);
        for mut chunk in used {
            if spare.len() < SPARE_CHUNKS_MAX {
                chunk.clear();
                spare.push(chunk);
            }
        }
    }

    fn memory_bytes(&self) -> usize {
        let chunks: usize = self.full.iter().map(Vec::capacity).sum();
        (chunks + self.open.capacity()) * size_of::<T>() + self.full.capacity() * size_of::<Vec<T>>()
    }
}

/// Maximum of spare chunks; further ones are freed. A thread that only receives would collect chunks without end.
const SPARE_CHUNKS_MAX: usize = 256;

/// Everything that the partitions of one thread send to one partition in one window.
#[derive(Default)]
pub(crate) struct Mail {
    packets: Chunks<MailedPacket>,
    /// Hop estimate of each packet; empty without learning.
    pub(crate) hop_estimates: Vec<HopEstimate>,
    /// Path of each packet; empty unless recorded.
    pub(crate) paths: Vec<Vec<PathHop>>,
    /// Entry time of each packet into the network; empty without injection FIFOs.
    pub(crate) entered: Vec<u64>,
    /// Envelopes of the packets that have one.
    pub(crate) envelopes: Vec<Envelope>,
    /// Credits with the receiver's port, a global number.
    credits: Chunks<(u32, Credit)>,
    /// Feedback with the receiver's port and its arrival time.
    pub(crate) feedback: Vec<(u32, u64, Feedback)>,
    /// Notices of a congestion control, with the receiving NIC.
    pub(crate) notices: Vec<(u32, Notice)>,
}

impl Mail {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.open.is_empty()
            && self.credits.open.is_empty()
            && self.feedback.is_empty()
            && self.notices.is_empty()
    }

    /// Packets, chunk by chunk.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &[MailedPacket]> {
        self.packets.iter()
    }

    /// Number of packets.
    pub(crate) fn packet_count(&self) -> usize {
        self.packets.len()
    }

    /// Credits, chunk by chunk.
    pub(crate) fn credits(&self) -> impl Iterator<Item = &[(u32, Credit)]> {
        self.credits.iter()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.packets.memory_bytes()
            + self.credits.memory_bytes()
            + self.hop_estimates.capacity() * size_of::<HopEstimate>()
            + self.paths.capacity() * size_of::<Vec<PathHop>>()
            + 8 * self.entered.capacity()
            + self.envelopes.capacity() * size_of::<Envelope>()
            + self.feedback.capacity() * size_of::<(u32, u64, Feedback)>()
            + self.notices.capacity() * size_of::<(u32, Notice)>()
    }
}

/// Mail that the partitions of one thread send in one window.
#[derive(Default)]
pub(crate) struct Outbox {
    /// By receiver.
    pub(crate) to: Vec<Mail>,
    spare_packets: Vec<Vec<MailedPacket>>,
    spare_credits: Vec<Vec<(u32, Credit)>>,
}

impl Outbox {
    pub(crate) fn new(partitions: usize) -> Self {
        Self { to: (0..partitions).map(|_| Mail::default()).collect(), ..Self::default() }
    }

    /// Sends a packet to port `port` of partition `part`.
    #[inline]
    pub(crate) fn packet(&mut self, part: u16, packet: &Packet, port: u32) {
        self.to[usize::from(part)].packets.push(MailedPacket::new(packet, port), &mut self.spare_packets);
    }

    /// Sends the side data of the last packet to partition `part`.
    pub(crate) fn side_data(&mut self, part: u16, pool: &mut Pool, slot: u32) {
        let mail = &mut self.to[usize::from(part)];
        let kinds = pool.side_data();
        mail.hop_estimates.extend(kinds.hop_estimates.then(|| pool.hop_estimate(slot)));
        mail.paths.extend(kinds.paths.then(|| pool.take_path(slot)));
        mail.entered.extend(pool.entered(slot));
        mail.envelopes.extend(pool.envelope(slot));
    }

    /// Sends a credit to port `port` of partition `part`.
    #[inline]
    pub(crate) fn credit(&mut self, part: u16, port: u32, credit: Credit) {
        self.to[usize::from(part)].credits.push((port, credit), &mut self.spare_credits);
    }

    /// Sends feedback to port `port` of partition `part`.
    pub(crate) fn feedback(&mut self, part: u16, port: u32, at: u64, feedback: Feedback) {
        self.to[usize::from(part)].feedback.push((port, at, feedback));
    }

    /// Sends a notice to a NIC of partition `part`.
    pub(crate) fn notice(&mut self, part: u16, nic: u32, notice: Notice) {
        self.to[usize::from(part)].notices.push((nic, notice));
    }

    /// Empties a mail that was read.
    pub(crate) fn clear(&mut self, mail: &mut Mail) {
        mail.packets.clear(&mut self.spare_packets);
        mail.credits.clear(&mut self.spare_credits);
        mail.hop_estimates.clear();
        mail.paths.clear();
        mail.entered.clear();
        mail.envelopes.clear();
        mail.feedback.clear();
        mail.notices.clear();
    }

    /// Bytes in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        let mails: usize = self.to.iter().map(Mail::memory_bytes).sum();
        let chunks = self.spare_packets.len() * size_of::<MailedPacket>()
            + self.spare_credits.len() * size_of::<(u32, Credit)>();
        mails + CHUNK * chunks
    }
}
