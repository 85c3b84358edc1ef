//! Packets, their pool, and first-in-first-out lists of them.
//!
//! A packet sits in exactly one list at a time (a link, an input channel, an output channel), so one `next` field
//! links all lists and moving a packet allocates nothing. A packet is one line of the cache.

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
    /// When the source made it.
    pub(crate) created: u64,
    /// When its head left the source's network interface.
    pub(crate) injected: u64,
    /// When its head reaches or reached the router (or node) at the end of the link it is or was on.
    pub(crate) arrived: u64,
    /// When it may leave its output at the earliest.
    pub(crate) ready: u64,
    pub(crate) header: Header,
    pub(crate) next: u32,
    /// Tag of the endpoint.
    pub(crate) message: u32,
    /// Size in the upper 24 bits, channel chosen at the router where it is in the lower 6, `FULL_ROOM` and `ENTERS_RING` between.
    pub(crate) size_and_vc: u32,
    pub(crate) job: u16,
    /// The interface of its destination at which it arrives.
    pub(crate) interface: u8,
    /// Bytes that are none of the message's, the header and what fills up the last flit, in the lower 7 bits; above them, whether an
    /// envelope travels with it.
    pub(crate) overhead: u8,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64);

/// In the chosen channel a packet takes the room of a full one, whatever its size.
const FULL_ROOM: u32 = 1 << 6;
/// It enters a ring, for which it needs the room of a full packet beside its own.
const ENTERS_RING: u32 = 1 << 7;
const CHANNEL: u32 = FULL_ROOM - 1;
/// Of `Packet::overhead`: an envelope travels with it.
pub(crate) const HAS_ENVELOPE: u8 = 1 << 7;

impl Packet {
    /// A packet of `size` bytes, less than 16 MiB, that starts at `injected`.
    pub(crate) fn new(header: Header, size: u32, (created, injected, arrived): (u64, u64, u64)) -> Self {
        debug_assert!(size < 1 << 24);
        Self {
            created,
            injected,
            arrived,
            ready: 0,
            header,
            next: NONE,
            message: 0,
            size_and_vc: size << 8,
            job: 0,
            interface: 0,
            overhead: 0,
        }
    }

    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size_and_vc >> 8
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

    /// Channel chosen at the router where it is.
    #[inline]
    pub(crate) fn out_vc(&self) -> u8 {
        (self.size_and_vc & CHANNEL) as u8
    }

    /// Notes the channel chosen by the router where it is.
    #[inline]
    pub(crate) fn set_out_vc(&mut self, vc: u8) {
        self.size_and_vc = self.size_and_vc & !0xff | u32::from(vc);
    }

    /// In the channel chosen, it takes the room of a full packet, and of two where it enters a ring.
    #[inline]
    pub(crate) fn reserve_full_room(&mut self, enters: bool) {
        self.size_and_vc |= FULL_ROOM | if enters { ENTERS_RING } else { 0 };
    }

    /// Room that it takes in the channel chosen, where full packets have `full` bytes.
    #[inline]
    pub(crate) fn room(&self, full: u32) -> u32 {
        if self.size_and_vc & FULL_ROOM == 0 {
            self.size()
        } else {
            full
        }
    }

    /// Room that there must be for it in the output buffer.
    #[inline]
    pub(crate) fn required_room(&self, full: u32) -> u32 {
        match self.size_and_vc & (FULL_ROOM | ENTERS_RING) {
            0 => self.size(),
            FULL_ROOM => full,
            _ => 2 * full,
        }
    }
}

/// What a router tells the one before about a packet; kept apart, since few algorithms learn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct HopEstimate {
    /// Time from the arrival at the router before to the arrival here, in ns.
    pub(crate) elapsed_ns: f32,
    /// What the router where it is expected when it decided; NaN where nothing is to be told.
    pub(crate) estimate_ns: f32,
    /// What it noted beside that.
    pub(crate) note: u64,
}

impl HopEstimate {
    pub(crate) const NONE: Self = Self { elapsed_ns: 0.0, estimate_ns: f32::NAN, note: 0 };
}

/// One link of a way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PathHop {
    /// Global number of the port that sent the packet.
    pub port: u32,
    /// Virtual channel.
    pub vc: u8,
}

/// What travels beside packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SideDataKinds {
    /// What is to be told about each packet.
    pub(crate) hop_estimates: bool,
    /// The way of each packet.
    pub(crate) paths: bool,
    /// When each packet entered the network.
    pub(crate) entry_times: bool,
}

/// What came with a packet from another partition.
pub(crate) struct SideData<'a> {
    pub(crate) hop_estimate: Option<&'a HopEstimate>,
    pub(crate) path: Option<Vec<PathHop>>,
    pub(crate) entered: Option<&'a u64>,
    pub(crate) envelope: Option<&'a Envelope>,
}

/// All packets of a partition. Slots are reused, the last freed first, so that they stay in the cache.
pub(crate) struct Pool {
    slots: Vec<Packet>,
    /// By slot; empty where nothing learns.
    hop_estimates: Vec<HopEstimate>,
    /// Ports to other routers that the packet has left so far, by slot; empty where ways are not recorded.
    paths: Vec<Vec<PathHop>>,
    /// When the router of its node took the packet, in ps, by slot; empty unless nodes have injection FIFOs.
    entered: Vec<u64>,
    /// By slot; reaches as far as the last packet that ever had one.
    envelopes: Vec<Envelope>,
    side_data: SideDataKinds,
    free: Vec<u32>,
}

odonata_checkpoint::state!(Pool { value: slots, hop_estimates, paths, entered, envelopes, free; rebuilt: side_data });

impl Pool {
    pub(crate) fn new(side_data: SideDataKinds) -> Self {
        Self {
            slots: Vec::new(),
            hop_estimates: Vec::new(),
            paths: Vec::new(),
            entered: Vec::new(),
            envelopes: Vec::new(),
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
        // A quarter more, not twice as many: in a large machine packets are most of the memory.
        if self.slots.len() == self.slots.capacity() {
            let more = (self.slots.len() / 4).max(64);
            self.slots.reserve_exact(more);
            self.free.reserve_exact(self.slots.capacity());
            if self.side_data.hop_estimates {
                self.hop_estimates.reserve_exact(more);
            }
            if self.side_data.paths {
                self.paths.reserve_exact(more);
            }
            if self.side_data.entry_times {
                self.entered.reserve_exact(more);
            }
        }
        self.slots.push(*packet);
        if self.side_data.hop_estimates {
            self.hop_estimates.push(HopEstimate::NONE);
        }
        if self.side_data.paths {
            self.paths.push(Vec::new());
        }
        if self.side_data.entry_times {
            self.entered.push(0);
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

    /// What is to be told of a packet.
    #[inline]
    pub(crate) fn hop_estimate(&self, slot: u32) -> HopEstimate {
        if self.side_data.hop_estimates {
            self.hop_estimates[slot as usize]
        } else {
            HopEstimate::NONE
        }
    }

    /// The note that a packet brought from the router before.
    pub(crate) fn received_note(&self, slot: u32) -> Option<u64> {
        let estimate = self.hop_estimate(slot);
        (!estimate.estimate_ns.is_nan()).then_some(estimate.note)
    }

    /// The router where a packet is has decided, and remarks this; only where routers learn.
    #[inline]
    pub(crate) fn set_report(&mut self, slot: u32, report: Option<RouterReport>) {
        let estimate = &mut self.hop_estimates[slot as usize];
        (estimate.estimate_ns, estimate.note) =
            report.map_or((f32::NAN, 0), |report| (report.estimate_ns, report.note));
    }

    /// A packet left for the next router, which takes it `elapsed_ps`, by `hop`.
    pub(crate) fn record_hop(&mut self, slot: u32, elapsed_ps: u64, hop: PathHop) {
        if self.side_data.hop_estimates {
            self.hop_estimates[slot as usize].elapsed_ns = elapsed_ps as f32 / 1e3;
        }
        if self.side_data.paths {
            self.paths[slot as usize].push(hop);
        }
    }

    /// Takes the way of a packet; empty where ways are not recorded.
    pub(crate) fn take_path(&mut self, slot: u32) -> Vec<PathHop> {
        self.paths.get_mut(slot as usize).map(std::mem::take).unwrap_or_default()
    }

    /// The router of its node took a packet.
    #[inline]
    pub(crate) fn enter(&mut self, slot: u32, now: u64) {
        if let Some(entered) = self.entered.get_mut(slot as usize) {
            *entered = now;
        }
    }

    /// When the router of its node took a packet, where nodes have injection FIFOs.
    pub(crate) fn entered(&self, slot: u32) -> Option<u64> {
        self.entered.get(slot as usize).copied()
    }

    /// Gives a packet what travelled beside it in another partition.
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

    /// The envelope that travels with a packet.
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

    /// Packets in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Most packets ever in use.
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

/// A list of packets, linked through their `next` fields.
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

    /// Takes the first packet.
    #[inline]
    pub(crate) fn pop(&mut self, pool: &Pool) -> u32 {
        let slot = self.head;
        debug_assert!(slot != NONE);
        self.head = pool.get(slot).next;
        slot
    }
}
