//! Packets, their pool, and FIFO lists of them.
//!
//! A packet is in exactly one list at a time: a link, an input channel or an output channel. So one `next` field
//! links all lists, and moving a packet allocates nothing. A packet is one cache line.

use crate::endpoint::Envelope;
use odonata_routing::algorithm::{Header, RouterReport};
use serde::{Deserialize, Serialize};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// No packet.
pub(crate) const NONE: u32 = u32::MAX;

/// One packet; 64 bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Packet {
    /// Creation time.
    pub(crate) created: u64,
    /// Time at which its head left the NIC.
    pub(crate) injected: u64,
    /// Arrival time of its head at the end of its current or last link.
    pub(crate) arrived: u64,
    /// Earliest departure from its output.
    pub(crate) ready: u64,
    pub(crate) header: Header,
    pub(crate) next: u32,
    /// Tag of the endpoint.
    pub(crate) message: u32,
    /// Size in the upper 23 bits, the output channel in the lower 6, and three flags in between.
    pub(crate) size_and_vc: u32,
    pub(crate) job: u16,
    /// NIC of its destination at which it arrives.
    pub(crate) nic: u8,
    /// Bytes in addition to the message (header and padding of the last flit) in the lower 7 bits. The top bit says
    /// whether it has an envelope.
    pub(crate) overhead: u8,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);

/// The packet left a long queue. Stays set on the whole path.
const MARKED: u32 = 1 << 6;
/// In its output channel the packet takes a full packet's space, whatever its size.
const FULL_ROOM: u32 = 1 << 7;
/// The packet enters a ring: it needs a full packet's space in addition to its own.
const ENTERS_RING: u32 = 1 << 8;
const CHANNEL: u32 = MARKED - 1;
/// Bits that depend on its current router.
const OF_ROUTER: u32 = (1 << SIZE_SHIFT) - 1 & !MARKED;
const SIZE_SHIFT: u32 = 9;
/// Bit of `Packet::overhead`: the packet has an envelope.
pub(crate) const HAS_ENVELOPE: u8 = 1 << 7;

impl Packet {
    /// Creation time of packets with notices of a congestion control, which no endpoint created.
    pub(crate) const CONTROL: u64 = u64::MAX;

    /// Whether it has a notice of a congestion control.
    #[inline]
    pub(crate) fn is_control(&self) -> bool {
        self.created == Self::CONTROL
    }

    /// Creates a packet of `size` bytes, less than 8 MiB, that is injected at `injected`.
    pub(crate) fn new(header: Header, size: u32, created: u64, injected: u64, arrived: u64) -> Self {
        debug_assert!(size < 1 << 23);
        Self {
            created,
            injected,
            arrived,
            ready: 0,
            header,
            next: NONE,
            message: 0,
            size_and_vc: size << SIZE_SHIFT,
            job: 0,
            nic: 0,
            overhead: 0,
        }
    }

    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size_and_vc >> SIZE_SHIFT
    }

    /// Bytes of the message.
    #[inline]
    pub(crate) fn payload(&self) -> u32 {
        self.size() - u32::from(self.overhead & !HAS_ENVELOPE)
    }

    #[inline]
    pub(crate) fn has_envelope(&self) -> bool {
        self.overhead & HAS_ENVELOPE != 0
    }

    /// Output channel at its current router.
    #[inline]
    pub(crate) fn out_vc(&self) -> u8 {
        (self.size_and_vc & CHANNEL) as u8
    }

    /// Stores the output channel at its current router.
    #[inline]
    pub(crate) fn set_out_vc(&mut self, vc: u8) {
        self.size_and_vc = self.size_and_vc & !OF_ROUTER | u32::from(vc);
    }

    /// Marks a packet that leaves a long queue.
    pub(crate) fn mark(&mut self) {
        self.size_and_vc |= MARKED;
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.size_and_vc & MARKED != 0
    }

    /// Reserves a full packet's space in the output channel, and twice that if the packet enters a ring.
    #[inline]
    pub(crate) fn reserve_full_room(&mut self, enters: bool) {
        self.size_and_vc |= FULL_ROOM | if enters { ENTERS_RING } else { 0 };
    }

    /// Space that it takes in the output channel, with full packets of `full` bytes.
    #[inline]
    pub(crate) fn room(&self, full: u32) -> u32 {
        if self.size_and_vc & FULL_ROOM == 0 {
            self.size()
        } else {
            full
        }
    }

    /// Space that the output buffer must have for it.
    #[inline]
    pub(crate) fn required_room(&self, full: u32) -> u32 {
        match self.size_and_vc & (FULL_ROOM | ENTERS_RING) {
            0 => self.size(),
            FULL_ROOM => full,
            _ => 2 * full,
        }
    }
}

/// What a router reports to the previous router about a packet. Stored separately, since few algorithms learn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct HopEstimate {
    /// Time from the arrival at the previous router to the arrival here, in ns.
    pub(crate) elapsed_ns: f32,
    /// Estimate of the current router at its decision; NaN if there is nothing to report.
    pub(crate) estimate_ns: f32,
    /// Note of the router for the algorithm.
    pub(crate) note: u64,
}

impl HopEstimate {
    pub(crate) const NONE: Self = Self { elapsed_ns: 0.0, estimate_ns: f32::NAN, note: 0 };
}

/// One link of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PathHop {
    /// Global number of the port that sent the packet.
    pub port: u32,
    /// Virtual channel.
    pub vc: u8,
}

/// Kinds of side data that packets have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SideDataKinds {
    /// Hop estimate of each packet.
    pub(crate) hop_estimates: bool,
    /// Path of each packet.
    pub(crate) paths: bool,
    /// Entry time of each packet into the network.
    pub(crate) entry_times: bool,
}

/// Side data of a packet from another partition.
pub(crate) struct SideData<'a> {
    pub(crate) hop_estimate: Option<&'a HopEstimate>,
    pub(crate) path: Option<Vec<PathHop>>,
    pub(crate) entered: Option<&'a u64>,
    pub(crate) envelope: Option<&'a Envelope>,
}

/// All packets of a partition. The slot that was freed last is reused first, so that it is still in the cache.
pub(crate) struct Pool {
    slots: Vec<Packet>,
    /// By slot; empty without learning.
    hop_estimates: Vec<HopEstimate>,
    /// Ports to other routers on the path so far, by slot; empty unless paths are recorded.
    paths: Vec<Vec<PathHop>>,
    /// Time in ps at which the first router took the packet, by slot; empty without injection FIFOs.
    entered: Vec<u64>,
    /// By slot, up to the last packet that ever had an envelope.
    envelopes: Vec<Envelope>,
    side_data: SideDataKinds,
    has_side_data: bool,
    free: Vec<u32>,
}

odonata_checkpoint::state!(Pool { value: slots, hop_estimates, paths, entered, envelopes, free; rebuilt: side_data, has_side_data });

impl Pool {
    pub(crate) fn new(side_data: SideDataKinds) -> Self {
        Self {
            slots: Vec::new(),
            hop_estimates: Vec::new(),
            paths: Vec::new(),
            entered: Vec::new(),
            envelopes: Vec::new(),
            has_side_data: side_data.hop_estimates || side_data.paths || side_data.entry_times,
            side_data,
            free: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn insert(&mut self, packet: &Packet) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = *packet;
                slot
            }
            None => self.grow(packet),
        };
        if self.side_data.hop_estimates {
            self.hop_estimates[slot as usize] = HopEstimate::NONE;
        }
        slot
    }

    #[cold]
    fn grow(&mut self, packet: &Packet) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets are in flight");
        // Grows by a quarter instead of doubling: in a large machine, packets take most of the memory.
        let more = (self.slots.len() == self.slots.capacity()).then(|| (self.slots.len() / 4).max(64));
        let SideDataKinds { hop_estimates, paths, entry_times } = self.side_data;
        append(true, &mut self.slots, *packet, more);
        append(hop_estimates, &mut self.hop_estimates, HopEstimate::NONE, more);
        append(paths, &mut self.paths, Vec::new(), more);
        append(entry_times, &mut self.entered, 0, more);
        if more.is_some() {
            self.free.reserve_exact(self.slots.capacity());
        }
        slot
    }

    #[inline]
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Packet {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.slots[slot as usize]
    }

    pub(crate) fn side_data(&self) -> SideDataKinds {
        self.side_data
    }

    /// Whether every packet has side data.
    #[inline]
    pub(crate) fn has_side_data(&self) -> bool {
        self.has_side_data
    }

    /// Hop estimate of a packet.
    #[inline]
    pub(crate) fn hop_estimate(&self, slot: u32) -> HopEstimate {
        if self.side_data.hop_estimates {
            self.hop_estimates[slot as usize]
        } else {
            HopEstimate::NONE
        }
    }

    /// Note that a packet brought from the previous router.
    pub(crate) fn received_note(&self, slot: u32) -> Option<u64> {
        let estimate = self.hop_estimate(slot);
        (!estimate.estimate_ns.is_nan()).then_some(estimate.note)
    }

    /// Stores the report of the current router; only with learning.
    #[inline]
    pub(crate) fn set_report(&mut self, slot: u32, report: Option<RouterReport>) {
        let estimate = &mut self.hop_estimates[slot as usize];
        (estimate.estimate_ns, estimate.note) =
            report.map_or((f32::NAN, 0), |report| (report.estimate_ns, report.note));
    }

    /// Records that a packet leaves for the next router by `hop`, which takes `elapsed_ps`.
    pub(crate) fn record_hop(&mut self, slot: u32, elapsed_ps: u64, hop: PathHop) {
        if self.side_data.hop_estimates {
            self.hop_estimates[slot as usize].elapsed_ns = elapsed_ps as f32 / 1e3;
        }
        if self.side_data.paths {
            self.paths[slot as usize].push(hop);
        }
    }

    /// Takes the path of a packet; empty unless recorded.
    pub(crate) fn take_path(&mut self, slot: u32) -> Vec<PathHop> {
        self.paths.get_mut(slot as usize).map(std::mem::take).unwrap_or_default()
    }

    /// Records that the first router took a packet.
    #[inline]
    pub(crate) fn enter(&mut self, slot: u32, now: u64) {
        if let Some(entered) = self.entered.get_mut(slot as usize) {
            *entered = now;
        }
    }

    /// Time at which the first router took a packet; `None` without injection FIFOs.
    pub(crate) fn entered(&self, slot: u32) -> Option<u64> {
        self.entered.get(slot as usize).copied()
    }

    /// Stores the side data that a packet had in another partition.
    pub(crate) fn put_side_data(
        &mut self,
        slot: u32,
        SideData { hop_estimate, path, entered, envelope }: SideData<'_>,
    ) {
        if let Some(entered) = entered {
            self.entered[slot as usize] = *entered;
        }
        if let Some(estimate) = hop_estimate {
            self.hop_estimates[slot as usize] = *estimate;
        }
        if let Some(path) = path {
            self.paths[slot as usize] = path;
        }
        if let Some(envelope) = envelope {
            self.set_envelope(slot, *envelope);
        }
    }

    /// Envelope of a packet.
    pub(crate) fn envelope(&self, slot: u32) -> Option<Envelope> {
        self.get(slot).has_envelope().then(|| self.envelopes[slot as usize])
    }

    /// Gives an envelope to a packet.
    pub(crate) fn set_envelope(&mut self, slot: u32, envelope: Envelope) {
        self.get_mut(slot).overhead |= HAS_ENVELOPE;
        let slot = slot as usize;
        if self.envelopes.len() <= slot {
            self.envelopes.resize(slot + 1, Envelope::default());
        }
        self.envelopes[slot] = envelope;
    }

    /// Number of packets.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Peak number of packets.
    pub(crate) fn peak(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * std::mem::size_of::<Packet>()
            + self.hop_estimates.capacity() * std::mem::size_of::<HopEstimate>()
            + self.paths.capacity() * std::mem::size_of::<Vec<PathHop>>()
            + 8 * self.entered.capacity()
            + self.envelopes.capacity() * std::mem::size_of::<Envelope>()
            + 4 * self.free.capacity()
    }
}

/// Appends to a list of a pool if it is `wanted`, after space for `more` entries.
fn append<T>(wanted: bool, list: &mut Vec<T>, entry: T, more: Option<usize>) {
    if wanted {
        list.reserve_exact(more.unwrap_or(0));
        list.push(entry);
    }
}

/// A list of packets, linked by their `next` fields.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Fifo {
    pub(crate) head: u32,
    pub(crate) tail: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Fifo {
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }

    #[inline]
    pub(crate) fn push(&mut self, slot: u32, pool: &mut Pool) {
        pool.get_mut(slot).next = NONE;
        if self.head == NONE {
            self.head = slot;
        } else {
            pool.get_mut(self.tail).next = slot;
        }
        self.tail = slot;
    }

    /// Removes and returns the first packet.
    #[inline]
    pub(crate) fn pop(&mut self, pool: &Pool) -> u32 {
        let slot = self.head;
        debug_assert!(slot != NONE);
        self.head = pool.get(slot).next;
        slot
    }
}
